"""The applier's simulation as kernels, compiled or interpreted (``NUMBA_DISABLE_JIT=1``).

The reference (``paraply.reference_impl.applier``) replays and judges every reported breach.
"""
