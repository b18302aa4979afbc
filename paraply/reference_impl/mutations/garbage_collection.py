"""Mutants of stable sets, rounds and purging."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from paraply.reference_impl.certification.certifier import Certifier, StoredVersion
from paraply.reference_impl.certification.garbage_collection import CollectionRound
from paraply.reference_impl.certification.gtids import NO_GTIDS, GtidSet, format_gtid_set
from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import ExecutedSetMessage, Message
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.mutations.view_changes import group_of
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.transactions import TransactionId

FAMILY = "garbage collection"


def mutate(
    name: str,
    source: str,
    fault: str,
    caught_by: str,
    subject: Subject,
    *,
    members: int = 2,
    rows: int = 2,
    dialect: str = "",
    survives_because: str = "",
    **options: OptionValue,
) -> None:
    """Register a mutant with frequent collection."""
    settings: dict[str, OptionValue] = {
        "broadcasts": 3 * members,
        "joins": 0,
        "departures": 0,
        "barriers": False,
    }
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            survives_because=survives_because,
            subject=subject,
            workload=Workload(
                transactions=6,
                rows=rows,
                members=members,
                dialect=dialect,
                options={**settings, **options},
            ),
        )
    )


class EmptyMeansFirst(CollectionRound):
    """An empty accumulator counts as unstarted."""

    def compute_stable_set(self, executed_sets: Iterable[GtidSet]) -> GtidSet:
        stable: GtidSet = NO_GTIDS
        for executed in executed_sets:
            stable = stable & executed if stable else executed
        return stable


mutate(
    "empty_set_counts_as_first",
    "certifier.cc, stable_set_handle: 'is empty' used for 'is first'",
    "After a member that executed nothing, the next member's set is taken whole.",
    "stable_set_is_executed_everywhere",
    GroupSubject(Parts(collection=EmptyMeansFirst)),
)


class CountsMessages(CollectionRound):
    """Rounds count messages instead of members."""

    def __init__(self) -> None:
        super().__init__()
        self.messages = 0

    def on_executed_set(
        self, sender: str, executed: GtidSet, reporters: Collection[str]
    ) -> GtidSet | None:
        self.messages += 1
        self.reports[sender] = executed
        if self.messages < len(reporters):
            return None
        stable = self.compute_stable_set(self.reports.values())
        self.reports.clear()
        self.messages = 0
        return stable


mutate(
    "messages_are_counted_not_members",
    "debug hook certifier_inject_duplicate_certifier_data_message",
    "A member that reports twice stands in for one that has not reported.",
    "stable_set_is_executed_everywhere",
    GroupSubject(Parts(collection=CountsMessages)),
)


class Union(CollectionRound):
    """The stable set is the union."""

    def compute_stable_set(self, executed_sets: Iterable[GtidSet]) -> GtidSet:
        return frozenset[object]().union(*executed_sets)  # type: ignore[return-value]


mutate(
    "stable_set_is_a_union",
    "WL#6833, stable set",
    "What one member executed counts as executed by all.",
    "nothing_needed_is_purged",
    GroupSubject(Parts(collection=Union)),
)


class IgnoresItsMembers(CollectionRound):
    """Reports of the view's members are ignored."""

    def on_executed_set(
        self, sender: str, executed: GtidSet, reporters: Collection[str]
    ) -> GtidSet | None:
        return super().on_executed_set(sender, executed, frozenset({sender}) - set(reporters))


mutate(
    "round_ignores_its_members",
    "handle_certifier_data: reports of members outside the view are ignored",
    "Reports of the view's own members are ignored, so that nothing is ever collected.",
    "reported_rounds_end_in_a_collection",
    GroupSubject(Parts(collection=IgnoresItsMembers)),
)


class FirstReportDecides(CollectionRound):
    """One report completes a round."""

    def is_complete(self, reporters: Collection[str]) -> bool:
        return True


mutate(
    "round_waits_for_nobody",
    "WL#6833, stable set; handle_certifier_data",
    "The first report of a round makes the stable set alone.",
    "stable_set_is_executed_everywhere",
    GroupSubject(Parts(collection=FirstReportDecides)),
)


class BypassesTheQueue(Group):
    """Broadcasts overtake queued messages."""

    def send(self, message: Message) -> None:
        super().send(message)
        if isinstance(message, ExecutedSetMessage):
            for name in self.view_members:
                self.members[name].on_executed_set(message)

    def deliver(self, member: Member, message: Message) -> None:
        if not isinstance(message, ExecutedSetMessage):
            super().deliver(member, message)


mutate(
    "broadcast_bypasses_the_queue",
    "The Art of Problem-Solving in Software Engineering, 9.1.3; gcs_event_handlers.cc",
    "A member collects before it certified transactions that were sent before the reports.",
    "collection_never_changes_a_decision",
    GroupSubject(group=BypassesTheQueue),
)


class PurgesTheNewest(Certifier):
    """Purging accepts equal sets."""

    def is_collectable(self, stored: StoredVersion) -> bool:
        return stored.version <= self.stable_set


mutate(
    "subset_need_not_be_strict",
    "certifier.cc: is_subset_not_equals; WL#8440: 'never empty'",
    "The newest stable version is purged as well.",
    "only_superseded_versions_are_purged",
    GroupSubject(Parts(certifier=PurgesTheNewest)),
)


class PurgesEverything(Certifier):
    """Each round empties certification info."""

    def is_collectable(self, stored: StoredVersion) -> bool:
        return True


mutate(
    "round_purges_everything",
    "WL#6833, garbage collection",
    "Versions are purged that are not stable.",
    "nothing_needed_is_purged",
    GroupSubject(Parts(certifier=PurgesEverything)),
)


class KeepsEverything(Certifier):
    """Rounds purge nothing."""

    def is_collectable(self, stored: StoredVersion) -> bool:
        return False


mutate(
    "round_purges_nothing",
    "WL#6833, garbage collection; PS-8450",
    "Certification info grows without bound.",
    "certification_info_is_bounded",
    GroupSubject(Parts(certifier=KeepsEverything)),
)


class RunNumberZero(Certifier):
    """Collection skips fresh versions."""

    def is_collectable(self, stored: StoredVersion) -> bool:
        return super().is_collectable(stored) and len(stored.version) > 1


mutate(
    "fresh_versions_are_not_looked_at",
    "certifier.cc: per-version counter of garbage collection runs",
    "A version that should be purged is passed over.",
    "certification_info_is_bounded",
    GroupSubject(Parts(certifier=RunNumberZero)),
)


class EarlySnapshot(Group):
    """Broadcasts include unapplied certified transactions."""

    def broadcast_executed_set(self, member: Member) -> None:
        executed, member.executed = member.executed, member.certifier.group_gtid_executed
        super().broadcast_executed_set(member)
        member.executed = executed


mutate(
    "member_reports_what_it_certified",
    "WL#6833: GTID_EXECUTED of all members",
    "A member reports transactions that still wait in its relay log.",
    "stable_set_is_executed_everywhere",
    GroupSubject(group=EarlySnapshot),
)


class KeepsTheRound(CollectionRound):
    """Reports survive view changes."""

    def on_view_change(self) -> None:
        pass


mutate(
    "round_survives_the_view_change",
    "certifier.cc, handle_view_change: incoming reports are dropped",
    "A report from before a view change counts after it.",
    "stable_sets_are_what_reports_have_in_common",
    GroupSubject(Parts(collection=KeepsTheRound)),
    members=3,
    joins=1,
    departures=1,
    absent=1,
    broadcasts=9,
)


class FrozenReporter(Group):
    """Members repeat their first broadcast."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.frozen: dict[str, tuple[GtidSet, tuple[TransactionId, ...]]] = {}

    def broadcast_executed_set(self, member: Member) -> None:
        executed = tuple(sorted(one for one, _ in member.binlog))
        told, transactions = self.frozen.setdefault(member.name, (member.executed, executed))
        self.recorder.record(
            EventKind.EXECUTED_SET_BROADCAST,
            member=member.name,
            gtid_set=format_gtid_set(told),
            transactions=transactions,
        )
        self.send(ExecutedSetMessage(sender=member.name, executed=told))


mutate(
    "member_reports_a_frozen_set",
    "certifier.cc: a cloned member reported the GTID_EXECUTED that it had started with",
    "A member goes on telling what it had executed at first.",
    "broadcasts_tell_what_is_executed",
    GroupSubject(group=FrozenReporter),
)


class WaitsForTheDeparted(Member):
    """Rounds need members of earlier views."""

    def start(self) -> None:
        super().start()
        self.seen: frozenset[str] = frozenset()

    def reporters(self) -> frozenset[str]:
        self.seen |= super().reporters()
        return self.seen


mutate(
    "departed_member_must_report",
    "certifier.cc, handle_view_change; bug 84773 and its like",
    "A round waits for the report of a member that has departed, so nothing is collected.",
    "two_rounds_of_reports_make_stable",
    GroupSubject(group=group_of(WaitsForTheDeparted)),
    members=3,
    departures=1,
    broadcasts=12,
)


class OneRoundPerView(CollectionRound):
    """Reports after a view's first round are ignored."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = False

    def on_executed_set(
        self, sender: str, executed: GtidSet, reporters: Collection[str]
    ) -> GtidSet | None:
        stable = None if self.is_over else super().on_executed_set(sender, executed, reporters)
        self.is_over = self.is_over or stable is not None
        return stable

    def on_view_change(self) -> None:
        super().on_view_change()
        self.is_over = False


mutate(
    "view_has_one_round",
    "Certifier::handle_certifier_data: a complete round is cleared",
    "After the first round of a view nothing is collected until the next view.",
    "two_rounds_of_reports_make_stable",
    GroupSubject(Parts(collection=OneRoundPerView)),
    broadcasts=10,
)
