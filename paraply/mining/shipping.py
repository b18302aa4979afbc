"""Our packages on the workers of a cluster: an archive of sources and compiled kernels."""

from __future__ import annotations

import gc
import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paraply.vocabulary.kernel_cache import KERNELS, drop_stale_kernels

ARCHIVE = "paraply.zip"
PACKAGES = ("paraply",)
"""Packages sent to cluster workers (docs/spark.md)."""

LOADED_OBJECTS_MAX = 5_000
"""Objects above which a worker freezes its heap."""

_LOCATORS = ",".join(
    (
        "paraply.mining.shipped_kernels.ShippedKernels",
        "UserProvidedCacheLocator",
        "InTreeCacheLocator",
        "UserWideCacheLocator",
        "ZipCacheLocator",
    )
)


def packed_source() -> bytes:
    """Return our packages as a reproducible zip archive, with the kernels compiled beside them."""
    root = Path(__file__).resolve().parents[2]
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for folder in (root / package).rglob("compiled"):
                drop_stale_kernels(folder)
            for path in sorted((root / package).rglob("*")):
                is_code = "__pycache__" in path.parts and path.suffix not in KERNELS
                if path.is_file() and not is_code:
                    name = path.relative_to(root).as_posix()
                    archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return sink.getvalue()


@contextmanager
def in_worker() -> Iterator[None]:
    """Use the archive's kernels in a task, and exempt what it loaded from garbage collection."""
    if ARCHIVE in Path(__file__).parts:
        # numba reads this when it is imported first.
        os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", _LOCATORS)
    yield
    keep_what_is_loaded()


def keep_what_is_loaded() -> None:
    """Exempt loaded objects from Spark's garbage collection after each task.

    Collection takes 43 ms with pandas and pyarrow; repeat after each task's imports.
    """
    if len(gc.get_objects(generation=2)) > LOADED_OBJECTS_MAX:
        gc.collect()
        gc.freeze()
