"""Judging of one log part, local or on Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from paraply.adapters.binlog.blocks import Block
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import FileReport, LogReport
from paraply.adapters.binlog.schema.ddl import SchemaStatement
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaDoubts, SchemaRegistry
from paraply.adapters.binlog.transaction_stream import TransactionStream
from paraply.auditing.border_files import leave_border
from paraply.auditing.pipeline import no_compiled_engine
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.part_borders import PartBorders, PartLint
from paraply.properties.logs.parts import Part, begin_part, end_part
from paraply.properties.logs.replayed_part import RowFollower
from paraply.properties.logs.row_replay import RowReplay
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.schema import SchemaSource, TableSchema

_HEAD = "FORMAT_DESCRIPTION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A schema statement of the log."""

    sql: str
    default_schema: str
    where: str


Lesson = TableSchema | Statement
"""A table map's metadata or a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTask:
    """One part to judge: ``blocks``, after reading ``approach``."""

    number: int
    approach: tuple[Block, ...]
    blocks: tuple[Block, ...]
    lessons: tuple[Lesson, ...]
    """Table facts from before the approach."""
    schema: str | None
    distrusted: tuple[str, ...]
    options: AuditOptions
    engine: str
    """``readable``, ``compiled``, or ``auto``: compiled if possible."""
    border_file: str
    """Receives the replay's end state."""

    def without_approach(
        self, lessons: tuple[Lesson, ...], *, engine: str, border_file: str
    ) -> PartTask:
        """Return the part alone, with earlier lessons."""
        return replace(self, approach=(), lessons=lessons, engine=engine, border_file=border_file)


@dataclass(slots=True, kw_only=True)
class JudgedPart:
    """The result of judging a part."""

    task: PartTask
    part: Part
    borders: PartBorders
    engine: str
    border: bytes
    """Fingerprint of the replay from an empty start."""
    reports: list[FileReport]
    gtids: list[tuple[str, str]]
    """First and last, per block."""
    lessons: list[list[Lesson]]
    """Table facts per block."""
    assumptions: tuple[str, ...]
    doubts: SchemaDoubts


class _AttentiveRegistry(SchemaRegistry):
    def __init__(self) -> None:
        super().__init__()
        self.lessons: list[Lesson] = []

    def observe_table_map(self, metadata: TableSchema) -> None:
        version = self.version
        is_new = self._seen_maps.get(metadata.name) != metadata
        super().observe_table_map(metadata)
        if is_new or self.version != version:
            self.lessons.append(metadata)

    def observe_statement(
        self,
        sql: str,
        default_schema: str = "",
        *,
        where: str = "",
        source: SchemaSource = SchemaSource.LOGGED_DDL,
    ) -> SchemaStatement:
        if source is SchemaSource.LOGGED_DDL:
            self.lessons.append(Statement(sql=sql, default_schema=default_schema, where=where))
        return super().observe_statement(sql, default_schema, where=where, source=source)


def taught(
    lessons: Iterable[Lesson], schema: str | None, distrusted: tuple[str, ...]
) -> _AttentiveRegistry:
    """Return a registry with dump and lessons."""
    registry = _AttentiveRegistry()
    if schema is not None:
        load_schema_file(registry, schema, distrusted)
    for lesson in lessons:
        if isinstance(lesson, Statement):
            registry.observe_statement(lesson.sql, lesson.default_schema, where=lesson.where)
        else:
            registry.observe_table_map(lesson)
    registry.lessons.clear()
    return registry


@dataclass(slots=True)
class _Progress:
    reports: list[FileReport] = field(default_factory=list)
    gtids: list[tuple[str, str]] = field(default_factory=list)
    lessons: list[list[Lesson]] = field(default_factory=list)


class Judge(Protocol):
    """Reads a part's transactions."""

    def observe(self, txn: LoggedTransaction) -> None:
        """Process the next transaction."""


def judge_part(task: PartTask) -> JudgedPart:
    """Judge one part; raises P308 if a required compiled engine fails."""
    if task.engine != "readable":
        try:
            from paraply.auditing.compiled_parts import CompiledPartReader
            from paraply.properties.logs.compiled.batches import NotCompilable
        except ImportError as fault:
            if task.engine == "compiled":
                raise no_compiled_engine(str(fault)) from None
        else:
            try:
                return _judge(task, CompiledPartReader(task), "compiled")
            except NotCompilable as reason:
                if task.engine == "compiled":
                    raise no_compiled_engine(str(reason)) from None
    return _judge(task, ReadablePartReader(task), "readable")


def reader_of(task: PartTask) -> ReadablePartReader:
    """Return the reader of the task's engine."""
    if task.engine == "readable":
        return ReadablePartReader(task)
    from paraply.auditing.compiled_parts import CompiledPartReader

    return CompiledPartReader(task)


class ReadablePartReader:
    """Feeds blocks to a readable judge."""

    refusals: tuple[type[Exception], ...] = ()
    """Exceptions that request another engine."""

    def __init__(self, task: PartTask) -> None:
        self.registry = taught(task.lessons, task.schema, task.distrusted)
        self.keys = KeyBuilder(self.registry)
        self.report = LogReport()
        self._judge: Judge
        self._stream = TransactionStream(
            report=self.report,
            on_table_map=lambda table: self.registry.observe_table_map(table.table_schema()),
            on_rows=None,
        )

    def auditor(self, options: AuditOptions) -> Auditor:
        """Return the auditor to feed."""
        self._judge = auditor = Auditor(self.keys, options)
        return auditor

    def follower(self, options: AuditOptions) -> RowFollower:
        """Return the replay-only judge to feed."""
        replay = RowReplay(self.keys, options.replay_rows_max, options.replay_findings_max)
        self._judge = follower = RowFollower(replay)
        return follower

    def read(self, block: Block) -> Iterator[tuple[str, str]]:
        """Judge a block; yield each step's GTIDs."""
        for txn in self._stream.read_file(block.open()):
            yield self._take(txn)

    def finish(self) -> Iterator[tuple[str, str]]:
        """Judge what is open at the end."""
        for txn in self._stream.finish():
            yield self._take(txn)

    def _take(self, txn: LoggedTransaction) -> tuple[str, str]:
        self.keys.complete_transaction(txn)
        self._judge.observe(txn)
        return txn.gtid, txn.gtid


def _judge(task: PartTask, reader: ReadablePartReader, engine: str) -> JudgedPart:
    first = (*task.approach, *task.blocks)[0]
    auditor, registry = reader.auditor(task.options), reader.registry
    lint = PartLint(task.options.lint_max, from_file_start=first.begin == 0)
    auditor._lint = lint
    for block in task.approach:
        for _ in reader.read(block):
            pass
    approach_reports = len(reader.report.files)
    reached = begin_part(auditor)
    begin, before = lint.border(), lint.begin_part()
    writes_settled, reads_settled = auditor.has_forgotten()
    assumed = set(registry.assumptions)
    progress = _Progress()
    for block in task.blocks:
        registry.lessons.clear()
        steps = list(reader.read(block))
        if block is task.blocks[-1]:
            steps.extend(reader.finish())
        named = [step for step in steps if step[0] or step[1]]
        progress.gtids.append((named[0][0], named[-1][1]) if named else ("", ""))
        progress.lessons.append(list(registry.lessons))
    progress.reports = reader.report.files[approach_reports:]
    for block, report in zip(task.blocks, progress.reports, strict=True):
        _settle_report(block, report)
    part = end_part(auditor, reached)
    after = auditor._replay.end_at(before + part.counts["transactions",])
    leave_border(after, task.border_file)
    return JudgedPart(
        task=task,
        part=part,
        borders=PartBorders(
            begin=begin,
            end=lint.border(),
            transactions_before=before,
            reaches_back=lint.reaches_back,
            writes_settled=writes_settled,
            reads_settled=reads_settled,
            has_writes=bool(part.counts["transactions",]),
            has_reads=bool(len(auditor._index.reads)),
            has_groups=lint.has_groups,
            from_file_start=first.begin == 0,
            numbers=lint.own_numbers(),
            servers=frozenset(lint.own_servers),
        ),
        engine=engine,
        border=after.fingerprint(),
        reports=progress.reports,
        gtids=progress.gtids,
        lessons=progress.lessons,
        assumptions=tuple(each for each in registry.assumptions if each not in assumed),
        doubts=registry.doubts,
    )


def _settle_report(block: Block, report: FileReport) -> None:
    if block.begin:
        report.bytes_read = max(0, report.bytes_read - block.begin)
        report.events = Counter(report.events)
        report.events[_HEAD] -= 1
        report.events += Counter()
