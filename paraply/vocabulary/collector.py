"""Python's collector of cycles, paused where it would only look through what stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector(*, is_kept: bool = False) -> Iterator[None]:
    """Pause the collector; with ``is_kept``, it never looks at what exists afterwards.

    Cycles that are no longer used by then stay, too.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_kept:
            gc.freeze()
        if was_enabled:
            gc.enable()
