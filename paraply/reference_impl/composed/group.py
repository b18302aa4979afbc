"""The group, with the acknowledgements that its members wait for."""

from __future__ import annotations

from collections.abc import Iterable

from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.composed.member import ComposedMember
from paraply.reference_impl.composed.rows import items_of
from paraply.reference_impl.composed.settings import Composition
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import Message, TransactionMessage
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import TransactionId


class ComposedGroup(Group):
    """Members with tables; a received transaction is acknowledged."""

    member_class: type[ComposedMember] = ComposedMember
    members: dict[str, ComposedMember]  # type: ignore[assignment]

    def __init__(
        self,
        names: Iterable[str],
        dialect: Dialect,
        composition: Composition,
        recorder: Recorder,
    ) -> None:
        super().__init__(names, dialect, composition, recorder)
        self.composition = composition
        self.stream_starts = dict.fromkeys(self.members, 0)
        """Member -> position of its first message in the total order."""
        self.positions: dict[TransactionId, int] = {}
        for member in self.members.values():
            member.group = self

    # Clients.

    def send_executed(self, member: ComposedMember, client: TransactionId) -> None:
        """Send a client's transaction to all, with its write set, and change its rows."""
        execution = member.executing.pop(client)
        rows = execution.changes(self.recorder.next_id())
        items = items_of(rows)
        self.positions[self.recorder.next_id()] = len(self.total_order)
        transaction = self.submit(
            member, items, kind=execution.kind, rows=rows, alters=execution.alters
        )
        member.table.hand_over(client, transaction)
        member.apply_rows(transaction)

    # Acknowledgements.

    def deliver(self, member: Member, message: Message) -> None:
        """Deliver; acknowledge what is in the relay log."""
        super().deliver(member, message)
        if isinstance(message, TransactionMessage) and any(
            entry.transaction == message.transaction for entry in member.relay_log
        ):
            self.acknowledge(member, message)

    def acknowledge(self, member: Member, message: TransactionMessage) -> None:
        """Let the origin hear that a member has received its transaction."""
        transaction = message.transaction
        self.recorder.record(EventKind.ACKNOWLEDGED, member=member.name, transaction=transaction)
        origin = self.members[message.request.origin]
        origin.acknowledged.setdefault(transaction, set()).add(member.name)

    def is_acknowledged(self, member: Member, transaction: TransactionId) -> bool:
        """Return whether enough of those that receive a transaction have it."""
        receivers = self.receivers_of(member, transaction)
        needed = min(self.composition.acknowledgements, len(receivers))
        heard = self.members[member.name].acknowledged.get(transaction, set())
        return len(receivers & heard) >= needed

    def receivers_of(self, member: Member, transaction: TransactionId) -> set[str]:
        """Return the others in the view whose stream has the transaction.

        A server that joined later has it from its donor, which has committed it.
        """
        position = self.positions[transaction]
        return {
            name
            for name in self.view_members
            if name != member.name and self.stream_starts[name] <= position
        }

    # Membership.

    def join(self, member: Member) -> None:
        """Let a server join; its stream begins with its view."""
        self.stream_starts[member.name] = len(self.total_order)
        super().join(member)
