"""Explicit-state search on arrays."""

from __future__ import annotations

from pathlib import Path

from paraply.vocabulary.kernel_cache import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)
