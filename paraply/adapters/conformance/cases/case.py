"""A case of the suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from paraply.adapters.conformance.source import Change, SourceLog, insert
from paraply.adapters.conformance.stamps import Stamps

FAMILIES: dict[str, str] = {
    "A": "rotation: sequence numbers start again",
    "B": "last_committed is a prefix: every number up to it",
    "C": "sparse sequence numbers, filtered streams",
    "D": "collations and padding, at the source and at the target",
    "E": "secondary, prefix and nullable unique keys",
    "F": "foreign keys, parents and children",
    "G": "cascades: changes that the log does not show",
    "H": "tables without a key",
    "I": "key moves and swaps inside one transaction",
    "J": "splitting, compacting and batching transactions",
    "K": "schema changes and empty transactions",
    "L": "stalls and deadlocks",
    "M": "lost and repeated transactions, crashes, checkpoints",
    "N": "over-serialisation and needless failure",
    "O": "sizes: workers, length, rows, files, deadlocks in a row, tables",
}
OWN_LOGS = {"U": "slices of a log given by --log"}
"""The family that is not in the suite."""

NO_OVERLAP = "no_conflicting_parallel_apply"
AS_LOGGED = "rows_apply_as_logged"
SAME_TABLES = "tables_end_as_the_sources"
ORDER = "engine_commits_follow_the_log"
PREFIXES = "readers_see_prefixes"
ONCE = "applied_exactly_once"
ENDS = "applier_reaches_the_end"
WHOLE = "transactions_apply_whole"
POSITIONS = "saved_positions_are_executed"
GOES_ON = "applier_does_not_give_up"
OVERLAP = "two_transactions_overlap"

_SHOWN_BY_OVERLAP = frozenset({NO_OVERLAP, AS_LOGGED, SAME_TABLES, ORDER, PREFIXES, OVERLAP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A log, its run options and the property under test.

    Attributes:
        id: stable: family, subject, number (``A-rotation-01``).
        fact: the correct behaviour.
        source: the bug report or document.
        decides: the property under test; all others are judged too.
        log: makes the log from a seed, which a fixed case ignores.
        crashes: kills with restart.
        deadlocks: attempts made deadlock victims.
        needs: features without which the case is skipped.
        must_overlap: requires overlapping transactions in some run.
        is_generated: each seed makes another log.
    """

    id: str
    fact: str
    source: str
    decides: str
    log: Callable[[int], SourceLog]
    workers: int = 4
    commit_order: bool = False
    crashes: int = 0
    deadlocks: int = 0
    needs: frozenset[str] = frozenset()
    must_overlap: bool = False
    is_generated: bool = False
    schedules_max: int | None = None

    @property
    def family(self) -> str:
        """Return the family letter."""
        return self.id[0]

    @property
    def is_about_parallel_apply(self) -> bool:
        """Return whether the case requires overlap."""
        return self.must_overlap or self.decides in _SHOWN_BY_OVERLAP

    @property
    def is_for_trackers(self) -> bool:
        """Return whether it lacks crash, retry and order."""
        at_stake = self.crashes or self.deadlocks or self.commit_order
        return self.is_about_parallel_apply and not at_stake and "lc_sn" not in self.needs

    @property
    def features(self) -> frozenset[str]:
        """Return the required features."""
        return _features(self)


@lru_cache(maxsize=1024)
def log_for(case: Case, seed: int, kept: tuple[int, ...] | None = None) -> SourceLog:
    """Return a seed's shared log: do not change it."""
    if not case.is_generated and seed >= len(Stamps):
        return log_for(case, seed % len(Stamps), kept)
    log = case.log(seed).stamped(Stamps.of_seed(seed))
    return log if kept is None else log.only(kept) or log


@lru_cache(maxsize=1024)
def _features(case: Case) -> frozenset[str]:
    found = set(case.needs)
    if case.commit_order:
        found.add("commit_order")
    if case.crashes:
        found.add("crash")
    if case.deadlocks:
        found.add("retry")
    if any(one.statement for one in log_for(case, 0).transactions):
        found.add("ddl")
    return frozenset(found)


T = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"
OTHER = "CREATE TABLE d.other (id INT PRIMARY KEY, v INT)"
"""Its rows show that the applier works in parallel."""


def empty_log(*statements: str, target: tuple[str, ...] = ()) -> SourceLog:
    """Return an empty log with ``d.other``."""
    return SourceLog(OTHER, *statements, target=(OTHER, *target) if target else ())


def log_of(*statements: str, target: tuple[str, ...] = ()) -> SourceLog:
    """Return a log that begins with one transaction and a drain.

    Only a file's first transaction has last_committed=0.
    """
    log = empty_log(*statements, target=target)
    log.transaction(insert("d.other", 0, 0))
    log.drain()
    return log


def bystanders(log: SourceLog, *numbers: int) -> None:
    """Log transactions without conflicts."""
    for number in numbers:
        log.transaction(insert("d.other", number, number))


def among_bystanders(
    tables: tuple[str, ...],
    setup: tuple[Change, ...],
    *transactions: tuple[Change, ...],
    target: tuple[str, ...] = (),
) -> Callable[[int], SourceLog]:
    """Return a builder of a log: after a drain, transactions between others without conflicts."""

    def build(_: int) -> SourceLog:
        log = log_of(*tables, target=target)
        if setup:
            log.transaction(*setup)
            log.drain()
        bystanders(log, 1, 2)
        for changes in transactions:
            log.transaction(*changes)
        bystanders(log, 3, 4)
        return log

    return build
