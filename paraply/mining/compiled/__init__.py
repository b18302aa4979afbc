"""The applier's simulation as kernels: one source, interpreted or compiled, checked equal.

``NUMBA_DISABLE_JIT=1`` runs them in the interpreter. The reference
(``paraply.reference_impl.applier``) is the oracle: every breach a kernel reports is run again and
judged there.
"""
