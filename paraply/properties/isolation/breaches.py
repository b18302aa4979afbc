"""The breaches of isolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import Key

ELEMENTS_SHOWN = 6


def shown(value: Any) -> str:
    """Return a printable value; keeps a long list's end."""
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
    """A read shows an aborted write (G1a)."""

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
    """A read shows an overwritten intermediate value (G1b)."""

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
    """A transaction reads an unwritten value."""

    reader: str
    key: Key
    value: Any

    def __str__(self) -> str:
        return f"{self.reader} read {self.key} with {shown(self.value)}, which nobody wrote"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedElementRead(Violation):
    """A list shows one appended element twice."""

    reader: str
    key: Key
    value: Any

    def __str__(self) -> str:
        return f"{self.reader} read {self.key} with {shown(self.value)} twice, written only once"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersContradicted(Violation):
    """Two reads of a list contradict each other."""

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
    """A list lacks or reorders a transaction's appends."""

    reader: str
    key: Key
    value: Any
    writer: str
    appended: Any

    def __str__(self) -> str:
        return (
            f"{self.reader} read {self.key} with {shown(self.value)} out of turn: {self.writer} "
            f"appended {shown(self.appended)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWriteMissed(Violation):
    """A transaction misses its own earlier write."""

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
    """A transaction reads its own later write."""

    transaction: str
    key: Key
    read: Any

    def __str__(self) -> str:
        return f"{self.transaction} read {self.key} = {shown(self.read)} before it wrote that"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChanged(Violation):
    """Two reads of one key differ by other transactions' writes."""

    transaction: str
    key: Key
    first: Any
    then: Any

    def __str__(self) -> str:
        return (
            f"{self.transaction} read {self.key} = {shown(self.first)} and then "
            f"{shown(self.then)}, its own writes aside"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateLost(Violation):
    """Two transactions replace one version (P4)."""

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
    """Transactions precede each other in a cycle."""

    phenomenon: ClassVar[str] = ""
    transactions: tuple[str, ...]
    """The cycle closes at the first."""
    steps: tuple[str, ...]
    is_shortest: bool = True
    """False if the search stopped early."""

    def __str__(self) -> str:
        order = " < ".join([*self.transactions, self.transactions[0]])
        doubt = "" if self.is_shortest else " (a shorter one may exist)"
        return f"{'; '.join(self.steps)}: so {order}, in a circle{doubt}"


class WriteCycleFormed(CycleFormed):
    """Overwrites form a cycle (G0, dirty write)."""

    __slots__ = ()
    phenomenon = "G0"


class InformationCycleFormed(CycleFormed):
    """Reads and overwrites form a cycle (G1c)."""

    __slots__ = ()
    phenomenon = "G1c"


class ReadSkewed(CycleFormed):
    """A transaction sees only part of another (read skew, G-single)."""

    __slots__ = ()
    phenomenon = "G-single"


class ForkObserved(CycleFormed):
    """Several anti-dependencies, none adjacent (long fork)."""

    __slots__ = ()
    phenomenon = "G-nonadjacent"


class WriteSkewed(CycleFormed):
    """Two adjacent anti-dependencies (write skew, G2-item)."""

    __slots__ = ()
    phenomenon = "G2-item"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixImpossible(Violation):
    """A transaction misses an earlier logged one."""

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
    """A session sees less than before."""

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
    """Two accesses of a session contradict."""

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
    """A read is older than the session's write (read your writes)."""

    __slots__ = ()


class ReadWentBackInSession(SessionGuaranteeBroken):
    """A read is older than an earlier one (monotonic reads)."""

    __slots__ = ()


class WritesReorderedInSession(SessionGuaranteeBroken):
    """A write precedes an earlier one (monotonic writes)."""

    __slots__ = ()


class WriteBeforeWhatWasRead(SessionGuaranteeBroken):
    """A write precedes a version read (writes follow reads)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalChanged(Violation):
    """The accounts' total changes."""

    reader: str
    total: int
    expected: int

    def __str__(self) -> str:
        return (
            f"{self.reader} saw {self.total} in all accounts together, where there are always "
            f"{self.expected}"
        )
