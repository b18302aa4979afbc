"""Mutants of a member's commit order."""

# Class docstrings describe the fault of the methods.
# ruff: noqa: D102
from __future__ import annotations

from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import RelayEntry
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.mutations.view_changes import group_of
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind


def mutate(name: str, source: str, fault: str, caught_by: str, member: type[Member]) -> None:
    """Register a mutant in a fixed group."""
    register_mutant(
        written_mutant(
            name=name,
            family="group commits",
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=GroupSubject(group=group_of(member)),
            workload=Workload(
                transactions=4,
                rows=2,
                options={"joins": 0, "departures": 0, "broadcasts": 0, "barriers": False},
            ),
        )
    )


class CommitsWhatIsReady(Member):
    """Remote transactions commit out of order."""

    def applicable(self) -> list[RelayEntry]:
        return self.ready_among(len(self.relay_log))


mutate(
    "group_applier_keeps_no_commit_order",
    "MySQL manual, Group Replication requirements: replica_preserve_commit_order=ON",
    "Workers of a member commit in any order that last_committed allows.",
    "remote_transactions_commit_as_certified",
    CommitsWhatIsReady,
)


class OvertakesWhoWaits(Member):
    """Workers overtake a waiting predecessor."""

    def applicable(self) -> list[RelayEntry]:
        return super().applicable() or self.ready_among(len(self.relay_log))[:1]


mutate(
    "worker_overtakes_one_that_waits",
    "rpl_replica_commit_order_manager.cc: WAITED_OVERTAKE",
    "While a worker waits for the row of a session, one behind it in commit order commits.",
    "remote_transactions_commit_as_certified",
    OvertakesWhoWaits,
)


class ExecutedBeforeItCommits(Member):
    """Transactions execute and unlock at the log write."""

    def apply(self, entry: RelayEntry) -> None:
        if entry.gtid not in self.executed:
            self.executed |= {entry.gtid}
            self.binlog.append((entry.transaction, entry.gtid))
            return
        self.relay_log.remove(entry)
        self.recorder.record(
            EventKind.ENGINE_COMMITTED,
            member=self.name,
            transaction=entry.transaction,
            gtid=str(entry.gtid),
        )


mutate(
    "gtid_is_executed_before_the_engine_commit",
    "MYSQL_BIN_LOG::ordered_commit: gtid_executed follows the engine commit; proofs, P31",
    "A session may see and change what a worker has logged and the engine has yet to commit.",
    "own_transactions_commit_after_what_they_saw",
    ExecutedBeforeItCommits,
)
