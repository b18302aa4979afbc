"""Worker windows of MySQL: each transaction's interval and GTID.

performance_schema reports start and end. Ends follow the engine commits and may be out of order;
the binary log has the order. A commit is placed at the minimum of its end and all later ends in the
log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from paraply.adapters.live.observed import Member
from paraply.adapters.live.source_log import Keys, SourceLog
from paraply.adapters.live.translation import MemberStory
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.transactions import TransactionId

if TYPE_CHECKING:
    from paraply.adapters.servers.reachable import Reachable

OPTIONS = (
    "--performance-schema=ON",
    "--performance-schema-instrument=transaction=ON",
    "--performance-schema-consumer-events-transactions-current=ON",
    "--performance-schema-consumer-events-transactions-history-long=ON",
    "--performance-schema-events-transactions-history-long-size=60000",
    "--performance-schema-max-table-instances=500",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A worker's attempt, in picoseconds of the replica's timer or log lines."""

    gtid: str
    worker: int
    is_committed: bool
    start: int | None
    """None without an observed applier."""
    end: int


def windows_of(server: Reachable) -> list[Window]:
    """Return all appliers' windows since the last reset, by start.

    They outlive their workers' threads. An applier executes under another server's GTID.
    """
    rows = server.query(
        "SELECT e.gtid, e.thread_id, e.state, e.timer_start, e.timer_end"
        " FROM performance_schema.events_transactions_history_long e"
        " WHERE e.gtid LIKE '%-%:%' AND e.timer_end IS NOT NULL ORDER BY e.timer_start"
    )
    return [
        Window(
            gtid=str(gtid),
            worker=int(worker),
            is_committed=state == "COMMITTED",
            start=int(start),
            end=int(end),
        )
        for gtid, worker, state, start, end in rows
    ]


def forget_windows(server: Reachable) -> None:
    """Empty the server's history of windows."""
    server.query("TRUNCATE TABLE performance_schema.events_transactions_history_long")


def commit_times(ends: Sequence[int | None]) -> list[int | None]:
    """Return each logged transaction's latest possible commit time.

    >>> commit_times([5, 9, 7, None, 12])
    [5, 7, 7, 12, 12]
    """
    times: list[int | None] = []
    earliest: int | None = None
    for end in reversed(ends):
        if end is not None and (earliest is None or end < earliest):
            earliest = end
        times.append(earliest)
    return times[::-1]


class WindowStory(MemberStory):
    """The events of a replica with windows."""

    def __init__(
        self, log: SourceLog, member: Member, keys: Keys, windows: Sequence[Window] = ()
    ) -> None:
        super().__init__(log, member, keys)
        self.windows = [window for window in windows if window.gtid in log.ids]
        self._workers: dict[int, int] = {}

    @property
    def covered(self) -> int:
        """Return the committed transactions with windows."""
        return len(self._committed().keys() & set(self.order))

    def _committed(self) -> dict[TransactionId, Window]:
        return {self.log.ids[window.gtid]: window for window in self.windows if window.is_committed}

    def events(self) -> Iterator[Event]:
        """Yield the events in timer order."""
        if not self.windows:
            yield from super().events()
            return
        committed = self._committed()
        by_place = self._by_place()
        times = commit_times(
            [committed[one].end if one in committed else None for one in self.order]
        )
        attempts = self._attempts(committed)
        tie = count()
        timed = [(0, next(tie), event) for event in by_place.get(0, ())]
        last = 0
        for place, time in enumerate(times):
            last = time if time is not None else last
            for event in self._engine_commit(place, attempts):
                timed.append((last, next(tie), event))
            timed.extend((last, next(tie), event) for event in by_place.get(place + 1, ()))
        for time, event in self._begun(attempts):
            timed.append((time, next(tie), event))
        # Commits precede starts of the same time: they do not overlap.
        timed.sort(key=lambda entry: entry[:2])
        yield from (event for _, _, event in timed)
        yield from self._ending()

    def _attempts(self, committed: Mapping[TransactionId, Window]) -> dict[TransactionId, int]:
        tried: dict[TransactionId, int] = {}
        for window in self.windows:
            one = self.log.ids[window.gtid]
            tried[one] = tried.get(one, 0) + 1
        return {one: tried.get(one, 1) for one in (*self.order, *committed)}

    def _begun(self, attempts: Mapping[TransactionId, int]) -> Iterator[tuple[int, Event]]:
        tried: dict[TransactionId, int] = {}
        for window in self.windows:
            one = self.log.ids[window.gtid]
            tried[one] = number = tried.get(one, 0) + 1
            worker = self._workers.setdefault(window.worker, len(self._workers) + 1)
            if window.start is None or number > attempts.get(one, number):
                continue
            yield (
                window.start,
                self._event(EventKind.BEGUN, transaction=one, worker=worker, attempt=number),
            )
            for _, _, items in self.log.touched.get(one, ()) if window.is_committed else ():
                yield (
                    window.start,
                    self._event(
                        EventKind.ROW_APPLIED,
                        transaction=one,
                        worker=worker,
                        attempt=number,
                        outcome=Outcome.OK,
                        items=items,
                        row=None,
                    ),
                )
            if not window.is_committed:
                yield (
                    window.end,
                    self._event(
                        EventKind.ROLLED_BACK, transaction=one, worker=worker, attempt=number
                    ),
                )
