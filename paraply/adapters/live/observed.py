"""Observations of a run as plain values, which tests can build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paraply.vocabulary.log import LoggedTransaction

Tag = int
"""A row's last column, which identifies its writer."""
SnapshotRow = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A consistent snapshot and its log position."""

    session: str
    rows: Mapping[str, Sequence[SnapshotRow]]
    """By ``schema.table``; a row's last value is its tag."""
    file: str = ""
    offset: int = 0
    """The snapshot contains exactly the log up to here."""
    gtid_position: str = ""
    """For MySQL, just before the snapshot."""
    tags: frozenset[Tag] | None = None
    """From the journal, to place the snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A row change of an apply attempt, by trigger."""

    connection: int
    gtid: str
    table: str
    key: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A restart of a member's applier."""

    file: str
    """The file at the stop; after a crash the first new one."""
    offset: int = 0
    tags: frozenset[Tag]
    gtid_position: str
    position_before: str = ""
    is_crash: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """A member at rest after the round."""

    snapshot: Snapshot
    tags: frozenset[Tag]
    gtid_position: str
    differing: frozenset[str] = frozenset()
    """Tables whose checksum differs from the source's."""
    compared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOff:
    """A minority period that the member detected."""

    file: str
    offset: int
    """The end of the member's log."""
    confirmed: frozenset[Tag] = frozenset()


@dataclass(slots=True, kw_only=True)
class Member:
    """All observations of one member."""

    name: str
    log: Sequence[LoggedTransaction] = ()
    has_log: bool = True
    """False after a state transfer."""
    snapshots: list[Snapshot] = field(default_factory=list)
    """In time order, without overlap."""
    touches: list[Touch] = field(default_factory=list)
    """In recording order."""
    restarts: list[Restart] = field(default_factory=list)
    confirmed: Sequence[Tag] = ()
    """In time order."""
    cut_off: CutOff | None = None
    applier_error: str = ""
    """Why it stopped for good, else empty."""
    final: Final | None = None
