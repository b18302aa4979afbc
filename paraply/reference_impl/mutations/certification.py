"""Mutants of certification decisions and GTIDs."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Set as AbstractSet

from paraply.reference_impl.certification.certifier import (
    CertificationRequest,
    Certifier,
    Decision,
)
from paraply.reference_impl.certification.gtid_generator import (
    NUMBER_MAX,
    GtidGenerator,
    first_free,
)
from paraply.reference_impl.certification.gtids import (
    GROUP_NAME,
    NO_GTIDS,
    Gtid,
    GtidSet,
    format_gtid_set,
)
from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.certification.subject import CertifierSubject
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.mutations.view_changes import group_of
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.write_set import Item

FAMILY = "certification"


def mutate(
    name: str,
    source: str,
    fault: str,
    caught_by: str,
    subject: Subject,
    *,
    members: int = 2,
    dialect: str = "",
    **options: OptionValue,
) -> None:
    """Register a certification mutant."""
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=subject,
            workload=Workload(
                transactions=6, rows=2, members=members, dialect=dialect, options=options
            ),
        )
    )


class VersionWithoutOwnGtid(Certifier):
    """Stored versions omit their GTID, as in the text."""

    def version_of(self, request: CertificationRequest, gtid: Gtid) -> GtidSet:
        return request.snapshot_version


mutate(
    "version_lacks_the_writers_gtid",
    "WL#8440, definition of snapshot version against EX2; proofs C16",
    "Two transactions with the same snapshot do not see that they conflict.",
    "first_certified_wins",
    CertifierSubject(Parts(certifier=VersionWithoutOwnGtid)),
)


class IntersectingVersions(Certifier):
    """An overlapping snapshot hides a conflict."""

    def has_seen(self, snapshot_version: GtidSet, stored_version: GtidSet) -> bool:
        return not stored_version.isdisjoint(snapshot_version)


mutate(
    "overlapping_versions_do_not_conflict",
    "certifier.cc: is_subset of the snapshot",
    "A transaction that saw some of a writer's snapshot counts as having seen the writer.",
    "first_certified_wins",
    CertifierSubject(Parts(certifier=IntersectingVersions)),
)


class FirstItemOnly(Certifier):
    """Certification checks the first item only."""

    def find_conflict(self, request: CertificationRequest) -> Item | None:
        if not self.detects_conflicts or not request.items:
            return None
        item = request.items[0]
        stored = self.certification_info.get(item)
        if stored is not None and not self.has_seen(request.snapshot_version, stored.version):
            return item
        return None


mutate(
    "first_item_decides",
    "certifier.cc: loop over the write set",
    "Conflicts on any but the first item are missed.",
    "first_certified_wins",
    CertifierSubject(Parts(certifier=FirstItemOnly)),
)


class RefusedStored(Certifier):
    """Refused transactions store their items."""

    def on_transaction_delivered(
        self,
        request: CertificationRequest,
        *,
        is_local: bool,
        gtid_executed: GtidSet = NO_GTIDS,
    ) -> Decision:
        decision = super().on_transaction_delivered(
            request, is_local=is_local, gtid_executed=gtid_executed
        )
        if not decision.is_positive:
            self.record(request, Gtid("refused", 1), is_local=True)
        return decision


mutate(
    "refused_transaction_is_stored",
    "certifier.cc: negative certification changes nothing",
    "Who comes after a refused transaction is refused for its sake.",
    "only_conflicts_are_refused",
    CertifierSubject(Parts(certifier=RefusedStored)),
)


class AnyConflict(Certifier):
    """Every stored writer conflicts."""

    def has_seen(self, snapshot_version: GtidSet, stored_version: GtidSet) -> bool:
        return False


mutate(
    "seen_writers_conflict_too",
    "WL#8440, EX2: T2 does not conflict with T1, whose version it includes",
    "A transaction is refused although it saw the last writer of its row.",
    "only_conflicts_are_refused",
    CertifierSubject(Parts(certifier=AnyConflict)),
)


class TakesUsedGtids(Certifier):
    """Certification accepts used GTIDs."""

    def is_taken(self, gtid: Gtid, gtid_executed: GtidSet) -> bool:
        return False


mutate(
    "used_gtid_is_accepted",
    "certifier.cc: specified GTID already in group_gtid_executed",
    "Two transactions may bring the same GTID.",
    "gtids_are_unique",
    CertifierSubject(Parts(certifier=TakesUsedGtids)),
    specified=True,
)


class NextAfterGreatest(GtidGenerator):
    """Numbering ignores specified GTIDs."""

    def next_gtid(self, origin: str | None, taken: AbstractSet[Gtid]) -> Gtid:
        self.assigned_in_blocks += 1
        return Gtid("group", self.assigned_in_blocks)


mutate(
    "generator_ignores_specified_gtids",
    "Gtid_generator: first free number",
    "An automatic GTID may be one that a session specified before.",
    "gtids_are_unique",
    CertifierSubject(Parts(generator=NextAfterGreatest)),
    specified=True,
)


class TrustsItself(Certifier):
    """Members accept their own transactions."""

    def on_transaction_delivered(
        self,
        request: CertificationRequest,
        *,
        is_local: bool,
        gtid_executed: GtidSet = NO_GTIDS,
    ) -> Decision:
        detects, self.detects_conflicts = self.detects_conflicts, not is_local
        decision = super().on_transaction_delivered(
            request, is_local=is_local, gtid_executed=gtid_executed
        )
        self.detects_conflicts = detects
        return decision


mutate(
    "local_transactions_always_win",
    "WL#8440, replication path: local and remote are certified alike",
    "A member certifies its own transactions without testing them.",
    "members_decide_alike",
    GroupSubject(Parts(certifier=TrustsItself)),
    joins=0,
    departures=0,
)


class CountsExecuted(Certifier):
    """Joiners compute free GTIDs from executed transactions."""

    def taken_gtids(self) -> GtidSet:
        return self.group_gtid_executed


mutate(
    "joiner_numbers_from_executed",
    "bug 89938: complement of executed instead of extracted",
    "A joiner that recovery brought past the view gives other GTIDs than the group.",
    "joiners_certify_as_their_donors",
    GroupSubject(Parts(certifier=CountsExecuted)),
    absent=1,
    departures=0,
    barriers=False,
)


class BeginsWithZero(GtidGenerator):
    """Numbers begin with 0."""

    def next_gtid(self, origin: str | None, taken: AbstractSet[Gtid]) -> Gtid:
        number = first_free(0, NUMBER_MAX, self.numbers_taken(taken))
        return super().next_gtid(origin, taken) if number is None else Gtid(GROUP_NAME, number)


mutate(
    "gtid_numbers_begin_with_zero",
    "MySQL manual, GTID format: numbers begin with 1",
    "The first transaction of the group has number 0.",
    "gtid_numbers_are_in_range",
    GroupSubject(Parts(generator=BeginsWithZero)),
    departures=0,
    barriers=False,
)


class KeepsBlocks(GtidGenerator):
    """View changes keep GTID blocks."""

    def on_view_change(self, taken: AbstractSet[Gtid]) -> None:
        pass


mutate(
    "blocks_survive_the_view_change",
    "certifier.cc: handle_view_change recomputes the intervals; bug 89938",
    "Existing members go on with their blocks, a joiner reserves its own.",
    "members_decide_alike",
    GroupSubject(Parts(generator=KeepsBlocks)),
    absent=1,
    departures=0,
    block_size=2,
    barriers=False,
)


class LeavesHoles(GtidGenerator):
    """Blocks begin after the greatest number."""

    def compute_intervals(self, taken: AbstractSet[Gtid]) -> None:
        super().compute_intervals(taken)
        self.free = self.free[-1:]


mutate(
    "blocks_leave_holes",
    "certifier.cc: compute_group_available_gtid_intervals; MySQL manual, assignment block size",
    "Numbers that remained of ended blocks are never given.",
    "gtids_come_from_their_origins_block",
    GroupSubject(Parts(generator=LeavesHoles)),
    absent=1,
    departures=0,
    block_size=2,
    barriers=False,
)


class SnapshotWithoutLast(Group):
    """Snapshots omit the last visible commit."""

    def snapshot_of(self, member: Member) -> GtidSet:
        return frozenset(gtid for _, gtid in member.binlog[:-1])


mutate(
    "snapshot_is_taken_early",
    "observer_trans.cc: snapshot at commit; proofs C18",
    "A transaction is sent with an older snapshot than the one its statements read.",
    "only_conflicts_are_refused",
    GroupSubject(group=SnapshotWithoutLast),
    joins=0,
    departures=0,
    barriers=False,
)


class EverythingSeen(Group):
    """Snapshots include unexecuted certified transactions."""

    def snapshot_of(self, member: Member) -> GtidSet:
        return member.certifier.group_gtid_executed


mutate(
    "snapshot_is_what_was_certified",
    "WL#8440, snapshot version: GTID_EXECUTED",
    "A transaction claims to have seen what still waits in its member's relay log.",
    "first_certified_wins",
    GroupSubject(group=EverythingSeen),
    joins=0,
    departures=0,
    barriers=False,
)


class SkipsEveryOther(GtidGenerator):
    """Every second number stays free."""

    def next_gtid(self, origin: str | None, taken: AbstractSet[Gtid]) -> Gtid:
        lowest = super().next_gtid(origin, taken)
        return Gtid(GROUP_NAME, lowest.number + (lowest.number + 1) % 2)


mutate(
    "every_other_number_stays_free",
    "Gtid_generator::get_next_available_gtid",
    "Executed sets consist of single numbers, so that they grow with every transaction.",
    "gtid_numbers_leave_no_gap",
    CertifierSubject(Parts(generator=SkipsEveryOther)),
)


class StatesTheCertified(Member):
    """A stated set has what is still in the relay log."""

    def record_collection(self, purged: frozenset[Item], note: str = "") -> None:
        stable = self.certifier.stable_set
        self.recorder.record(
            EventKind.GARBAGE_COLLECTED,
            member=self.name,
            items=purged,
            gtid_set=format_gtid_set({max(stable)} if stable else stable),
            transactions=self.transactions_in(stable),
            note=note,
        )


mutate(
    "stable_set_is_stated_by_its_last_gtid",
    "MySQL manual, GTID sets: intervals of numbers",
    "The stable set that a member states has its last GTID only.",
    "stated_gtid_sets_name_their_transactions",
    GroupSubject(group=group_of(StatesTheCertified)),
    joins=0,
    departures=0,
    barriers=False,
)


class WritesAtOnce(Member):
    """A member that comes online takes writes at once."""

    def has_applied_backlog(self) -> bool:
        return True


mutate(
    "joiner_writes_before_its_backlog",
    "group_replication_consistency=BEFORE_ON_PRIMARY_FAILOVER",
    "A member that came online takes writes on rows that it has yet to apply.",
    "members_write_after_their_backlog",
    GroupSubject(group=group_of(WritesAtOnce)),
    absent=1,
    departures=0,
    barriers=False,
)
