"""Simulation kernels, interpreted with ``NUMBA_DISABLE_JIT=1``.

``paraply.reference_impl.applier`` replays and judges every reported breach.
"""

from __future__ import annotations

from pathlib import Path

from paraply.vocabulary.kernel_cache import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)
