"""What members send to the group; everything here is delivered to all in one total order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paraply.reference_impl.certification.certifier import CertificationRequest
from paraply.reference_impl.certification.gtids import Gtid, GtidSet
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMessage:
    """A transaction that ``request.origin`` executed and wants certified."""

    transaction: TransactionId
    request: CertificationRequest
    alters: str = ""
    """The table whose definition it changes; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedSetMessage:
    """A member's GTID_EXECUTED, sent once a minute, from which all compute the stable set."""

    sender: str
    executed: GtidSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChangeMessage:
    """A new view of the group.

    ``members`` are in the order in which they joined. ``executed`` holds the executed sets that
    the members exchange while they install the view. ``transaction`` is the view change as a
    transaction, None where the dialect does not log it.
    """

    view: int
    members: tuple[str, ...]
    joined: str | None
    executed: Mapping[str, GtidSet]
    transaction: TransactionId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineMessage:
    """A member that finished recovery says so."""

    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklogAppliedMessage:
    """A new primary has applied everything that the old one had got certified."""

    primary: str


Message = (
    TransactionMessage
    | ExecutedSetMessage
    | ViewChangeMessage
    | OnlineMessage
    | BacklogAppliedMessage
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayEntry:
    """A certified remote transaction in the relay log of the applier channel."""

    transaction: TransactionId
    gtid: Gtid
    timestamp: LogicalTimestamp
    items: tuple[Item, ...] = ()
    alters: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DonorState:
    """What a donor sends to the joiner of a view: its certification state at the view change."""

    certification_info: Mapping[Item, GtidSet]
    extracted: GtidSet
    stable_set: GtidSet
    online: frozenset[str]
    detects_conflicts: bool
    view_gtid: Gtid | None
