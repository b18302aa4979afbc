"""A run of a group: actions, budgets and choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial

from paraply.reference_impl.choices import choose_writes
from paraply.reference_impl.group.commuting import SleepSet, Touched
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member, Status
from paraply.reference_impl.group.messages import ExecutedSetMessage, TransactionMessage
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import ExhaustiveSchedule, Schedule
from paraply.vocabulary.transactions import TransactionKind

TABLE = "d.t"
"""The table of all rows."""
WHAT_NEXT = "what happens next"


@dataclass(slots=True, kw_only=True)
class Budget:
    """Remaining optional actions."""

    transactions: int
    broadcasts: int
    joins: int
    departures: int
    timers: int = 0
    sessions: int = 1
    """Undecided local transactions per member."""
    barriers: bool = True
    """Includes CREATE TABLE ... SELECT."""
    alterations: int = 0
    is_ddl_apart: bool = True
    """Whether DDL excludes remote table users."""


class Reach(Enum):
    """Scope of an action's effect."""

    MEMBER = "member"
    """Invisible to other members."""
    ORDER = "order"
    """Also the end of the total order."""
    GROUP = "group"
    """All members."""


@dataclass(frozen=True, slots=True)
class Action:
    """A possible action of member ``owner``."""

    name: str
    act: Callable[[], None]
    owner: int = 0
    reach: Reach = Reach.GROUP
    fault_at: str = ""
    """As :class:`paraply.reference_impl.step.Step`'s."""


class GroupRun:
    """Executes actions until none is possible."""

    def __init__(
        self, group: Group, schedule: Schedule, budget: Budget, rows: tuple[str, ...]
    ) -> None:
        self.group = group
        self.schedule = schedule
        self.budget = budget
        self.rows = rows
        self.writers: dict[str, tuple[int, ...]] = dict.fromkeys(rows, ())
        self.sleeping = SleepSet()

    def run(self) -> None:
        """Choose actions until none is possible."""
        while actions := self.actions():
            if not self.group.recorder.has_steps_left:
                return
            action = self.choose(actions)
            if action is None:
                self.group.recorder.break_off()
                return
            self.group.recorder.next_step()
            action.act()
        self.rest()

    def choose(self, actions: list[Action]) -> Action | None:
        """Choose the next action; return None where an enumeration has been before."""
        if not isinstance(self.schedule, ExhaustiveSchedule):
            return self.schedule.choose(actions, WHAT_NEXT)
        awake = self.sleeping.awake([one.name for one in actions])
        index = self.schedule.choose_among(len(actions), awake, WHAT_NEXT) if awake else None
        if index not in awake:
            self.schedule.skip_subtree()
            return None
        before = {one.name: self.touched(one) for one in actions[:index]}
        self.sleeping.follow(before, self.touched(actions[index]))
        return actions[index]

    def rest(self) -> None:
        """Record who is at rest."""
        self.group.recorder.next_step()
        for member in self.group.members.values():
            if member.status is Status.ONLINE and not member.relay_log:
                self.group.recorder.record(EventKind.STOPPED, member=member.name, note="at rest")

    def touched(self, action: Action) -> Touched:
        """Return what an action reads and writes.

        Actions of two members commute if one affects only itself, and the other itself or the end
        of the total order.
        """
        owner = f"member {action.owner}"
        match action.reach:
            case Reach.MEMBER:
                return Touched.of(reads=("group",), writes=(owner,))
            case Reach.ORDER:
                return Touched.of(reads=("group",), writes=(owner, "order"))
            case Reach.GROUP:
                return Touched.of(writes=("group",))

    def actions(self) -> list[Action]:
        """Return possible actions, plainest first."""
        found: list[Action] = []
        for member in self.group.members.values():
            if member.status is Status.OFFLINE:
                if self.budget.joins and self.has_online_member():
                    act = partial(self.join, member)
                    found.append(Action(f"{member.name} joins", act, self.number_of(member)))
                continue
            found.extend(self.actions_of(member))
        return found

    def actions_of(self, member: Member) -> list[Action]:
        """Return one member's possible actions."""
        group = self.group
        found: list[Action] = []
        owner = self.number_of(member)

        def offer(
            what: str, act: Callable[[], None], reach: Reach = Reach.GROUP, fault_at: str = ""
        ) -> None:
            found.append(Action(f"{member.name} {what}", act, owner, reach, fault_at))

        is_certifying = member.status in (Status.ONLINE, Status.CATCHING_UP)
        has_message = member.next_message < len(group.total_order)
        if is_certifying and has_message:
            message = group.total_order[member.next_message]
            reach = Reach.MEMBER if isinstance(message, TransactionMessage) else Reach.GROUP
            offer("delivers", lambda: group.deliver_next(member), reach)
        for entry in member.applicable():
            act = partial(member.apply, entry)
            offer(f"applies T{entry.transaction}", act, Reach.MEMBER)
        for transaction, gtid in member.committing():
            act = partial(member.commit_session, transaction, gtid)
            offer(f"commits T{transaction}", act, Reach.MEMBER)
        has_session = member.open_transactions() < self.budget.sessions
        if member.may_write() and has_session and self.budget.transactions:
            rows, ddl = self.free_rows(member), self.may_alter_table(member)
            if rows or ddl or self.budget.barriers:
                act = partial(self.submit, member, rows, ddl=ddl)
                offer("submits", act, Reach.ORDER)
        if member.status is Status.RECOVERING:
            if group.may_step_recovery(member):
                offer("recovers", lambda: group.step_recovery(member))
            elif group.has_lost_its_donors(member):
                offer("gives up", lambda: group.leave(member, "no donor"))
        if member.status is Status.CATCHING_UP and self.may_declare_online(member):
            offer("is online", lambda: self.declare_online(member))
        if not member.is_backlog_announced and member.has_applied_backlog():
            offer("applied its backlog", lambda: group.announce_backlog_applied(member))
        if self.budget.broadcasts and not self.is_broadcasting(member):
            offer("broadcasts", lambda: self.broadcast(member))
        if self.budget.timers:
            offer("looks at its memory", lambda: self.look_at_memory(member))
        if self.budget.departures and self.may_depart(member):
            for what, how in (("crashes", group.crash), ("leaves", group.leave)):
                offer(what, partial(self.depart, member, how), fault_at=member.name)
        return found

    def number_of(self, member: Member) -> int:
        """Return a member's place among all."""
        return list(self.group.members).index(member.name)

    def may_declare_online(self, member: Member) -> bool:
        """Return whether a joiner is ready."""
        return (
            not member.relay_log
            and not member.has_announced_online
            and member.next_message > 0
            and member.view is not None
        )

    def declare_online(self, member: Member) -> None:
        """Announce a joiner as online."""
        member.has_announced_online = True
        self.group.declare_online(member)

    def has_online_member(self) -> bool:
        """Return whether a donor exists."""
        return any(
            self.group.members[name].status is Status.ONLINE for name in self.group.view_members
        )

    def may_depart(self, member: Member) -> bool:
        """Return whether another online member stays."""
        return any(
            self.group.members[name].status is Status.ONLINE
            for name in self.group.view_members
            if name != member.name
        )

    def may_use_table(self, member: Member) -> bool:
        """Return whether a shared lock is free."""
        is_altered = any(session.alters for session in member.sessions.values())
        on_its_way = any(
            isinstance(message, TransactionMessage) and message.alters
            for message in self.group.total_order[member.next_message :]
        ) or any(entry.alters for entry in member.relay_log)
        return not (is_altered or (self.budget.is_ddl_apart and on_its_way))

    def may_alter_table(self, member: Member) -> bool:
        """Return whether an exclusive lock is free."""
        is_used = any(session.alters or session.items for session in member.sessions.values())
        is_behind = member.next_message < len(self.group.total_order) or member.relay_log
        return bool(self.budget.alterations) and not (
            is_used or (self.budget.is_ddl_apart and is_behind)
        )

    def free_rows(self, member: Member) -> dict[str, tuple[int, ...]]:
        """Return the rows that a client can lock at once, with their writers.

        A client that waits for a lock changes nothing, so clients choose among free rows only.
        """
        if not self.may_use_table(member):
            return {}
        return {row: one for row, one in self.writers.items() if self.is_free(member, row)}

    def is_free(self, member: Member, row: str) -> bool:
        """Return whether no transaction of ``member`` locks a row."""
        return not member.locks((row,))

    def submit(self, member: Member, rows: Mapping[str, tuple[int, ...]], *, ddl: bool) -> None:
        """Execute a transaction that is chosen among ``rows``."""
        kind, items = choose_writes(self.schedule, rows, barriers=self.budget.barriers, ddl=ddl)
        self.budget.transactions -= 1
        alters = TABLE if kind is TransactionKind.DDL else ""
        self.budget.alterations -= bool(alters)
        transaction = self.group.submit(member, items, kind=kind, alters=alters)
        for item in items:
            self.writers[item] = (*self.writers[item], transaction)

    def is_broadcasting(self, member: Member) -> bool:
        """Return whether ``member``'s broadcast is undelivered."""
        return any(
            isinstance(message, ExecutedSetMessage) and message.sender == member.name
            for message in self.group.total_order[member.next_message :]
        )

    def broadcast(self, member: Member) -> None:
        """Send a member's executed set."""
        self.budget.broadcasts -= 1
        self.group.broadcast_executed_set(member)

    def look_at_memory(self, member: Member) -> None:
        """Run preemptive collection's timer."""
        self.budget.timers -= 1
        member.collect_preemptively()

    def join(self, member: Member) -> None:
        """Let a server join."""
        self.budget.joins -= 1
        self.group.join(member)

    def depart(self, member: Member, how: Callable[[Member], None]) -> None:
        """Let a member crash or leave."""
        self.budget.departures -= 1
        how(member)
