"""Stored kernels are loaded without what only compiling needs, which takes 0.15 s to import."""

from __future__ import annotations

from typing import Any

from numba.core.caching import Cache
from numba.core.runtime.nrt import rtsys

_load_overload: Any = Cache.load_overload


def load_stored_kernels_alone() -> None:
    """Change how numba loads stored kernels in this process; it compiles others as before."""
    Cache.load_overload = _load_alone


def _load_alone(cache: Cache, signature: Any, context: Any) -> Any:
    # Kernels that make arrays call the runtime, which refresh() would initialise. The compiler
    # calls refresh() itself. Its lock is held here.
    rtsys.initialize(context)
    context.refresh = _nothing
    try:
        return _load_overload(cache, signature, context)
    finally:
        del context.refresh


def _nothing() -> None:
    pass
