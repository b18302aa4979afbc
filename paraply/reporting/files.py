"""Writing reports: whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from paraply.errors import REPORT_NOT_WRITTEN
from paraply.vocabulary.errors import ParaplyError

STANDARD_OUTPUT = "-"


def write_report(name: str, text: str) -> None:
    """Write ``text`` to the file ``name``, or to standard output if it is ``-``.

    A reader never sees half a report: it is written beside the file and then takes its place. What
    is not a regular file (a pipe, a device) is written to directly. A file that cannot be written
    raises ``ParaplyError`` P302.
    """
    if name == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    target = Path(os.path.realpath(name))
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
        else:
            _replace(target, text)
    except OSError as error:
        raise ParaplyError(
            REPORT_NOT_WRITTEN, where=name, reason=error.strerror or str(error)
        ) from None


def require_writable(name: str) -> None:
    """Raise ``ParaplyError`` P302 now, rather than after an hour, where a report cannot go."""
    if name == STANDARD_OUTPUT:
        return
    target = Path(os.path.realpath(name))
    if target.is_dir():
        raise ParaplyError(REPORT_NOT_WRITTEN, where=name, reason="it is a folder")
    if not target.parent.is_dir():
        raise ParaplyError(
            REPORT_NOT_WRITTEN, where=name, reason=f"there is no folder {target.parent}"
        )
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise ParaplyError(REPORT_NOT_WRITTEN, where=name, reason="permission denied")


def require_folder(name: str) -> None:
    """Raise ``ParaplyError`` P302 now where a folder is not there and cannot be made later."""
    folder = Path(os.path.realpath(name))
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".paraply-"):
            pass
    except OSError as error:
        raise ParaplyError(
            REPORT_NOT_WRITTEN, where=name, reason=error.strerror or str(error)
        ) from None


def make_folder(name: str) -> None:
    """Make a folder that files can be written to; raise ``ParaplyError`` P302 otherwise."""
    require_folder(name)
    os.makedirs(os.path.realpath(name), exist_ok=True)


def _replace(target: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part"
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # mkstemp makes a private file; a report is as public as any file the user makes.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, target.stat().st_mode if target.exists() else 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
