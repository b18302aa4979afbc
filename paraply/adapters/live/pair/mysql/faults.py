"""Faults of MySQL servers under load."""

from __future__ import annotations

from paraply.adapters.live.forging import forge_last_committed
from paraply.adapters.live.pair.faults import (
    by_name,
    cut_relay_log,
    cut_source_log,
    forging,
    kill_replica,
)
from paraply.adapters.live.pair.lab import Fault

_forge = forging(forge_last_committed, "were made to depend on the first alone")

_LOCK_WAIT = "--innodb-lock-wait-timeout=5"
"""Seconds. Forged metadata can make workers wait in an undetected circle: two for row locks, the
third for its turn to commit. Only this time-out ends it; two default ones (50 s) exceed our
patience.
"""

COMMIT_ORDER_OFF, FORGED = "commit-order-off", "forged-last-committed"
FORGED_IDEMPOTENT = "forged-idempotent"
CUT_SOURCE_LOG = "cut-source-log"
MYSQL_FAULTS = by_name(
    Fault(name=COMMIT_ORDER_OFF, replica_options=("--replica-preserve-commit-order=OFF",),
          meaning="control: replica_preserve_commit_order=OFF on the replicas"),
    Fault(name=FORGED, inject=_forge, workload="chains", begins_stopped=True,
          replica_options=(_LOCK_WAIT,),
          meaning="control: all transactions in the source's log seem independent"),
    Fault(name=FORGED_IDEMPOTENT, inject=_forge, workload="chains", begins_stopped=True,
          replica_options=("--replica-exec-mode=IDEMPOTENT", _LOCK_WAIT),
          meaning="control: the same, and the replica hides row errors (IDEMPOTENT)"),
    Fault(name="kill-replica", inject=kill_replica, is_crash=True,
          meaning="the first replica is killed (SIGKILL) and started again, three times"),
    Fault(name="cut-relay-log", inject=cut_relay_log, is_crash=True,
          meaning="the first replica is killed, and the end of its relay log is lost"),
    Fault(name=CUT_SOURCE_LOG, inject=cut_source_log, workload="rows", reuses_gtids=True,
          meaning="control: the source is killed, and the end of its log is lost"),
)  # fmt: skip
