"""What is done to servers under load, and what is observed of it at that moment."""

from __future__ import annotations

import random
from collections.abc import Sequence

from adapters.live.forging import forge_commit_ids
from adapters.live.observed import Member
from adapters.live.pair import Fault, PairLab
from adapters.live.strikes import (
    by_name,
    forging,
    kill_source,
    restart_of,
    strike,
    wait_until,
)
from adapters.live.tails import cut_tail
from adapters.live.workload import Clients
from adapters.servers.replication import replicate
from vocabulary.errors import ParaplyError


def _restarted(lab: PairLab, members: Sequence[Member], notes: list[str]) -> None:
    """Start the first replica after a crash, look at it, and let it go on."""
    replica = lab.replicas[0]
    replica.start()
    members[0].restarts.append(restart_of(lab, is_crash=True))
    try:
        replica.query("START SLAVE")
    except ParaplyError as reason:
        # master.info is a plain file: a crash may leave it unusable. The position is in a
        # table, and so CHANGE MASTER with slave_pos goes on where the data ends.
        notes.append(f"{replica.name}: CHANGE MASTER was needed after the crash: {reason}")
        replica.query("RESET SLAVE ALL")
        replicate(lab.source, replica)


def _kill_replica(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    notes: list[str] = []

    def blow() -> None:
        lab.replicas[0].kill()
        _restarted(lab, members, notes)

    strike(lab, clients, dice, blow)
    return notes


def _cut_relay_log(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Lose the end of the relay log, which nobody syncs: the replica has to ask for it again."""
    replica = lab.replicas[0]
    notes: list[str] = []

    def blow() -> None:
        replica.kill()
        lost = cut_tail(sorted(replica.datadir.glob("*relay-bin.[0-9]*"))[-1], dice)
        notes.append(f"{lost} bytes of the relay log were lost")
        _restarted(lab, members, notes)

    strike(lab, clients, dice, blow)
    return notes


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
    Fault(name="kill-replica", inject=_kill_replica, is_crash=True, workload="rows",
          meaning="the first replica is killed (SIGKILL) and started again, three times"),
    Fault(name="kill-replica-ddl", inject=_kill_replica, is_crash=True, workload="ddl",
          meaning="control: the same under schema changes, whose position is saved apart"),
    Fault(name="kill-source-ddl", inject=kill_source, workload="ddl",
          meaning="control: kill-source under schema changes: recovery may log one unmarked"),
    Fault(name="cut-relay-log", inject=_cut_relay_log, is_crash=True, workload="rows",
          meaning="the first replica is killed, and the end of its relay log is lost"),
    Fault(name="cut-source-log", inject=_cut_source_log, workload="rows", reuses_gtids=True,
          meaning="control: the source is killed, and the end of its log is lost"),
    Fault(name="forged-commit-ids", inject=_forge, workload="chains",
          meaning="control: all transactions in the source's log get one commit id"),
    Fault(name="forged-idempotent", inject=_forge, workload="chains",
          replica_options=("--slave-exec-mode=IDEMPOTENT",),
          meaning="control: the same, and the replica hides row errors (IDEMPOTENT)"),
)  # fmt: skip
