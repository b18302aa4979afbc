"""The second EX7 of WL#8440: two sources, one relay log, and no position to follow.

S1 executes T1, S2 executes T2; both end at position 100 of their own logs, so in S3's relay log
both events say ``end_log_pos 100``. Recovery ignores positions: it begins with the relay log file
and lets GTID auto-skip pass over what was executed.
"""

from __future__ import annotations

from paraply.reference_impl.applier.commit_order import CommitOrderQueue
from paraply.reference_impl.applier.coordinator import LogicalClock
from paraply.reference_impl.applier.recovery import GtidRecovery
from paraply.reference_impl.applier.replica import Budget, Replica
from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.applier.source_log import Entry, Part, RelayLog
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import RowWrite, Transaction

END_LOG_POS = {1: ("S1", 100), 2: ("S2", 100)}
"""As the document's relay log shows them: the same number for both."""


def relay_log(recorder):
    log = RelayLog()
    for number, row in ((1, "a"), (2, "b")):
        transaction = Transaction(
            id=number,
            origin=END_LOG_POS[number][0],
            write_set=frozenset(row),
            timestamp=LogicalTimestamp.of(1, number + 1),
            position=f"{END_LOG_POS[number][0]}:{END_LOG_POS[number][1]}",
            rows=(RowWrite(table="d.t", operation=Operation.INSERT, after=(row, number)),),
        )
        recorder.add(transaction)
        log.append(Entry(Part.WHOLE, transaction))
    return log


def replica_of(log, recorder):
    return Replica(
        log,
        recorder,
        store=RowStore("ab"),
        coordinator=LogicalClock,
        commit_order=CommitOrderQueue,
        recovery=GtidRecovery(),
        workers=2,
        budget=Budget(reads=0, crashes=1, checkpoints=0),
        extra_locks={},
    )


def test_ex7_positions_of_two_sources_do_not_tell_transactions_apart():
    transactions = [entry.transaction for entry in relay_log(Recorder()).entries()]
    ends = {transaction.position.split(":")[1] for transaction in transactions}
    assert len(ends) == 1
    assert len({transaction.origin for transaction in transactions}) == 2


def test_ex7_recovery_skips_what_was_executed_and_applies_the_rest_once():
    recorder = Recorder()
    replica = replica_of(relay_log(recorder), recorder)
    # Apply T1 alone, then crash before T2 is given out.
    while 1 not in replica.executed:
        next(iter(replica.progress_steps())).act() if not replica.busy_workers else (
            replica.step_of(replica.busy_workers[0])()
        )
    replica.on_crash()
    assert replica.next_entry == 0, "the relay log is read from its beginning"
    replica.run(RecordedSchedule(()))
    history = [(event.kind, event.transaction) for event in recorder.events]
    assert (EventKind.SKIPPED, 1) in history
    assert history.count((EventKind.ENGINE_COMMITTED, 1)) == 1
    assert history.count((EventKind.ENGINE_COMMITTED, 2)) == 1
    assert history[-1] == (EventKind.STOPPED, None)
