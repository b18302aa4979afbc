"""Commit ids: which transactions a MariaDB source committed as one group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from paraply.properties.apply.mariadb.domains import domain_streams
from paraply.properties.apply.stream import overlapping_pairs
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import parallel_flags, relay_log
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import Transaction, TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitIdWrong(Violation):
    """A commit id that numbers no group."""

    transaction: TransactionId
    commit_id: int
    why: str

    def __str__(self) -> str:
        return f"T{self.transaction} has commit id {self.commit_id}, {self.why}"


def commit_ids_of_a_whole_log(history: History) -> bool:
    """Replicas apply a whole log with commit ids."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and any(one.commit_id is not None for one in history.transactions)
        and relay_log(history)
    )


@sometimes(of=parallel_flags, source="binlog_commit_wait_count; Gtid_log_event: FL_GROUP_COMMIT_ID")
def a_source_commits_a_group(history: History) -> bool:
    """The log has two transactions of one commit group."""
    return any(True for _ in _groups(history))


@sometimes(of=commit_ids_of_a_whole_log, source="slave_parallel_mode=conservative")
def a_commit_group_overlaps(history: History) -> bool:
    """Two transactions of one commit group overlapped on a replica."""
    return any(
        first.transaction.commit_id is not None
        and first.transaction.commit_id == second.transaction.commit_id
        for _, stream in domain_streams(history)
        for first, second in overlapping_pairs(stream)
    )


def _groups(history: History) -> Iterator[list[Transaction]]:
    """Yield the log's groups of adjacent transactions with one commit id."""
    for (_, number), group in groupby(history.transactions, key=lambda t: (t.clock, t.commit_id)):
        if number is not None:
            yield list(group)


@always(
    of=commit_ids_of_a_whole_log,
    source="Gtid_log_event: FL_GROUP_COMMIT_ID, set for groups of two and more",
    witness=a_source_commits_a_group,
)
def commit_ids_number_the_groups(history: History) -> tuple[CommitIdWrong, ...]:
    """Transactions of one commit group, at least two, share a number, which rises from 1."""
    found = []
    last: dict[int, int] = {}
    for group in _groups(history):
        one = group[0]
        assert one.commit_id is not None
        if len(group) < 2:
            why = "which no neighbour in the log has"
        elif one.commit_id <= last.get(one.clock, 0):
            why = f"not above {last.get(one.clock, 0)}"
        else:
            why = ""
        last[one.clock] = max(one.commit_id, last.get(one.clock, 0))
        if why:
            found.append(CommitIdWrong(transaction=one.id, commit_id=one.commit_id, why=why))
    return tuple(found)
