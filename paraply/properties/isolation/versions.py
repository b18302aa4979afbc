"""The versions in a client history: writers, order and readers.

The dependencies follow (Adya, "Weak Consistency", section 4.4). Transactions are indexes. The order
covers *final* versions; reads of others are separate breaches (G1b).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import ClientHistory, Key

INITIAL = -1
"""The writer of every initial version."""

NOTHING_WRITTEN = object()


class Kind(IntEnum):
    """Why one transaction precedes another: mask bits."""

    WW = 1
    """Both installed adjacent versions of a key."""
    WR = 2
    """The target read the source's version."""
    RW = 4
    """The target replaced the version that the source read."""
    SESSION = 8
    """The source directly precedes in its session."""
    REALTIME = 16
    """The source ended before the target began."""

    @property
    def word(self) -> str:
        """Return the name in reports."""
        return self.name.lower()


class Loose(NamedTuple):
    """A dependency between ordered, possibly separate versions."""

    source: int
    target: int
    kind: Kind
    before: int
    """The earlier version, installed or read."""
    after: int


class Dependency(NamedTuple):
    """Why one transaction precedes another."""

    source: int
    target: int
    kind: Kind
    before: int = -1
    """The source's version; -1 for other orders."""
    after: int = -1
    """The target's version, installed or read (WR)."""


@dataclass(slots=True)
class Versions:
    """The versions, key after key, and their reads."""

    history: ClientHistory
    writers: list[int] = field(default_factory=list)
    """Each version's installing transaction, or INITIAL."""
    keys: list[Key] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    """Each version's last value, or NOTHING_WRITTEN."""
    follows: list[bool] = field(default_factory=list)
    """Whether each directly follows the previous version."""
    readers: list[int] = field(default_factory=list)
    """Readers of other transactions' versions."""
    read: list[int] = field(default_factory=list)
    loose: list[Loose] = field(default_factory=list)
    unread: list[Loose] = field(default_factory=list)
    """One possible order of unread appends."""
    breaches: list[Violation] = field(default_factory=list)
    unordered: dict[Key, str] = field(default_factory=dict)
    """Keys without full order, with the reason."""

    def add(self, writer: int, key: Key, value: Any, *, follows: bool) -> int:
        """Add a version and return its number."""
        self.writers.append(writer)
        self.keys.append(key)
        self.values.append(value)
        self.follows.append(follows)
        return len(self.writers) - 1

    def dependencies(self) -> Iterator[Dependency]:
        """Yield every implied dependency between two transactions."""
        yield from self._overwrites()
        yield from self._reads()
        yield from self._misses()
        for loose in self.loose:
            if loose.source != loose.target:
                yield Dependency(*loose)

    def _overwrites(self) -> Iterator[Dependency]:
        for version, does_follow in enumerate(self.follows):
            if does_follow:
                source, target = self.writers[version - 1], self.writers[version]
                if source not in (INITIAL, target):
                    yield Dependency(source, target, Kind.WW, version - 1, version)

    def _reads(self) -> Iterator[Dependency]:
        for reader, version in zip(self.readers, self.read, strict=True):
            writer = self.writers[version]
            if writer not in (INITIAL, reader):
                yield Dependency(writer, reader, Kind.WR, version, version)

    def _misses(self) -> Iterator[Dependency]:
        writers, follows = self.writers, self.follows
        for reader, version in zip(self.readers, self.read, strict=True):
            after = version + 1
            if after < len(writers) and follows[after] and writers[after] != reader:
                yield Dependency(reader, writers[after], Kind.RW, version, after)

    def kinds(self) -> int:
        """Return the mask of present kinds."""
        mask = 0
        for kind, found in (
            (Kind.WW, self._overwrites()), (Kind.WR, self._reads()), (Kind.RW, self._misses()),
        ):  # fmt: skip
            if next(found, None) is not None or any(one.kind is kind for one in self.loose):
                mask |= kind
        return mask
