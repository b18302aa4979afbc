"""Row following from part to part (``properties.logs.replay_borders``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paraply.adapters.binlog.schema.lessons import Lesson
from paraply.auditing.parts import (
    FollowedRows,
    JudgedPart,
    RowsTask,
    follow_rows,
    leave_border,
    read_border,
)
from paraply.mining.part_files import drop
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.vocabulary.not_compilable import NotCompilable

ROUNDS_SIDE_BY_SIDE = 3
"""After these rounds parts are followed one at a time."""


Followed = FollowedRows | NotCompilable
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
        self._folder = folder
        self._map = map_tasks
        self._advance = advance
        self._followed: dict[int, FollowedRows] = {}
        self.rounds = 0
        self.blocks_read = 0

    def follow(self, parts: Sequence[JudgedPart], lessons: Sequence[tuple[Lesson, ...]]) -> None:
        """Store the findings in ``parts``.

        ``lessons`` precede each part. Raises ``NotCompilable``.
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
            part.part.replayed = self._followed[part.task.number].replayed

    def _take(self, followed: FollowedRows | NotCompilable) -> None:
        if isinstance(followed, NotCompilable):
            raise followed
        number = followed.task.part.number
        before = self._followed.get(number)
        if before is not None:
            for file in (before.task.begin_file, before.task.part.border_file):
                drop(file)
        self._followed[number] = followed
        self.blocks_read += len(followed.task.part.blocks)

    def _sweep(
        self, parts: Sequence[JudgedPart], lessons: Sequence[tuple[Lesson, ...]]
    ) -> list[RowsTask]:
        here = _Here(parts[0].part.replayed.end, parts[0].task.border_file)
        tasks: list[RowsTask] = []
        for part, known in zip(parts[1:], lessons[1:], strict=True):
            followed = self._followed.get(part.task.number)
            if followed is not None and followed.task.begin == here.fingerprint:
                here = _Here(followed.replayed.end, followed.task.part.border_file)
                continue
            border = here.take()
            tasks.append(self._task(part, known, border, here.fingerprint))
            if self.rounds >= ROUNDS_SIDE_BY_SIDE:
                break
            border.go_on(
                read_border(part.task.border_file),
                part.part.counts["transactions",],
                None if followed is None else read_border(followed.task.part.border_file),
            )
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
        begin_file = f"{self._folder}/begin-{name}"
        leave_border(border, begin_file)
        return RowsTask(
            part=replace(
                part.task,
                approach=(),
                lessons=lessons,
                engine=part.engine,
                left=part.left,
                border_file=f"{self._folder}/end-{name}",
            ),
            begin_file=begin_file,
            begin=begin,
            transactions_before=part.part.borders.transactions_before,
        )
