"""Mutants of view changes and recovery."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from dataclasses import replace

from paraply.reference_impl.certification.gtids import NO_GTIDS, Gtid
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import DonorState, Message, ViewChangeMessage
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionId

FAMILY = "view changes"


def group_of(member: type[Member]) -> type[Group]:
    """Return a group of given members."""
    return type(f"GroupOf{member.__name__}", (Group,), {"member_class": member})


def mutate(
    name: str,
    source: str,
    fault: str,
    caught_by: str,
    group: type[Group],
    *,
    transactions: int = 6,
    members: int = 2,
    dialect: str = "",
    **options: OptionValue,
) -> None:
    """Register a mutant with a joiner."""
    settings: dict[str, OptionValue] = {"absent": 1, "departures": 0, "barriers": False}
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=GroupSubject(group=group),
            workload=Workload(
                transactions=transactions,
                rows=2,
                members=members,
                dialect=dialect,
                options={**settings, **options},
            ),
        )
    )


class StopsBeforeTheViewChange(Member):
    """Recovery omits the view change."""

    def has_recovered(self, state: DonorState) -> bool:
        return state.extracted <= self.executed


mutate(
    "recovery_stops_before_the_view_change",
    "WL#8440, wait until view change: stop after the transaction is committed",
    "WAIT_UNTIL_VIEW_CHANGE stops when it finds the view change.",
    "recovery_reaches_the_view_change",
    group_of(StopsBeforeTheViewChange),
)


class StartsAtOnce(Member):
    """Joiners certify before recovery ends."""

    def has_recovered(self, state: DonorState) -> bool:
        return True


mutate(
    "joiner_starts_before_recovery_is_done",
    "WL#8440, wait until view change",
    "A joiner begins to certify and apply with nothing recovered.",
    "recovery_reaches_the_view_change",
    group_of(StartsAtOnce),
)


class TakesWhatItHas(Member):
    """Joiners ask their donor for what they have executed."""

    def missing_from(self, donor: Member) -> tuple[TransactionId, Gtid] | None:
        return next((one for one in donor.binlog if one[1] in self.executed), None)


mutate(
    "joiner_asks_for_what_it_has",
    "distributed recovery: the donor's binary log from gtid_executed on",
    "A joiner takes nothing from its donor, and recovery never ends.",
    "members_end_at_rest",
    group_of(TakesWhatItHas),
)


class ImportsNothing(Member):
    """Joiners import no certification info."""

    def on_recovered(self, state: DonorState) -> None:
        super().on_recovered(replace(state, certification_info={}))


mutate(
    "joiner_imports_nothing",
    "WL#8440: certification info, except on a clean group start, is never empty",
    "A joiner does not know the writers that transactions in flight have not seen.",
    "joiners_certify_as_their_donors",
    group_of(ImportsNothing),
    members=3,
)


class ImportsLateState(Group):
    """Donors send current certification info."""

    def step_recovery(self, joiner: Member) -> None:
        donor = self.donor_of(joiner)
        if donor is not None:
            view = self.view_of_joiner[joiner.name]
            donor.donor_states[view] = replace(
                donor.donor_states[view],
                certification_info=donor.certifier.export_certification_info(),
            )
        super().step_recovery(joiner)


mutate(
    "donor_sends_later_state",
    "WL#8440, View_change_log_event carries the certification info of the view",
    "A joiner gets versions from after the view, and refuses what the group certified.",
    "joiners_certify_as_their_donors",
    ImportsLateState,
    members=3,
)


class StartsOneMessageLate(Group):
    """Joiners miss the first message."""

    def join(self, member: Member) -> None:
        super().join(member)
        self.skips = {member.name}

    def deliver(self, member: Member, message: Message) -> None:
        is_first = not isinstance(message, ViewChangeMessage)
        if is_first and member.name in getattr(self, "skips", set()):
            self.skips.discard(member.name)
            return
        super().deliver(member, message)


mutate(
    "joiner_misses_the_first_message",
    "virtual synchrony: Birman and Joseph, 1987",
    "A transaction sent right after a view change is not delivered to the joiner.",
    "members_execute_the_same",
    StartsOneMessageLate,
)


class CrossesTheView(Group):
    """A transaction crosses a member's view change."""

    def deliver_next(self, member: Member) -> None:
        here = member.next_message
        following = self.total_order[here + 1 : here + 2]
        if (
            member.name == "r2"
            and following
            and isinstance(self.total_order[here], ViewChangeMessage)
            and not isinstance(following[0], ViewChangeMessage)
        ):
            self.deliver(member, following[0])
            self.deliver(member, self.total_order[here])
            member.next_message += 2
            return
        super().deliver_next(member)


mutate(
    "delivery_crosses_a_view",
    "virtual synchrony: Birman and Joseph, 1987",
    "One member is given the first message of a view in the view before.",
    "no_delivery_crosses_a_view",
    CrossesTheView,
    members=3,
    departures=1,
)


class LogsNoViewChange(Member):
    """Busy members log no view change."""

    def log_view_change(self, transaction: TransactionId, gtid: Gtid, view: int) -> None:
        if not self.relay_log:
            super().log_view_change(transaction, gtid, view)


mutate(
    "busy_member_logs_no_view_change",
    "bug 93347",
    "A member with transactions to apply leaves the view change out, GTID and all.",
    "members_execute_the_same",
    group_of(LogsNoViewChange),
    members=3,
)


class OrdinaryViewChange(Member):
    """View changes cause no waits."""

    def log_view_change(self, transaction: TransactionId, gtid: Gtid, view: int) -> None:
        super().log_view_change(transaction, gtid, view)
        entry = self.relay_log.pop()
        self.relay_log.append(replace(entry, timestamp=LogicalTimestamp.as_recorded(1, 1_000_000)))


mutate(
    "view_change_is_applied_beside_others",
    "WL#8440, View_change_log_event: must be applied sequentially",
    "The applier may commit a view change before the transactions queued ahead of it.",
    "view_changes_are_applied_alone",
    group_of(OrdinaryViewChange),
    members=3,
    preserve_commit_order=False,
)


class WritesAtOnce(Member):
    """New primaries and members write during backlogs."""

    def on_online(self, message: object) -> None:
        super().on_online(message)  # type: ignore[arg-type]
        self.must_apply_first = NO_GTIDS


mutate(
    "member_writes_before_its_backlog",
    "certifier.cc: reports of members not online are ignored; consistency EVENTUAL",
    "A member comes online, has not applied what is stable, and writes with an old snapshot.",
    "nothing_needed_is_purged",
    group_of(WritesAtOnce),
    transactions=8,
    dialect="mysql_8_4",
    broadcasts=8,
    sessions=3,
)


class DetectsNothingOnFailover(Member):
    """Conflict detection stays off after fail-over."""

    def on_new_primary(self) -> None:
        pass


mutate(
    "failover_detects_no_conflicts",
    "certifier.cc: conflict detection is enabled while a new primary has a backlog",
    "A new primary overwrites what it has not yet applied of the old one.",
    "first_certified_wins",
    group_of(DetectsNothingOnFailover),
    members=3,
    absent=0,
    joins=0,
    departures=1,
    broadcasts=0,
    single_primary=True,
    waits_for_backlog=False,
)
