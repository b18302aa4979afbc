"""Jobs that merge several small transactions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import attempts_of_workers, relay_log
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId

MERGING = "c4"
"""Prefix of dialects that merge small transactions."""
SMALL_ROWS = 4
"""A transaction with more rows is large, and has a job of its own."""
_STARTS = frozenset({EventKind.STARTED, EventKind.CRASHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftApart(Violation):
    """Two small neighbours are in two jobs, and the first has room."""

    member: str
    job: tuple[TransactionId, ...]
    transaction: TransactionId

    def __str__(self) -> str:
        names = " ".join(f"T{one}" for one in self.job)
        return f"{self.member}: the job of {names} had room for T{self.transaction}, a small one"


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeInAJob(Violation):
    """A job merges a transaction that is not small."""

    member: str
    job: tuple[TransactionId, ...]
    transaction: TransactionId
    rows: int

    def __str__(self) -> str:
        names = " ".join(f"T{one}" for one in self.job)
        return f"{self.member}: the job of {names} merges T{self.transaction} of {self.rows} rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedInItsJob(Violation):
    """A transaction deletes a row that its job inserts."""

    member: str
    job: tuple[TransactionId, ...]
    transaction: TransactionId

    def __str__(self) -> str:
        names = " ".join(f"T{one}" for one in self.job)
        return f"{self.member}: T{self.transaction} deletes a row that its job, {names}, inserts"


def merged_jobs(history: History) -> bool:
    """Workers apply jobs of a design that merges small transactions."""
    return (
        attempts_of_workers(history)
        and relay_log(history)
        and history.header.dialect.startswith(MERGING)
        and int(history.header.options.get("merged", 1)) > 1
    )


Job = tuple[TransactionId, ...]


def _jobs(history: History) -> Iterator[tuple[str, list[Job]]]:
    """Yield the jobs that a member forms between two starts, in the order of the log."""
    for member in history.members:
        jobs: set[Job] = set()
        for event in history.events:
            if event.member != member:
                continue
            if event.kind in _STARTS:
                yield member, sorted(jobs)
                jobs = set()
            elif event.kind is EventKind.BEGUN and event.transaction is not None:
                jobs.add(event.transactions or (event.transaction,))
        yield member, sorted(jobs)


def _cancels(job: list[Transaction], following: Transaction) -> bool:
    """Return whether a transaction deletes a row that the job inserts."""
    fresh = {row.after[:1] for one in job for row in one.rows if not row.before and row.after}
    return any(row.before and not row.after and row.before[:1] in fresh for row in following.rows)


def _is_small(one: Transaction) -> bool:
    return 0 < len(one.rows) <= SMALL_ROWS and not one.is_barrier


def _neighbours(history: History) -> Iterator[tuple[LeftApart, bool]]:
    """Yield small jobs followed by a small transaction, and whether they had room for it."""
    limit = int(history.header.options.get("merged", 1))
    for member, jobs in _jobs(history):
        for job, after in pairwise(jobs):
            following = history.transaction(after[0])
            whole = [history.transaction(one) for one in job]
            if all(map(_is_small, (*whole, following))) and after[0] == job[-1] + 1:
                has_room = len(job) < limit and not _cancels(whole, following)
                yield LeftApart(member=member, job=job, transaction=after[0]), has_room


@always(
    of=merged_jobs,
    source="WL#4648, C4: several small transactions are combined into a bigger one",
    witness=lambda history: sum(1 for _ in _neighbours(history)),
    is_safety=False,
)
def small_neighbours_are_merged(history: History) -> list[LeftApart]:
    """A job of small transactions takes the next small one, if the limit allows it."""
    return [one for one, has_room in _neighbours(history) if has_room]


def _members(history: History) -> Iterator[tuple[DeletedInItsJob, bool]]:
    """Yield further transactions of jobs, and whether each leaves what the job inserts."""
    for member, jobs in _jobs(history):
        for job in jobs:
            whole = [history.transaction(one) for one in job]
            for place in range(1, len(whole)):
                found = DeletedInItsJob(member=member, job=job, transaction=job[place])
                yield found, not _cancels(whole[:place], whole[place])


@always(
    of=merged_jobs,
    source="WL#4648, C4: conflicts are partly resolved when the job is formed",
    witness=lambda history: sum(1 for _ in _members(history)),
    is_safety=False,
)
def jobs_delete_nothing_that_they_insert(history: History) -> list[DeletedInItsJob]:
    """No job deletes a row that it inserts, so that each of its rows has one change to apply."""
    return [found for found, leaves_it in _members(history) if not leaves_it]


def _merged_and_large(history: History) -> Iterator[tuple[LargeInAJob, bool]]:
    """Yield transactions of merged jobs, and large ones; and whether one is both."""
    for member, jobs in _jobs(history):
        for job in jobs:
            for one in map(history.transaction, job):
                is_large = bool(one.rows) and not _is_small(one)
                if len(job) > 1 or is_large:
                    found = LargeInAJob(
                        member=member, job=job, transaction=one.id, rows=len(one.rows)
                    )
                    yield found, len(job) > 1 and is_large


@always(
    of=merged_jobs,
    source="WL#4648, C4: small transactions are combined; big ones are served as C1 or C2 would",
    witness=lambda history: sum(1 for _ in _merged_and_large(history)),
    is_safety=False,
)
def only_small_transactions_are_merged(history: History) -> list[LargeInAJob]:
    """A transaction of more than four rows has a job of its own, and so has a barrier."""
    return [found for found, is_wrong in _merged_and_large(history) if is_wrong]
