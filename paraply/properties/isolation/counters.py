"""Counters: clients increment, and each read lies between two sums.

The lower bound has the increments confirmed before the reader began. The upper bound also has those
that began before it ended and may have happened. After Jepsen's ``counter`` checker. Counters grow
only, so with the source's log a value identifies its place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from paraply.properties.isolation.agreement import judge_agreement
from paraply.properties.isolation.freshness import STALE_READ
from paraply.properties.isolation.going_back import judge_going_back
from paraply.properties.isolation.judging import Finding, finding_of, prefix_findings
from paraply.properties.isolation.phenomena import Phenomenon
from paraply.properties.isolation.whole_reads import WholeRead, final_reads, whole_reads
from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import (
    ClientHistory,
    ClientTransaction,
    Ending,
    Key,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterTooLow(Violation):
    """A read is below the increments that had ended before."""

    reader: str
    key: Key
    read: int
    least: int
    missed: str = ""
    """The first missed transaction, if the log's order is known."""

    def __str__(self) -> str:
        missed = f", and missed {self.missed}" if self.missed else ""
        return (
            f"{self.reader} read {self.key} = {self.read}{missed}: increments of {self.least} were "
            "confirmed when it was invoked"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterTooHigh(Violation):
    """A read is above all increments that may have happened."""

    reader: str
    key: Key
    read: int
    most: int

    def __str__(self) -> str:
        return (
            f"{self.reader} read {self.key} = {self.read}: increments of at most {self.most} had "
            "begun when it ended, aborted ones left out"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IncrementsLost(Violation):
    """Every server ends below the confirmed increments."""

    key: Key
    read: int
    """The highest final read."""
    confirmed: int
    readers: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"increments of {self.confirmed} to {self.key} were confirmed; in the end "
            f"{' and '.join(self.readers)} read at most {self.read}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IncrementOverwritten(Violation):
    """A logged increment does not start from the value that the previous one left."""

    writer: str
    key: Key
    before: int
    previous: str
    left: int

    def __str__(self) -> str:
        return (
            f"{self.previous} left {self.key} = {self.left} in the log, and {self.writer} after it "
            f"incremented {self.before}"
        )


COUNTER_TOO_HIGH = Phenomenon(
    label="counter too high", fact="counters_show_only_increments_that_began",
    breach=CounterTooHigh,
    meaning="a read is above the sum of all increments that may have happened",
)  # fmt: skip
LOST_INCREMENT = Phenomenon(
    label="lost increment", fact="confirmed_increments_remain", breach=IncrementsLost,
    meaning="each server's final read is below the confirmed increments",
)  # fmt: skip
LOGGED_INCREMENT = Phenomenon(
    label="logged increment", fact="logged_increments_form_a_chain", breach=IncrementOverwritten,
    meaning="a logged increment starts from another value than the previous one left",
)  # fmt: skip


class LoggedIncrement(NamedTuple):
    """One change of a counter in the log."""

    writer: str
    key: Key
    before: int
    after: int


def judge_counter(history: ClientHistory) -> tuple[Finding, ...]:
    """Judge a history of counters."""
    return (
        *_judge_bounds(history),
        _judge_losses(history),
        judge_agreement(history),
        *judge_going_back(history),
        *prefix_findings(history),
    )


def judge_logged_increments(logged: Iterable[LoggedIncrement]) -> Finding:
    """Return the increments, in log order, that overwrite another."""
    left: dict[Key, LoggedIncrement] = {}
    breaches = []
    compared = 0
    for one in logged:
        previous = left.get(one.key)
        if previous is not None:
            compared += 1
            if previous.after != one.before:
                breaches.append(
                    IncrementOverwritten(
                        writer=one.writer, key=one.key, before=one.before,
                        previous=previous.writer, left=previous.after,
                    )
                )  # fmt: skip
        left[one.key] = one
    return finding_of(
        LOGGED_INCREMENT, breaches, compared > 0, "the log has no two increments of one counter"
    )


class _Sums:
    """Amounts by moment, added up."""

    def __init__(self) -> None:
        self._moments: list[tuple[int, int]] = []
        self._totals: list[int] = []

    def add(self, moment: int, amount: int) -> None:
        self._moments.append((moment, amount))

    def before(self, moment: int) -> int:
        if len(self._totals) <= len(self._moments):
            self._moments.sort()
            self._totals = list(accumulate((one for _, one in self._moments), initial=0))
        return self._totals[bisect_left(self._moments, moment, key=itemgetter(0))]


def _judge_bounds(history: ClientHistory) -> Iterator[Finding]:
    reads = list(whole_reads(history))
    if not history.has_times:
        reason = "the history does not say what was over before what began"
        yield finding_of(STALE_READ, (), False, reason)
        yield finding_of(COUNTER_TOO_HIGH, (), False, reason)
        return
    confirmed: dict[Key, _Sums] = {}
    possible: dict[Key, _Sums] = {}
    for one, key, amount in _increments(history):
        if one.ending is Ending.COMMITTED:
            confirmed.setdefault(key, _Sums()).add(one.completed, amount)
        if one.ending is not Ending.ABORTED:
            possible.setdefault(key, _Sums()).add(one.invoked, amount)
    low: list[Violation] = []
    high: list[Violation] = []
    nothing = _Sums()
    compared = 0
    by_number = {one.number: one for one in history.transactions}
    logged = [by_number[number] for number in history.log or ()]
    for read in reads:
        reader, key = read.reader, read.key
        own = sum(read.own)
        least = own + confirmed.get(key, nothing).before(reader.invoked)
        later = _amount(reader, key) - own
        most = possible.get(key, nothing).before(reader.completed) - later
        compared += least > 0
        value = read.value or 0
        if value < least:
            low.append(
                CounterTooLow(
                    reader=reader.name, key=key, read=value, least=least,
                    missed=_missed(logged, read),
                )
            )  # fmt: skip
        elif value > most:
            high.append(CounterTooHigh(reader=reader.name, key=key, read=value, most=most))
    yield finding_of(
        STALE_READ, low, compared > 0, "no read came after an increment of its counter had ended"
    )
    yield finding_of(COUNTER_TOO_HIGH, high, bool(reads), "no counter was read")


def _increments(history: ClientHistory) -> Iterator[tuple[ClientTransaction, Key, int]]:
    for one in history.transactions:
        for _, key, amount in one.writes:
            yield one, key, amount


def _amount(one: ClientTransaction, key: Key) -> int:
    return sum(amount for _, other, amount in one.writes if other == key)


def _missed(logged: Iterable[ClientTransaction], read: WholeRead) -> str:
    """Return the first transaction of the log that the value lacks and that had ended."""
    total = sum(read.own)
    for one in logged:
        amount = _amount(one, read.key)
        if one is read.reader or not amount:
            continue
        total += amount
        if total > (read.value or 0) and one.completed < read.reader.invoked:
            return one.name
    return ""


def _judge_losses(history: ClientHistory) -> Finding:
    confirmed: dict[Key, int] = {}
    for one, key, amount in _increments(history):
        if one.ending is Ending.COMMITTED:
            confirmed[key] = confirmed.get(key, 0) + amount
    final = final_reads(history)
    breaches = []
    for key, total in confirmed.items():
        ends = final.get(key, {}).values()
        highest = max((read.value or 0 for read in ends), default=total)
        if highest < total:
            breaches.append(
                IncrementsLost(
                    key=key, read=highest, confirmed=total,
                    readers=tuple(read.where for read in ends),
                )
            )  # fmt: skip
    reason = "no increment was confirmed"
    if unread := [key for key in confirmed if key not in final]:
        reason = f"{len(unread):,} of {len(confirmed):,} counters have no final read"
    return finding_of(LOST_INCREMENT, breaches, bool(confirmed) and not unread, reason)
