"""Stale reads: a read misses what was committed before its transaction began.

Needs no cycle, so it counts each such read. Lists and sets show what they miss; registers need
the log. A set has no order of versions, so a read that shows an element must also show those whose
writers had ended before that element's writer began.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paraply.properties.isolation.breaches import shown
from paraply.properties.isolation.judging import Finding
from paraply.properties.isolation.phenomena import Phenomenon
from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import (
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
    Key,
)
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStale(Violation):
    """A read misses a value whose writer had ended before."""

    reader: str
    key: Key
    read: Any
    writer: str
    missed: Any
    shows: str = ""
    """The writer of an element shown, if only that one began after the missing one had ended."""

    def __str__(self) -> str:
        wrote = f"{self.writer} wrote {shown(self.missed)} to {self.key} and had ended when"
        if self.shows:
            return (
                f"{wrote} {self.shows} was invoked, whose element {self.reader} read there without "
                f"it: {shown(self.read)}"
            )
        return f"{wrote} {self.reader} was invoked, which read {shown(self.read)} there"


STALE_READ = Phenomenon(
    label="stale read",
    fact="reads_show_what_had_ended",
    meaning="a read missed what was committed before it began, or before what it shows",
    breach=ReadStale,
)


class _Written(NamedTuple):
    ended: int
    value: Any
    writer: str
    place: int


def judge_freshness(history: ClientHistory) -> Finding:
    """Return the stale reads of committed transactions."""
    if not history.has_times:
        reason = "the history does not say what was over before what began"
        return _unknown(reason)
    if history.data_type is DataType.REGISTER and history.log is None:
        return _unknown("the order of the source's log is not known")
    written = _written(history)
    writers = {(key, value): one for one in history.transactions for _, key, value in one.writes}
    breaches = []
    compared = 0
    for one in history.transactions:
        for key, value in _reads(one, history.data_type):
            begun, shows = one.invoked, ""
            for element in (value or ()) if history.data_type is DataType.SET else ():
                writer = writers.get((key, element))
                if writer is not None and writer.invoked > begun:
                    begun, shows = writer.invoked, writer.name
            earlier = [each for each in written.get(key, ()) if each.ended < begun]
            compared += bool(earlier)
            missed = _missed(value, earlier, written.get(key, ()), history.data_type)
            if missed is not None:
                breaches.append(
                    ReadStale(
                        reader=one.name, key=key, read=value, writer=missed.writer,
                        missed=missed.value, shows="" if missed.ended < one.invoked else shows,
                    )
                )  # fmt: skip
    if not compared:
        return _unknown("no read came after a write of its key had ended")
    return Finding(
        phenomenon=STALE_READ,
        verdict=Verdict.VIOLATED if breaches else Verdict.HOLDS,
        breaches=tuple(breaches),
    )


def _unknown(reason: str) -> Finding:
    return Finding(
        phenomenon=STALE_READ, verdict=Verdict.UNKNOWN, reason=reason, did_occur=False
    )  # fmt: skip


def _written(history: ClientHistory) -> dict[Key, list[_Written]]:
    places = {number: place for place, number in enumerate(history.log or (), start=1)}
    written: dict[Key, list[_Written]] = {}
    for one in history.transactions:
        if one.ending is not Ending.COMMITTED:
            continue
        final: dict[Key, Any] = {}
        for kind, key, value in one.accesses:
            if kind in (AccessKind.APPEND, AccessKind.ADD):
                _add(written, key, one, value, places)
            elif kind is AccessKind.WRITE:
                final[key] = value
        for key, value in final.items():
            _add(written, key, one, value, places)
    return written


def _add(
    written: dict[Key, list[_Written]],
    key: Key,
    one: ClientTransaction,
    value: Any,
    places: dict[int, int],
) -> None:
    entry = _Written(one.completed, value, one.name, places.get(one.number, 0))
    written.setdefault(key, []).append(entry)


def _reads(one: ClientTransaction, data_type: DataType) -> Iterator[tuple[Key, Any]]:
    """Yield the first read of each key before its own write; every read of a set."""
    if one.ending is not Ending.COMMITTED:
        return
    known: set[Key] = set()
    for kind, key, value in one.accesses:
        if kind is AccessKind.READ and (key not in known or data_type is DataType.SET):
            yield key, value
        known.add(key)


def _missed(
    value: Any, earlier: Sequence[_Written], every: Sequence[_Written], data_type: DataType
) -> _Written | None:
    if not earlier:
        return None
    if data_type in (DataType.LIST, DataType.SET):
        seen = set(value or ())
        return next((each for each in earlier if each.value not in seen), None)
    place = next((each.place for each in every if each.value == value), 0)
    if value is not None and not place:
        return None  # Of unknown outcome; its place is not known.
    newest = max(earlier, key=lambda each: each.place)
    return newest if newest.place > place else None
