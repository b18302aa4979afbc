"""A replica's parallel applier.

Source: WL#8440 (applier, challenges), WL#7165, ``sql/rpl_mta_submode.cc``,
``sql/rpl_replica_commit_order_manager.cc``. The row store applies real changes, so a wrong order
causes errors.
"""
