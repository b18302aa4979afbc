"""Mutants of what members learn about their group."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from dataclasses import replace

from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import OnlineMessage, ViewChangeMessage
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.mutations.view_changes import group_of
from paraply.reference_impl.subject import Workload


def mutate(name: str, source: str, fault: str, caught_by: str, group: type[Group]) -> None:
    """Register a mutant on the default options, with three members."""
    register_mutant(
        written_mutant(
            name=name,
            family="membership",
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=GroupSubject(group=group),
            workload=Workload(transactions=4, rows=3, members=3),
        )
    )


class IgnoresDepartures(Member):
    """Members install joins only."""

    def on_view_change(self, message: ViewChangeMessage) -> None:
        if message.joined is not None:
            super().on_view_change(message)


mutate(
    "departures_are_no_views",
    "virtual synchrony: Birman and Joseph, 1987",
    "A member installs no view when another one departs.",
    "views_follow_one_another",
    group_of(IgnoresDepartures),
)


class StandsFirst(Member):
    """Each member lists itself first."""

    def on_view_change(self, message: ViewChangeMessage) -> None:
        others = tuple(name for name in message.members if name != self.name)
        super().on_view_change(replace(message, members=(self.name, *others)))


mutate(
    "members_list_themselves_first",
    "MySQL manual, primary election: members elect by one order",
    "The members of a view have another order at each member.",
    "members_agree_on_views",
    group_of(StandsFirst),
)


class HearsItselfOnly(Member):
    """Members ignore others' end of recovery."""

    def on_online(self, message: OnlineMessage) -> None:
        if message.member == self.name:
            super().on_online(message)


mutate(
    "end_of_recovery_is_not_heard",
    "recovery.cc: RECOVERY_END_MESSAGE",
    "Members do not learn that another one is online.",
    "members_agree_on_who_is_online",
    group_of(HearsItselfOnly),
)


class AnnouncesAtRecovery(Group):
    """Joiners are online when they have their donor's state."""

    def step_recovery(self, joiner: Member) -> None:
        super().step_recovery(joiner)
        if joiner.online and not joiner.has_announced_online:
            joiner.has_announced_online = True
            self.declare_online(joiner)


mutate(
    "joiner_is_online_before_it_caught_up",
    "group_replication_recovery_complete_at=TRANSACTIONS_CERTIFIED; removed in 8.3",
    "A joiner is online while it still has to apply what it queued during recovery.",
    "joiners_catch_up_before_they_are_online",
    AnnouncesAtRecovery,
)
