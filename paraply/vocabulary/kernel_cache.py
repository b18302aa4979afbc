"""Invalidation of compiled kernels on disk.

numba ignores changes of imported constants and functions, so a newer module drops all kernels of
its folder. numba does not sync them either, and fails on one that a failure of the machine cut.
"""

from __future__ import annotations

import os
from pathlib import Path

KERNELS = (".nbi", ".nbc")
"""Suffixes of numba's indexes and of its code."""
_INDEX, _CODE = (f"*{suffix}" for suffix in KERNELS)


def drop_stale_kernels(folder: Path, *used: Path) -> int:
    """Delete stale or torn kernels; return the number of files.

    ``used`` are other folders whose functions the kernels contain. A read-only folder stays: numba
    stores its kernels elsewhere.
    """
    kept = folder / "__pycache__"
    indexes = [path.stat().st_mtime_ns for path in kept.glob(_INDEX)]
    modules = [path for each in (folder, *used) for path in each.glob("*.py")]
    newest = max((path.stat().st_mtime_ns for path in modules), default=0)
    if not indexes:
        return 0
    kernels = [path for pattern in (_INDEX, _CODE) for path in kept.glob(pattern)]
    if min(indexes) > newest and not any(map(_is_torn, kernels)):
        return 0
    dropped = 0
    try:
        # Indexes first: without them the code is never looked at.
        for path in kernels:
            path.unlink(missing_ok=True)
            dropped += 1
    except OSError:
        return dropped
    return dropped


def _is_torn(kernel: Path) -> bool:
    try:
        with kernel.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            return file.read() != b"."  # Every pickle ends with it.
    except OSError:  # Another process drops it.
        return False


def has_kernels(folder: Path) -> bool:
    """Return whether ``folder`` needs no compiling."""
    return any((folder / "__pycache__").glob(_INDEX))
