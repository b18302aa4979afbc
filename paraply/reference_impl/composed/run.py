"""A run of the composed system: its actions, budgets and choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from paraply.reference_impl.choices import choose_writes
from paraply.reference_impl.composed.commuting import touched
from paraply.reference_impl.composed.group import ComposedGroup
from paraply.reference_impl.composed.member import ComposedMember, Execution
from paraply.reference_impl.group.commuting import Touched
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member, Status
from paraply.reference_impl.group.run import Action, Budget, GroupRun
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import ExhaustiveSchedule, Schedule
from paraply.vocabulary.transactions import TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

READER, AUDITOR = "reader", "auditor"
OPTIONAL = frozenset({"joins", "broadcasts", "crashes", "leaves", "is read"})
ONE_IN = 8
"""Share of random choices that are optional actions."""


@dataclass(slots=True, kw_only=True)
class ComposedBudget(Budget):
    """Remaining optional actions."""

    reads: int = 0
    deletes: bool = False
    """Whether transactions may delete rows, and insert them again."""


class ComposedRun(GroupRun):
    """Executes actions of clients, members and appliers until none is possible."""

    group: ComposedGroup
    budget: ComposedBudget

    def __init__(
        self, group: Group, schedule: Schedule, budget: Budget, rows: tuple[str, ...]
    ) -> None:
        super().__init__(group, schedule, budget, rows)
        self.has_ddl = bool(budget.alterations)

    def touched(self, action: Action) -> Touched:
        """Return which parts of members and group an action reads and writes."""
        return touched(self, action)

    def choose(self, actions: list[Action]) -> Action | None:
        """Choose the next action; optional ones seldom, so that they meet work under way."""
        optional = [one for one in actions if one.name.partition(" ")[2] in OPTIONAL]
        needed = [one for one in actions if one not in optional]
        if not (optional and needed) or isinstance(self.schedule, ExhaustiveSchedule):
            return super().choose(actions)
        is_optional = self.schedule.choose_seldom(ONE_IN, optional, "what kind")
        return super().choose(optional if is_optional else needed)

    def actions_of(self, member: Member) -> list[Action]:
        """Return a member's possible actions, with its applier's and clients'."""
        found = super().actions_of(member)
        one = self.group.members[member.name]
        owner = self.number_of(member)

        def offer(what: str, act: Callable[[], None]) -> None:
            found.append(Action(f"{member.name} {what}", act, owner))

        for client in one.executing:
            offer(f"sends client {-client}'s", partial(self.send, one, client))
        for transaction in one.answerable():
            offer(f"answers T{transaction}", partial(one.answer, transaction))
        if one.flushable():
            offer("flushes", one.flush)
        if not one.applier.has_failed:
            for step in one.applier.progress_steps():
                offer(step.label, step.act)
        if self.budget.reads:
            offer("is read", lambda: self.read(one))
        return found

    def may_use_table(self, member: Member) -> bool:
        """Return whether a shared lock is free; a DDL may not run beside it on any member."""
        return super().may_use_table(member) and not any(one.alters for one in self.executions())

    def may_alter_table(self, member: Member) -> bool:
        """Return whether an exclusive lock is free, and no member's client uses the table."""
        is_used = any(one.uses_table for one in self.executions())
        return super().may_alter_table(member) and not is_used

    def executions(self) -> Iterator[Execution]:
        """Yield what clients of all running members execute."""
        for member in self.group.members.values():
            if member.status is not Status.OFFLINE:
                yield from member.executing.values()

    def is_free(self, member: Member, row: str) -> bool:
        """Return whether neither a client nor a worker of ``member`` locks a row."""
        return row not in self.group.members[member.name].table.holders

    def submit(self, member: Member, rows: Mapping[str, tuple[int, ...]], *, ddl: bool) -> None:
        """Execute a transaction that is chosen among ``rows``; it is sent later."""
        kind, items = choose_writes(self.schedule, rows, barriers=self.budget.barriers, ddl=ddl)
        one = self.group.members[member.name]
        self.budget.transactions -= 1
        self.budget.alterations -= kind is TransactionKind.DDL
        present = [row for row in items if one.table.committed(row).value is not None]
        may_delete = self.budget.deletes and kind is TransactionKind.ROWS
        one.execute(
            kind, items, frozenset(filter(self.deletes, present)) if may_delete else frozenset()
        )

    def deletes(self, row: Item) -> bool:
        """Choose whether a transaction deletes a row, or updates it."""
        del row
        return (
            self.schedule.choose([Operation.UPDATE, Operation.DELETE], "operation")
            is Operation.DELETE
        )

    def send(self, member: ComposedMember, client: TransactionId) -> None:
        """Send an executed transaction."""
        transaction = self.group.recorder.next_id()
        execution = member.executing[client]
        self.group.send_executed(member, client)
        for row in execution.read:
            # A deleted row is no longer like a written one.
            self.writers[str(row)] += (-transaction if row in execution.deleted else transaction,)

    def read(self, member: ComposedMember) -> None:
        """Let a reader take a snapshot."""
        self.budget.reads -= 1
        member.read(READER)

    def rest(self) -> None:
        """Read what members at rest have, and record who is at rest."""
        self.group.recorder.next_step()
        for member in self.group.members.values():
            is_idle = not (member.relay_log or member.open_transactions())
            if member.status is Status.ONLINE and is_idle:
                member.read(AUDITOR)
                self.group.recorder.record(
                    EventKind.STOPPED, member=member.name, note="at rest",
                    transactions=tuple(sorted(one for one, _ in member.binlog)),
                )  # fmt: skip
