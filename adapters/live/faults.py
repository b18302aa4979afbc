"""What is done to servers under load, and what is observed of it at that moment."""

from __future__ import annotations

import random
from collections.abc import Sequence

from adapters.live.forging import forge_commit_ids
from adapters.live.observed import Member
from adapters.live.pair import Fault, PairLab
from adapters.live.strikes import (
    by_name,
    cut_relay_log,
    forging,
    kill_replica,
    kill_source,
    wait_until,
)
from adapters.live.tails import cut_tail
from adapters.live.workload import Clients


def _cut_source_log(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Lose the end of the source's log (sync_binlog=0), and not what its engine has."""
    clients.wait_for(lab.request.transactions // 4, lab.request.duration_s / 2)
    # What is lost the replica has already: it asks the source for what comes after it.
    replica = lab.replicas[0]
    confirmed = list(clients.load.confirmed)
    wait_until(lambda: lab.tags(replica).issuperset(confirmed), "replica that has it", replica)
    lab.source.kill()
    lost = cut_tail(lab.log_files_at_rest(lab.source)[-1], dice)
    lab.source.start()
    return (f"{lost} bytes of the source's log were lost",)


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
    Fault(name="cut-source-log", inject=_cut_source_log, workload="rows", reuses_gtids=True,
          meaning="control: the source is killed, and the end of its log is lost"),
    Fault(name="forged-commit-ids", inject=_forge, workload="chains",
          meaning="control: all transactions in the source's log get one commit id"),
    Fault(name="forged-idempotent", inject=_forge, workload="chains",
          replica_options=("--slave-exec-mode=IDEMPOTENT",),
          meaning="control: the same, and the replica hides row errors (IDEMPOTENT)"),
)  # fmt: skip
