"""Members' messages in one total order."""

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
    """A transaction to certify."""

    transaction: TransactionId
    request: CertificationRequest
    alters: str = ""
    """The altered table, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedSetMessage:
    """A member's GTID_EXECUTED, sent once a minute."""

    sender: str
    executed: GtidSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChangeMessage:
    """A new view, with members in join order and their executed sets."""

    view: int
    members: tuple[str, ...]
    joined: str | None
    executed: Mapping[str, GtidSet]
    transaction: TransactionId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineMessage:
    """A member has finished recovery."""

    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklogAppliedMessage:
    """A new primary has applied its backlog."""

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
    """A certified remote transaction."""

    transaction: TransactionId
    gtid: Gtid
    timestamp: LogicalTimestamp
    items: tuple[Item, ...] = ()
    alters: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DonorState:
    """A donor's state at a view change."""

    certification_info: Mapping[Item, GtidSet]
    extracted: GtidSet
    stable_set: GtidSet
    online: frozenset[str]
    detects_conflicts: bool
    view_gtid: Gtid | None
