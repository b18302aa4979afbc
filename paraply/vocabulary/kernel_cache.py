"""Compiled kernels kept on disk, and when to throw them away.

numba keeps a compiled function beside its module and compiles it anew when that module changes,
but not when a constant or a function changes that the module imports. So a folder of kernels
forgets them all as soon as one of its modules is newer than a kept kernel.
"""

from __future__ import annotations

from pathlib import Path

_INDEX = "*.nbi"
_CODE = "*.nbc"


def drop_stale_kernels(folder: Path) -> int:
    """Delete the kernels kept in ``folder`` if a module of it is newer; return how many files.

    A folder that may not be written to is left as it is: numba keeps its kernels elsewhere then,
    by the time stamps that an installation gives all files anew.
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
