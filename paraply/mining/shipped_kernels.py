"""Where numba finds the kernels of a shipped archive (``NUMBA_CACHE_LOCATOR_CLASSES``).

Kernels are valid for one architecture, numba and Python, and for sources of the same content. A
worker that differs compiles, once for all processes beside the archive.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import ZipCacheLocator

from paraply.mining.shipping import ARCHIVE
from paraply.vocabulary.kernel_cache import KERNELS


class ShippedKernels(ZipCacheLocator):
    """Reads kernels that were packed beside their source."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> ShippedKernels | None:
        """Return the locator; None for a function of another origin."""
        before, found, inside = py_file.partition(f"{ARCHIVE}{os.sep}")
        if not found:
            return None
        try:
            folder = _unpacked(f"{before}{ARCHIVE}")
        except OSError:
            return None
        located = cls(py_func, py_file)
        located._cache_path = str(folder / Path(inside).parent / "__pycache__")
        return located


@cache
def _unpacked(archive: str) -> Path:
    """Return the folder of an archive's kernels; several processes may begin at once."""
    target = Path(f"{archive}.kernels")
    if not target.exists():
        part = tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent)
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(part, [name for name in packed.namelist() if name.endswith(KERNELS)])
        try:
            Path(part).rename(target)
        except OSError:
            shutil.rmtree(part, ignore_errors=True)
    return target
