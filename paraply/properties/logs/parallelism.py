"""A log's parallelism under several models.

- ``logical-clock``: MySQL's timestamps by the prefix rule.
- ``commit-group``: MariaDB's commit ids, or MySQL's last_committed.
- ``row-conflicts``: waits for keys' last writers, writers also for foreign-key readers.
- ``with-keys``: the same, if tables without a key had one; rows that differ then wait no more.
- ``by-table``, ``by-schema``, ``by-primary-key``: partitions, as of change-data consumers.

A transaction costs ``1 + rows`` steps on the first free worker (``worker_timeline``). In models by
rows, DDL, statement-based changes, XA, view changes and incidents run alone.

``conflicting_pairs_apart`` counts row-conflict waits that the model leaves unordered: allowed
overlaps, or no common partition. Other transactions may order them, but not for consumers that
split transactions.
"""

from __future__ import annotations

from collections.abc import Sequence

from paraply.properties.logs.conflict_index import ConflictIndex, SeenTransaction
from paraply.properties.logs.critical_path import START, Cause, CriticalPath
from paraply.properties.logs.dependency_safety import Touches
from paraply.properties.logs.overlap_rules import (
    COMMIT_GROUP,
    LOGICAL_CLOCK,
    CommitGroupRule,
    LogicalClockRule,
)
from paraply.properties.logs.scheduling_models import (
    GroupModel,
    PartitionModel,
    PrefixClockModel,
    TableOrder,
)
from paraply.properties.logs.transaction_facts import compute_work, get_schema
from paraply.properties.logs.width_over_time import WidthOverTime
from paraply.properties.logs.worker_timeline import ROUND, UNBOUNDED, WorkerTimeline, later_of
from paraply.vocabulary.audit_result import Parallelism
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import ANY_ROWS, LoggedTransaction, table_of
from paraply.vocabulary.verdict import Verdict

ROW_CONFLICTS = "row-conflicts"
BY_TABLE = "by-table"
BY_SCHEMA = "by-schema"
BY_PRIMARY_KEY = "by-primary-key"
WITH_KEYS = "with-keys"
"""Differs from row-conflicts only where rows without a key were seen."""
MODELS = (LOGICAL_CLOCK, COMMIT_GROUP, ROW_CONFLICTS, BY_TABLE, BY_SCHEMA, BY_PRIMARY_KEY)
_SHOWN = (
    LOGICAL_CLOCK, COMMIT_GROUP, ROW_CONFLICTS, WITH_KEYS, BY_TABLE, BY_SCHEMA, BY_PRIMARY_KEY,
)  # fmt: skip

_ROWS, _PRIMARY_KEYS, _WITH_KEYS = 0, 1, 2
"""Positions in :attr:`SeenTransaction.finish`."""

_Wait = tuple[int, int, Cause, SeenTransaction | None]
"""Finish, ordinal, cause and transaction of a wait."""


class ParallelismJudge:
    """Schedules one log under every model in one pass.

    Call ``observe`` before the shared :class:`ConflictIndex` remembers.
    """

    def __init__(self, index: ConflictIndex, workers: Sequence[int]) -> None:
        self._index = index
        self._timelines = {model: WorkerTimeline(workers) for model in _SHOWN}
        self._row_lines = [
            self._timelines[one] for one in (ROW_CONFLICTS, BY_PRIMARY_KEY, WITH_KEYS)
        ]
        """In the order of :attr:`SeenTransaction.finish`."""
        self._clock_rule, self._group_rule = (
            LogicalClockRule(),
            CommitGroupRule(by_last_committed=True),
        )
        self._clock = PrefixClockModel(self._timelines[LOGICAL_CLOCK])
        self._groups = GroupModel(self._timelines[COMMIT_GROUP])
        self._tables = PartitionModel(self._timelines[BY_TABLE])
        self._schemas = PartitionModel(self._timelines[BY_SCHEMA])
        self._table_order = TableOrder()
        start = self._timelines[ROW_CONFLICTS].start_of_log()
        self._barrier_finish: tuple[list[int], ...] = (start, start, start)
        self._barrier: SeenTransaction | None = None
        self._latest: SeenTransaction | None = None
        self._latest_finish = 0
        self._clock_seen = self._groups_seen = self._keyless_seen = False
        self._keys_unknown = self._keys_uncertain = False
        self._conflict_pairs = 0
        self._pairs_apart = dict.fromkeys(self._timelines, 0)
        self.path = CriticalPath()
        self.width = WidthOverTime()
        self.clock_distance: dict[int, int] = {}

    def observe(self, txn: LoggedTransaction, seen: SeenTransaction, touches: Touches) -> None:
        """Schedule ``txn``; set the finish of ``seen``."""
        work = compute_work(txn)
        self._follow_metadata(txn, seen, work)
        barrier = txn.is_barrier
        tables = sorted(touches.tables)
        self._tables.place(tables, work, barrier=barrier)
        self._schemas.place(sorted({get_schema(t) for t in tables}), work, barrier=barrier)
        self._keys_unknown |= bool(touches.unkeyed or touches.blurred)
        self._keys_uncertain |= bool(txn.uncertain_keys)
        self._keyless_seen |= bool(touches.unkeyed - touches.unidentified)
        if barrier:
            self._run_alone(txn, seen, work)
        else:
            self._follow_keys(seen, touches, work)

    def pass_over(self, txn: LoggedTransaction) -> None:
        """Follow the metadata of an unjudged transaction."""
        self._clock_rule.place(txn)
        self._group_rule.place(txn)

    def _follow_metadata(self, txn: LoggedTransaction, seen: SeenTransaction, work: int) -> None:
        clock_place = self._clock_rule.place(txn)
        group_place = self._group_rule.place(txn)
        seen.clock_place, seen.group_place = clock_place, group_place
        clock_finish = self._clock.place(clock_place, work)
        commit = int(group_place.follows and not txn.is_barrier)
        group_finish = self._groups.place(group_place, work, commit=commit)
        last_committed, sequence_number = txn.last_committed, txn.sequence_number
        if sequence_number is not None and last_committed is not None:
            self._clock_seen = True
            self.width.observe(clock_finish[ROUND])
            distance = sequence_number - last_committed
            if distance > 0:
                bucket = 1 << (distance.bit_length() - 1)
                self.clock_distance[bucket] = self.clock_distance.get(bucket, 0) + 1
        else:
            self.width.observe(group_finish[ROUND])
        self._groups_seen |= txn.domain is not None or txn.commit_id is not None

    def _run_alone(self, txn: LoggedTransaction, seen: SeenTransaction, work: int) -> None:
        # It waits for whatever ends last, and everything after it waits for it.
        before = self._latest
        seen.finish = finish = self._schedule([line.end for line in self._row_lines], work)
        cause: Cause = (_kind_word(txn.kind.value), seen.statement or txn.kind.value)
        self._note_path(seen, before, cause, work, finish[_ROWS])
        self._barrier, self._barrier_finish = seen, finish
        self._table_order.clear()

    def _follow_keys(self, seen: SeenTransaction, touches: Touches, work: int) -> None:
        waits = self._earlier_conflicts(touches)
        row_ready, key_ready, with_keys_ready = self._barrier_finish
        candidates: list[_Wait] = [(0, 0, START, None), self._wait_for_barrier()]
        for ordinal, (earlier, key) in waits.items():
            finish = earlier.finish[_ROWS]
            row_ready = later_of(row_ready, finish)
            with_keys_ready = later_of(with_keys_ready, earlier.finish[_WITH_KEYS])
            if earlier is not self._barrier:
                candidates.append((finish[UNBOUNDED], ordinal, ("key", str(key)), earlier))
        blurred = touches.blurred - {ANY_ROWS}
        floors = self._table_order.waits(touches.met, touches.unkeyed, touches.searched, blurred)
        for table, floor in floors:
            row_ready = later_of(row_ready, floor.finish[_ROWS])
            key_ready = later_of(key_ready, floor.finish[_PRIMARY_KEYS])
            last = floor.last
            candidates.append(
                (floor.finish[_ROWS][UNBOUNDED], last.ref.ordinal, ("table", table_of(table)), last)
            )
        if touches.unkeyed != touches.unidentified:
            unidentified = touches.unidentified
            floors = self._table_order.waits(touches.met, unidentified, unidentified, blurred)
        for _, floor in floors:
            with_keys_ready = later_of(with_keys_ready, floor.finish[_WITH_KEYS])
        for key in seen.primary_keys:
            access = self._index.writes.newest(key)
            if access is not None and access.seen is not None:
                key_ready = later_of(key_ready, access.seen.finish[_PRIMARY_KEYS])
        seen.finish = self._schedule((row_ready, key_ready, with_keys_ready), work)
        _, _, cause, before = max(candidates, key=lambda candidate: candidate[:3])
        self._note_path(seen, before, cause, work, seen.finish[_ROWS])
        self._count_apart(seen, waits, touches)
        self._table_order.remember(seen, touches.met, touches.unkeyed, touches.searched, blurred)

    def _schedule(self, ready: Sequence[Sequence[int]], work: int) -> tuple[list[int], ...]:
        lines = zip(self._row_lines, ready, strict=True)
        return tuple(line.schedule(since, work) for line, since in lines)

    def _wait_for_barrier(self) -> _Wait:
        barrier = self._barrier
        if barrier is None:
            return (0, 0, START, None)
        cause = (_kind_word(barrier.kind.value), barrier.statement or barrier.kind.value)
        return (self._barrier_finish[_ROWS][UNBOUNDED], barrier.ref.ordinal, cause, barrier)

    def _earlier_conflicts(
        self, touches: Touches
    ) -> dict[int, tuple[SeenTransaction, ConflictKey]]:
        """Return the awaited transactions with the smallest shared keys.

        All readers since the last write count: the newest need not finish last.
        """
        index = self._index
        found: dict[int, tuple[SeenTransaction, ConflictKey]] = {}
        for key in (*touches.writes, *touches.reads):
            written = index.writes.newest(key)
            since = 0
            if written is not None and written.seen is not None:
                since = written.seen.ref.ordinal
                _keep_smallest(found, written.seen, key)
            read = index.reads.newest(key) if key in touches.writes else None
            while read is not None and read.seen is not None and read.seen.ref.ordinal > since:
                _keep_smallest(found, read.seen, key)
                read = read.previous
        return found

    def _note_path(
        self,
        seen: SeenTransaction,
        before: SeenTransaction | None,
        cause: Cause,
        work: int,
        finish: list[int],
    ) -> None:
        waits_for = before.ref.ordinal if before is not None else 0
        self.path.observe(
            seen.ref, waits_for, cause if waits_for else START, work, finish[UNBOUNDED]
        )
        if finish[UNBOUNDED] > self._latest_finish:
            self._latest, self._latest_finish = seen, finish[UNBOUNDED]

    def _count_apart(
        self,
        seen: SeenTransaction,
        waits: dict[int, tuple[SeenTransaction, ConflictKey]],
        touches: Touches,
    ) -> None:
        apart = self._pairs_apart
        schemas = {get_schema(table) for table in touches.tables}
        primary_keys = set(seen.primary_keys)
        for earlier, _ in waits.values():
            self._conflict_pairs += 1
            if seen.clock_place is not None and earlier.clock_place is not None:
                apart[LOGICAL_CLOCK] += seen.clock_place.may_overlap(earlier.clock_place)
            if seen.group_place is not None and earlier.group_place is not None:
                apart[COMMIT_GROUP] += seen.group_place.may_overlap(earlier.group_place)
            if earlier.kind != seen.kind:
                continue  # Barriers run alone under the models below.
            apart[BY_TABLE] += touches.tables.isdisjoint(earlier.tables)
            apart[BY_SCHEMA] += schemas.isdisjoint(get_schema(t) for t in earlier.tables)
            apart[BY_PRIMARY_KEY] += primary_keys.isdisjoint(earlier.primary_keys)

    def results(self, safety: dict[str, Verdict]) -> list[Parallelism]:
        """Return one entry per applicable model.

        ``safety`` is by applier.
        """
        return [
            self._result(model, safety)
            for model in _SHOWN
            if (model != LOGICAL_CLOCK or self._clock_seen)
            and (model != WITH_KEYS or self._keyless_seen)
            and (model != COMMIT_GROUP or self._groups_seen or self._clock_seen)
        ]

    def _result(self, model: str, safety: dict[str, Verdict]) -> Parallelism:
        line = self._timelines[model]
        return Parallelism(
            model=model,
            safe=safety[model] if model in safety else self._verdict(model),
            conflicting_pairs_apart=self._pairs_apart[model],
            work=line.work,
            critical_path=line.critical_path,
            transactions_on_path=line.steps,
            steps=line.steps,
            width_max=line.width_max,
            width_mean=line.width_mean,
            ideal_speedup=line.ideal_speedup,
            speedup=line.speedups(),
            knee=line.knee(),
        )

    def _verdict(self, model: str) -> Verdict:
        if self._pairs_apart[model]:
            return Verdict.UNKNOWN if self._keys_uncertain else Verdict.VIOLATED
        if self._keys_unknown or self._keys_uncertain or not self._conflict_pairs:
            return Verdict.UNKNOWN
        return Verdict.HOLDS


def _keep_smallest(
    found: dict[int, tuple[SeenTransaction, ConflictKey]], seen: SeenTransaction, key: ConflictKey
) -> None:
    known = found.get(seen.ref.ordinal)
    if known is None or _order(key) < _order(known[1]):
        found[seen.ref.ordinal] = (seen, key)


def _order(key: ConflictKey) -> tuple[bool, str, str, str]:
    # PRIMARY first: it identifies the row for readers.
    return key.index != "PRIMARY", key.table, key.index, str(key)


def _kind_word(kind: str) -> str:
    return kind if kind in ("ddl", "statement") else "metadata"
