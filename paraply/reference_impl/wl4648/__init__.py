"""The appliers of WL#4648: jobs for a pool of workers (P1), by table (P2), within one (P3).

Log, row store, worker, commit order and recovery are those of
:mod:`paraply.reference_impl.applier`; here is only what differs.
"""
