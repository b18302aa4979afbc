"""Mutants of commits: order, binary log, acknowledgements."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Callable

from paraply.reference_impl.applier.replica import Replica
from paraply.reference_impl.applier.worker import Worker
from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.composed.applier import Applier
from paraply.reference_impl.composed.group import ComposedGroup
from paraply.reference_impl.composed.member import ComposedMember
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import Message, RelayEntry, TransactionMessage
from paraply.reference_impl.mutations.composed.registering import mutate
from paraply.vocabulary.transactions import Transaction, TransactionId

AFTER_SYNC = "MDEV-162; rpl_semi_sync_source_wait_point=AFTER_SYNC"
ONE_ORDER = "Galera: commit monitor; replica_preserve_commit_order"


class CommitsUnacknowledged(ComposedGroup):
    """No commit waits for acknowledgements."""

    def is_acknowledged(self, member: Member, transaction: TransactionId) -> bool:
        return True


mutate(
    "composed_commit_does_not_wait",
    AFTER_SYNC,
    "A member commits its own transaction before any other has received it.",
    "own_commits_wait_for_other_members",
    CommitsUnacknowledged,
)


class CountsItself(ComposedGroup):
    """A member acknowledges its own transaction."""

    def is_acknowledged(self, member: Member, transaction: TransactionId) -> bool:
        heard = self.members[member.name].acknowledged.get(transaction, set()) | {member.name}
        return len(heard) >= self.composition.acknowledgements


mutate(
    "composed_member_counts_itself",
    AFTER_SYNC,
    "The origin's own delivery counts as an acknowledgement.",
    "own_commits_wait_for_other_members",
    CountsItself,
)


class CountsTheDead(ComposedGroup):
    """Acknowledgements of crashed members count."""

    def is_acknowledged(self, member: Member, transaction: TransactionId) -> bool:
        receivers = self.receivers_of(member, transaction)
        needed = min(self.composition.acknowledgements, len(receivers))
        return len(self.members[member.name].acknowledged.get(transaction, set())) >= needed


mutate(
    "composed_acknowledgement_outlives_its_member",
    "MDEV-162: the acknowledgement stands for a copy in the group",
    "The only member that had received a transaction crashed, and its acknowledgement counts.",
    "own_commits_wait_for_other_members",
    CountsTheDead,
    members=3,
)


class AcknowledgesAnyTransaction(ComposedGroup):
    """An acknowledgement counts for all transactions of its origin."""

    def acknowledge(self, member: Member, message: TransactionMessage) -> None:
        super().acknowledge(member, message)
        origin = self.members[message.request.origin]
        for transaction in origin.sessions:
            origin.acknowledged.setdefault(transaction, set()).add(member.name)


mutate(
    "composed_acknowledgement_counts_for_later_ones",
    "semi-sync: an acknowledgement names a position",
    "An acknowledgement of one transaction releases its origin's later ones.",
    "own_commits_wait_for_other_members",
    AcknowledgesAnyTransaction,
)


class AcknowledgesBeforeDelivery(ComposedGroup):
    """Whoever is in the view when a transaction is sent counts as having it."""

    def send(self, message: Message) -> None:
        super().send(message)
        if isinstance(message, TransactionMessage):
            origin = self.members[message.request.origin]
            others = set(self.view_members) - {origin.name}
            origin.acknowledged[message.transaction] = others


mutate(
    "composed_sending_counts_as_receipt",
    AFTER_SYNC,
    "A transaction counts as acknowledged when it is sent, before relay logs have it.",
    "own_commits_wait_for_other_members",
    AcknowledgesBeforeDelivery,
)


class WaitsForJoiners(ComposedGroup):
    """Servers that joined later must acknowledge too."""

    def is_acknowledged(self, member: Member, transaction: TransactionId) -> bool:
        others = set(self.view_members) - {member.name}
        heard = self.members[member.name].acknowledged.get(transaction, set())
        return len(others & heard) >= min(self.composition.acknowledgements, len(others))


mutate(
    "composed_waits_for_who_joined_later",
    "distributed recovery: the donor has committed what is before the view",
    "A commit waits for a joiner, which waits for the view change behind that commit.",
    "applier_reaches_the_end",
    WaitsForJoiners,
)


class WaitsForTheDead(ComposedGroup):
    """Crashed members must acknowledge too."""

    def receivers_of(self, member: Member, transaction: TransactionId) -> set[str]:
        return set(self.members) - {member.name}


mutate(
    "composed_waits_for_who_crashed",
    "rpl_semi_sync_source_wait_no_replica",
    "A commit waits for a member that crashed, and so does all behind it.",
    "applier_reaches_the_end",
    WaitsForTheDead,
)


class CommitsOwnAtOnce(ComposedMember):
    """Own transactions commit when flushed and acknowledged, in any order."""

    def is_turn_of(self, transaction: TransactionId) -> bool:
        return True


mutate(
    "composed_group_commits_out_of_turn",
    "binlog_order_commits=ON",
    "Of a group in the binary log, a later transaction commits first.",
    "members_commit_as_flushed",
    CommitsOwnAtOnce,
)


class FlushesOwnAtOnce(ComposedMember):
    """Own transactions do not wait for those of others."""

    def flushable(self) -> list[tuple[TransactionId, Gtid]]:
        return [pair for pair in self.certified_sessions() if pair not in self.flushed]

    def is_turn_of(self, transaction: TransactionId) -> bool:
        return self.flushed[0][0] == transaction


mutate(
    "composed_own_overtakes_others",
    ONE_ORDER,
    "A member's own transaction commits before another's that was certified earlier.",
    "members_commit_in_one_order",
    FlushesOwnAtOnce,
)


class QueuesWhenDispatched(Applier):
    """Transactions of others get their place in commit order when they are dispatched."""

    def receive(self, entry: RelayEntry) -> None:
        super().receive(entry)
        self.commit_order.queue.remove(entry.transaction)

    def register_for_commit(self, worker: Worker, transaction: Transaction) -> None:
        self.commit_order.register(transaction.id)

    def on_skip(self) -> None:
        transaction = self.entries[self.next_entry].transaction
        assert transaction is not None
        self.commit_order.register(transaction.id)
        super().on_skip()


mutate(
    "composed_place_is_taken_at_dispatch",
    ONE_ORDER,
    "A transaction that waits in the relay log loses its place to a later one of the member's own.",
    "members_commit_in_one_order",
    QueuesWhenDispatched,
)


class FlushesBackwards(ComposedMember):
    """A group is written to the binary log last first."""

    def flushable(self) -> list[tuple[TransactionId, Gtid]]:
        return super().flushable()[::-1]


mutate(
    "composed_group_is_flushed_backwards",
    "binlog_order_commits=ON: one order of binary log and engine",
    "The binary log has a group in another order than certification and engine.",
    "members_commit_as_flushed",
    FlushesBackwards,
)


class CommitsUnflushed(ComposedMember):
    """Own transactions commit without being in the binary log."""

    def committing(self) -> list[tuple[TransactionId, Gtid]]:
        return [
            (transaction, gtid)
            for transaction, gtid in self.certified_sessions()
            if self.applier.commit_order.is_turn_of(transaction)
            and self.group.is_acknowledged(self, transaction)
        ]

    def commit_session(self, transaction: TransactionId, gtid: Gtid) -> None:
        if (transaction, gtid) not in self.flushed:
            self.flushed.append((transaction, gtid))
        super().commit_session(transaction, gtid)


mutate(
    "composed_commits_before_the_binary_log",
    "two-phase commit of binary log and engine",
    "An acknowledged transaction commits in the engine before it is flushed.",
    "members_commit_as_flushed",
    CommitsUnflushed,
)


class OvertakesOwn(Applier):
    """A view change does not wait for own transactions that were certified before it."""

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        return Replica.step_of(self, worker)


mutate(
    "composed_view_change_overtakes_own",
    "WL#8440, View_change_log_event: all before it have committed",
    "A view change commits before the member's own transaction, and a joiner recovers without it.",
    "recovery_reaches_the_view_change",
    OvertakesOwn,
    one_commit_order=False,
    absent=1,
)
