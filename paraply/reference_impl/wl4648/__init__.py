"""The appliers of WL#4648: job pool (P1), by table (P2), by row (P3).

Shared parts are in :mod:`paraply.reference_impl.applier`.
"""
