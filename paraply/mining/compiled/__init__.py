"""Simulation kernels, interpreted with ``NUMBA_DISABLE_JIT=1``.

``paraply.reference_impl.applier`` replays and judges every reported breach.
"""
