"""A recorded run of a replication group.

Nothing is computed, so a certifier can be compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paraply.vocabulary.gtid_set import Gtid, GtidSet

MemberUuid = str


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """A positive decision in a member's log.

    The numbers are None at the origin, whose own log has others.
    """

    gtid: Gtid
    last_committed: int | None = None
    sequence_number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionDelivered:
    """A transaction as sent, and the logging members.

    Others refused it or were absent. ``items`` are server hashes (base64), possibly repeated.
    """

    origin: MemberUuid
    snapshot: GtidSet
    items: tuple[str, ...]
    specified: Gtid | None = None
    is_create_select: bool = False
    """The origin marks CREATE TABLE ... SELECT with (0, 0)."""
    is_empty: bool = False
    """The origin marks it with last_committed -1 (seen in 9.7)."""
    decided: Mapping[MemberUuid, LoggedDecision] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedSetDelivered:
    """A report for garbage collection."""

    sender: MemberUuid
    executed: GtidSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewInstalled:
    """A new view with reported sets."""

    members: tuple[MemberUuid, ...]
    joined: tuple[MemberUuid, ...]
    left: tuple[MemberUuid, ...]
    executed: Mapping[MemberUuid, GtidSet]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecovered:
    """A joiner is online."""

    member: MemberUuid


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoDonated:
    """The last view's certification info, for joiners."""

    extracted: GtidSet
    info: Mapping[str, GtidSet]


Step = TransactionDelivered | ExecutedSetDelivered | ViewInstalled | MemberRecovered | InfoDonated


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTrace:
    """A group run from two members on.

    ``block_size`` is group_replication_gtid_assignment_block_size.
    """

    server_version: str
    group_name: str
    block_size: int
    members: tuple[MemberUuid, ...]
    steps: tuple[Step, ...]
    is_multi_primary: bool = True
    """Else only a new primary with backlog detects conflicts."""

    @property
    def transactions(self) -> list[TransactionDelivered]:
        """Return them in delivery order."""
        return [step for step in self.steps if isinstance(step, TransactionDelivered)]
