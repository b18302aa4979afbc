"""The batch twin of ``paraply.properties.logs.audit.Auditor``.

Kernels judge keys and rows. The readable auditor judges metadata, assembles results, and rereads
and words named findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import copy
from dataclasses import replace

import numpy as np

from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.batches import (
    KINDS,
    BatchParts,
    BatchSource,
    Ints,
    JudgedBatch,
    batch_of_one,
    digested_one,
    judged_batch,
    require_compilable,
)
from paraply.properties.logs.compiled.definitions import Definitions, names_of, unread
from paraply.properties.logs.compiled.judge_kernel import judge
from paraply.properties.logs.compiled.left_replay import LeftReplay
from paraply.properties.logs.compiled.lint import lint_batch
from paraply.properties.logs.compiled.named_tables import (
    Headers,
    NamedTables,
    note_domains_of_batch,
)
from paraply.properties.logs.compiled.path import CompiledPath
from paraply.properties.logs.compiled.replay import CompiledReplay
from paraply.properties.logs.compiled.rule_kernel import GAP
from paraply.properties.logs.compiled.state import (
    LANES_MAX,
    drop_counts,
    grown,
    new_state,
    with_tables,
)
from paraply.properties.logs.conflict_index import SeenTransaction
from paraply.properties.logs.critical_path import RING_MAX
from paraply.properties.logs.dependency_safety import (
    CONFLICTING_TRANSACTIONS_ARE_ORDERED,
    DEFINITIONS_CHANGE_ALONE,
    Meeting,
    Touches,
    get_touches,
    note_domains,
)
from paraply.properties.logs.domains_of_tables import DomainsOfTables
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, LOGICAL_CLOCK, STRETCHES_MAX, Place
from paraply.properties.logs.parallelism import MODELS, ROW_CONFLICTS, WITH_KEYS
from paraply.properties.logs.safety_evidence import get_consequence
from paraply.properties.logs.scheduling_models import WINDOW_MAX
from paraply.properties.logs.table_census import TABLES_MAX
from paraply.properties.logs.transaction_facts import get_reference, get_schema, shorten
from paraply.properties.logs.width_over_time import SLICES_MAX
from paraply.properties.logs.worker_timeline import LEVELS_MAX
from paraply.vocabulary.audit_result import AuditResult, SafetyViolation
from paraply.vocabulary.keys import ConflictKey, RowKeys
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.not_compilable import NotCompilable

_RULES = {LOGICAL_CLOCK: C.CLOCK, COMMIT_GROUP: C.GROUP}
_BREAKS = {GAP: "a gap in the sequence numbers"}
_LAST_COMMITTED_ZERO = "last_committed=0"


class CompiledAuditor(Auditor):
    """Runs every judge over batches and single transactions.

    With ``left``, the reasons by lower-case table, batches may have rows for the readable code.
    Raises ``NotCompilable`` if only the readable auditor works.
    """

    _PATH = CompiledPath

    def __init__(
        self, row_keys: RowKeys, source: BatchSource, options: AuditOptions | None = None, *,
        left: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(row_keys, options)
        options = self.options
        self._source = source
        self._row_keys = row_keys
        self._state = new_state(
            workers=options.workers,
            order=tuple(_RULES[name] for name in self._appliers),
            limits=(
                options.horizon.keys, options.horizon.transactions, LEVELS_MAX, WINDOW_MAX,
                STRETCHES_MAX, RING_MAX, SLICES_MAX, options.violations_max,
            ),
        )  # fmt: skip
        self._path = self._PATH(RING_MAX, source)
        self._parallelism.path = self._path
        self._compiled_replay = CompiledReplay(
            row_keys, options.replay_rows_max, options.replay_findings_max
        )
        self._replay = self._compiled_replay
        self._left_reasons = left
        self._left_rows: Counter[str] = Counter()
        self._named = NamedTables(self._safety, self._appliers, source)
        self._path.tables = self._named.table_of
        if left is not None:
            self._compiled_replay.leave_to(LeftReplay(row_keys, options.replay_findings_max))
        self._lanes: dict[int, int] = {}
        self._table_names: list[str] = []
        self._schema_numbers: dict[str, int] = {}
        self._schema_of_table: list[int] = []
        self._definitions = Definitions(self._safety)

    # Batches

    def observe_batch(self, parts: BatchParts) -> None:
        """Judge a batch of plain transactions."""
        lint_batch(self._lint, parts)
        batch, first_ordinal = judged_batch(parts), parts.first_ordinal
        columns = batch.columns
        count, rows = len(columns), len(batch.row_operations)
        changing = int((columns[:, C.B_ROWS] > 0).sum())
        self._transactions += count
        self._row_changes += rows
        for kind, number in (("rows", changing), ("empty", count - changing)):
            if number:
                self._kinds[kind] += number
        self._note_metadata(columns)
        self._judge_rows(batch, first_ordinal, parts.headers)
        self._compiled_replay.observe_batch(batch, first_ordinal, self._source)

    def _judge_rows(self, batch: JudgedBatch, first_ordinal: int, headers: Headers) -> Ints:
        """Judge a batch's keys; return ``columns.D_*``. ``headers`` names chosen transactions."""
        columns = batch.columns
        self._take_census(batch)
        left = [self._take_left(part.transaction) for part in batch.left]
        domains = self._domains()
        if domains is not None:
            note_domains_of_batch(domains, batch, left)
        self._number_lanes(columns)
        self._add_tables(batch.table_names)
        uses = int(batch.uses_max().sum())
        self._definitions.uses.note(
            first_ordinal, uses + sum(len(touches.uses) for touches in left)
        )
        if left or batch.table_roles.any():
            self._state = self._named.add_names(self._state, batch, left)
            unknown = batch.table_roles & C.BLURS_ALL, batch.roles & (C.UNKEYED_ROWS | C.BLURRED)
            self._parallelism._keys_unknown |= any(each.any() for each in unknown)
        placed = self._judge(batch, first_ordinal)
        self._named.note_undecided(batch, first_ordinal, headers, left, placed)
        return placed

    def _note_metadata(self, columns: Ints) -> None:
        stamped = columns[:, C.B_SEQUENCE_NUMBER] > 0
        has_clock, has_groups = bool(stamped.any()), bool(columns[:, C.B_HAS_DOMAIN].any())
        self._has[LOGICAL_CLOCK] |= has_clock
        self._has[COMMIT_GROUP] |= has_groups
        if all(self._has.values()):
            raise NotCompilable("logs of MySQL and of MariaDB in one stream")
        distances = (columns[:, C.B_SEQUENCE_NUMBER] - columns[:, C.B_LAST_COMMITTED])[stamped]
        histogram = self._parallelism.clock_distance
        for bits, number in enumerate(np.bincount(_bit_length(distances[distances > 0]))):
            if number:
                bucket = 1 << (bits - 1)
                histogram[bucket] = histogram.get(bucket, 0) + int(number)

    def _domains(self) -> DomainsOfTables | None:
        """Return the domains of tables, if commit groups are judged."""
        if COMMIT_GROUP not in self._appliers:
            return None
        return self._safety.evidence[self._appliers.index(COMMIT_GROUP)].domains

    def _take_census(self, batch: JudgedBatch) -> None:
        counts = self._tables._counts
        for table in np.flatnonzero(batch.census.any(axis=1)).tolist():
            name = batch.table_names[table]
            known = counts.setdefault(name, [0, 0, 0])
            for operation, number in enumerate(batch.census[table, :3].tolist()):
                known[operation] += number
            self._tables._schemas[name] = self._row_keys.schema_of(name)
        judged = self._parallelism
        judged._keyless_seen |= bool(batch.census[:, 3].any())
        unsure = int(np.count_nonzero(batch.marks & C.UNSURE))
        self._uncertain_keys += unsure
        judged._keys_uncertain |= unsure > 0
        if len(counts) > TABLES_MAX:
            raise NotCompilable("more tables than are summarised")

    def _take_left(self, txn: LoggedTransaction) -> Touches:
        """Note what the readable code read of a transaction's rows, and return it."""
        self._left_rows.update(row.table for row in txn.rows)
        touches, judged = get_touches(txn), self._parallelism
        self._uncertain_keys += len(txn.uncertain_keys)
        judged._keys_uncertain |= bool(txn.uncertain_keys)
        judged._keys_unknown |= bool(touches.unkeyed or touches.blurred)
        judged._keyless_seen |= bool(touches.unkeyed - touches.unidentified)
        return touches

    def _number_lanes(self, columns: Ints) -> None:
        domains, inverse = np.unique(columns[:, C.B_LANE], return_inverse=True)
        numbers = [self._lanes.setdefault(d, len(self._lanes)) for d in domains.tolist()]
        if len(self._lanes) > LANES_MAX:
            raise NotCompilable("more replication domains than are followed")
        columns[:, C.B_LANE] = np.array(numbers, np.int64)[inverse]

    def _add_tables(self, names: list[str]) -> None:
        known = len(self._table_names)
        if len(names) == known:
            return
        for name in names[known:]:
            schema = get_schema(name)
            number = self._schema_numbers.setdefault(schema, len(self._schema_numbers))
            self._schema_of_table.append(number)
        self._table_names.extend(names[known:])
        self._state = with_tables(self._state, self._schema_of_table)

    def _judge(self, batch: JudgedBatch, first_ordinal: int) -> Ints:
        scalars = self._state.scalars
        if int(scalars[C.S_ORDINAL]) != first_ordinal - 1:
            raise NotCompilable("ordinals leave a gap")
        placed = np.zeros((len(batch.columns), C.PLACED_COLUMNS), np.int64)
        heads = np.zeros((len(batch.keys), 2), np.int64)
        name_keys = batch.names.astype(np.uint64)
        at = 0
        while at < len(batch.columns):
            with np.errstate(over="ignore"):
                status, at, needed = judge(
                    self._state, batch.columns, batch.keys, batch.marks, batch.tables,
                    batch.names, name_keys, batch.roles, heads, placed, at,
                )  # fmt: skip
            if status == C.BEYOND:
                raise NotCompilable("a bound of the kernels")
            if C.GROW_TOUCHES <= status < C.BEYOND:
                self._state = self._path.state = grown(self._state, status, needed)
                continue
            self._path.state = self._state
            if status & (C.FINDING | C.BESIDE_DDL):
                self._report(
                    batch, at - 1, placed[at - 1], is_beside_ddl=bool(status & C.BESIDE_DDL)
                )
            if status & C.TRACE:
                self._path.keep()
        self._path.state = self._state
        return placed

    # Findings

    def _report(self, batch: JudgedBatch, index: int, placed: Ints, *, is_beside_ddl: bool) -> None:
        state, violations = self._state, self._safety.violations
        ordinal, at = int(state.scalars[C.S_ORDINAL]), int(batch.columns[index, C.B_AT])
        listed_max, order = self.options.violations_max, state.order.tolist()
        meetings = self._meet_keys(ordinal, at)
        if is_beside_ddl:
            self._safety.listing = len(violations) < listed_max
            touches = get_touches(batch.ddl) if batch.ddl else self._uses_of(batch, index)
            by_ddl = self._definitions.meet(
                state, batch.columns[index], placed, touches, self._table_names
            )
            if self._safety.listing:
                state.scalars[C.S_LISTED] += len(by_ddl)
            meetings |= by_ddl
        if not meetings or len(violations) >= listed_max:
            return
        later = batch.ddl or self._source.reread(ordinal, at)
        for rule, earlier in sorted(meetings, key=lambda pair: (order.index(pair[0]), pair[1])):
            if len(violations) >= listed_max:
                return
            meeting = meetings[rule, earlier]
            past = state.past[earlier % len(state.past)]
            rank = int(state.ranks[earlier % len(state.ranks), C.R_RANK])
            break_rank, reason = 0, 0
            if rule == C.CLOCK:
                break_rank, reason = placed[[C.D_BREAK_RANK, C.D_BREAK_KIND]].tolist()
            first = self._definitions.seen(earlier)
            if first is None:
                first = _seen(self._source.reread(earlier, int(past[C.H_AT])))
            second = _seen(later)
            _, _, table, key_index, shown = meeting.order
            if meeting.definition:
                shown = first.statement or second.statement
            violations.append(
                SafetyViolation(
                    property=(
                        DEFINITIONS_CHANGE_ALONE
                        if meeting.definition
                        else CONFLICTING_TRANSACTIONS_ARE_ORDERED
                    ),
                    applier=self._appliers[order.index(rule)],
                    earlier=first.ref,
                    later=second.ref,
                    table=table,
                    index=key_index,
                    key=shown,
                    consequence=get_consequence(
                        _placed(first, rank, 0, ""),
                        _placed(second, 0, break_rank, _BREAKS.get(reason, _LAST_COMMITTED_ZERO)),
                        0, table, key_index, meeting.definition, meeting.reads,
                    ),
                    certain=meeting.certain,
                )
            )  # fmt: skip

    def _meet_keys(self, ordinal: int, at: int) -> dict[tuple[int, int], Meeting]:
        """Return, by rule and earlier transaction, what the kernel's findings say of a pair."""
        state = self._state
        count = int(state.scalars[C.S_FINDINGS])
        if not count:
            return {}
        digests = state.finding_keys[:count].tolist()
        keys = self._source.keys_with(ordinal, at, frozenset(digests))
        meetings: dict[tuple[int, int], Meeting] = {}
        crossing: list[tuple[int, str]] = []
        for line, digest in zip(state.findings[:count].tolist(), digests, strict=True):
            rule, earlier, reads, kind = line
            key = keys[digest]
            if kind == C.CROSSING:
                crossing.append((earlier, key.table))
                continue
            unsure = kind == C.UNCERTAIN_CONFLICT
            order = (0, int(unsure), key.table, key.index, _shown(key))
            known = meetings.get((rule, earlier))
            if known is None or order < known.order:
                meetings[rule, earlier] = Meeting(unread(earlier), order, not unsure, False, reads)
        if crossing:
            evidence = self._safety.evidence[self._appliers.index(COMMIT_GROUP)]
            evidence.crossing_first = min(crossing)
        return meetings

    def _uses_of(self, batch: JudgedBatch, index: int) -> Touches:
        ends = batch.columns[:, C.B_TABLE_END]
        tables = batch.tables[ends[index - 1] if index else 0 : ends[index]]
        return Touches(uses=names_of(batch.table_names[table] for table in tables.tolist()))

    # Other transactions

    def observe(self, txn: LoggedTransaction, rows: BatchParts | None = None) -> None:
        """Judge a transaction from the readable decoder, whose ``rows`` kernels read."""
        require_compilable(txn, has_rows=rows is not None)
        self._transactions += 1
        self._kinds[txn.kind.value] += 1
        self._has[LOGICAL_CLOCK] |= bool(txn.sequence_number)
        self._has[COMMIT_GROUP] |= txn.domain is not None or txn.commit_id is not None
        if all(self._has.values()):
            raise NotCompilable("logs of MySQL and of MariaDB in one stream")
        self._lint.observe(txn)
        self._path.odd[txn.ordinal] = get_reference(txn)
        if txn.is_barrier:
            statement = shorten(txn.statements[0]) if txn.statements else ""
            kind = txn.kind.value if txn.kind.value in ("ddl", "statement") else "metadata"
            self._path.barriers[txn.ordinal] = (kind, statement or txn.kind.value)
        self._path.forget(txn.ordinal)
        if not txn.complete:
            self._path.skipped.append(txn.ordinal)
            self._row_changes += len(txn.rows)
            self._incomplete += 1
            self._judge(batch_of_one(txn, C.SKIPPED), txn.ordinal)
            return
        self._row_changes += len(txn.rows)
        self._note_distance(txn)
        if rows is None:
            batch = batch_of_one(txn, KINDS[txn.kind])
            self._number_lanes(batch.columns)
            placed = self._judge(batch, txn.ordinal)
        else:
            batch = digested_one(txn, KINDS[txn.kind], rows)
            placed = self._judge_rows(batch, txn.ordinal, lambda chosen: [txn] * len(chosen))
        touches, domains = get_touches(txn), self._domains()
        if domains is not None and (txn.domain is not None or txn.commit_id is not None):
            note_domains(domains, txn.domain or 0, touches)
        if rows is None or txn.is_ddl:
            used = 1 + len(touches.uses) + len(touches.redefinitions)
            self._definitions.uses.note(txn.ordinal, used)
        if txn.is_ddl:
            self._definitions.remember(self._state, txn, placed[0], touches)
        self._compiled_replay.observe(txn, batch)

    def _note_distance(self, txn: LoggedTransaction) -> None:
        if txn.sequence_number is None or txn.last_committed is None:
            return
        distance = txn.sequence_number - txn.last_committed
        if distance > 0:
            bucket = 1 << (distance.bit_length() - 1)
            histogram = self._parallelism.clock_distance
            histogram[bucket] = histogram.get(bucket, 0) + 1

    # Result

    def settle(self) -> None:
        """Copy kernel counts to the readable judges."""
        self._copy_safety()
        self._copy_parallelism()

    def has_forgotten(self) -> tuple[bool, bool]:
        """Return whether the horizon dropped writers, and readers."""
        oldest = self._state.scalars[C.S_CHAINS + C.OLDEST :: 3]
        return bool(oldest[C.WRITES] > 1), bool(oldest[C.READS] > 1)

    def has_reads(self) -> bool:
        """Return whether a transaction required a key unchanged."""
        return bool(self._state.scalars[C.S_CHAINS + 3 * C.READS + C.NEXT])

    def left_rows(self) -> Counter[str]:
        """Return by table the changed rows that readable code judged."""
        return self._left_rows.copy()

    def forget_counts(self) -> None:
        """Drop the counts of kernels and of left rows, not their memory."""
        drop_counts(self._state)
        self._left_rows.clear()

    def result(self) -> AuditResult:
        """Return the readable auditor's result."""
        self.settle()
        result = super().result()
        result.engine = "compiled"
        result.left_rows = self._left_rows.total()
        reasons = self._left_reasons or {}
        result.left_tables = {name: reasons[name.lower()] for name in sorted(self._left_rows)}
        return result

    def _copy_safety(self) -> None:
        for name, evidence in zip(self._appliers, self._safety.evidence, strict=True):
            counts = self._state.evidence[_RULES[name]].tolist()
            evidence.pairs_allowed = counts[C.E_ALLOWED]
            evidence.conflicts_ordered = counts[C.E_ORDERED]
            evidence.violations_certain = counts[C.E_VIOLATIONS]
            evidence.violations_uncertain = counts[C.E_UNCERTAIN]
            evidence.keys_forgotten = counts[C.E_FORGOTTEN]
            evidence.statements_overlapping = counts[C.E_STATEMENTS]
            evidence.incidents = counts[C.E_INCIDENTS]
            evidence.ddl_overlapping = counts[C.E_DDL]
            evidence.may_wait = counts[C.E_WAITS]
            evidence.crossings = counts[C.E_CROSSINGS]

    def _copy_parallelism(self) -> None:
        state, judged = self._state, self._parallelism
        split = bool(state.scalars[C.S_SPLIT])
        for number, model in enumerate((*MODELS, WITH_KEYS) if split else MODELS):
            line = judged._timelines[model]
            line.work, line.transactions = state.line.totals[number].tolist()
            line.end = state.line.end[number].tolist()
            line.width_max = int(state.line.width_max[number])
            judged._pairs_apart[model] = int(state.apart[number])
        if not split:
            # Nothing waited for want of a key, so the two models are one.
            judged._timelines[WITH_KEYS] = copy(judged._timelines[ROW_CONFLICTS])
        scalars = state.scalars
        judged._clock_seen = bool(scalars[C.S_CLOCK_SEEN])
        judged._groups_seen = bool(scalars[C.S_GROUPS_SEEN])
        judged._conflict_pairs = int(scalars[C.S_PAIRS])
        width = judged.width
        width.rounds, width.slice_rounds = scalars[[C.S_ROUNDS, C.S_SLICE_SIZE]].tolist()
        width.counts = state.slices[: -(-width.rounds // width.slice_rounds)].tolist()
        self._path.state = state


def _bit_length(numbers: Ints) -> Ints:
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


def _shown(key: ConflictKey) -> str:
    return f"{key.index}({key.shown or ', '.join(map(repr, key.values))})"


def _seen(txn: LoggedTransaction) -> SeenTransaction:
    statement = shorten(txn.statements[0]) if txn.statements else ""
    return SeenTransaction(ref=get_reference(txn), kind=txn.kind, statement=statement)


def _placed(seen: SeenTransaction, rank: int, break_rank: int, reason: str) -> SeenTransaction:
    place = Place(
        lane=0, run=0, rank=rank, floor=0, allowed=0, break_rank=break_rank, break_reason=reason
    )
    return replace(seen, places=(place,))
