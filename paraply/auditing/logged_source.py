"""A log for appliers, with the metadata that its source wrote or could have written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paraply.adapters.binlog.input_files import open_inputs
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaDoubts, SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from paraply.errors import NOTHING_READ
from paraply.reference_impl.certification.trackers import CommitOrderTracker, WritesetTracker
from paraply.reference_impl.comparison.appliers import (
    AS_LOGGED,
    COMMIT_ORDER,
    WRITESET,
    ComparedApplier,
)
from paraply.reference_impl.comparison.group_commit import LoggedCommits
from paraply.reference_impl.comparison.logged import LoggedTasks
from paraply.reference_impl.comparison.measures import Measured, measured
from paraply.reference_impl.comparison.runs import Run
from paraply.reference_impl.comparison.tasks import TaskLog
from paraply.reference_impl.workloads.stamps import (
    commit_parents,
    restamped,
    timestamps,
    tracked_tasks,
)
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.timestamps import LogicalTimestamp

SAME_WITHIN = 0.01
"""Times that differ by this share at most are one prediction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of a log to take; 0 is all."""

    transactions_max: int = 0
    rows_max: int = 0

    def ends_before(self, transactions: int, rows: int) -> bool:
        """Return whether that many transactions and rows are enough."""
        return bool(
            (self.transactions_max and transactions >= self.transactions_max)
            or (self.rows_max and rows >= self.rows_max)
        )


@dataclass(slots=True, kw_only=True)
class Source:
    """A log with its source's metadata."""

    log: TaskLog
    stamps: dict[str, Sequence[LogicalTimestamp | None]]
    """One stamp per transaction, by applier."""
    has_commit_ids: bool
    remarks: list[str] = field(default_factory=list)
    unknown_tables: tuple[str, ...] = ()
    """Tables of which keys or rows are unknown; they conflict as a whole."""
    doubts: SchemaDoubts = field(default_factory=SchemaDoubts)
    """How the log contradicts the schema dump."""
    freest: Source | None = None
    """The same log if unknown keys conflict with nothing; absent if all is known or the input
    cannot be read again."""
    unpredicted_delay: str = field(default="", init=False)
    """Why a delay of the source's group commits is not predicted, if it may matter."""
    makespans: dict[tuple[str, int], int] = field(default_factory=dict, init=False)
    """Ticks by applier and number of workers, as far as they were predicted."""
    _commits: LoggedCommits | None = field(default=None, init=False, repr=False)

    @property
    def commits(self) -> LoggedCommits:
        """The commits of a log with stamps, and what its sessions do between them."""
        if self._commits is None:
            parents = commit_parents(self.log, self.stamps[AS_LOGGED])
            self._commits = LoggedCommits(self.log, parents)
        return self._commits

    def run(
        self,
        applier: ComparedApplier,
        workers: int,
        advance: Callable[[float], None] = lambda _: None,
    ) -> Measured:
        """Measure the log as applied with the applier's own stamps."""
        return measured(self.log, self.moments(applier, workers, advance))

    def moments(
        self,
        applier: ComparedApplier,
        workers: int,
        advance: Callable[[float], None] = lambda _: None,
    ) -> Run:
        """Apply the log with the applier's own stamps."""
        stamps = self.stamps.get(applier.stamps)
        if stamps is not None:
            for task, stamp in zip(self.log.tasks[1:], stamps, strict=True):
                task.stamp = stamp
        return applier.run(self.log, workers, advance)

    def rests_on_unknown(
        self, applier: ComparedApplier, workers: int, makespan: int | None
    ) -> bool:
        """Return whether other keys in the unknown tables could give another time."""
        if not self.unknown_tables:
            return False
        if self.freest is None or makespan is None:
            return True
        free = self.freest.moments(applier, workers)
        return not free.has_finished or abs(free.makespan - makespan) > SAME_WITHIN * makespan


def logged_source(files: Sequence[str], schema: str | None, extent: Extent) -> Source:
    """Return the beginning of a log as tasks, with the stamps that its source could have written.

    Raises ``ParaplyError`` for unreadable files.
    """
    source = _logged(files, schema, extent)
    if not source.unknown_tables:
        return source
    source.remarks.append(
        "keys or rows of these tables are unknown: a time that rests on them is not shown: "
        + ", ".join(source.unknown_tables)
    )
    if all(Path(file).is_file() for file in files):
        source.freest = _logged(files, schema, extent, unknown_is_free=True)
    return source


def _logged(
    files: Sequence[str], schema: str | None, extent: Extent, *, unknown_is_free: bool = False
) -> Source:
    registry = SchemaRegistry()
    if schema is not None:
        load_schema_file(registry, schema)
    keys = KeyBuilder(registry)
    tasks = LoggedTasks(keys, unknown_is_free=unknown_is_free)
    inputs, report = open_inputs(files), LogReport()

    def on_table_map(table: TableMap) -> None:
        registry.observe_table_map(table.table_schema())

    transactions = (
        read_text_transactions(inputs.sources, report=report)
        if inputs.is_text
        else read_transactions(inputs.sources, report=report, on_table_map=on_table_map)
    )
    remarks: list[str] = []
    count = rows = 0
    for txn in transactions:
        if extent.ends_before(count, rows):
            remarks.append(f"the first {count:,} transactions of the log only")
            break
        keys.complete_transaction(txn)
        tasks.add(txn)
        count, rows = count + 1, rows + len(txn.rows)
    faults = list(report.diagnostics())
    if not count and faults:
        raise ParaplyError(NOTHING_READ, reason=faults[0].text, remedy=faults[0].remedy)
    remarks += [f"not all could be read: {fault.text}" for fault in faults]
    log = tasks.log()
    stamps: dict[str, Sequence[LogicalTimestamp | None]] = {}
    if tasks.has_stamps:
        stamps[AS_LOGGED] = [task.stamp for task in log.tasks[1:]]
    if tasks.has_stamps:
        parents = commit_parents(log, stamps[AS_LOGGED])
        stamps[WRITESET] = restamped(log, parents, WritesetTracker())
    else:
        # What COMMIT_ORDER would have written is known from commit groups only.
        stamps = tracked_stamps(log)
    return Source(
        log=log,
        stamps=stamps,
        has_commit_ids=tasks.has_commit_ids,
        remarks=remarks,
        unknown_tables=tuple(sorted(tasks.unknown_tables)),
        doubts=registry.doubts,
    )


def tracked_stamps(log: TaskLog) -> dict[str, Sequence[LogicalTimestamp | None]]:
    """Return what each tracker of a source stamps on a log's commit groups."""
    groups = [task.group for task in log.tasks[1:]]
    return {
        stamps: timestamps(tracked_tasks(log), groups, tracker)
        for stamps, tracker in (
            (COMMIT_ORDER, CommitOrderTracker()), (WRITESET, WritesetTracker()),
        )
    }  # fmt: skip
