"""The parallel applier of one replica: coordinator, workers, commit-order queue, recovery.

Source: WL#8440 (applier, challenges), WL#7165, ``sql/rpl_mta_submode.cc`` and
``sql/rpl_replica_commit_order_manager.cc`` as facts; the row store is our own, so that a wrong
order really goes wrong.
"""
