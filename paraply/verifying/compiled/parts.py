"""The work on one part of a log, in any process: scan it into files of steps.

The files take about as much room as the part, 32 MB each.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.adapters.binlog.blocks import Block
from paraply.adapters.binlog.report import FileReport, LogReport
from paraply.adapters.binlog.schema.lessons import Lesson, taught
from paraply.mining.part_files import drop, read, write
from paraply.verifying.compiled.scanned import LogScanner, ScannedBatch, Shape, Step
from paraply.vocabulary.not_compilable import NotCompilable

FILE_BYTES = 32 << 20
_SINGLE_BYTES = 1 << 10
"""About what a single transaction takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTask:
    """A part of a log to read: consecutive blocks."""

    blocks: tuple[Block, ...]
    lessons: tuple[Lesson, ...]
    """Facts on tables from before the part."""
    schema: str | None
    secret: bytes
    place: str
    """Beginning of the names of its files; empty to keep no steps."""

    def __str__(self) -> str:
        first, last = self.blocks[0], self.blocks[-1]
        begin = f"{first.file} from byte {first.begin:,}"
        if last.file != first.file:
            begin += f" to {last.file}"
        return begin if last.end is None else f"{begin} to byte {last.end:,}"


@dataclass(slots=True, kw_only=True)
class ReadPart:
    """What was read of a part."""

    task: PartTask
    refused: str = ""
    """Why the compiled engine cannot judge it, or empty."""
    files: int = 0
    reports: list[FileReport] = field(default_factory=list)
    """By block."""
    lessons: list[Lesson] = field(default_factory=list)
    """Facts on tables that the part adds."""
    shapes: dict[str, Shape] = field(default_factory=dict)

    @property
    def bytes_read(self) -> int:
        """Return the number of bytes."""
        return sum(report.bytes_read for report in self.reports)

    @property
    def must_not_be_cut(self) -> str:
        """Return why its log must be read in one part, or empty.

        A block that cannot be read to its end may have been cut where a row imitates a transaction,
        and a relay log may be cut inside one.
        """
        for block, report in zip(self.task.blocks, self.reports, strict=False):
            if report.is_relay_log:
                return f"{block.file} is a relay log"
            if block.end is not None and not report.read_to_end:
                return f"{block.file} cannot be read to its end"
        return ""

    def steps(self) -> Iterator[Step]:
        """Yield the steps once, and remove their files."""
        for name in self._names():
            steps: list[Step] = pickle.loads(read(name))
            drop(name)
            yield from steps

    def drop(self) -> None:
        """Remove the files."""
        for name in self._names():
            drop(name)

    def _names(self) -> list[str]:
        return [f"{self.task.place}-{number}" for number in range(self.files)]


def read_part(task: PartTask) -> ReadPart:
    """Read one part."""
    registry = taught(task.lessons, task.schema, ())
    report = LogReport()
    scanner = LogScanner(registry, report, task.secret)
    found = ReadPart(task=task)
    steps: list[Step] = []
    size = 0
    try:
        for step in scanner.steps(task.blocks):
            if not task.place:
                continue
            steps.append(step)
            size += step.nbytes if isinstance(step, ScannedBatch) else _SINGLE_BYTES
            if size >= FILE_BYTES:
                _leave(found, steps)
                steps, size = [], 0
    except NotCompilable as reason:
        found.refused = str(reason)
    else:
        if steps:
            _leave(found, steps)
    for block, read_of_block in zip(task.blocks, report.files, strict=False):
        read_of_block.leave_out_head(block.begin)
    found.reports = report.files
    found.lessons = registry.take_lessons()
    found.shapes = scanner.shapes
    return found


def _leave(part: ReadPart, steps: list[Step]) -> None:
    write(pickle.dumps(steps, pickle.HIGHEST_PROTOCOL), f"{part.task.place}-{part.files}")
    part.files += 1
