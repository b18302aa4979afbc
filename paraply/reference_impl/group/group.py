"""The group: members, their total order, and all possible actions.

The communication layer is correct: one total order, uniform delivery, and views at the same place
on all survivors.
"""

from __future__ import annotations

from collections.abc import Iterable

from paraply.reference_impl.certification.certifier import CertificationRequest
from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.certification.gtids import Gtid, format_gtid_set
from paraply.reference_impl.group.member import Member, Status
from paraply.reference_impl.group.messages import (
    BacklogAppliedMessage,
    ExecutedSetMessage,
    Message,
    OnlineMessage,
    TransactionMessage,
    ViewChangeMessage,
)
from paraply.reference_impl.group.sessions import Session
from paraply.reference_impl.group.settings import Settings
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.timestamps import VIEW_CHANGE
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item


class Group:
    """Members, and the ordered messages."""

    member_class: type[Member] = Member

    def __init__(
        self,
        names: Iterable[str],
        dialect: Dialect,
        settings: Settings,
        recorder: Recorder,
    ) -> None:
        self.dialect = dialect
        self.settings = settings
        self.recorder = recorder
        self.total_order: list[Message] = []
        self.views = 0
        self.view_members: tuple[str, ...] = ()
        self.view_of_joiner: dict[str, int] = {}
        self.members = {
            name: self.member_class(name, dialect, settings, recorder) for name in names
        }

    def boot(self, names: Iterable[str]) -> None:
        """Start with online members in an unlogged view (EX3)."""
        self.views += 1
        self.view_members = tuple(names)
        view = ViewChangeMessage(
            view=self.views, members=self.view_members, joined=None, executed={}, transaction=None
        )
        for name in self.view_members:
            member = self.members[name]
            member.status = Status.ONLINE
            member.view = view
            self.recorder.record(EventKind.STARTED, member=name)
            self.recorder.record(
                EventKind.VIEW_INSTALLED, member=name, view=self.views, members=self.view_members
            )
            member.learn_online(frozenset(self.view_members))
            member.on_members_known()

    # Actions of clients and members.

    def submit(
        self,
        member: Member,
        items: tuple[Item, ...],
        *,
        kind: TransactionKind = TransactionKind.ROWS,
        specified: Gtid | None = None,
        alters: str = "",
        rows: tuple[RowWrite, ...] = (),
    ) -> TransactionId:
        """Execute a transaction and send its snapshot.

        Both are one step: row locks prevent conflicts between them.
        """
        transaction = self.recorder.add(
            Transaction(
                id=self.recorder.next_id(),
                kind=kind,
                gtid=str(specified) if specified else "",
                origin=member.name,
                write_set=frozenset(items),
                snapshot_gtids=format_gtid_set(member.executed),
                rows=rows,
                statement=f"ALTER TABLE {alters}" if alters else "",
            )
        )
        self.recorder.record(
            EventKind.SUBMITTED,
            member=member.name,
            transaction=transaction,
            gtid_set=format_gtid_set(member.executed),
            transactions=tuple(sorted(one for one, _ in member.binlog)),
        )
        member.sessions[transaction] = Session(items, alters)
        self.send(
            TransactionMessage(
                transaction=transaction,
                request=CertificationRequest(
                    origin=member.name,
                    snapshot_version=member.executed,
                    items=items,
                    specified_gtid=specified,
                    is_create_select=kind is TransactionKind.CTAS,
                ),
                alters=alters,
            )
        )
        return transaction

    def send(self, message: Message) -> None:
        """Append to the total order."""
        self.total_order.append(message)

    def broadcast_executed_set(self, member: Member) -> None:
        """Broadcast ``member``'s executed set."""
        self.recorder.record(
            EventKind.EXECUTED_SET_BROADCAST,
            member=member.name,
            gtid_set=format_gtid_set(member.executed),
            transactions=tuple(sorted(one for one, _ in member.binlog)),
        )
        self.send(ExecutedSetMessage(sender=member.name, executed=member.executed))

    def announce_backlog_applied(self, member: Member) -> None:
        """Announce a new primary's applied backlog."""
        member.is_backlog_announced = True
        self.send(BacklogAppliedMessage(primary=member.name))

    def deliver_next(self, member: Member) -> None:
        """Deliver the next message to ``member``."""
        message = self.total_order[member.next_message]
        member.next_message += 1
        self.deliver(member, message)

    def deliver(self, member: Member, message: Message) -> None:
        """Call the message's handler."""
        match message:
            case TransactionMessage():
                member.on_transaction(message)
            case ExecutedSetMessage():
                member.on_executed_set(message)
            case ViewChangeMessage():
                member.on_view_change(message)
            case OnlineMessage():
                member.on_online(message)
            case BacklogAppliedMessage():
                member.on_backlog_applied(message)

    # Membership.

    def change_view(self, members: tuple[str, ...], *, joined: str | None) -> None:
        """Order a view with executed sets."""
        self.views += 1
        self.view_members = members
        transaction: TransactionId | None = None
        if self.dialect.logs_view_change:
            transaction = self.recorder.add(
                Transaction(
                    id=self.recorder.next_id(),
                    kind=TransactionKind.VIEW_CHANGE,
                    timestamp=VIEW_CHANGE,
                )
            )
        self.send(
            ViewChangeMessage(
                view=self.views,
                members=members,
                joined=joined,
                executed={name: self.members[name].executed for name in members},
                transaction=transaction,
            )
        )

    def join(self, member: Member) -> None:
        """Let a server join again."""
        member.start()
        member.status = Status.RECOVERING
        self.recorder.record(EventKind.STARTED, member=member.name)
        member.recover_binary_log()
        # Its stream begins with its own view.
        member.next_message = len(self.total_order)
        self.view_of_joiner[member.name] = self.views + 1
        self.change_view((*self.view_members, member.name), joined=member.name)

    def leave(self, member: Member, why: str = "") -> None:
        """Remove a member that leaves, after its sessions have committed what is certified."""
        for transaction, gtid in member.committing():
            member.commit_session(transaction, gtid)
        self.recorder.record(EventKind.STOPPED, member=member.name, note=why)
        self.remove(member)

    def crash(self, member: Member) -> None:
        """Crash a member."""
        if member.queues_after_sessions():
            # Its applier would stop at rows that only its sessions had changed, and somebody would
            # discard the relay log: all comes from a donor.
            member.relay_log.clear()
        self.recorder.record(EventKind.CRASHED, member=member.name)
        self.remove(member)

    def remove(self, member: Member) -> None:
        """Remove a member."""
        member.status = Status.OFFLINE
        rest = tuple(name for name in self.view_members if name != member.name)
        self.change_view(rest, joined=None)

    def donor_of(self, joiner: Member) -> Member | None:
        """Return a donor with the joiner's view."""
        view = self.view_of_joiner[joiner.name]
        for name in self.view_members:
            member = self.members[name]
            if member.status is Status.ONLINE and view in member.donor_states:
                return member
        return None

    def may_step_recovery(self, joiner: Member) -> bool:
        """Return whether recovery can continue."""
        donor = self.donor_of(joiner)
        if donor is None:
            return False
        state = donor.donor_states[self.view_of_joiner[joiner.name]]
        return joiner.has_recovered(state) or joiner.missing_from(donor) is not None

    def step_recovery(self, joiner: Member) -> None:
        """Copy a transaction or end recovery."""
        donor = self.donor_of(joiner)
        if donor is None:
            return
        state = donor.donor_states[self.view_of_joiner[joiner.name]]
        missing = joiner.missing_from(donor)
        if joiner.has_recovered(state) or missing is None:
            joiner.on_recovered(state)
        else:
            joiner.copy(*missing)

    def has_lost_its_donors(self, joiner: Member) -> bool:
        """Return whether no donor is left."""
        view = self.view_of_joiner[joiner.name]
        return not any(
            member.status is Status.ONLINE
            and (view in member.donor_states or not member.has_passed_view(view))
            for member in (self.members[name] for name in self.view_members)
        )

    def declare_online(self, member: Member) -> None:
        """Announce a joiner's end of recovery."""
        self.send(OnlineMessage(member=member.name))
