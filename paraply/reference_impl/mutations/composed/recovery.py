"""Mutants of crash recovery and joins of members with tables."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.composed.member import ComposedMember
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import DonorState
from paraply.reference_impl.mutations.composed.registering import mutate
from paraply.vocabulary.transactions import TransactionId

CRASH = "MDEV-162, crash scenarios; XA recovery of the engine by the binary log"
DONOR = "distributed recovery: the donor's binary log"


class RecoversWithoutGtid(ComposedMember):
    """Crash recovery commits rows without their GTIDs."""

    def recover_binary_log(self) -> None:
        for transaction, _ in self.flushed:
            self.apply_rows(transaction)
            self.table.engine_commit(transaction)
        self.flushed.clear()


mutate(
    "composed_crash_recovery_forgets_gtids",
    CRASH,
    "A transaction that crash recovery committed is copied from the donor again.",
    "applier_does_not_give_up",
    RecoversWithoutGtid,
)


class RecoversWithoutRows(ComposedMember):
    """Crash recovery counts a flushed transaction as executed, and the engine rolls it back."""

    def recover_binary_log(self) -> None:
        self.executed |= {gtid for _, gtid in self.flushed}
        self.binlog += self.flushed
        self.flushed.clear()


mutate(
    "composed_crash_recovery_rolls_back_what_is_logged",
    CRASH,
    "The engine rolls back what the binary log has.",
    "members_end_in_one_state",
    RecoversWithoutRows,
)


class LosesNewestVersion(ComposedMember):
    """A crash loses the newest engine commit, which the binary log has."""

    def start(self) -> None:
        newest = max((v[-1].writer for v in self.table.versions.values() if v), default=0)
        for versions in self.table.versions.values():
            if versions and versions[-1].writer == newest:
                versions.pop()
        super().start()


mutate(
    "composed_crash_loses_the_newest_commit",
    "innodb_flush_log_at_trx_commit=2 with sync_binlog=1",
    "A crash loses an engine commit whose GTID is executed.",
    "members_end_in_one_state",
    LosesNewestVersion,
)


class KeepsLocksOverCrash(ComposedMember):
    """Locks of lost clients outlive a crash."""

    def start(self) -> None:
        holders = dict(self.table.holders)
        super().start()
        self.table.holders = holders


mutate(
    "composed_locks_outlive_a_crash",
    "crash recovery: locks of rolled back transactions end",
    "A server that comes back waits for the rows of clients that are gone.",
    "members_end_at_rest",
    KeepsLocksOverCrash,
)


class KeepsChangesOverCrash(ComposedMember):
    """Uncommitted changes outlive a crash and commit with it."""

    def start(self) -> None:
        for transaction in list(self.table.pending):
            self.table.engine_commit(transaction)
        super().start()


mutate(
    "composed_uncommitted_changes_outlive_a_crash",
    CRASH,
    "After a crash the table has rows of transactions that had not committed.",
    "members_show_only_what_they_committed",
    KeepsChangesOverCrash,
)


class CopiesWithoutRows(ComposedMember):
    """A joiner copies GTIDs without rows."""

    def copy(self, transaction: TransactionId, gtid: Gtid) -> None:
        self.commit(transaction, gtid)


mutate(
    "composed_joiner_copies_gtids_only",
    DONOR,
    "A joiner counts the donor's transactions as executed and has not their rows.",
    "members_end_in_one_state",
    CopiesWithoutRows,
)


class AsksForTheNewest(ComposedMember):
    """A joiner copies the newest missing transaction first."""

    def missing_from(self, donor: Member) -> tuple[TransactionId, Gtid] | None:
        missing = [pair for pair in donor.binlog if pair[1] not in self.executed]
        return missing[-1] if missing else None


mutate(
    "composed_joiner_copies_backwards",
    DONOR,
    "A joiner commits the donor's newest transaction first.",
    "members_commit_in_one_order",
    AsksForTheNewest,
)


class CopiesWhatIsFlushed(ComposedMember):
    """A donor hands out what it has flushed and not committed."""

    def missing_from(self, donor: Member) -> tuple[TransactionId, Gtid] | None:
        flushed = self.group.members[donor.name].flushed
        waiting = (pair for pair in flushed if pair[1] not in self.executed)
        return next(waiting, None) or super().missing_from(donor)


mutate(
    "composed_donor_sends_what_waits",
    "AFTER_SYNC: the dump thread sends before the engine commit; recovery must keep the order",
    "A joiner copies a donor's waiting transactions before the committed ones.",
    "members_commit_in_one_order",
    CopiesWhatIsFlushed,
)


class KeepsOldRelayLog(ComposedMember):
    """A joiner keeps the relay log from before its crash."""

    def on_recovered(self, state: DonorState) -> None:
        kept = list(self.relay_log)
        super().on_recovered(state)
        self.relay_log = kept


mutate(
    "composed_old_relay_log_is_kept",
    "relay_log_recovery=ON",
    "A server that comes back waits for its relay log of before, which no worker reads.",
    "members_end_at_rest",
    KeepsOldRelayLog,
)


class KeepsClientsOverCrash(ComposedMember):
    """Clients that were executing go on after a crash."""

    def start(self) -> None:
        executing = dict(getattr(self, "executing", {}))
        super().start()
        self.executing = executing


mutate(
    "composed_clients_outlive_a_crash",
    "a crash ends every client's transaction",
    "After a crash a client sends what it had read before it, without a lock.",
    "no_update_is_lost",
    KeepsClientsOverCrash,
    members=3,
    transactions=6,
)
