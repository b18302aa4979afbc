"""Compiled kernels on disk: for any processor of an architecture, and dropped when they are stale.

numba ignores changes of imported constants and functions, so a digest of all modules stands beside
the kernels of a folder, and another digest drops them. numba does not sync kernels either, and
fails on one that a failure of the machine cut.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

from paraply.vocabulary.whole_files import appearing, sync_folder

# numba reads these when it is imported first. Kernels for one processor are no faster
# (docs/decisions/0011), and a wheel or an archive could not bring them along.
os.environ.setdefault("NUMBA_CPU_NAME", "generic")
os.environ.setdefault("NUMBA_CPU_FEATURES", "")

KERNELS = (".nbi", ".nbc", ".sources")
"""Suffixes of numba's indexes, of its code, and of the digest."""
_INDEX, _CODE = (f"*{suffix}" for suffix in KERNELS[:2])
_DIGEST = f"kernels{KERNELS[2]}"

BORROWED: dict[str, Any] = {"cache": True, "_nrt": False}
"""Compiles a kernel that makes no arrays, so that it counts no references to those it is given.

Counting took half of the judge's time: each slice of an array is an atomic increment.
"""
PART: dict[str, Any] = {**BORROWED, "forceinline": True}
"""Compiles such a kernel into those that call it.

A call copied up to 50 words for each named tuple of arrays, which took a third of the judge's time.
"""


def drop_stale_kernels(folder: Path, *used: Path) -> int:
    """Delete stale or torn kernels; return the number of files.

    The digest is then that of what newer kernels are made of.

    ``used`` are other folders whose functions the kernels contain. A read-only folder stays: numba
    stores its kernels elsewhere.
    """
    kept = folder / "__pycache__"
    kernels = [path for pattern in (_INDEX, _CODE) for path in kept.glob(pattern)]
    noted = kept / _DIGEST
    dropped = 0
    try:
        digest = _digest((folder, *used))
        if _text(noted) == digest and not any(map(_is_torn, kernels)):
            return 0
        # Indexes first: without them the code is never looked at.
        for path in kernels:
            path.unlink(missing_ok=True)
            dropped += 1
        if dropped:
            sync_folder(kept)
        with appearing(noted) as part:
            part.write_text(digest)
    except OSError:
        return dropped
    return dropped


def _digest(folders: tuple[Path, ...]) -> str:
    found = hashlib.sha256()
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        found.update(f"{path.name}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def _is_torn(kernel: Path) -> bool:
    try:
        with kernel.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            return file.read() != b"."  # Every pickle ends with it.
    except OSError:  # Another process drops it.
        return False


def has_kernels(*folders: Path) -> bool:
    """Return whether no folder needs compiling for this Python."""
    of_python = f"*.py{sys.version_info.major}{sys.version_info.minor}{_INDEX[1:]}"
    return all(any((folder / "__pycache__").glob(of_python)) for folder in folders)
