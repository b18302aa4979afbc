"""What was observed of a run, before it is told as a history: logs, snapshots, touches, restarts.

Plain values, so that hand-made observations can be translated and judged without any server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paraply.vocabulary.log import LoggedTransaction

Tag = int
"""Which transaction wrote a row: the number in its last column."""
SnapshotRow = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one consistent snapshot showed, and where the server says that it lies in its log."""

    session: str
    rows: Mapping[str, Sequence[SnapshotRow]]
    """``schema.table`` and all its rows; the last value of a row is its tag."""
    file: str = ""
    offset: int = 0
    """Everything in the member's log up to here is in the snapshot, and nothing after it."""
    gtid_position: str = ""
    """The applier's position as the same snapshot shows it; MySQL: as it was just before."""
    tags: frozenset[Tag] | None = None
    """What its journal has of the round, where that was read: it then says where it lies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A row that an attempt to apply had changed, told by a trigger after the change."""

    connection: int
    gtid: str
    table: str
    key: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A member whose applier stood still, after a crash or in good order, and then went on."""

    file: str
    """The log file that it stood at: after a crash the first one that was written after it."""
    offset: int = 0
    """The place in the file."""
    tags: frozenset[Tag]
    """What the journal has."""
    gtid_position: str
    position_before: str = ""
    """The position that the next start will use."""
    is_crash: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """A member at rest at the end of the round."""

    snapshot: Snapshot
    tags: frozenset[Tag]
    gtid_position: str
    differing: frozenset[str] = frozenset()
    """Tables whose checksum is not the source's."""
    compared: tuple[str, ...] = ()
    """Tables of which both checksums were taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOff:
    """A time in which a member was with the smaller part of its group, and knew it."""

    file: str
    offset: int
    """How far the member's log went."""
    confirmed: frozenset[Tag] = frozenset()
    """What its clients were told had committed meanwhile."""


@dataclass(slots=True, kw_only=True)
class Member:
    """Everything observed of one replica or cluster member."""

    name: str
    log: Sequence[LoggedTransaction] = ()
    """Its own binary log of the round, files in order; names are those of the files."""
    has_log: bool = True
    """False for a member whose data came over a state transfer, and without its log."""
    snapshots: list[Snapshot] = field(default_factory=list)
    """In the order in which they were taken, one after the other."""
    touches: list[Touch] = field(default_factory=list)
    """In the order in which they were recorded; empty where nobody recorded them."""
    restarts: list[Restart] = field(default_factory=list)
    confirmed: Sequence[Tag] = ()
    """What its clients were told had committed, of what leaves a tag, in the order of time."""
    cut_off: CutOff | None = None
    applier_error: str = ""
    """Why the applier stopped for good, empty if it did not."""
    final: Final | None = None
