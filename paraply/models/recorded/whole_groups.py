"""Abstraction of all members of a group, with their numbers, workers, row locks and sessions.

The group of the model delivers once; a member's decision is its receipt. What is not recorded is
taken when it restrains least: a session executes when it takes its snapshot, a member starts and
changes what its log does not show before the engine commit, a report arrives as soon as it may, and
a collection opens no window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import takewhile

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.group_member import MemberReading
from paraply.models.recorded.naming import Rows
from paraply.models.systems.group import MEMBER, NOBODY, ROW, TXN
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

_EMPTY = {TransactionKind.NO_WRITE_SET, TransactionKind.DDL}
_OF_THE_LAYER = {
    "receive", "pass_over", "collect_at", "leave_out_number", "start", "change_row",
}  # fmt: skip
_COMPLETE = frozenset(
    {"receive_report", "settle", "collect", "crash", "join", "leave_out_number", "start",
     "change_row", "execute", "take_snapshot", "send"}
)  # fmt: skip
"""Views are recorded by each member, and the other steps are taken where they help."""
_CHANGES = {None, Outcome.OK, Outcome.LOCK_WAIT}
"""What may come of a row change; None is of other events."""
_OF_A_WORKER = {
    EventKind.SCHEDULED, EventKind.BEGUN, EventKind.ROW_APPLIED, EventKind.ROLLED_BACK,
}  # fmt: skip


def parallel_group(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/parallel_group.py``.

    A member has one report under way in the model, so the reading ends at a second.
    """
    return GroupReading(history).recorded()


def group(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/group.py``, which has no numbers and no workers."""
    read = parallel_group(history)
    steps = tuple(step for step in read.steps if not _OF_THE_LAYER.issuperset(step.actions))
    start = {name: read.start[name] for name in ("ws", "in_group", "value", "version")}
    return replace(read, steps=steps, start=start)


class GroupReading:
    """The steps of a history, one event after the other."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.of: dict[TransactionId, Transaction] = {one.id: one for one in history.transactions}
        sent = [one for one in history.transactions if one.kind is not TransactionKind.VIEW_CHANGE]
        self.rows = Rows()
        ws = {one.id: [self.rows.name(item) for item in sorted(one.write_set)] for one in sent}
        self.items = {str(item) for one in sent for item in one.write_set}
        stamps = [one.timestamp.sequence_number for one in history.events if one.timestamp]
        sizes = (len(sent), len(self.rows.all), len(history.members), 1)
        self.scope = Scope(high=max([len(sent), *stamps]) + 1, size=max(sizes))
        self.txn = dict(zip(ws, self.scope.values(TXN), strict=False))
        names = zip(history.members, self.scope.values(MEMBER), strict=False)
        self.members = {member: MemberReading(name) for member, name in names}
        self.ws: Table = {(self.txn[one], row): True for one, rows in ws.items() for row in rows}
        self.empty: Table = {(self.txn[one.id],): True for one in sent if one.kind in _EMPTY}
        self.order: list[TransactionId] = []
        self.places: dict[TransactionId, int] = {}
        self.refused: set[TransactionId] = set()
        self.live: set[TransactionId] = set()
        self.stable = 0
        self.founders: tuple[str, ...] = ()
        self.online: set[str] = set()
        self.view = 0
        self.marked: set[Value] = set()
        self.steps: list[RecordedStep] = []
        self.ended = ""
        options = history.header.options
        self.promises_order = bool(options.get("one_commit_order"))
        has_threshold = bool(options.get("preemptive_rows_threshold"))
        self.is_preemptive = bool(options.get("single_primary")) and has_threshold

    def recorded(self) -> Recorded:
        """Read all events, or those before what the model does not have."""
        for event in self.history.events:
            self.read(event)
            if self.ended:
                break
        everyone, rows = self.scope.values(MEMBER), self.scope.values(ROW)
        each: Table = {(one, row): NOBODY for one in everyone for row in rows}
        return Recorded(
            scope=self.scope,
            start={
                "ws": self.ws, "empty": self.empty, "value": each, "row_lock": each,
                "in_group": {(self.members[one].name,): True for one in self.founders},
                "version": {(0, row): NOBODY for row in rows},
                "next_sn": {(one,): 2 for one in everyone},
                "lc_global": {(one,): 1 for one in everyone},
                "first": {(one,): 0 if one in self.marked else -1 for one in everyone},
            },
            steps=tuple(self.steps),
            complete=_COMPLETE,
            ended=self.ended,
        )  # fmt: skip

    def take(
        self, action: str, *seen: tuple[str, tuple[Value, ...], Value], **known: Value
    ) -> None:
        """Add a step."""
        self.steps.append(RecordedStep(actions=(action,), parameters=known, seen=seen))

    def read(self, event: Event) -> None:
        """Take the steps of an event."""
        member = self.members[event.member]
        if event.kind is EventKind.VIEW_INSTALLED:
            self.change_view(event)
            member.view = event.view or member.view
        elif event.kind is EventKind.EXECUTED_SET_BROADCAST:
            self.report(member, event.transactions)
        elif event.kind in (EventKind.CRASHED, EventKind.STOPPED):
            member.is_running = member.is_current = False
        elif event.kind is EventKind.STARTED and not member.is_current:
            # The view change of a joiner bears what each other member has executed.
            member.is_running = True
            for one in self.members.values():
                self.report(one, one.done)
        elif event.kind is EventKind.ONLINE and member.view == self.view:
            # In an earlier view, members are online that have left since.
            self.online.update(event.members)
        elif event.kind is EventKind.GARBAGE_COLLECTED and self.founders:
            self.collect(member, event)
        elif event.kind is EventKind.READ:
            self.show(member, event)
        elif event.transaction in self.txn:
            assert event.transaction is not None
            if not self.founders:
                self.ended = f"no view before {event.kind.value} of T{event.transaction}"
                return
            self.read_of(event.transaction, member, event)

    def read_of(self, one: TransactionId, member: MemberReading, event: Event) -> None:
        """Take the steps of an event of a transaction."""
        if event.kind is EventKind.SUBMITTED:
            self.submit(one, member, event)
        elif event.kind is EventKind.BEGUN and one not in self.live | self.places.keys():
            self.execute(one, member, event)
        elif event.kind is EventKind.CERTIFIED:
            self.deliver(one, event.outcome is Outcome.NEGATIVE)
            self.receive(one, member, event)
        elif event.kind in _OF_A_WORKER:
            if not (self.is_own(one, member) and member.is_current):
                self.work(one, member, event)
            elif self.steps[-1].parameters != {"t": self.txn[one]} or event.outcome not in _CHANGES:
                self.take("change_row_of_session", t=self.txn[one])
        elif event.kind is EventKind.ENGINE_COMMITTED:
            self.commit(one, member)

    def is_own(self, one: TransactionId, member: MemberReading) -> bool:
        """Return whether a transaction is a member's session that has yet to end."""
        return one in self.live and self.members[self.of[one].origin] is member

    def called(self, member: MemberReading) -> str:
        """Return the member's name in the history."""
        return next(name for name, one in self.members.items() if one is member)

    def place_of(self, one: TransactionId) -> int:
        """Return its position, or one that the group has not reached."""
        return self.places.get(one, len(self.order))

    def level_of(self, done: Iterable[TransactionId]) -> int:
        """Return how far certified transactions reach without a gap."""
        known = self.refused.union(done)
        return next((p for p, one in enumerate(self.order) if one not in known), len(self.order))

    def positions(
        self, name: str, of: Value, done: Collection[TransactionId], member: MemberReading
    ) -> Iterable[tuple[str, tuple[Value, ...], Value]]:
        """Yield what ``name`` shows of ``done``: a prefix, or -1 if it has a gap."""
        known = min(self.level_of(done), member.received)
        is_prefix = self.txn.keys() & set(done) <= set(self.order[:known])
        yield name, (of,), known if is_prefix else -1

    def was_given(self, place: int, member: MemberReading) -> bool:
        """Return whether a joiner has the position from its donor."""
        return place < member.given

    def has_committed(self, place: int, member: MemberReading) -> bool:
        """Return whether the model's member has committed the position."""
        return place < member.upto

    def is_behind(self, member: MemberReading) -> bool:
        """Return whether a joiner has less than the model gave to it."""
        return self.level_of(member.done) < member.upto

    # Messages.

    def execute(self, one: TransactionId, member: MemberReading, event: Event) -> None:
        """Take the execution of a session, and its snapshot."""
        self.live.add(one)
        self.take("execute", t=self.txn[one], m=member.name)
        seen = self.positions("snap", self.txn[one], event.transactions, member)
        self.take("take_snapshot", *seen, t=self.txn[one])

    def submit(self, one: TransactionId, member: MemberReading, event: Event) -> None:
        """Take what a session sends."""
        if one not in self.live:
            self.execute(one, member, event)
        member.sent.append(one)
        self.take("send", t=self.txn[one])

    def deliver(self, one: TransactionId, is_refused: bool) -> None:
        """Let the group decide with the first member that does."""
        if one in self.places:
            return
        self.places[one] = len(self.order)
        self.order.append(one)
        origin = self.members[self.of[one].origin]
        if is_refused:
            self.refused.add(one)
            self.live.discard(one)
        self.take("refuse" if is_refused else "certify", t=self.txn[one])
        if origin.sent and origin.sent[0] == one:
            origin.sent.popleft()
        self.arrive(origin)

    def report(self, member: MemberReading, done: Collection[TransactionId]) -> None:
        """Take a report, unless another one is under way."""
        if not member.is_current or self.is_behind(member):
            return
        if None in member.sent:
            self.ended = f"{self.called(member)} has two reports under way"
            return
        member.sent.append(None)
        member.report = frozenset(done)
        self.take("report", *self.positions("report_value", member.name, done, member),
                  m=member.name)  # fmt: skip
        self.arrive(member)

    def arrive(self, member: MemberReading) -> None:
        """Take the report that is next of a member."""
        if member.sent and member.sent[0] is None:
            member.sent.popleft()
            member.reported = member.report
            self.take("receive_report", m=member.name)

    def collect(self, member: MemberReading, event: Event) -> None:
        """Take a member's collection."""
        if self.is_preemptive:
            # A large transaction stores no items, so that a purged one is of an earlier writer.
            self.ended = f"{event.member} collects preemptively, which the model does not"
        early = self.txn.keys() & set(event.transactions) - self.places.keys()
        if early:
            self.ended = f"{event.member} takes T{min(early)} for stable before it is certified"
        if self.ended or not self.settle(event.transactions):
            return
        purged: Table = {(self.rows.name(item),): True for item in sorted(event.items)}
        known: dict[str, Value] = {"m": member.name, "window": member.window}
        self.steps.append(
            RecordedStep(actions=("collect_at",), parameters=known, chosen={"purged": purged})
        )

    def settle(self, stable: Collection[TransactionId]) -> bool:
        """Take the steps to a stable set; return whether the model has them."""
        level = self.level_of(stable)
        beyond = self.places.keys() & set(stable) - set(self.order[:level])
        if beyond:
            self.ended = f"T{min(beyond)} is stable before an earlier one, unlike in the model"
        while level and self.order[level - 1] in self.refused:
            level -= 1
        if self.is_reported(self.order[:level]) and level > self.stable:
            self.stable = level
            self.take("settle", level=level)
        return not self.ended

    def is_reported(self, stable: Collection[TransactionId]) -> bool:
        """End the reading if only members that recover have not reported ``stable``."""
        needed = set(stable) - self.refused
        inside = {name: one for name, one in self.members.items() if one.is_in}
        lacking = {name for name, one in inside.items() if not needed <= {*one.reported}}
        if lacking and not lacking & self.online:
            self.ended = f"a collection did not wait for {min(lacking)}, which recovers"
        return not self.ended

    # A member's log, workers and engine.

    def receive(self, one: TransactionId, member: MemberReading, event: Event) -> None:
        """Take the number that a member gives, if it gives one."""
        place, stamp = self.place_of(one), event.timestamp
        member.received, member.is_recovering = place + 1, False
        received = ("received", (member.name,), place + 1)
        if event.outcome is Outcome.NEGATIVE or self.is_own(one, member):
            self.take("pass_over", received, m=member.name)
        elif stamp is None:
            self.take("receive", received, m=member.name)
        else:
            number, lc, at = stamp.sequence_number, stamp.last_committed, (member.name, place)
            if not number and member.next_number == 2 and not member.is_joiner:
                self.marked.add(member.name)
            for _ in range(number - member.next_number):
                self.take("leave_out_number", m=member.name)
            member.next_number = max(number, member.next_number) + 1
            seen = (received, ("sn", at, number), ("lc", at, lc))
            self.take("receive", *seen, m=member.name, new_lc=lc)
            if self.of[one].kind in _EMPTY:
                member.window = member.next_number - 1
        self.pass_refused(member)

    def work(self, one: TransactionId, member: MemberReading, event: Event) -> None:
        """Take an attempt's step, or end the reading."""
        place = self.place_of(one)
        if not member.is_current or self.was_given(place, member):
            return
        if self.recovers_later(place, member):
            return
        if event.kind is EventKind.ROLLED_BACK:
            is_session = one in self.refused
            self.ended = "" if is_session else f"{event.member} rolls a worker back"
        elif event.outcome not in _CHANGES:
            self.take("fail", m=member.name, q=place)
        else:
            self.begin(place, member)
            if event.outcome is Outcome.OK:
                self.change(place, member, event.items)

    def begin(self, place: int, member: MemberReading) -> None:
        """Take the start of a transaction, unless it has started."""
        if place not in member.started or self.has_committed(place, member):
            member.started.add(place)
            self.take("start", m=member.name, q=place)

    def change(self, place: int, member: MemberReading, items: Iterable[Item]) -> None:
        """Take the changes of rows that are not locked so far."""
        for row in map(self.rows.name, sorted(items)):
            if (place, row) not in member.changed:
                member.changed.add((place, row))
                self.take("change_row", m=member.name, q=place, r=row)

    def commit(self, one: TransactionId, member: MemberReading) -> None:
        """Take an engine commit."""
        place, following = self.place_of(one), self.level_of(member.done)
        member.done.add(one)
        if not member.is_current or place < member.given:
            if place != following:
                self.take("recover", m=member.name, p=place)
            return
        if self.recovers_later(place, member):
            return
        if member.upto < place < member.received and not self.promises_order:
            apart = "the theorem assumes one commit order, which this group does not promise"
            self.ended = f"{self.called(member)} commits T{one} before an earlier one; {apart}"
            return
        self.finish(one, place, member)
        member.upto = place + 1
        self.take("apply", ("upto", (member.name,), place + 1), m=member.name)
        self.pass_refused(member)

    def recovers_later(self, place: int, member: MemberReading) -> bool:
        """End the reading if a joiner gets from its donor what was delivered after its view."""
        if member.is_recovering and place >= member.received:
            self.ended = f"{self.called(member)} recovers what came after its view"
        return bool(self.ended)

    def finish(self, one: TransactionId, place: int, member: MemberReading) -> None:
        """Take what precedes the engine commit, as far as it is not taken."""
        if self.is_own(one, member):
            self.live.discard(one)
        else:
            self.begin(place, member)
            self.change(place, member, self.of[one].write_set)

    def pass_refused(self, member: MemberReading) -> None:
        """Commit what was refused at once: it changes nothing."""
        ahead = self.order[member.upto : member.received]
        for _ in takewhile(self.refused.__contains__, ahead):
            member.upto += 1
            self.take("apply", m=member.name)

    # Views and readers.

    def change_view(self, event: Event) -> None:
        """Let a view take place with the first member that installs it."""
        if event.view is None or event.view <= self.view:
            return
        self.view, names = event.view, tuple(filter(self.members.__contains__, event.members))
        if not self.founders:
            self.founders = names
            for name in names:
                self.members[name].is_in = self.members[name].is_current = True
            return
        now = {name for name, member in self.members.items() if member.is_in}
        for name in sorted(now.difference(names)):
            self.online.discard(name)
            self.leave(self.members[name])
        for name in sorted(set(names) - now):
            self.join(self.members[name])

    def leave(self, member: MemberReading) -> None:
        """Take the end of a member."""
        member.is_in = member.is_current = False
        member.sent.clear()
        self.live = {one for one in self.live if not self.is_own(one, member)}
        self.take("crash", m=member.name)

    def join(self, member: MemberReading) -> None:
        """Join with a donor's state, if possible one that is not ahead, and catch up."""
        own = self.level_of(member.done)
        donors = sorted((one for one in self.members.values() if one.is_in), key=lambda d: d.upto)
        if not donors:
            self.ended = "a group begins again"
            return
        donor = next((one for one in reversed(donors) if one.upto <= own), donors[0])
        self.take_in(member, donor)
        member.upto = member.given = donor.upto
        self.pass_refused(member)
        for one in self.order[member.upto : own]:
            if member.is_current and one not in self.refused:
                self.commit(one, member)

    def take_in(self, member: MemberReading, donor: MemberReading) -> None:
        """Take the step of a joiner, which begins anew."""
        self.take("join", m=member.name, donor=donor.name)
        fresh = MemberReading(member.name)
        for slot in ("next_number", "window", "started", "changed"):
            setattr(member, slot, getattr(fresh, slot))
        member.is_in = member.is_joiner = member.is_recovering = True
        member.is_current = member.is_running
        member.received = member.first = len(self.order)
        member.reported = donor.reported

    def show(self, member: MemberReading, event: Event) -> None:
        """Compare what a reader saw with the state after the last step."""
        if not (member.is_current and self.steps) or self.is_behind(member):
            return
        seen = tuple(
            (
                "value",
                (member.name, self.rows.name(one.item)),
                self.places.get(one.writer, -2 if one.writer else NOBODY),
            )
            for one in event.observed
            if str(one.item) in self.items
        )
        last = self.steps[-1]
        self.steps[-1] = replace(last, seen=last.seen + seen)
