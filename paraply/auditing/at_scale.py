"""The parallel audit of a log in parts, on local cores or a cluster.

The auditor judges each part after an approach of its memory's reach
(:mod:`paraply.properties.logs.parts`). Parts with short approaches
(:mod:`paraply.properties.logs.part_borders`) or wrong table facts are repeated, finally with the
whole log before. Then rows cross borders (:mod:`paraply.auditing.rows_across_parts`). Results equal
one auditor's, except :data:`DIFFERENCES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from paraply.adapters.binlog.blocks import BLOCK_BYTES, Block, cut_file
from paraply.adapters.binlog.input_files import open_inputs
from paraply.adapters.binlog.report import FileReport, LogReport, joined
from paraply.adapters.binlog.schema.lessons import Lesson, condensed, taught
from paraply.adapters.binlog.schema.registry import SchemaDoubts
from paraply.auditing.engines import COMPILED, READABLE, no_compiled_engine
from paraply.auditing.parts import JudgedPart, PartTask, judge_part
from paraply.auditing.pipeline import AuditRequest, Told, audit, summed_up, trusting_less
from paraply.auditing.rows_across_parts import RowsAcrossParts
from paraply.auditing.selection import GtidsByFile, note_gtids
from paraply.errors import NOT_IN_PARTS
from paraply.mining.part_files import folder_of_parts
from paraply.mining.workers import Map
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.part_borders import Carried
from paraply.properties.logs.parts import total
from paraply.vocabulary.audit_result import AuditResult, SafetyViolation
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.not_compilable import NotCompilable

if TYPE_CHECKING:
    from paraply.adapters.binlog.compiled.left_tables import LeftTables

PART_BLOCKS = 32
"""A gigabyte, ten seconds of the compiled engine."""
APPROACH_BLOCKS = 8
"""About the auditor's horizon, 100,000 transactions."""
WIDENING = 4
"""Approach growth per attempt."""
_BORDERS = "paraply-rows-"

DIFFERENCES = (
    "audited in parts: each part is scheduled after its own approach, and the times add up; "
    "dependencies on transactions before the approach count as finished",
    "audited in parts: width over time, what blocks and the critical path are those of the parts, "
    "one after the other",
)

_Key = tuple[tuple[Block, ...], tuple[Block, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSizes:
    """Sizes of blocks (minimum) and parts."""

    block_bytes: int = BLOCK_BYTES
    part_blocks: int = PART_BLOCKS
    approach_blocks: int = APPROACH_BLOCKS


@dataclass(slots=True, kw_only=True)
class ScaledAudit:
    """Result and course of an audit in parts."""

    result: AuditResult
    violations: list[SafetyViolation]
    """All parts' violations, possibly more than ``result`` lists."""
    parts: int
    judged_again: dict[str, int] = field(default_factory=dict)
    """Repeated parts by reason."""
    rounds: int = 0
    blocks_read: int = 0
    """Blocks read, including approaches and repeats."""
    blocks: int = 0


def audit_in_parts(
    request: AuditRequest,
    map_parts: Map = map,
    *,
    sizes: PartSizes | None = None,
    options: AuditOptions | None = None,
    folder: str | None = None,
    advance: Callable[[float], None] = lambda _: None,
) -> ScaledAudit:
    """Audit a request's files as one stream, in parts.

    Border files go below ``folder``, which workers must reach (None: local). ``advance`` receives
    the share done, from 0 to 1. Raises as :func:`paraply.auditing.pipeline.audit`, and P329 for
    input that opens only once. A selection is judged in one piece.
    """
    if "-" in request.files or open_inputs(request.files).is_text:
        raise ParaplyError(NOT_IN_PARTS, reason="only binary logs in files can be cut")
    if request.selection:
        return _in_one_piece(request)
    options = options or AuditOptions(
        appliers=request.appliers, workers=request.workers, violations_max=request.violations_max
    )
    found: list[ScaledAudit] = []

    def run(request: AuditRequest) -> Told:
        with folder_of_parts(folder, _BORDERS) as rows:
            audit = _AuditInParts(request, sizes or PartSizes(), options, map_parts, rows, advance)
            found.append(audit.run())
        return found[-1].result, audit.doubts, audit.lessons

    trusting_less(request, run)
    return found[-1]


def _in_one_piece(request: AuditRequest) -> ScaledAudit:
    result = audit(request)
    every = replace(request, violations_max=1 << 62)
    listed = audit(every).violations if result.violations_dropped else result.violations
    return ScaledAudit(result=result, violations=listed, parts=1)


class _AuditInParts:
    def __init__(
        self,
        request: AuditRequest,
        sizes: PartSizes,
        options: AuditOptions,
        map_parts: Map,
        folder: str,
        advance: Callable[[float], None],
    ) -> None:
        self._request = request
        self._sizes = sizes
        self._options = options
        self._map = map_parts
        self._folder = folder
        self._engine = request.engine
        self._advance = advance
        self._left: LeftTables | None = None
        self._whole: set[str] = set()
        self._judged: dict[_Key, JudgedPart] = {}
        self._again: Counter[str] = Counter()
        self._read = 0
        self.doubts = SchemaDoubts()
        self.lessons: list[Lesson] = []
        self._cut = {
            file: tuple(cut_file(file, sizes.block_bytes)) for file in dict.fromkeys(request.files)
        }

    def run(self) -> ScaledAudit:
        while True:
            blocks = self._blocks()
            parts = self._judge_all(blocks)
            torn = _torn_files(parts)
            if torn:
                # Where a file stops in the middle, what lies behind must not be read.
                self._whole |= torn
                self._again["a file could not be read to its end"] += 1
                continue
            wanted = COMPILED if self._engine == COMPILED else parts[0].engine
            if {part.engine for part in parts} == {wanted}:
                rows = RowsAcrossParts(self._folder, self._map, self._advance)
                try:
                    rows.follow(parts, self._lessons_before(parts))
                except NotCompilable as reason:
                    refused = str(reason)
                else:
                    return self._summed_up(parts, rows, len(blocks))
            else:
                refused = next(part.refused for part in parts if part.engine == READABLE)
            self._read_by_the_readable_engine(refused)

    def _read_by_the_readable_engine(self, refused: str) -> None:
        """Rows do not pass between engines."""
        if self._engine == COMPILED:
            raise no_compiled_engine(refused)
        self._engine = READABLE
        others = [key for key, part in self._judged.items() if part.engine != READABLE]
        for key in others:
            del self._judged[key]
        self._again["another part needs the readable engine"] += len(others)

    def _blocks(self) -> list[Block]:
        return [
            block
            for file in self._request.files
            for block in (
                (Block(file=file, begin=0, end=None),) if file in self._whole else self._cut[file]
            )
        ]

    def _judge_all(self, blocks: list[Block]) -> list[JudgedPart]:
        starts = range(0, len(blocks), self._sizes.part_blocks)
        approaches = [min(start, self._sizes.approach_blocks) for start in starts]
        # The first part shows what most logs define at their beginning and never again.
        first = self._judge([self._task(0, blocks, 0, ())])[0]
        lessons: list[tuple[Lesson, ...]] = []
        for start, approach in zip(starts, approaches, strict=True):
            known = first.lessons[: max(0, start - approach)]
            lessons.append(condensed(known, self._request.schema))
        while True:
            tasks = [
                self._task(number, blocks, approach, taught_before)
                for number, (approach, taught_before) in enumerate(
                    zip(approaches, lessons, strict=True)
                )
            ]
            parts = self._judge(tasks)
            if self._leave_more(parts):
                continue
            if _torn_files(parts) or not self._plan_again(parts, approaches, lessons):
                return parts

    def _leave_more(self, parts: Sequence[JudgedPart]) -> bool:
        """Return whether some part leaves tables that others did not: all shall leave the same."""
        for part in parts:
            if part.left is not None:
                self._left = (
                    part.left if self._left is None else self._left.with_those_of(part.left)
                )
        others = [part.task for part in parts if not self._leaves_all(part)]
        if others:
            self._again["tables that other parts leave to the readable code"] += len(others)
        return bool(others)

    def _leaves_all(self, part: JudgedPart) -> bool:
        if part.left is None or self._left is None:
            return True
        return part.left.are_as(self._left)

    def _task(
        self, number: int, blocks: list[Block], approach: int, lessons: tuple[Lesson, ...]
    ) -> PartTask:
        start = number * self._sizes.part_blocks
        return PartTask(
            number=number,
            approach=tuple(blocks[start - approach : start]),
            blocks=tuple(blocks[start : start + self._sizes.part_blocks]),
            lessons=lessons,
            schema=self._request.schema,
            distrusted=self._request.distrusted,
            options=self._options,
            engine=self._engine,
            border_file=f"{self._folder}/part-{number}-{self._engine}",
            left=self._left,
        )

    def _judge(self, tasks: Sequence[PartTask]) -> list[JudgedPart]:
        missing = [task for task in tasks if not self._is_judged(task)]
        for task in missing:
            self._read += len(task.approach) + len(task.blocks)
        done = len(tasks) - len(missing)
        for part in self._map(judge_part, missing):
            self._judged[_key(part.task)] = part
            done += 1
            self._advance(done / max(1, len(tasks)))
        return [self._judged[_key(task)] for task in tasks]

    def _is_judged(self, task: PartTask) -> bool:
        known = self._judged.get(_key(task))
        return known is not None and known.task.lessons == task.lessons and self._leaves_all(known)

    def _plan_again(
        self,
        parts: list[JudgedPart],
        approaches: list[int],
        lessons: list[tuple[Lesson, ...]],
    ) -> bool:
        carried = Carried()
        learnt = [each for part in parts for each in part.lessons]
        changed = False
        for number, part in enumerate(parts):
            start = number * self._sizes.part_blocks
            before = start - approaches[number]
            if before:
                faults = carried.get_faults(part.part.borders)
                if faults:
                    approaches[number] = min(start, max(1, approaches[number]) * WIDENING)
                    before = start - approaches[number]
                    self._again[faults[0]] += 1
                    changed = True
            right = condensed(learnt[:before], self._request.schema)
            if right != lessons[number]:
                lessons[number] = right
                changed = True
                if len(part.task.approach) == approaches[number]:
                    self._again["definitions of tables before"] += 1
            carried.add(part.part.borders)
        return changed

    def _summed_up(
        self, parts: list[JudgedPart], rows: RowsAcrossParts, blocks: int
    ) -> ScaledAudit:
        result = total([part.part for part in parts], self._options)
        every = replace(self._options, violations_max=1 << 62)
        listed = (
            result.violations
            if not result.violations_dropped
            else total([part.part for part in parts], every).violations
        )
        if all(part.engine == COMPILED for part in parts):
            result.engine = COMPILED
            left_rows = sum((part.part.left_rows for part in parts), Counter[str]())
            if left_rows and self._left is not None:
                result.left_rows = left_rows.total()
                reasons = self._left.reasons
                result.left_tables = {name: reasons[name.lower()] for name in sorted(left_rows)}
        gtids: GtidsByFile = {}
        dumped = taught((), self._request.schema, self._request.distrusted)
        assumed = dict.fromkeys(dumped.assumptions)
        for part in parts:
            assumed |= dict.fromkeys(part.assumptions)
            self.doubts.add(part.doubts)
            self.lessons.extend(chain.from_iterable(part.lessons))
            for block, (first, last) in zip(part.task.blocks, part.gtids, strict=True):
                note_gtids(gtids, block.file, first, last)
        if len(parts) > 1:
            assumed |= dict.fromkeys(DIFFERENCES)
        summed_up(result, LogReport(files=self._reports(parts)), gtids, assumed)
        return ScaledAudit(
            result=result,
            violations=listed,
            parts=len(parts),
            judged_again=dict(sorted(self._again.items())),
            rounds=rows.rounds,
            blocks_read=self._read + rows.blocks_read,
            blocks=blocks,
        )

    def _lessons_before(self, parts: list[JudgedPart]) -> list[tuple[Lesson, ...]]:
        learnt: list[list[Lesson]] = []
        found = []
        for part in parts:
            found.append(condensed(learnt, self._request.schema))
            learnt += part.lessons
        return found

    def _reports(self, parts: list[JudgedPart]) -> list[FileReport]:
        of_blocks = iter([report for part in parts for report in part.reports])
        found = []
        for file in self._request.files:
            count = 1 if file in self._whole else len(self._cut[file])
            found.append(joined([next(of_blocks) for _ in range(count)]))
        return found


def _torn_files(parts: Iterable[JudgedPart]) -> set[str]:
    return {
        block.file
        for part in parts
        for block, report in zip(part.task.blocks, part.reports, strict=True)
        if not report.read_to_end and not block.is_file
    }


def _key(task: PartTask) -> _Key:
    return task.approach, task.blocks
