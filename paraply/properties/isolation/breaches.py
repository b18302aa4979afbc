"""The breaches of isolation, each as a small fact that reads as a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import Key

ELEMENTS_SHOWN = 6


def shown(value: Any) -> str:
    """Return a value as sentences show it: a long list by its end."""
    if value is None:
        return "nothing"
    if isinstance(value, tuple):
        parts = [str(element) for element in value[-ELEMENTS_SHOWN:]]
        if len(value) > ELEMENTS_SHOWN:
            parts.insert(0, "…")
        return f"[{' '.join(parts)}]"
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedValueRead(Violation):
    """A committed transaction read what an aborted one had written (G1a)."""

    reader: str
    key: Key
    value: Any
    writer: str

    def __str__(self) -> str:
        return (
            f"{self.reader} read {self.key} with {shown(self.value)} of {self.writer}, "
            f"and {self.writer} was aborted"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IntermediateValueRead(Violation):
    """A transaction read what its writer overwrote itself before it committed (G1b)."""

    reader: str
    key: Key
    value: Any
    writer: str
    final: Any

    def __str__(self) -> str:
        return (
            f"{self.reader} read {self.key} with {shown(self.value)} of {self.writer}, "
            f"which went on to write {shown(self.final)} there before it committed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnwrittenValueRead(Violation):
    """A transaction read a value that nobody ever wrote."""

    reader: str
    key: Key
    value: Any

    def __str__(self) -> str:
        return f"{self.reader} read {self.key} with {shown(self.value)}, which nobody wrote"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedElementRead(Violation):
    """A list showed one appended element twice."""

    reader: str
    key: Key
    value: Any

    def __str__(self) -> str:
        return f"{self.reader} read {self.key} with {shown(self.value)} twice, appended only once"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersContradicted(Violation):
    """Two reads of a list are not prefixes of one order."""

    reader: str
    key: Key
    read: Any
    other_reader: str
    other_read: Any

    def __str__(self) -> str:
        return (
            f"{self.reader} read {self.key} as {shown(self.read)} and {self.other_reader} as "
            f"{shown(self.other_read)}: no one order of appends explains both"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendsReordered(Violation):
    """A list shows an element without, or before, what its transaction had appended before it."""

    reader: str
    key: Key
    value: Any
    writer: str
    appended: Any
    """All that the writer appended there, in its order."""

    def __str__(self) -> str:
        return (
            f"{self.reader} read {self.key} with {shown(self.value)} out of turn: {self.writer} "
            f"appended {shown(self.appended)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWriteMissed(Violation):
    """A transaction did not read what it had written itself before."""

    transaction: str
    key: Key
    written: Any
    read: Any

    def __str__(self) -> str:
        return (
            f"{self.transaction} wrote {self.key} = {shown(self.written)} and then read "
            f"{shown(self.read)} there"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWriteForeseen(Violation):
    """A transaction read what it wrote itself only afterwards."""

    transaction: str
    key: Key
    read: Any

    def __str__(self) -> str:
        return f"{self.transaction} read {self.key} = {shown(self.read)} before it wrote that"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateLost(Violation):
    """Two committed transactions read one version of a key, and both replaced it (P4)."""

    first: str
    second: str
    key: Key
    value: Any

    def __str__(self) -> str:
        return (
            f"{self.first} and {self.second} both read {self.key} = {shown(self.value)} and both "
            "wrote it anew: one update was lost"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleFormed(Violation):
    """Transactions come before each other in a circle: no order of them explains the history."""

    phenomenon: ClassVar[str] = ""
    transactions: tuple[str, ...]
    """The first is also where the circle closes."""
    steps: tuple[str, ...]
    """Why each comes before the next, a clause each."""
    is_shortest: bool = True
    """False where the search for a shorter one was given up."""

    def __str__(self) -> str:
        order = " < ".join([*self.transactions, self.transactions[0]])
        doubt = "" if self.is_shortest else " (a shorter one may exist)"
        return f"{'; '.join(self.steps)}: so {order}, in a circle{doubt}"


class WriteCycleFormed(CycleFormed):
    """Transactions overwrote each other in a circle (G0, dirty write)."""

    __slots__ = ()
    phenomenon = "G0"


class InformationCycleFormed(CycleFormed):
    """Information flowed in a circle: through reads and overwrites alone (G1c)."""

    __slots__ = ()
    phenomenon = "G1c"


class ReadSkewed(CycleFormed):
    """A transaction saw part of what another did, and missed part: read skew (G-single)."""

    __slots__ = ()
    phenomenon = "G-single"


class ForkObserved(CycleFormed):
    """Readers disagree on an order: several anti-dependencies, no two in a row (long fork)."""

    __slots__ = ()
    phenomenon = "G-nonadjacent"


class WriteSkewed(CycleFormed):
    """Transactions each missed the other's writes: two anti-dependencies in a row (G2-item)."""

    __slots__ = ()
    phenomenon = "G2-item"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixImpossible(Violation):
    """A transaction saw one transaction of the log and missed one before it."""

    reader: str
    seen: str
    seen_key: Key
    missed: str
    missed_key: Key

    def __str__(self) -> str:
        return (
            f"{self.reader} saw {self.seen_key} of {self.seen} but not {self.missed_key} of "
            f"{self.missed}, which the log has before it: no prefix of the log shows this"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixWentBack(Violation):
    """A session saw less of the log than it had seen before."""

    session: str
    earlier: str
    seen: str
    reader: str
    missed: str
    missed_key: Key

    def __str__(self) -> str:
        return (
            f"{self.earlier} of session {self.session} showed the log up to {self.seen}; then "
            f"{self.reader} of that session missed {self.missed_key} of {self.missed}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionGuaranteeBroken(Violation):
    """Two accesses of one session contradict each other."""

    session: str
    earlier: str
    earlier_access: str
    later: str
    later_access: str

    def __str__(self) -> str:
        return (
            f"in session {self.session} {self.earlier} {self.earlier_access}, and after it "
            f"{self.later} {self.later_access}: an older version"
        )


class OwnWriteUnseen(SessionGuaranteeBroken):
    """A session read a version older than one it had written (read your writes)."""

    __slots__ = ()


class ReadWentBackInSession(SessionGuaranteeBroken):
    """A session read a version older than one it had read (monotonic reads)."""

    __slots__ = ()


class WritesReorderedInSession(SessionGuaranteeBroken):
    """A session's later write stands before its earlier one (monotonic writes)."""

    __slots__ = ()


class WriteBeforeWhatWasRead(SessionGuaranteeBroken):
    """A session's write stands before a version that it had read (writes follow reads)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalChanged(Violation):
    """A read of all accounts shows another total, though transfers only move money."""

    reader: str
    total: int
    expected: int

    def __str__(self) -> str:
        return (
            f"{self.reader} saw {self.total} in all accounts together, where there are always "
            f"{self.expected}"
        )
