"""Reads both logs in parts, by processes of this machine or Spark's workers.

A log is cut between transactions (:mod:`paraply.adapters.binlog.blocks`). Each part is hashed into
the steps that reading the log in one piece gives, and one process takes them in order. A part that
needs to know tables from before it is read again with what the parts before it taught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from paraply.adapters.binlog.blocks import Block, cut_file
from paraply.adapters.binlog.report import FileReport, joined
from paraply.adapters.binlog.schema.lessons import Lesson, Statement, condensed, with_dump
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.remote_files import size_of
from paraply.mining.part_files import folder_of_parts
from paraply.verifying.compiled.parts import PartTask, ReadPart, read_part
from paraply.verifying.compiled.scanned import ScannedLog, Shape
from paraply.vocabulary.not_compilable import NotCompilable
from paraply.vocabulary.schema import TableSchema

if TYPE_CHECKING:
    from paraply.verifying.pipeline import InParts

BLOCKS_PER_PART = 4
"""Cuts per part, so that parts of several files are of about one size."""
OPENING_BYTES = 1 << 20
"""A log's first bytes show what most logs define at their beginning and never again."""
_PREFIX = "paraply-verify-parts-"


class PartedLog:
    """One log: its parts, and what was read of them."""

    def __init__(
        self, names: Sequence[str], schema: str | None, secret: bytes, place: str, parts: int
    ) -> None:
        self._schema = schema
        self._secret = secret
        self._place = place
        self._cut = cut_log(names, parts)
        self._found: list[ReadPart | None] = [None] * len(self._cut)
        self._tries = 0
        self._opening = self._read_opening(names[0]) if len(self._cut) > 1 else ()

    def __len__(self) -> int:
        return len(self._cut)

    @property
    def bytes_read(self) -> int:
        """Return the number of bytes of the parts that were read."""
        return sum(part.bytes_read for part in self._found if part is not None)

    @property
    def parts(self) -> list[ReadPart]:
        """Return the parts in order."""
        return [part for part in self._found if part is not None]

    def tasks(self) -> list[tuple[int, PartTask]]:
        """Return the parts to read, by number; raises ``NotCompilable``.

        A part is read again if what the parts before it taught is not what it was taught.
        """
        if any(part.must_not_be_cut for part in self.parts) and len(self._cut) > 1:
            for dropped in self.parts:
                dropped.drop()
            self._cut = [tuple(whole_files(chain.from_iterable(self._cut)))]
            self._found = [None]
        self._tries += 1
        learnt: list[list[Lesson]] = []
        tasks = []
        for number, part in enumerate(self._found):
            if part is None:
                tasks.append((number, self._task(number, self._opening if number else ())))
                continue
            right = condensed(learnt, self._schema)
            if not _is_taught(part, right):
                tasks.append((number, self._task(number, right)))
            elif part.refused:
                raise NotCompilable(part.refused)
            if part.refused:
                break  # What it teaches is unknown.
            learnt.append(part.lessons)
        return tasks

    def take(self, number: int, part: ReadPart) -> bool:
        """Take a part that was read; return whether it was read before."""
        before, self._found[number] = self._found[number], part
        if before is not None:
            before.drop()
        return before is not None

    def reports(self) -> list[FileReport]:
        """Return the reports by file."""
        by_file: list[list[FileReport]] = []
        for part in self.parts:
            for block, report in zip(part.task.blocks, part.reports, strict=True):
                if block.begin:
                    by_file[-1].append(report)
                else:
                    by_file.append([report])
        return [joined(reports) for reports in by_file]

    def shapes(self) -> dict[str, Shape]:
        """Return the columns of all tables; raises ``NotCompilable`` where a table changes."""
        found: dict[str, Shape] = {}
        for part in self.parts:
            for name, shape in part.shapes.items():
                if found.setdefault(name, shape) != shape:
                    raise NotCompilable(f"{name} changes midway")
        return found

    def _task(self, number: int, lessons: tuple[Lesson, ...]) -> PartTask:
        return PartTask(
            blocks=self._cut[number],
            lessons=lessons,
            schema=self._schema,
            secret=self._secret,
            # A worker that Spark gave up may still write.
            place=f"{self._place}-{number}-{self._tries}",
        )

    def _read_opening(self, name: str) -> tuple[Lesson, ...]:
        block, first_end = cut_file(name, OPENING_BYTES)[0], self._cut[0][0].end
        if block.end is None or (first_end is not None and first_end <= block.end):
            return ()
        task = replace(self._task(0, ()), blocks=(block,), place="")
        part = read_part(task)
        if part.refused and not part.must_not_be_cut:
            raise NotCompilable(part.refused)
        return condensed([part.lessons], self._schema)


def _is_taught(part: ReadPart, right: tuple[Lesson, ...]) -> bool:
    """Return whether the right lessons would give the part what it was given.

    A part without statements learns by itself what the table maps of its own tables teach.
    """
    if part.task.lessons == right:
        return True
    if part.refused or any(isinstance(lesson, Statement) for lesson in part.lessons):
        return False
    return _known(part.task.lessons, part) == _known(right, part)


def _known(
    lessons: Sequence[Lesson], part: ReadPart
) -> tuple[Sequence[Lesson], dict[str, list[Lesson]]]:
    """Return the lessons up to the last statement, and the later maps of the part's tables."""
    ends = [at for at, lesson in enumerate(lessons, start=1) if isinstance(lesson, Statement)]
    before = ends[-1] if ends else 0
    maps: dict[str, list[Lesson]] = {}
    for lesson in (*lessons[before:], *part.lessons):
        if isinstance(lesson, TableSchema) and lesson.name in part.shapes:
            known = maps.setdefault(lesson.name.lower(), [])
            if known[-1:] != [lesson]:
                known.append(lesson)
    return lessons[:before], maps


def cut_log(names: Sequence[str], parts: int) -> list[tuple[Block, ...]]:
    """Return at most ``parts`` parts of about one size, each of consecutive blocks."""
    sizes = [size_of(name) for name in names]
    total = max(1, sum(sizes))
    block_bytes = max(1, -(-total // (parts * BLOCKS_PER_PART)))
    found: dict[int, list[Block]] = {}
    before = 0
    for name, size in zip(names, sizes, strict=True):
        for block in cut_file(name, block_bytes) if parts > 1 else [_whole(name)]:
            chosen = found.setdefault((before + block.begin) * parts // total, [])
            if chosen and block.begin:
                chosen[-1] = replace(chosen[-1], end=block.end)
            else:
                chosen.append(block)
        before += size
    return [tuple(blocks) for _, blocks in sorted(found.items())]


def whole_files(blocks: Iterable[Block]) -> list[Block]:
    """Return the files whose first blocks are among these, each in one block."""
    return [_whole(block.file) for block in blocks if not block.begin]


def _whole(name: str) -> Block:
    return Block(file=name, begin=0, end=None)


def read_in_parts(
    how: InParts,
    names: tuple[Sequence[str], Sequence[str]],
    schemas: tuple[str | None, str | None],
    secret: bytes,
    scanned: tuple[ScannedLog, ScannedLog],
    advance: Callable[[float], None],
) -> None:
    """Read both logs into ``scanned``; raises ``NotCompilable``."""
    for schema in schemas:
        with_dump(SchemaRegistry(), schema, ())  # Refuses an unusable file, before workers do.
    with folder_of_parts(how.folder, _PREFIX) as folder:
        logs = [
            PartedLog(names[side], schemas[side], secret, f"{folder}/{side}", how.parts)
            for side in range(2)
        ]
        while todo := [(log, *task) for log in logs for task in log.tasks()]:
            owners = {task.place: (log, number) for log, number, task in todo}
            for part in how.map_parts(read_part, [task for _, _, task in todo]):
                log, number = owners[part.task.place]
                how.again += log.take(number, part)
                advance(sum(log.bytes_read for log in logs))
        how.read = sum(map(len, logs))
        shapes = [log.shapes() for log in logs]
        for log, into, columns in zip(logs, scanned, shapes, strict=True):
            for part in log.parts:
                for step in part.steps():
                    into.take(step)
            into.recording.report.files = log.reports()
            into.finish(columns)
