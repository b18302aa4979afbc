"""A recorded run of a replication group: what was delivered in total order, and what it became.

Inputs (transactions with snapshot and write set, executed sets, views, donated certification
info) and, beside each transaction, what every member made of it: the GTID, and the timestamp
that it wrote for a remote one. Nothing in it is computed by us, so that it can be held against
a certifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paraply.vocabulary.gtid_set import Gtid, GtidSet

MemberUuid = str


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """What the log of one member says of a transaction: it was certified.

    ``last_committed`` and ``sequence_number`` are those of its applier channel, None at the
    origin, whose own binary log has other numbers.
    """

    gtid: Gtid
    last_committed: int | None = None
    sequence_number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionDelivered:
    """A transaction as its origin sent it, and the members in whose logs it is.

    A member that is missing in ``decided`` refused it, or was not there. ``items`` are the
    hashes as servers write them (base64); one may come twice.
    """

    origin: MemberUuid
    snapshot: GtidSet
    items: tuple[str, ...]
    specified: Gtid | None = None
    is_create_select: bool = False
    """CREATE TABLE ... SELECT: the origin marks it with (0, 0)."""
    is_empty: bool = False
    """It changes nothing: the origin marks it with last_committed -1 (seen in 9.7)."""
    decided: Mapping[MemberUuid, LoggedDecision] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedSetDelivered:
    """A member's report for garbage collection."""

    sender: MemberUuid
    executed: GtidSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewInstalled:
    """A new view; ``executed`` is what its members told of themselves while installing it."""

    members: tuple[MemberUuid, ...]
    joined: tuple[MemberUuid, ...]
    left: tuple[MemberUuid, ...]
    executed: Mapping[MemberUuid, GtidSet]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRecovered:
    """A joiner is online from here on."""

    member: MemberUuid


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoDonated:
    """Certification info as of the last view, which joiners take over."""

    extracted: GtidSet
    info: Mapping[str, GtidSet]


Step = TransactionDelivered | ExecutedSetDelivered | ViewInstalled | MemberRecovered | InfoDonated


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTrace:
    """One run of a group from the first view with two members.

    ``block_size`` is group_replication_gtid_assignment_block_size.
    """

    server_version: str
    group_name: str
    block_size: int
    members: tuple[MemberUuid, ...]
    steps: tuple[Step, ...]
    is_multi_primary: bool = True
    """Only then are conflicts detected, but while a new primary applies the old one's backlog."""

    @property
    def transactions(self) -> list[TransactionDelivered]:
        """Return the transactions, in the order of delivery."""
        return [step for step in self.steps if isinstance(step, TransactionDelivered)]
