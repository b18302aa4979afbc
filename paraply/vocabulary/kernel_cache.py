"""Invalidation of compiled kernels on disk.

numba ignores changes of imported constants and functions, so a newer module drops all kernels of
its folder.
"""

from __future__ import annotations

from pathlib import Path

_INDEX = "*.nbi"
_CODE = "*.nbc"


def drop_stale_kernels(folder: Path) -> int:
    """Delete stale kernels; return the number of files.

    A read-only folder stays: numba stores its kernels elsewhere.
    """
    kept = folder / "__pycache__"
    indexes = [path.stat().st_mtime_ns for path in kept.glob(_INDEX)]
    newest = max((path.stat().st_mtime_ns for path in folder.glob("*.py")), default=0)
    if not indexes or min(indexes) > newest:
        return 0
    dropped = 0
    try:
        # Indexes first: without them the code is never looked at.
        for pattern in (_INDEX, _CODE):
            for path in kept.glob(pattern):
                path.unlink(missing_ok=True)
                dropped += 1
    except OSError:
        return dropped
    return dropped


def has_kernels(folder: Path) -> bool:
    """Return whether ``folder`` needs no compiling."""
    return any((folder / "__pycache__").glob(_INDEX))
