"""Compiled kernels on disk, and their invalidation.

numba recompiles a function when its module changes, but not when an imported constant or function
changes. So all kernels of a folder are dropped if one of its modules is newer than a stored kernel.
"""

from __future__ import annotations

from pathlib import Path

_INDEX = "*.nbi"
_CODE = "*.nbc"


def drop_stale_kernels(folder: Path) -> int:
    """Delete the kernels in ``folder`` if one of its modules is newer; return how many files.

    A read-only folder is left unchanged: numba then stores its kernels elsewhere.
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
    """Return whether kernels of ``folder`` are kept, so that using them needs no compiling."""
    return any((folder / "__pycache__").glob(_INDEX))
