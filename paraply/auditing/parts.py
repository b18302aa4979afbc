"""The work on one log part, in this process or on Spark: judge it, and follow its rows.

The replay's state between parts lies in files: a million rows take some 40 MB (readable engine:
150 MB), too much for a cluster's driver.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paraply.adapters.binlog.blocks import Block
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import FileReport
from paraply.adapters.binlog.schema.lessons import Lesson, taught
from paraply.adapters.binlog.schema.registry import SchemaDoubts
from paraply.adapters.binlog.schema.tables import DatedTable
from paraply.auditing.engines import (
    COMPILED,
    Attempts,
    MakeEngine,
    ReadableEngine,
    engines_for,
)
from paraply.mining.part_files import read, write
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.parts import Part, PartAudit
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replayed_part import ReplayedPart
from paraply.vocabulary.not_compilable import NotCompilable

if TYPE_CHECKING:
    from paraply.adapters.binlog.compiled.left_tables import LeftTables


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTask:
    """One part to judge: ``blocks``, after reading ``approach``."""

    number: int
    approach: tuple[Block, ...]
    blocks: tuple[Block, ...]
    lessons: tuple[Lesson, ...]
    """Table facts from before the approach."""
    schema: str | None
    distrusted: tuple[DatedTable, ...]
    options: AuditOptions
    engine: str
    """``readable``, or ``compiled`` or ``auto``: compiled if possible."""
    border_file: str
    """Receives the replay's end state."""
    left: LeftTables | None = None
    """Tables that a compiled engine leaves to readable code."""


@dataclass(slots=True, kw_only=True)
class JudgedPart:
    """The result of judging a part."""

    task: PartTask
    part: Part
    engine: str
    refused: str
    """Why it is not the compiled one."""
    left: LeftTables | None
    """The task's left tables, and others that turned out to need it."""
    reports: list[FileReport]
    gtids: list[tuple[str, str]]
    """First and last, per block."""
    lessons: list[list[Lesson]]
    """Table facts per block."""
    assumptions: tuple[str, ...]
    doubts: SchemaDoubts


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsTask:
    """A part whose rows continue from before."""

    part: PartTask
    """The part without approach; ``border_file`` receives its end state."""
    begin_file: str
    """The state from earlier parts."""
    begin: bytes
    """The fingerprint of that state."""
    transactions_before: int
    """Transactions of the part's approach, from which its ordinals count."""


@dataclass(slots=True, kw_only=True)
class FollowedRows:
    """The result of following one part's rows."""

    task: RowsTask
    replayed: ReplayedPart


def judge_part(task: PartTask) -> JudgedPart:
    """Judge one part; raises P308 if a required compiled engine is not there."""
    engines = engines_for(task.engine, left=task.left)
    if task.engine == COMPILED:
        # Without the table facts of earlier parts it may refuse what it can read later.
        engines += (ReadableEngine,)
    attempts = Attempts(engines)
    while True:
        try:
            judged = _judged(task, attempts.engine)
        except NotCompilable as refusal:
            attempts.note(refusal)
        else:
            judged.refused = attempts.refused
            return judged


def _judged(task: PartTask, make_engine: MakeEngine) -> JudgedPart:
    registry = taught(task.lessons, task.schema, task.distrusted)
    engine = make_engine(KeyBuilder(registry))
    first = (*task.approach, *task.blocks)[0]
    audit = PartAudit(engine.auditor(task.options), from_file_start=first.begin == 0)
    for _ in engine.read(task.approach):
        pass
    approach_reports = len(engine.report.files)
    audit.begin()
    assumed = set(registry.assumptions)
    registry.take_lessons()
    gtids, lessons = [], []
    for block in task.blocks:
        steps = list(engine.read((block,)))
        if block is task.blocks[-1]:
            steps.extend(engine.finish())
        named = [step for step in steps if step.first_gtid or step.last_gtid]
        gtids.append((named[0].first_gtid, named[-1].last_gtid) if named else ("", ""))
        lessons.append(registry.take_lessons())
    reports = engine.report.files[approach_reports:]
    for block, report in zip(task.blocks, reports, strict=True):
        report.leave_out_head(block.begin)
    part, border = audit.end()
    leave_border(border, task.border_file)
    return JudgedPart(
        task=task,
        part=part,
        engine=engine.name,
        refused="",
        left=engine.left,
        reports=reports,
        gtids=gtids,
        lessons=lessons,
        assumptions=tuple(each for each in registry.assumptions if each not in assumed),
        doubts=registry.doubts,
    )


def follow_rows(task: RowsTask) -> FollowedRows | NotCompilable:
    """Replay a part from the state before, by the engine that judged it."""
    part = task.part
    (make_engine,) = engines_for(part.engine, left=part.left)
    engine = make_engine(KeyBuilder(taught(part.lessons, part.schema, part.distrusted)))
    follower = engine.follower(part.options)
    follower.begin_at(read_border(task.begin_file))
    try:
        for steps in (engine.read(part.blocks), engine.finish()):
            for _ in steps:
                pass
    except NotCompilable as reason:
        return reason
    replayed, border = follower.end(task.transactions_before)
    leave_border(border, part.border_file)
    return FollowedRows(task=task, replayed=replayed)


def leave_border(border: ReplayBorder[Any], path: str) -> None:
    """Write a border to a file atomically."""
    write(pickle.dumps(border, pickle.HIGHEST_PROTOCOL), path)


def read_border(path: str) -> ReplayBorder[Any]:
    """Return a border of this audit; else raise P328."""
    border: ReplayBorder[Any] = pickle.loads(read(path))
    return border
