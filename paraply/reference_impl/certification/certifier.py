"""The certifier of one member: decision, GTID and timestamp.

All members certify one sequence. Source: WL#8440, WL#6833, ``Certifier::certify`` in
plugin/group_replication/src/certifier.cc.
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
    """The origin's message about a transaction.

    Attributes:
        snapshot_version: the origin's GTID_EXECUTED.
        items: hashes of changed rows; duplicates are possible.
        specified_gtid: the session's GTID_NEXT, None for automatic.
        is_create_select: CREATE TABLE ... SELECT; the items omit rows read.
    """

    origin: str
    snapshot_version: GtidSet
    items: tuple[Item, ...] = ()
    specified_gtid: Gtid | None = None
    is_create_select: bool = False
    is_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A member's decision; local or refused ones lack ``timestamp``, refused ones ``gtid``."""

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
    """An item's last writer.

    ``version`` is the writer's snapshot with its own GTID (EX2; the text omits it).
    ``sequence_number`` is None for a local or imported entry, which never raises last_committed.
    """

    version: GtidSet
    sequence_number: int | None


@dataclass(slots=True, kw_only=True)
class PreemptiveCollection:
    """group_replication_preemptive_garbage_collection, for single-primary groups (8.4)."""

    is_on: bool = False
    rows_threshold: int = PREEMPTIVE_ROWS_THRESHOLD


@dataclass(slots=True)
class Certifier:
    """Certification state of one member until STOP GROUP_REPLICATION.

    Single-primary groups set ``detects_conflicts`` only during a new primary's backlog.
    They always store items, for last_committed.
    """

    dialect: Dialect
    indexes: ParallelizationIndexes = field(init=False)
    generator: GtidGenerator = field(default_factory=GtidGenerator)
    preemptive: PreemptiveCollection = field(default_factory=PreemptiveCollection)
    detects_conflicts: bool = True
    certification_info: dict[Item, StoredVersion] = field(default_factory=dict)
    group_gtid_executed: GtidSet = NO_GTIDS
    """GTIDs that the group certified, or present at the start."""
    group_gtid_extracted: GtidSet = NO_GTIDS
    """The donor's certified set at the join."""
    stable_set: GtidSet = NO_GTIDS
    is_certifying_already_applied: bool = False
    """Whether the stream repeats the donor's binary log."""

    def __post_init__(self) -> None:
        self.indexes = ParallelizationIndexes(self.dialect)

    def on_transaction_delivered(
        self,
        request: CertificationRequest,
        *,
        is_local: bool,
        gtid_executed: GtidSet = NO_GTIDS,
    ) -> Decision:
        """Decide one transaction; refusal changes no state.

        ``gtid_executed`` includes local transactions.
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
        """Return an item with an unseen last writer, or None."""
        if not self.detects_conflicts:
            return None
        for item in request.items:
            stored = self.certification_info.get(item)
            if stored is not None and not stored.version <= request.snapshot_version:
                return item
        return None

    def is_taken(self, gtid: Gtid, gtid_executed: GtidSet) -> bool:
        """Return whether an earlier transaction has the GTID."""
        if gtid not in self.taken_gtids():
            return False
        # A worker that retries a certified transaction finds its own GTID here.
        return not self.dialect.may_certify_gtid_again or gtid in gtid_executed

    def taken_gtids(self) -> GtidSet:
        """Return the stream's certified GTIDs."""
        if self.is_certifying_already_applied:
            return self.group_gtid_extracted
        return self.group_gtid_executed

    def record(
        self, request: CertificationRequest, gtid: Gtid, *, is_local: bool
    ) -> LogicalTimestamp | None:
        """Store the writer; return a remote timestamp."""
        entry = StoredVersion(
            version=request.snapshot_version | {gtid},
            # Local successors wait for its row locks. Earlier remote writers had committed here.
            sequence_number=None if is_local else self.indexes.sequence_number,
        )
        is_large = self.is_too_large_to_store(request)
        previous = [] if is_large else self.exchange_entries(request.items, entry)
        if is_local:
            return None
        if is_large or self.is_barrier(request):
            return self.indexes.on_remote_barrier()
        return self.indexes.on_remote_with_items(previous)

    def exchange_entries(self, items: Iterable[Item], entry: StoredVersion) -> list[int | None]:
        """Store ``entry``; return the items' previous numbers."""
        previous: list[int | None] = []
        for item in items:
            stored = self.certification_info.get(item)
            self.certification_info[item] = entry
            # A duplicate item in one write set finds the transaction itself.
            if stored is not None and stored.sequence_number != entry.sequence_number:
                previous.append(stored.sequence_number)
        return previous

    def is_barrier(self, request: CertificationRequest) -> bool:
        """Return whether the items omit dependencies."""
        if not request.items:
            return self.dialect.orders_empty or not request.is_empty
        return request.is_create_select and self.dialect.orders_create_select

    def is_too_large_to_store(self, request: CertificationRequest) -> bool:
        """Return whether certification info omits its items."""
        return self.preemptive.is_on and len(request.items) >= self.preemptive.rows_threshold

    def on_gtid_certified(self, gtid: Gtid) -> None:
        """Add a certified GTID."""
        self.group_gtid_executed |= {gtid}
        if self.is_certifying_already_applied:
            self.group_gtid_extracted |= {gtid}
            self.is_certifying_already_applied = (
                self.group_gtid_extracted < self.group_gtid_executed
            )

    # Garbage collection.

    def on_stable_set(self, stable_set: GtidSet) -> frozenset[Item] | None:
        """Purge what all future snapshots include; open a new window.

        A strict subset of the stable set: the newest stable version stays. Returns the purged
        items; None if the dialect ignores an unchanged stable set.
        """
        grew = not stable_set <= self.stable_set
        self.stable_set |= stable_set
        if not grew and self.dialect.collects_only_if_stable_grew:
            return None
        purged = frozenset(
            item
            for item, stored in self.certification_info.items()
            if stored.version < self.stable_set
        )
        for item in purged:
            del self.certification_info[item]
        self.indexes.on_garbage_collected()
        return purged

    def must_collect_preemptively(self) -> bool:
        """Return whether certification info is at the threshold (8.4, off by default)."""
        is_large = len(self.certification_info) >= self.preemptive.rows_threshold
        return self.preemptive.is_on and is_large

    def on_preemptive_collection(self) -> frozenset[Item]:
        """Purge everything; the stable set then includes unapplied transactions."""
        purged = frozenset(self.certification_info)
        self.certification_info.clear()
        self.indexes.on_garbage_collected()
        self.stable_set |= self.group_gtid_executed
        return purged

    # View changes.

    def on_view_change(self) -> Gtid | None:
        """Return a logged view change's GTID."""
        gtid = None
        if self.dialect.logs_view_change:
            gtid = self.generator.next_gtid(None, self.taken_gtids())
            self.on_gtid_certified(gtid)
        self.generator.on_view_change(self.taken_gtids())
        return gtid

    def export_certification_info(self) -> dict[Item, GtidSet]:
        """Return a joiner's versions without numbers."""
        return {item: stored.version for item, stored in self.certification_info.items()}

    def import_certification_info(
        self, info: Mapping[Item, GtidSet], extracted: GtidSet, executed: GtidSet
    ) -> None:
        """Start a joiner with a donor's state.

        ``extracted`` is the donor's certified set; ``executed`` is this member's.
        """
        self.certification_info = {
            item: StoredVersion(version=version, sequence_number=None)
            for item, version in info.items()
        }
        self.group_gtid_extracted = extracted
        self.group_gtid_executed = extracted | executed
        self.is_certifying_already_applied = extracted < self.group_gtid_executed
        self.generator.on_view_change(self.taken_gtids())
