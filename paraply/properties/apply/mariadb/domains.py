"""Conflicts, commits, reads and logs, per MariaDB domain.

The order between domains is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from paraply.properties.apply.commit_order import CommitOrderInverted, engine_commits_follow_the_log
from paraply.properties.apply.parallel_apply import (
    conflicting_transactions_are_applied,
    no_conflicting_parallel_apply,
    two_transactions_overlap,
)
from paraply.properties.apply.stream import ApplyStream, apply_streams
from paraply.properties.readers.replica_reads import (
    reader_sees_the_middle,
    readers_see_prefixes,
    reads_never_go_back,
)
from paraply.properties.registry import Violation, always, fields, sometimes
from paraply.properties.vocabularies import TRANSACTIONAL, logged_domains, stated_worker_limit
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId


class LoggedOutOfOrder(CommitOrderInverted):
    """The replica logs a domain out of order."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self.member}: T{self.later} was logged before T{self.earlier}, which comes first"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedUnlikeLogged(Violation):
    """Engine order and the replica's log differ."""

    member: str
    logged_first: TransactionId
    committed_first: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.committed_first} committed before T{self.logged_first}, "
            "which its binary log has first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainTookTooManyWorkers(Violation):
    """A domain's busy workers exceed its limit."""

    member: str
    domain: int
    workers: tuple[int, ...]
    limit: int

    def __str__(self) -> str:
        return (
            f"{self.member}: domain {self.domain} had workers {', '.join(map(str, self.workers))}; "
            f"it may have {self.limit}"
        )


_LAST: list[tuple[History, tuple[History, ...]]] = []


def domain_histories(history: History) -> tuple[History, ...]:
    """Return one history per numbered domain."""
    if not _LAST or _LAST[0][0] is not history:
        domains = {one.domain for one in history.transactions if one.domain is not None}
        _LAST[:] = [(history, tuple(_of_domain(history, domain) for domain in sorted(domains)))]
    return _LAST[0][1]


def _of_domain(history: History, domain: int) -> History:
    own = tuple(one for one in history.transactions if one.domain == domain)
    ids = {one.id for one in own}
    items = {item for one in own for item in one.write_set}
    return replace(
        history,
        transactions=own,
        events=tuple(
            event._replace(
                observed=tuple(one for one in event.observed if one.item in items),
                transactions=tuple(one for one in event.transactions if one in ids),
                other=event.other if event.other in ids else None,
            )
            for event in history.events
            if event.transaction is None or event.transaction in ids
        ),
    )


def domain_streams(history: History) -> Iterator[tuple[History, ApplyStream]]:
    """Yield each replica's stream of each domain."""
    for domain in domain_histories(history):
        for stream in apply_streams(domain):
            yield domain, stream


# Order within a domain.


def _conflicts_in_a_domain(history: History) -> bool:
    return any(map(conflicting_transactions_are_applied, domain_histories(history)))


@always(
    of=logged_domains,
    source="MDEV-5189, MDEV-7458, MDEV-8302, MDEV-27365",
    witness=_conflicts_in_a_domain,
)
def domains_apply_without_conflict(history: History) -> tuple[Violation, ...]:
    """Within a domain, a surviving attempt changes a row after every earlier writer's commit."""
    return tuple(
        breach
        for domain in domain_histories(history)
        for breach in no_conflicting_parallel_apply(domain)
    )


def _one_domain_overlaps(history: History) -> bool:
    return any(map(two_transactions_overlap, domain_histories(history)))


@always(
    of=logged_domains,
    source="In-order parallel replication; MDEV-12746",
    witness=_one_domain_overlaps,
)
def domains_commit_in_order(history: History) -> tuple[Violation, ...]:
    """Within a domain, transactions commit in the engine in the order of the source's log."""
    return tuple(
        breach
        for domain in domain_histories(history)
        for breach in engine_commits_follow_the_log(domain)
    )


@always(
    of=logged_domains,
    source="changes only become visible on COMMIT, and commits are done in a serial way",
    witness=lambda history: any(map(reader_sees_the_middle, domain_histories(history))),
)
def domains_are_read_in_order(history: History) -> tuple[Violation, ...]:
    """What a reader sees of a domain is a prefix of its log, and never less than before."""
    return tuple(
        breach
        for domain in domain_histories(history)
        for breach in (*readers_see_prefixes(domain), *reads_never_go_back(domain))
    )


@sometimes(
    of=logged_domains,
    source="Out-of-order is explicitly enabled: between different replication domains",
)
def domains_overtake_each_other(history: History) -> bool:
    """A transaction committed before one of another domain that the log has first."""
    newest: dict[str, TransactionId] = {}
    for event in history.events_of(EventKind.ENGINE_COMMITTED):
        if event.transaction is None:
            continue
        ahead = newest.get(event.member, event.transaction)
        one, other = history.transaction(event.transaction), history.transaction(ahead)
        if ahead > event.transaction and one.domain != other.domain:
            return True
        newest[event.member] = max(ahead, event.transaction)
    return False


# The replica's own binary log.


def _logged(history: History) -> Iterator[tuple[str, list[Transaction]]]:
    """What a crash removed from the log may be logged again."""
    logs: dict[str, list[Transaction]] = {}
    crashed: set[str] = set()
    for event in history.events_of(EventKind.FLUSHED, EventKind.CRASHED):
        log = logs.setdefault(event.member, [])
        if event.kind is EventKind.CRASHED:
            crashed.add(event.member)
        elif event.transaction is not None:
            one = history.transaction(event.transaction)
            if event.member in crashed and one in log:
                log.remove(one)
            log.append(one)
    yield from logs.items()


def _two_are_logged(history: History) -> bool:
    return any(
        len({one.domain for one in log}) < len(log)
        for _, log in _logged(history)
        if any(one.domain is not None for one in log)
    )


@always(
    of=logged_domains,
    source="MDEV-6775, MDEV-30323; gtid_strict_mode, error 1950",
    witness=_two_are_logged,
)
def replica_logs_domains_in_order(history: History) -> tuple[LoggedOutOfOrder, ...]:
    """The replica's binary log has each domain in the order of the source's."""
    found = []
    for member, log in _logged(history):
        newest: dict[int | None, TransactionId] = {}
        for one in log:
            before = newest.get(one.domain, one.id)
            if before > one.id and one.domain is not None:
                found.append(LoggedOutOfOrder(member=member, earlier=one.id, later=before))
            newest[one.domain] = max(before, one.id)
    return tuple(found)


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=logged_domains,
    source="MDEV-6775, MDEV-26652: commit_ordered follows the binlog",
    witness=_two_are_logged,
)
def engine_commits_follow_the_replicas_log(history: History) -> tuple[CommittedUnlikeLogged, ...]:
    """The engine commits what can be rolled back in the order of the replica's binary log."""
    found = []
    for member, log in _logged(history):
        place = {one.id: number for number, one in enumerate(log)}
        newest: TransactionId | None = None
        for event in history.events_of(EventKind.ENGINE_COMMITTED, member=member):
            one = event.transaction
            if one not in place or TRANSACTIONAL not in history.transaction(one).flags:
                continue
            if newest is not None and place[newest] > place[one]:
                found.append(
                    CommittedUnlikeLogged(member=member, logged_first=one, committed_first=newest)
                )
            newest = one if newest is None or place[one] > place[newest] else newest
    return tuple(found)


# Workers.


def _limit(history: History) -> int:
    value = history.header.options.get("domain_workers", 0)
    return value if isinstance(value, int) else 0


@always(
    gaps=(fields(EventKind.BEGUN, "worker"),),
    of=stated_worker_limit,
    source="slave_domain_parallel_threads",
    witness=lambda history: _limit(history) > 0 and _one_domain_overlaps(history),
)
def domains_keep_their_worker_limit(history: History) -> tuple[DomainTookTooManyWorkers, ...]:
    """No domain has more workers busy at once than slave_domain_parallel_threads."""
    limit, found = _limit(history), []
    for domain in domain_histories(history) if limit else ():
        busy: dict[tuple[str, TransactionId], int] = {}
        for event in domain.events:
            if event.transaction is None or event.worker is None:
                continue
            if event.kind is EventKind.BEGUN:
                busy[event.member, event.transaction] = event.worker
                workers = {w for (member, _), w in busy.items() if member == event.member}
                if len(workers) > limit:
                    found.append(
                        DomainTookTooManyWorkers(
                            member=event.member,
                            domain=domain.transactions[0].domain or 0,
                            workers=tuple(sorted(workers)),
                            limit=limit,
                        )
                    )
            elif event.kind in (EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK):
                busy.pop((event.member, event.transaction), None)
    return tuple(found)
