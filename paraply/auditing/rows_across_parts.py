"""Row following from part to part (``properties.logs.replay_borders``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraply.auditing.border_files import leave_border, read_border
from paraply.auditing.parts import JudgedPart, Lesson, PartTask, reader_of
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replayed_part import ReplayedPart, take_replayed

ROUNDS_SIDE_BY_SIDE = 3
"""After these rounds parts are followed one at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsTask:
    """A part whose rows continue from before."""

    part: PartTask
    """The part without approach; ``border_file`` receives its end state."""
    begin_file: str
    """The state from earlier parts."""
    begin: bytes
    """The fingerprint of that state."""


@dataclass(slots=True, kw_only=True)
class FollowedRows:
    """The result of following one part's rows."""

    task: RowsTask
    replayed: ReplayedPart
    """Ordinals from the part's beginning."""
    end: bytes
    """Fingerprint of the end state."""


class EngineRefused(Exception):  # noqa: N818 - it asks for the readable engine
    """The compiled engine cannot follow the rows."""


def follow_rows(task: RowsTask) -> FollowedRows | EngineRefused:
    """Replay a part from the state before."""
    reader = reader_of(task.part)
    follower = reader.follower(task.part.options)
    follower.replay.begin_at(read_border(task.begin_file), 0)
    try:
        for block in task.part.blocks:
            for _ in reader.read(block):
                pass
        for _ in reader.finish():
            pass
    except reader.refusals as refusal:
        return EngineRefused(str(refusal))
    replayed = take_replayed(follower.replay)
    end = follower.replay.end_at(follower.transactions)
    leave_border(end, task.part.border_file)
    return FollowedRows(task=task, replayed=replayed, end=end.fingerprint())


Followed = FollowedRows | EngineRefused
Map = Callable[[Callable[[RowsTask], Followed], Iterable[RowsTask]], Iterable[Followed]]
"""Maps tasks in any order (``paraply.mining.engines.Engine.map``)."""


@dataclass(slots=True)
class _Here:
    fingerprint: bytes
    file: str
    guessed: ReplayBorder[Any] | None = None

    def take(self) -> ReplayBorder[Any]:
        return read_border(self.file) if self.guessed is None else self.guessed


class RowsAcrossParts:
    """Follows parts in rounds until guesses are right."""

    def __init__(
        self, folder: str, map_tasks: Map, advance: Callable[[float], None] = lambda _: None
    ) -> None:
        self._folder = Path(folder)
        self._map = map_tasks
        self._advance = advance
        self._followed: dict[int, FollowedRows] = {}
        self.rounds = 0
        self.blocks_read = 0

    def follow(self, parts: Sequence[JudgedPart], lessons: Sequence[tuple[Lesson, ...]]) -> None:
        """Store the findings in ``parts``.

        ``lessons`` precede each part. Raises ``EngineRefused``.
        """
        while True:
            tasks = self._sweep(parts, lessons)
            if not tasks:
                break
            self.rounds += 1
            for done, followed in enumerate(self._map(follow_rows, tasks), 1):
                self._take(followed)
                self._advance(done / len(tasks))
        for part in parts[1:]:
            replayed = self._followed[part.task.number].replayed
            replayed.findings = replayed.moved(part.borders.transactions_before)
            part.part.replayed = replayed

    def _take(self, followed: FollowedRows | EngineRefused) -> None:
        if isinstance(followed, EngineRefused):
            raise followed
        number = followed.task.part.number
        before = self._followed.get(number)
        if before is not None:
            for file in (before.task.begin_file, before.task.part.border_file):
                Path(file).unlink(missing_ok=True)
        self._followed[number] = followed
        self.blocks_read += len(followed.task.part.blocks)

    def _sweep(
        self, parts: Sequence[JudgedPart], lessons: Sequence[tuple[Lesson, ...]]
    ) -> list[RowsTask]:
        here = _Here(parts[0].border, parts[0].task.border_file)
        tasks: list[RowsTask] = []
        for part, known in zip(parts[1:], lessons[1:], strict=True):
            followed = self._followed.get(part.task.number)
            if followed is not None and followed.task.begin == here.fingerprint:
                here = _Here(followed.end, followed.task.part.border_file)
                continue
            border = here.take()
            tasks.append(self._task(part, known, border, here.fingerprint))
            if self.rounds >= ROUNDS_SIDE_BY_SIDE:
                break
            count = part.part.counts["transactions",]
            border.go_on(read_border(part.task.border_file), count)
            if followed is not None:
                border.rows.take_doubts(read_border(followed.task.part.border_file).rows, count)
            here = _Here(border.fingerprint(), "", border)
        return tasks

    def _task(
        self,
        part: JudgedPart,
        lessons: tuple[Lesson, ...],
        border: ReplayBorder[Any],
        begin: bytes,
    ) -> RowsTask:
        # Named by what they depend on: a task that Spark runs twice writes the same.
        name = f"{part.task.number}-{begin.hex()}"
        begin_file = str(self._folder / f"begin-{name}")
        leave_border(border, begin_file)
        end_file = str(self._folder / f"end-{name}")
        return RowsTask(
            part=part.task.without_approach(lessons, engine=part.engine, border_file=end_file),
            begin_file=begin_file,
            begin=begin,
        )
