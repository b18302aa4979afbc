"""One member: certifier, relay log, executed set, position.

Handlers receive messages in total order. Source: WL#8440; applier.cc, certification_handler.cc and
recovery.cc of plugin/group_replication/src.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from paraply.reference_impl.certification.certifier import Certifier, PreemptiveCollection
from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.certification.garbage_collection import CollectionRound
from paraply.reference_impl.certification.gtid_generator import GtidGenerator
from paraply.reference_impl.certification.gtids import NO_GTIDS, Gtid, GtidSet, format_gtid_set
from paraply.reference_impl.group.messages import (
    BacklogAppliedMessage,
    DonorState,
    ExecutedSetMessage,
    OnlineMessage,
    RelayEntry,
    TransactionMessage,
    ViewChangeMessage,
)
from paraply.reference_impl.group.sessions import Session
from paraply.reference_impl.group.settings import Settings
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.timestamps import may_overlap
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item


class Status(Enum):
    """State of a member."""

    OFFLINE = "offline"
    RECOVERING = "recovering"
    CATCHING_UP = "catching up"
    """Certifies, but not online."""
    ONLINE = "online"


class Member:
    """A server of the group.

    Executed set, binary log and relay log survive a crash. ``next_message`` is its position;
    ``view``, ``online`` and ``primary`` are valid there. ``sessions`` are its unfinished local
    transactions.
    """

    def __init__(self, name: str, dialect: Dialect, settings: Settings, recorder: Recorder) -> None:
        self.name = name
        self.dialect = dialect
        self.settings = settings
        self.recorder = recorder
        self.status = Status.OFFLINE
        self.next_message = 0
        self.executed: GtidSet = NO_GTIDS
        self.binlog: list[tuple[TransactionId, Gtid]] = []
        self.relay_log: list[RelayEntry] = []
        self.transaction_of: dict[Gtid, TransactionId] = {}
        self.start()

    def start(self) -> None:
        """Start with only the durable state."""
        self.certifier = Certifier(
            self.dialect,
            generator=GtidGenerator(self.settings.block_size),
            detects_conflicts=not self.settings.is_single_primary,
            preemptive=PreemptiveCollection(
                is_on=self.settings.collects_preemptively,
                rows_threshold=max(1, self.settings.preemptive_rows_threshold),
            ),
        )
        self.collection = CollectionRound()
        self.view: ViewChangeMessage | None = None
        self.online: frozenset[str] = frozenset()
        self.primary = ""
        self.sessions: dict[TransactionId, Session] = {}
        self.must_apply_first: GtidSet = NO_GTIDS
        self.is_backlog_announced = True
        self.has_announced_online = False
        self.donor_states: dict[int, DonorState] = {}

    # Messages of the total order.

    def on_transaction(self, message: TransactionMessage) -> None:
        """Certify, then commit or queue."""
        transaction = message.transaction
        is_local = transaction in self.sessions
        decision = self.certifier.on_transaction_delivered(
            message.request, is_local=is_local, gtid_executed=self.executed
        )
        self.recorder.record(EventKind.DELIVERED, member=self.name, transaction=transaction)
        self.recorder.record(
            EventKind.CERTIFIED,
            member=self.name,
            transaction=transaction,
            outcome=decision.outcome,
            timestamp=decision.timestamp,
            gtid=str(decision.gtid or ""),
            note=decision.reason,
        )
        if decision.gtid is None:
            if is_local:
                self.on_refused_here(transaction)
        elif is_local:
            self.on_certified_here(transaction, decision.gtid)
        elif decision.timestamp is not None:
            self.queue(
                RelayEntry(
                    transaction=transaction,
                    gtid=decision.gtid,
                    timestamp=decision.timestamp,
                    items=message.request.items,
                    alters=message.alters,
                )
            )

    def queue(self, entry: RelayEntry) -> None:
        """Write a certified transaction to the relay log."""
        self.transaction_of[entry.gtid] = entry.transaction
        self.relay_log.append(entry)

    def on_refused_here(self, transaction: TransactionId) -> None:
        """Roll the refused session back."""
        del self.sessions[transaction]
        self.recorder.record(EventKind.ROLLED_BACK, member=self.name, transaction=transaction)

    def on_certified_here(self, transaction: TransactionId, gtid: Gtid) -> None:
        """Give the certified session its GTID."""
        self.sessions[transaction].gtid = gtid
        self.transaction_of[gtid] = transaction
        if not self.settings.sessions_commit_apart:
            self.commit_session(transaction, gtid)

    def on_executed_set(self, message: ExecutedSetMessage) -> None:
        """Collect at the round's end."""
        stable = self.collection.on_executed_set(message.sender, message.executed, self.reporters())
        if stable is not None:
            self.collect(stable)

    def reporters(self) -> frozenset[str]:
        """Return the members of a round."""
        if self.view is None or not self.dialect.recovering_members_report:
            return self.online
        return frozenset(self.view.members)

    def collect(self, stable: GtidSet) -> None:
        """Purge stable certification info."""
        purged = self.certifier.on_stable_set(stable)
        if purged is not None:
            self.record_collection(purged)

    def record_collection(self, purged: frozenset[Item], note: str = "") -> None:
        """Record a collection."""
        stable = self.certifier.stable_set
        self.recorder.record(
            EventKind.GARBAGE_COLLECTED,
            member=self.name,
            items=purged,
            gtid_set=format_gtid_set(stable),
            transactions=self.recorded_transactions(stable),
            note=note,
        )

    def on_view_change(self, message: ViewChangeMessage) -> None:
        """Install a view."""
        self.view = message
        if not self.online <= frozenset(message.members):
            self.learn_online(self.online & frozenset(message.members))
        self.collection.on_view_change()
        if message.joined not in (None, self.name):
            reports = [message.executed[m] for m in message.members if m in self.online]
            stable = self.collection.stable_set_at_join(self.dialect, reports)
            if stable is not None:
                self.collect(stable)
        donor_state = self.donor_state()
        view_gtid = self.certifier.on_view_change()
        if view_gtid is not None and message.transaction is not None:
            self.log_view_change(message.transaction, view_gtid, message.view)
        self.donor_states[message.view] = replace(donor_state, view_gtid=view_gtid)
        self.recorder.record(
            EventKind.VIEW_INSTALLED,
            member=self.name,
            view=message.view,
            members=message.members,
        )
        self.on_members_known()

    def donor_state(self) -> DonorState:
        """Return the view's donor state."""
        return DonorState(
            certification_info=self.certifier.export_certification_info(),
            extracted=self.certifier.group_gtid_executed,
            stable_set=self.certifier.stable_set,
            online=self.online,
            detects_conflicts=self.certifier.detects_conflicts,
            view_gtid=None,
        )

    def log_view_change(self, transaction: TransactionId, gtid: Gtid, view: int) -> None:
        """Queue the view change's transaction."""
        timestamp = self.certifier.indexes.on_view_change()
        self.recorder.record(
            EventKind.CERTIFIED,
            member=self.name,
            transaction=transaction,
            outcome=Outcome.POSITIVE,
            timestamp=timestamp,
            gtid=str(gtid),
            view=view,
        )
        self.queue(RelayEntry(transaction=transaction, gtid=gtid, timestamp=timestamp))

    def on_online(self, message: OnlineMessage) -> None:
        """Record a member's end of recovery."""
        self.learn_online(self.online | {message.member})
        if message.member == self.name:
            self.status = Status.ONLINE
            self.must_apply_first = frozenset(entry.gtid for entry in self.relay_log)
        self.on_members_known()

    def learn_online(self, online: frozenset[str]) -> None:
        """Record recovered members."""
        self.online = online
        self.recorder.record(EventKind.ONLINE, member=self.name, members=tuple(sorted(online)))

    def on_members_known(self) -> None:
        """Elect a single primary."""
        if not self.settings.is_single_primary or self.view is None:
            return
        candidates = [member for member in self.view.members if member in self.online]
        if not candidates or self.primary in candidates:
            return
        is_failover = bool(self.primary)
        self.primary = candidates[0]
        if is_failover:
            self.on_new_primary()

    def on_new_primary(self) -> None:
        """Detect conflicts during the primary's backlog."""
        self.certifier.detects_conflicts = True
        if self.primary == self.name:
            self.must_apply_first |= frozenset(entry.gtid for entry in self.relay_log)
            self.is_backlog_announced = False

    def on_backlog_applied(self, message: BacklogAppliedMessage) -> None:
        """Stop the detection of conflicts."""
        if message.primary == self.primary:
            self.certifier.detects_conflicts = False

    # Local steps of a member.

    def may_write(self) -> bool:
        """Return whether clients may write here."""
        if self.status is not Status.ONLINE:
            return False
        if self.settings.is_single_primary and self.primary != self.name:
            return False
        return not self.settings.waits_for_backlog or self.has_applied_backlog()

    def has_applied_backlog(self) -> bool:
        """Return whether the backlog is applied."""
        return self.must_apply_first <= self.executed

    def locks(self, items: tuple[Item, ...], alters: str = "") -> bool:
        """Return whether a session's lock conflicts."""
        return any(
            session.locks_row(items) or session.locks_table(items, alters)
            for session in self.sessions.values()
        )

    def open_transactions(self) -> int:
        """Return the number of clients with a transaction."""
        return len(self.sessions)

    def committing(self) -> list[tuple[TransactionId, Gtid]]:
        """Return certified, uncommitted session transactions."""
        sessions = self.sessions.items()
        return [(one, session.gtid) for one, session in sessions if session.gtid is not None]

    def queues_after_sessions(self) -> bool:
        """Return whether an entry of the relay log follows a certified, uncommitted session's."""
        certified = [self.sessions[one] for one, _ in self.committing()]
        return any(
            session.locks_row(entry.items) or session.locks_table(entry.items, entry.alters)
            for session in certified
            for entry in self.relay_log
        )

    def commit_session(self, transaction: TransactionId, gtid: Gtid) -> None:
        """Commit and unlock a session."""
        del self.sessions[transaction]
        self.commit(transaction, gtid)

    def applicable(self) -> list[RelayEntry]:
        """Return applicable relay entries, oldest first."""
        if self.settings.preserves_commit_order:
            return self.ready_among(1)
        return self.ready_among(len(self.relay_log))

    def ready_among(self, count: int) -> list[RelayEntry]:
        """Return first entries without waits."""
        ready: list[RelayEntry] = []
        for position, entry in enumerate(self.relay_log[:count]):
            waits = any(
                not may_overlap(earlier.timestamp, entry.timestamp)
                for earlier in self.relay_log[:position]
            )
            # Transactions certified before a view change commit before it.
            waits = waits or (entry.timestamp.is_view_change and bool(self.committing()))
            if not waits and not self.locks(entry.items, entry.alters):
                ready.append(entry)
        return ready

    def apply(self, entry: RelayEntry) -> None:
        """Apply an unexecuted entry."""
        self.relay_log.remove(entry)
        if entry.gtid in self.executed:
            self.recorder.record(
                EventKind.SKIPPED,
                member=self.name,
                transaction=entry.transaction,
                gtid=str(entry.gtid),
            )
        else:
            self.commit(entry.transaction, entry.gtid)

    def commit(self, transaction: TransactionId, gtid: Gtid) -> None:
        """Add an executed transaction."""
        self.executed |= {gtid}
        self.binlog.append((transaction, gtid))
        self.transaction_of[gtid] = transaction
        self.recorder.record(
            EventKind.ENGINE_COMMITTED, member=self.name, transaction=transaction, gtid=str(gtid)
        )

    def collect_preemptively(self) -> None:
        """Purge on a timer."""
        if self.certifier.must_collect_preemptively():
            self.record_collection(self.certifier.on_preemptive_collection(), note="preemptive")

    # Recovery of a joiner.

    def recover_binary_log(self) -> None:
        """Recover what only the binary log has: here, nothing."""

    def copy(self, transaction: TransactionId, gtid: Gtid) -> None:
        """Commit a donor's transaction."""
        self.commit(transaction, gtid)

    def has_passed_view(self, view: int) -> bool:
        """Return whether it has installed a view."""
        return self.view is not None and self.view.view >= view

    def missing_from(self, donor: Member) -> tuple[TransactionId, Gtid] | None:
        """Return the donor's first missing transaction."""
        for transaction, gtid in donor.binlog:
            if gtid not in self.executed:
                return transaction, gtid
        return None

    def has_recovered(self, state: DonorState) -> bool:
        """Return whether recovery is over.

        WAIT_UNTIL_VIEW_CHANGE ends with the view change's transaction. If unlogged, the donor's
        certified transactions count.
        """
        if state.view_gtid is not None:
            return state.view_gtid in self.executed
        return state.extracted <= self.executed

    def on_recovered(self, state: DonorState) -> None:
        """Import the donor's state and certify."""
        self.status = Status.CATCHING_UP
        self.certifier.import_certification_info(
            state.certification_info, state.extracted, self.executed
        )
        if self.dialect.hands_on_stable_set:
            self.certifier.stable_set = state.stable_set
        self.certifier.detects_conflicts = state.detects_conflicts
        self.recorder.record(
            EventKind.RECOVERED,
            member=self.name,
            gtid_set=format_gtid_set(self.executed),
            transactions=self.recorded_transactions(self.executed),
        )
        self.learn_online(state.online)

    def recorded_transactions(self, gtids: GtidSet) -> tuple[TransactionId, ...]:
        """Return the GTIDs' known transactions, for the record."""
        known = (self.transaction_of.get(gtid) for gtid in gtids)
        return tuple(sorted({transaction for transaction in known if transaction is not None}))
