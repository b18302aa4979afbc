"""The versions in a client history: writers, order and readers.

Both data types convert to this form, which implies the dependencies (Adya, "Weak Consistency",
section 4.4). Transactions are indexes into the history. The order covers *final* versions; a read
of an overwritten one is a separate breach (G1b).
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
    """Why one transaction precedes another; the values are bits of a mask."""

    WW = 1
    """The source installed a version, and the target the next one of that key."""
    WR = 2
    """The source installed the version that the target read."""
    RW = 4
    """The source read a version, and the target installed the next one of that key."""
    SESSION = 8
    """The source directly precedes in the same session."""
    REALTIME = 16
    """The source ended before the target began."""

    @property
    def word(self) -> str:
        """Return the name in reports."""
        return self.name.lower()


class Loose(NamedTuple):
    """A dependency between ordered versions that may not be adjacent."""

    source: int
    target: int
    kind: Kind
    before: int
    """The earlier version, installed or read."""
    after: int
    """The later version."""


class Dependency(NamedTuple):
    """Why one transaction precedes another."""

    source: int
    target: int
    kind: Kind
    before: int = -1
    """The source's version; -1 for orders of session and time."""
    after: int = -1
    """The target's version: installed, or read for WR."""


@dataclass(slots=True)
class Versions:
    """The versions of all keys, key after key, and their reads."""

    history: ClientHistory
    writers: list[int] = field(default_factory=list)
    """Each version's installing transaction, or INITIAL."""
    keys: list[Key] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    """Each version's last value, or NOTHING_WRITTEN."""
    follows: list[bool] = field(default_factory=list)
    """Whether each version directly follows the previous one in these lists."""
    readers: list[int] = field(default_factory=list)
    """The transaction of each read of another's version."""
    read: list[int] = field(default_factory=list)
    """The version of each such read."""
    loose: list[Loose] = field(default_factory=list)
    unread: list[Loose] = field(default_factory=list)
    """One possible order of unread appends, by their ends."""
    breaches: list[Violation] = field(default_factory=list)
    """Contradictions of every order of versions."""
    unordered: dict[Key, str] = field(default_factory=dict)
    """Keys without a known full order, with the reason."""

    def add(self, writer: int, key: Key, value: Any, *, follows: bool) -> int:
        """Add a version and return its number."""
        self.writers.append(writer)
        self.keys.append(key)
        self.values.append(value)
        self.follows.append(follows)
        return len(self.writers) - 1

    def dependencies(self) -> Iterator[Dependency]:
        """Yield every dependency that the versions imply between two transactions."""
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
        """Return the mask of the kinds of dependency present."""
        mask = 0
        for kind, found in (
            (Kind.WW, self._overwrites()), (Kind.WR, self._reads()), (Kind.RW, self._misses()),
        ):  # fmt: skip
            if next(found, None) is not None or any(one.kind is kind for one in self.loose):
                mask |= kind
        return mask
