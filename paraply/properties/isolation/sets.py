"""Sets: clients add unique elements, and each read returns the whole set.

After Jepsen's ``set-full`` checker. An element of unknown outcome may be absent or present.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Any, NamedTuple

from paraply.properties.isolation.agreement import judge_agreement
from paraply.properties.isolation.breaches import (
    AbortedValueRead,
    OwnWriteForeseen,
    OwnWriteMissed,
    ReadSkewed,
    RepeatedElementRead,
    UnwrittenValueRead,
    shown,
)
from paraply.properties.isolation.freshness import judge_freshness
from paraply.properties.isolation.going_back import judge_going_back
from paraply.properties.isolation.judging import Finding, finding_of, prefix_findings
from paraply.properties.isolation.phenomena import Phenomenon, phenomenon_named
from paraply.properties.isolation.whole_reads import WholeRead, final_reads, whole_reads
from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import (
    REPEATED_WRITE,
    ClientHistory,
    ClientTransaction,
    Ending,
    Key,
)
from paraply.vocabulary.errors import ParaplyError


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementLost(Violation):
    """No server has a confirmed element in the end."""

    writer: str
    key: Key
    element: Any
    readers: tuple[str, ...]
    """The final reads."""

    def __str__(self) -> str:
        return (
            f"{self.writer} added {shown(self.element)} to {self.key} and was confirmed; in the "
            f"end {' and '.join(self.readers)} read {self.key} without it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementVanished(Violation):
    """No server has an element in the end that a client read and no client saw confirmed."""

    reader: str
    writer: str
    key: Key
    element: Any
    readers: tuple[str, ...]
    """The final reads."""

    def __str__(self) -> str:
        return (
            f"{self.reader} read {self.key} with {shown(self.element)} of {self.writer}; in the "
            f"end {' and '.join(self.readers)} read {self.key} without it"
        )


DUPLICATE_ELEMENT = Phenomenon(
    label="duplicate element", fact="elements_are_not_repeated", breach=RepeatedElementRead,
    meaning="a read of a set shows one element twice",
)  # fmt: skip
LOST_ELEMENT = Phenomenon(
    label="lost element", fact="confirmed_elements_remain", breach=ElementLost,
    meaning="a confirmed element is in no server's final read",
)  # fmt: skip
VANISHED_ELEMENT = Phenomenon(
    label="vanished element", fact="elements_once_read_remain", breach=ElementVanished,
    meaning="a read showed an unconfirmed element that is in no server's final read",
)  # fmt: skip
_ABORTED, _UNWRITTEN, _INTERNAL, _SKEW = map(
    phenomenon_named, ("G1a", "garbage", "internal", "G-single")
)


class Outcome(Enum):
    """What became of an element that was not aborted."""

    STABLE = "stable"
    """In a final read."""
    LOST = "lost"
    """Confirmed, and in no final read."""
    VANISHED = "vanished"
    """Unconfirmed, read, and in no final read."""
    ABSENT = "unconfirmed and absent"
    """Never read, as its outcome permits."""
    SEEN = "seen"
    """Read; its set has no final read."""
    NEVER_READ = "never read"
    """Confirmed and never read; its set has no final read."""


class _Added(NamedTuple):
    writer: ClientTransaction
    key: Key
    element: Any


def judge_set(history: ClientHistory) -> tuple[Finding, ...]:
    """Judge a history of sets.

    Raises:
        ParaplyError: P508 where an element is added twice.
    """
    added = _added(history)
    reads = list(whole_reads(history))
    found: list[Violation] = []
    for read in reads:
        found += _strange(read, added, has_times=history.has_times)
    occurred, reason = bool(reads), "no set was read"
    repeats = any(read.own for read in reads)
    return (
        *(
            finding_of(one, [each for each in found if isinstance(each, one.breach)], *situation)
            for one, situation in (
                (_ABORTED, (occurred, reason)),
                (_UNWRITTEN, (occurred, reason)),
                (_INTERNAL, (repeats, "no transaction read a set that it had added to")),
                (DUPLICATE_ELEMENT, (occurred, reason)),
            )
        ),
        _skew(added, reads),
        *_losses(history, added, reads),
        judge_agreement(history),
        judge_freshness(history),
        *judge_going_back(history),
        *prefix_findings(history),
    )


def element_outcomes(history: ClientHistory) -> Mapping[Outcome, int]:
    """Return the number of elements by outcome."""
    added = _added(history)
    outcomes = _outcomes(added, list(whole_reads(history)), final_reads(history))
    return Counter(kind for _, kind, _ in outcomes)


def _added(history: ClientHistory) -> dict[tuple[Key, Any], _Added]:
    added: dict[tuple[Key, Any], _Added] = {}
    for one in history.transactions:
        for _, key, element in one.writes:
            if (key, element) in added:
                raise ParaplyError(
                    REPEATED_WRITE, where=one.name, value=element, key=key,
                    first=added[key, element].writer.name,
                )  # fmt: skip
            added[key, element] = _Added(one, key, element)
    return added


def _strange(
    read: WholeRead, added: Mapping[tuple[Key, Any], _Added], *, has_times: bool
) -> Iterator[Violation]:
    reader, key = read.reader, read.key
    counts = Counter(read.value)
    for element, count in counts.items():
        if count > 1:
            yield RepeatedElementRead(reader=reader.name, key=key, value=element)
        known = added.get((key, element))
        if known is None or (has_times and known.writer.invoked > reader.completed):
            yield UnwrittenValueRead(reader=reader.name, key=key, value=element)
        elif known.writer.ending is Ending.ABORTED:
            yield AbortedValueRead(
                reader=reader.name, key=key, value=element, writer=known.writer.name
            )
        elif known.writer is reader and element not in read.own:
            yield OwnWriteForeseen(transaction=reader.name, key=key, read=element)
    for element in read.own:
        if element not in counts:
            yield OwnWriteMissed(
                transaction=reader.name, key=key, written=element, read=read.value
            )  # fmt: skip


def _skew(added: Mapping[tuple[Key, Any], _Added], reads: list[WholeRead]) -> Finding:
    """Find transactions that show one element of another transaction and lack a second one."""
    writes: dict[int, list[_Added]] = {}
    for one in added.values():
        writes.setdefault(one.writer.number, []).append(one)
    breaches = []
    compared = 0
    for _, together in groupby(reads, key=lambda read: read.reader.number):
        group = list(together)
        shown_of: dict[int, _Added] = {}
        for read in group:
            for element in read.value:
                known = added.get((read.key, element))
                if known is not None and known.writer is not read.reader:
                    shown_of.setdefault(known.writer.number, known)
        for number, seen in shown_of.items():
            others = [
                (one, read) for one in writes[number] if one is not seen
                for read in group if read.key == one.key
            ]  # fmt: skip
            compared += bool(others)
            missed = next((one for one, read in others if one.element not in read.value), None)
            if missed is None:
                # The element itself, in a second read of its set.
                again = (read for read in group if read.key == seen.key)
                missed = seen if any(seen.element not in read.value for read in again) else None
            if missed is not None:
                breaches.append(_skewed(group[0].reader.name, seen, missed))
    reason = "no transaction read two elements of another one"
    return finding_of(_SKEW, breaches, compared > 0, reason)


def _skewed(reader: str, seen: _Added, missed: _Added) -> ReadSkewed:
    writer = seen.writer.name
    return ReadSkewed(
        transactions=(writer, reader),
        steps=(
            f"{reader} read {seen.key} with {shown(seen.element)} of {writer}",
            f"{reader} read {missed.key} without {shown(missed.element)} of {writer}",
        ),
    )


_Outcome = tuple[_Added, Outcome, WholeRead | None]


def _outcomes(
    added: Mapping[tuple[Key, Any], _Added],
    reads: list[WholeRead],
    final: Mapping[Key, Mapping[str, WholeRead]],
) -> Iterator[_Outcome]:
    """Yield each element that was not aborted, with its outcome and first reader."""
    seen: dict[tuple[Key, Any], WholeRead] = {}
    for read in reads:
        for element in read.value:
            seen.setdefault((read.key, element), read)
    remains = {
        (key, element) for key, ends in final.items() for one in ends.values()
        for element in one.value
    }  # fmt: skip
    for name, one in added.items():
        if one.writer.ending is Ending.ABORTED:
            continue
        reader = seen.get(name)
        if name in remains:
            kind = Outcome.STABLE
        elif one.writer.ending is Ending.COMMITTED:
            kind = Outcome.LOST
            if one.key not in final:
                kind = Outcome.SEEN if reader else Outcome.NEVER_READ
        elif reader is None:
            kind = Outcome.ABSENT
        else:
            kind = Outcome.VANISHED if one.key in final else Outcome.SEEN
        yield one, kind, reader


def _losses(
    history: ClientHistory, added: Mapping[tuple[Key, Any], _Added], reads: list[WholeRead]
) -> Iterator[Finding]:
    final = final_reads(history)
    lost, vanished = [], []
    confirmed = undecided = unconfirmed = 0
    for one, kind, reader in _outcomes(added, reads, final):
        is_confirmed = one.writer.ending is Ending.COMMITTED
        confirmed += is_confirmed
        undecided += is_confirmed and kind in (Outcome.SEEN, Outcome.NEVER_READ)
        unconfirmed += not is_confirmed and kind in (Outcome.STABLE, Outcome.VANISHED)
        readers = tuple(each.where for each in final.get(one.key, {}).values())
        if kind is Outcome.LOST:
            lost.append(
                ElementLost(
                    writer=one.writer.name, key=one.key, element=one.element, readers=readers
                )
            )
        elif kind is Outcome.VANISHED and reader is not None:
            vanished.append(
                ElementVanished(
                    reader=reader.where, writer=one.writer.name, key=one.key, element=one.element,
                    readers=readers,
                )
            )  # fmt: skip
    reason = "no element was confirmed"
    if undecided:
        reason = f"{undecided:,} of {confirmed:,} confirmed elements have no final read"
    yield finding_of(LOST_ELEMENT, lost, confirmed > 0 and not undecided, reason)
    yield finding_of(
        VANISHED_ELEMENT, vanished, unconfirmed > 0,
        "no unconfirmed element was read that has a final read",
    )  # fmt: skip
