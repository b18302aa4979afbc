"""Appliers of WL#4648: job pool (P1), tables (P2), rows (P3).

Shared parts are in :mod:`paraply.reference_impl.applier`.
"""
