"""Appliers with one fault each in crash recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paraply.reference_impl.applier.recovery import GtidRecovery, Recovery
from paraply.reference_impl.applier.replica import ApplierParts, Replica
from paraply.reference_impl.applier.source_log import Entry, Part, Source
from paraply.reference_impl.mutations.applier.scheduling import applier_mutant
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction, TransactionId

if TYPE_CHECKING:
    from paraply.reference_impl.applier.worker import Worker

RECOVERY = "crash recovery"


class NewestFile(GtidRecovery):
    """Begins with the receiver's current file."""

    def first_file(self, replica: Replica) -> int:
        """Return the last file."""
        return len(replica.log.files) - 1


class NoSkip(GtidRecovery):
    """Repeats executed transactions."""

    def is_skipped(self, replica: Replica, transaction: Transaction) -> bool:
        """Return False."""
        return False


class SkipsWhatBegan(Replica):
    """A begun transaction counts as executed."""

    def on_begin(self, worker: Worker) -> None:
        """Enter it into the executed set."""
        super().on_begin(worker)
        self.executed.append(worker.job_id)

    def on_engine_commit(self, worker: Worker) -> None:
        """Commit without a second entry."""
        self.executed.remove(worker.job_id)
        super().on_engine_commit(worker)


class SplitsAtFlush(Source):
    """FLUSH RELAY LOGS can split a transaction."""

    def new_relay_file(self, schedule: Schedule) -> None:
        """Split the last transaction."""
        last = self.log.files[-1][-1] if self.log.files[-1] else None
        is_split = last is not None and last.part is Part.WHOLE and schedule.choose_index(2)
        if is_split and last is not None:
            self.log.files[-1][-1] = Entry(Part.HEAD, last.transaction)
        super().new_relay_file(schedule)
        if is_split and last is not None:
            self.log.append(Entry(Part.TAIL, last.transaction))


class ReadsFromTheBeginning(Recovery):
    """Reads the whole log, and skips what is executed."""

    def first_entry(self, replica: Replica) -> int:
        """Return the first entry."""
        return 0


class BitmapIgnored(Recovery):
    """Repeats transactions past the checkpoint."""

    def is_skipped(self, replica: Replica, transaction: Transaction) -> bool:
        """Return False."""
        return False


class CheckpointIsHighest(Recovery):
    """The checkpoint ignores gaps."""

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Cover everything up to the highest."""
        saved: list[TransactionId] = []
        newest = max(replica.executed, default=0)
        for index, entry in enumerate(replica.entries):
            if entry.transaction is not None and entry.transaction.id <= newest:
                saved.append(entry.transaction.id)
                self.checkpoint = index + 1
        return saved


class CheckpointWithoutData(Recovery):
    """The checkpoint covers unfinished jobs."""

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Cover everything read."""
        self.checkpoint = replica.next_entry
        read = replica.entries[: self.checkpoint]
        return [entry.transaction.id for entry in read if entry.transaction is not None]


class CrashKeepsPending(Replica):
    """A crash commits unfinished changes."""

    def on_crash(self) -> None:
        """Commit pending changes, unrecorded as executed."""
        for transaction in tuple(self.store.pending):
            self.store.engine_commit(transaction)
        super().on_crash()


class StopsAtTheCrash(Replica):
    """A crash loses running transactions."""

    def on_crash(self) -> None:
        """Continue at the coordinator's position."""
        place = self.next_entry
        super().on_crash()
        self.next_entry = place

    def on_skip(self) -> None:
        """Skip; record the loss."""
        self.record(EventKind.SKIPPED, transaction=self.take_entry().id)


GTID: dict[str, Any] = {"crashes": 1, "reads": 0, "collections": 0}
POSITIONS: dict[str, Any] = {**GTID, "recovery": "positions", "checkpoints": 2}

applier_mutant(
    "recovery_from_newest_file", family=RECOVERY, source="WL#8440, applier recovery: current log",
    fault="after a crash the applier begins with the newest relay log file",
    caught_by="applied_exactly_once", parts=ApplierParts(gtid_recovery=NewestFile), **GTID,
)  # fmt: skip
applier_mutant(
    "executed_again_after_crash", family=RECOVERY, source="WL#8440, GTID auto-skip",
    fault="GTIDs that were executed are not skipped",
    caught_by="rows_apply_as_logged", parts=ApplierParts(gtid_recovery=NoSkip), **GTID,
)  # fmt: skip
applier_mutant(
    "begun_counts_as_executed", family=RECOVERY, source="MDEV-4906: position ahead on failure",
    fault="a transaction that had only begun is skipped after a crash",
    caught_by="applied_exactly_once", parts=ApplierParts(replica=SkipsWhatBegan), **GTID,
)  # fmt: skip
applier_mutant(
    "flush_splits_a_transaction", family=RECOVERY, source="WL#8440, FLUSH RELAY LOGS; bug 72794",
    fault="a relay log file begins with half a transaction that bears no GTID",
    caught_by="rows_apply_as_logged", parts=ApplierParts(source=SplitsAtFlush), **GTID,
)  # fmt: skip
applier_mutant(
    "recovery_ignores_bitmaps", family=RECOVERY, source="mts_recovery_groups; bug 80102",
    fault="what workers executed past the checkpoint is executed again",
    caught_by="rows_apply_as_logged",
    parts=ApplierParts(position_recovery=BitmapIgnored), **POSITIONS,
)  # fmt: skip
applier_mutant(
    "recovery_ignores_the_checkpoint", family=RECOVERY, source="mts_recovery_groups",
    fault="a restart reads the relay log from its beginning; only time is lost",
    caught_by="restarts_begin_after_the_saved_position",
    parts=ApplierParts(position_recovery=ReadsFromTheBeginning), **POSITIONS,
)  # fmt: skip
applier_mutant(
    "checkpoint_is_highest", family=RECOVERY, source="WL#4648, commit watermark; MDEV-6589",
    fault="the checkpoint jumps over a transaction that is still under way",
    caught_by="saved_positions_are_executed", dialect="logical_clock_unordered",
    parts=ApplierParts(position_recovery=CheckpointIsHighest), **POSITIONS,
)  # fmt: skip
applier_mutant(
    "checkpoint_covers_what_was_read", family=RECOVERY, source="MDEV-10863",
    fault="the position saved is the coordinator's, ahead of the workers'",
    caught_by="applied_exactly_once",
    parts=ApplierParts(position_recovery=CheckpointWithoutData), **POSITIONS,
)  # fmt: skip
applier_mutant(
    "crash_keeps_unfinished_rows", family=RECOVERY, source="MDEV-6462 and kin: partial group",
    fault="rows of a transaction under way survive a crash",
    caught_by="rows_apply_as_logged", parts=ApplierParts(replica=CrashKeepsPending), **GTID,
)  # fmt: skip
applier_mutant(
    "reading_goes_on_after_crash", family=RECOVERY, source="MySQL bug 92882",
    fault="after a crash the coordinator goes on where it was reading",
    caught_by="applied_exactly_once", parts=ApplierParts(replica=StopsAtTheCrash), **GTID,
)  # fmt: skip
