"""Observations of a run as plain values, so that tests can judge hand-made ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paraply.vocabulary.log import LoggedTransaction

Tag = int
"""The number in a row's last column, which identifies its writer."""
SnapshotRow = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A consistent snapshot and its place in the server's log."""

    session: str
    rows: Mapping[str, Sequence[SnapshotRow]]
    """All rows by ``schema.table``; a row's last value is its tag."""
    file: str = ""
    offset: int = 0
    """The snapshot contains exactly the member's log up to here."""
    gtid_position: str = ""
    """The applier's position in the snapshot; for MySQL, just before it."""
    tags: frozenset[Tag] | None = None
    """The round's tags in its journal, if read; they place the snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A row change of an apply attempt, recorded by a trigger."""

    connection: int
    gtid: str
    table: str
    key: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A restart of a member's applier, after a crash or in order."""

    file: str
    """The log file at the stop; after a crash the first new one."""
    offset: int = 0
    tags: frozenset[Tag]
    """The tags in the journal."""
    gtid_position: str
    position_before: str = ""
    """The position of the next start."""
    is_crash: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """A member at rest at the end of the round."""

    snapshot: Snapshot
    tags: frozenset[Tag]
    gtid_position: str
    differing: frozenset[str] = frozenset()
    """Tables whose checksum differs from the source's."""
    compared: tuple[str, ...] = ()
    """Tables with both checksums."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOff:
    """A period in which a member detected that it was in the minority."""

    file: str
    offset: int
    """The end of the member's log."""
    confirmed: frozenset[Tag] = frozenset()
    """Confirmations to its clients in this period."""


@dataclass(slots=True, kw_only=True)
class Member:
    """All observations of one replica or cluster member."""

    name: str
    log: Sequence[LoggedTransaction] = ()
    """Its own binary log of the round, with file names."""
    has_log: bool = True
    """False after a state transfer, which brings data without a log."""
    snapshots: list[Snapshot] = field(default_factory=list)
    """In time order, without overlap."""
    touches: list[Touch] = field(default_factory=list)
    """In recording order; empty without triggers."""
    restarts: list[Restart] = field(default_factory=list)
    confirmed: Sequence[Tag] = ()
    """Tags confirmed to its clients, in time order."""
    cut_off: CutOff | None = None
    applier_error: str = ""
    """Why the applier stopped for good, else empty."""
    final: Final | None = None
