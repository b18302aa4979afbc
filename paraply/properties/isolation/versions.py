"""The versions in a client history: writers, order and readers.

Both data types are converted to this form, from which the dependencies between transactions follow
(Adya, "Weak Consistency", section 4.4). Transactions are indexes into the history. The order covers
*final* versions: a read of a version that its own writer overwrote is a separate breach (G1b).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import ClientHistory, Key

INITIAL = -1
"""The writer of every version that was there before the history."""

NOTHING_WRITTEN = object()
"""The value of an initial version."""


class Kind(IntEnum):
    """Why one transaction comes before another; the values are bits of a mask."""

    WW = 1
    """It installed a version, and the other the next one of that key."""
    WR = 2
    """It installed the version that the other read."""
    RW = 4
    """It read a version, and the other installed the next one of that key."""
    SESSION = 8
    """It is the one before in the same session."""
    REALTIME = 16
    """It had ended when the other began."""

    @property
    def word(self) -> str:
        """Return what it is called in reports."""
        return self.name.lower()


class Loose(NamedTuple):
    """A dependency between versions that are ordered, but not known to follow each other."""

    source: int
    target: int
    kind: Kind
    before: int
    """The version that comes first, or was read."""
    after: int
    """The version that comes later."""


class Dependency(NamedTuple):
    """One transaction comes before another, and why."""

    source: int
    target: int
    kind: Kind
    before: int = -1
    """The version that the source installed or read; -1 for orders of session and time."""
    after: int = -1
    """The version that the target installed; of a WR dependency the version that it read."""


@dataclass(slots=True)
class Versions:
    """The versions of all keys, key after key, and the reads that met them."""

    history: ClientHistory
    writers: list[int] = field(default_factory=list)
    """Of each version, the index of the transaction that installed it, or INITIAL."""
    keys: list[Key] = field(default_factory=list)
    """Of each version, its key."""
    values: list[Any] = field(default_factory=list)
    """Of each version, the value that was written last, or NOTHING_WRITTEN."""
    follows: list[bool] = field(default_factory=list)
    """Of each version, whether it is the next one after the version before it in these lists."""
    readers: list[int] = field(default_factory=list)
    """Of each read of a version that another transaction installed, the transaction."""
    read: list[int] = field(default_factory=list)
    """Of each such read, the version."""
    loose: list[Loose] = field(default_factory=list)
    unread: list[Loose] = field(default_factory=list)
    """One order, of several that are possible, of appends that nobody read: by their ends."""
    breaches: list[Violation] = field(default_factory=list)
    """What no order of versions can explain."""
    unordered: dict[Key, str] = field(default_factory=dict)
    """Keys whose versions are not known in full order, each with the reason."""

    def add(self, writer: int, key: Key, value: Any, *, follows: bool) -> int:
        """Add a version and return its number."""
        self.writers.append(writer)
        self.keys.append(key)
        self.values.append(value)
        self.follows.append(follows)
        return len(self.writers) - 1

    def dependencies(self) -> Iterator[Dependency]:
        """Yield every dependency that the versions imply, of a transaction on another."""
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
        """Return the mask of the kinds of dependency that there are."""
        mask = 0
        for kind, found in (
            (Kind.WW, self._overwrites()), (Kind.WR, self._reads()), (Kind.RW, self._misses()),
        ):  # fmt: skip
            if next(found, None) is not None or any(one.kind is kind for one in self.loose):
                mask |= kind
        return mask
