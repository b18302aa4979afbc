"""Kernels that only borrow their arrays."""

from __future__ import annotations

from numba import njit

from paraply.vocabulary.kernel_cache import PART

borrowing = njit(**PART)
