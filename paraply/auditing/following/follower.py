"""The driver's side of a followed audit: one file after the other, each committed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from paraply.adapters.remote_files import size_of
from paraply.auditing.engines import COMPILED, READABLE, no_compiled_engine
from paraply.auditing.following.judging import FileTask, JudgedFile, judge_file, summary_of_row
from paraply.auditing.following.state import STATE_REFUSED, load_result
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.arriving_files import number_of
from paraply.mining.audit_tables import FILES, STATES, AuditTables
from paraply.mining.store import store_at
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.not_compilable import BeginAgain, NotCompilable

Judged = JudgedFile | NotCompilable
Map = Callable[[Callable[[FileTask], Judged], Iterable[FileTask]], Iterable[Judged]]
"""Maps tasks (``paraply.mining.engines.Engine.map``)."""


class Follower:
    """Audits files into tables; continues where they are.

    Attributes:
        place: absolute path or URL of the tables.
        tables: the tables.
    """

    def __init__(self, place: str, request: AuditRequest, map_tasks: Map = map) -> None:
        self._request = request
        self._map = map_tasks
        self.tables = AuditTables(place)
        self.place = self.tables.url
        self._store = store_at(self.place)
        self._older = ""

    def take(self, files: Sequence[str]) -> None:
        """Audit the files that the tables do not have; raises P746 where one is missing."""
        last = self.tables.last()
        for file in files:
            if last is not None and number_of(file) <= number_of(last["file"]):
                continue
            if last is not None and number_of(file) != number_of(last["file"]) + 1:
                reason = f"{file} does not follow {last['file']}, which was audited last"
                raise ParaplyError(STATE_REFUSED, reason=reason)
            last = self._take(file, last)

    def _take(self, file: str, last: Any) -> Any:
        number, state = (1, "") if last is None else (last["number"] + 1, last["state"])
        task = FileTask(
            place=self.place, file=file, number=number, request=self._request, state=state
        )
        judged = self._judge(task)
        while isinstance(judged, NotCompilable):
            task = self._for_another_engine(task, judged)
            judged = self._judged_from_the_first(task, judged)
        self.tables.commit(number, judged.tables)
        # Readers may use the state before: drop the one before that.
        if self._older:
            self._store.delete(f"{STATES}/{self._older}")
        self._older = state
        return {"number": number, "file": file, "state": judged.state}

    def _judge(self, task: FileTask) -> Judged:
        (judged,) = self._map(judge_file, [task])
        return judged

    def _for_another_engine(self, task: FileTask, refusal: NotCompilable) -> FileTask:
        if isinstance(refusal, BeginAgain):
            return replace(task, left=refusal.learnt)
        if self._request.engine == COMPILED:
            raise no_compiled_engine(refusal)
        return replace(task, request=replace(self._request, engine=READABLE))

    def _judged_from_the_first(self, task: FileTask, refusal: NotCompilable) -> Judged:
        """Let another engine read the files before, too; their rows are the same."""
        state = ""
        for row in self.files():
            file, number = row["file"], row["number"]
            try:
                size_of(file)
            except OSError:
                reason = f"{task.file} needs an engine that begins with {file} ({refusal}), which "
                reason += "is gone"
                raise ParaplyError(STATE_REFUSED, reason=reason) from None
            before = replace(task, file=file, number=number, state=state, is_told=False)
            judged = self._judge(before)
            if state:
                self._store.delete(f"{STATES}/{state}")
            if isinstance(judged, NotCompilable):
                return judged
            state = judged.state
        return self._judge(replace(task, state=state))

    def files(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the rows of the files after a number."""
        return self.tables.rows(FILES, after=after)

    def sweep(self) -> None:
        """Remove torn commits, and what killed processes left more than a day ago."""
        self.tables.drop_torn_commits()
        last = self.tables.last()
        newest = [] if last is None else self.files(after=last["number"] - 2)
        self.tables.sweep([row["state"] for row in newest])

    def result(self) -> AuditResult | None:
        """Return what an audit of all files so far says; None before the first."""
        last = self.tables.last()
        if last is None:
            return None
        data = self._store.read(f"{STATES}/{last['state']}")
        if data is None:
            raise ParaplyError(STATE_REFUSED, reason=f"its state {last['state']} is gone")
        result = load_result(data)
        result.files = [summary_of_row(row) for row in self.files()]
        return result
