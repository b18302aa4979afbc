"""Kernels of the composed system, twins of ``paraply.reference_impl.composed``.

Without joins and departures.
"""

from __future__ import annotations

from pathlib import Path

from paraply.vocabulary.kernel_cache import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent, Path(__file__).parents[1])
