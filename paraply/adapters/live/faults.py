"""Faults of servers under load."""

from __future__ import annotations

from paraply.adapters.live.forging import forge_commit_ids
from paraply.adapters.live.pair.faults import (
    by_name,
    cut_relay_log,
    cut_source_log,
    forging,
    kill_replica,
    kill_source,
)
from paraply.adapters.live.pair.lab import Fault

_forge = forging(forge_commit_ids, "were given one commit id")
FAULTS = by_name(
    Fault(name="kill-replica", inject=kill_replica, is_crash=True, workload="rows",
          meaning="the first replica is killed (SIGKILL) and started again, three times"),
    Fault(name="kill-replica-ddl", inject=kill_replica, is_crash=True, workload="ddl",
          meaning="control: the same under schema changes, whose position is saved apart"),
    Fault(name="kill-source-ddl", inject=kill_source, workload="ddl",
          meaning="control: kill-source under schema changes: recovery may log one unmarked"),
    Fault(name="cut-relay-log", inject=cut_relay_log, is_crash=True, workload="rows",
          meaning="the first replica is killed, and the end of its relay log is lost"),
    Fault(name="cut-source-log", inject=cut_source_log, workload="rows", reuses_gtids=True,
          meaning="control: the source is killed, and the end of its log is lost"),
    Fault(name="forged-commit-ids", inject=_forge, workload="chains", begins_stopped=True,
          meaning="control: all transactions in the source's log get one commit id"),
    Fault(name="forged-idempotent", inject=_forge, workload="chains", begins_stopped=True,
          replica_options=("--slave-exec-mode=IDEMPOTENT",),
          meaning="control: the same, and the replica hides row errors (IDEMPOTENT)"),
)  # fmt: skip
