"""The certifier of one member: who wins, under which GTID, and with which timestamp.

Every member runs one and feeds it the same transactions in the same order. Source: WL#8440,
WL#6833, and ``Certifier::certify`` in plugin/group_replication/src/certifier.cc.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.certification.gtid_generator import GtidGenerator
from paraply.reference_impl.certification.gtids import NO_GTIDS, Gtid, GtidSet
from paraply.reference_impl.certification.lc_sn import ParallelizationIndexes
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.write_set import Item

PREEMPTIVE_ROWS_THRESHOLD = 100_000
"""group_replication_preemptive_garbage_collection_rows_threshold, in items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificationRequest:
    """What the origin of a transaction sends to the group.

    Attributes:
        origin: the member that executed it.
        snapshot_version: GTID_EXECUTED of the origin when it sent the transaction.
        items: hashes of the rows it changed; an item may come twice.
        specified_gtid: the GTID that the session set (GTID_NEXT), None for an automatic one.
        is_create_select: CREATE TABLE ... SELECT, whose items do not tell what it read.
        is_empty: it changes nothing at all; its origin says so.
    """

    origin: str
    snapshot_version: GtidSet
    items: tuple[Item, ...] = ()
    specified_gtid: Gtid | None = None
    is_create_select: bool = False
    is_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a member decided. ``timestamp`` is None where local or refused, ``gtid`` if refused."""

    outcome: Outcome
    gtid: Gtid | None = None
    timestamp: LogicalTimestamp | None = None
    reason: str = ""

    @property
    def is_positive(self) -> bool:
        """Return whether the transaction commits."""
        return self.outcome is Outcome.POSITIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """An entry of certification info: the last writer of an item.

    ``version`` is the writer's snapshot and its own GTID (EX2 shows it so, the definition in
    the text does not). ``sequence_number`` is None where the writer was local to this member,
    or was imported on join: such an entry never raises last_committed.
    """

    version: GtidSet
    sequence_number: int | None


@dataclass(slots=True, kw_only=True)
class PreemptiveCollection:
    """group_replication_preemptive_garbage_collection, for groups with one primary (8.4)."""

    is_on: bool = False
    rows_threshold: int = PREEMPTIVE_ROWS_THRESHOLD


@dataclass(slots=True)
class Certifier:
    """Certification state of one member, from the start of group replication to its stop.

    ``detects_conflicts`` is off in a group with one primary, except while a new primary still
    has transactions of the old one to apply; items are stored either way, for last_committed.
    """

    dialect: Dialect
    indexes: ParallelizationIndexes
    generator: GtidGenerator
    preemptive: PreemptiveCollection = field(default_factory=PreemptiveCollection)
    detects_conflicts: bool = True
    certification_info: dict[Item, StoredVersion] = field(default_factory=dict)
    group_gtid_executed: GtidSet = NO_GTIDS
    """GTIDs certified positively by the group, and what this member had when it started."""
    group_gtid_extracted: GtidSet = NO_GTIDS
    """Of these, what the donor had certified when this member joined."""
    stable_set: GtidSet = NO_GTIDS
    is_certifying_already_applied: bool = False
    """Whether the stream repeats what a joiner already got from the donor's binary log."""

    def on_transaction_delivered(
        self,
        request: CertificationRequest,
        *,
        is_local: bool,
        gtid_executed: GtidSet = NO_GTIDS,
    ) -> Decision:
        """Decide one transaction. A refused one changes nothing.

        ``gtid_executed`` is what this server has committed, local transactions included.
        """
        conflict = self.find_conflict(request)
        if conflict is not None:
            return Decision(outcome=Outcome.NEGATIVE, reason=f"conflict on {conflict}")
        gtid = request.specified_gtid
        if gtid is not None and self.is_taken(gtid, gtid_executed):
            return Decision(outcome=Outcome.NEGATIVE, reason=f"{gtid} was used")
        if gtid is None:
            gtid = self.generator.next_gtid(request.origin, self.taken_gtids())
        timestamp = self.record(request, gtid, is_local=is_local)
        self.on_gtid_certified(gtid)
        return Decision(outcome=Outcome.POSITIVE, gtid=gtid, timestamp=timestamp)

    def find_conflict(self, request: CertificationRequest) -> Item | None:
        """Return an item whose last writer the transaction did not see, None if there is none."""
        if not self.detects_conflicts:
            return None
        for item in request.items:
            stored = self.certification_info.get(item)
            if stored is not None and not self.has_seen(request.snapshot_version, stored.version):
                return item
        return None

    def has_seen(self, snapshot_version: GtidSet, stored_version: GtidSet) -> bool:
        """Return whether a transaction with this snapshot read a row at this version or later."""
        return stored_version <= snapshot_version

    def is_taken(self, gtid: Gtid, gtid_executed: GtidSet) -> bool:
        """Return whether a specified GTID belongs to a transaction certified before."""
        if gtid not in self.taken_gtids():
            return False
        # A worker that certified, rolled back and tries again finds its own GTID here.
        return not self.dialect.may_certify_gtid_again or gtid in gtid_executed

    def taken_gtids(self) -> GtidSet:
        """Return the GTIDs that the group had certified at this place of the stream."""
        if self.is_certifying_already_applied:
            return self.group_gtid_extracted
        return self.group_gtid_executed

    def record(
        self, request: CertificationRequest, gtid: Gtid, *, is_local: bool
    ) -> LogicalTimestamp | None:
        """Store the transaction as last writer of its items; return its timestamp if remote."""
        entry = StoredVersion(
            version=self.version_of(request, gtid),
            sequence_number=self.stored_sequence_number(is_local=is_local),
        )
        is_large = self.is_too_large_to_store(request)
        previous = [] if is_large else self.exchange_entries(request.items, entry)
        if is_local:
            return None
        if is_large or self.is_barrier(request):
            return self.indexes.on_remote_barrier()
        return self.indexes.on_remote_with_items(previous)

    def version_of(self, request: CertificationRequest, gtid: Gtid) -> GtidSet:
        """Return the version at which the transaction leaves its rows."""
        return request.snapshot_version | {gtid}

    def stored_sequence_number(self, *, is_local: bool) -> int | None:
        """Return the number that is stored with the items of the next transaction.

        A local writer has none: whoever follows it here found its row locks, and every remote
        writer before it was in its snapshot, so had committed here.
        """
        return None if is_local else self.indexes.sequence_number

    def exchange_entries(self, items: Iterable[Item], entry: StoredVersion) -> list[int | None]:
        """Store ``entry`` with each item; return the sequence numbers stored before."""
        previous: list[int | None] = []
        for item in items:
            stored = self.certification_info.get(item)
            self.certification_info[item] = entry
            # An item that comes twice in one write set finds the transaction itself.
            if stored is not None and stored.sequence_number != entry.sequence_number:
                previous.append(stored.sequence_number)
        return previous

    def is_barrier(self, request: CertificationRequest) -> bool:
        """Return whether the items do not tell what the transaction depends on."""
        if not request.items:
            return self.dialect.orders_empty or not request.is_empty
        return request.is_create_select and self.dialect.orders_create_select

    def is_too_large_to_store(self, request: CertificationRequest) -> bool:
        """Return whether preemptive collection keeps the items out of certification info."""
        return self.preemptive.is_on and len(request.items) >= self.preemptive.rows_threshold

    def on_gtid_certified(self, gtid: Gtid) -> None:
        """Take a GTID into the sets that say what the group has certified."""
        self.group_gtid_executed |= {gtid}
        if self.is_certifying_already_applied:
            self.group_gtid_extracted |= {gtid}
            self.is_certifying_already_applied = (
                self.group_gtid_extracted < self.group_gtid_executed
            )

    # Garbage collection.

    def on_stable_set(self, stable_set: GtidSet) -> frozenset[Item] | None:
        """Purge what every member has executed, and open a new window.

        Returns the items purged, or None if the dialect leaves everything as it was because
        the stable set did not grow.
        """
        grew = not stable_set <= self.stable_set
        self.stable_set |= stable_set
        if not grew and self.dialect.collects_only_if_stable_grew:
            return None
        purged = frozenset(
            item for item, stored in self.certification_info.items() if self.is_collectable(stored)
        )
        for item in purged:
            del self.certification_info[item]
        self.indexes.on_garbage_collected()
        return purged

    def is_collectable(self, stored: StoredVersion) -> bool:
        """Return whether every transaction still to come has seen this version.

        A strict subset: the newest stable version stays.
        """
        return stored.version < self.stable_set

    def on_preemptive_collection(self) -> frozenset[Item] | None:
        """Forget everything once certification info reaches the threshold (8.4, off by default).

        The stable set then holds what was certified, applied or not. None if below it.
        """
        if not self.preemptive.is_on or (
            len(self.certification_info) < self.preemptive.rows_threshold
        ):
            return None
        purged = frozenset(self.certification_info)
        self.certification_info.clear()
        self.indexes.on_garbage_collected()
        self.stable_set |= self.group_gtid_executed
        return purged

    # View changes.

    def on_view_change(self) -> Gtid | None:
        """Give the view change its GTID, the same on every member; None if it is not logged."""
        gtid = None
        if self.dialect.logs_view_change:
            gtid = self.generator.next_gtid(None, self.taken_gtids())
            self.on_gtid_certified(gtid)
        self.generator.on_view_change(self.taken_gtids())
        return gtid

    def export_certification_info(self) -> dict[Item, GtidSet]:
        """Return what a donor sends to a joiner: versions only, its numbers mean nothing there."""
        return {item: stored.version for item, stored in self.certification_info.items()}

    def import_certification_info(
        self, info: Mapping[Item, GtidSet], extracted: GtidSet, executed: GtidSet
    ) -> None:
        """Start a joiner from a donor's state at the view change.

        ``extracted`` is what the donor had certified by then, ``executed`` what this member has
        executed when it starts to certify: recovery may have brought it further.
        """
        self.certification_info = {
            item: StoredVersion(version=version, sequence_number=self.imported_number())
            for item, version in info.items()
        }
        self.group_gtid_extracted = extracted
        self.group_gtid_executed = extracted | executed
        self.is_certifying_already_applied = extracted < self.group_gtid_executed
        self.generator.on_view_change(self.taken_gtids())

    def imported_number(self) -> int | None:
        """Return the sequence number stored with imported items: none."""
        return None
