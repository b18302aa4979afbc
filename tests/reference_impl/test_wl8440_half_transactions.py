"""Scenarios 3 and 4 of WL#8440, "WL#7165 applier recovery": half a transaction ends a relay log.

3. the user does CHANGE MASTER in the middle of a transaction;
4. the user kills the receiver in the middle of a transaction, which then reconnects.

The next relay log file has the transaction whole, after CHANGE MASTER perhaps with what is before.
"""

from __future__ import annotations

import pytest

from paraply.reference_impl.applier.commit_order import CommitOrderQueue
from paraply.reference_impl.applier.coordinator import Database, LogicalClock
from paraply.reference_impl.applier.recovery import GtidRecovery, Recovery
from paraply.reference_impl.applier.replica import HALF, Budget, Replica
from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.applier.source_log import Entry, Part, Source, SourceSettings
from paraply.reference_impl.applier.subject import apply
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import RowWrite, Transaction

ALONE, WITH_THE_ONE_BEFORE = 0, 1


def transaction(number, rows):
    return Transaction(
        id=number,
        write_set=frozenset(rows),
        timestamp=LogicalTimestamp.of(1, number + 1),
        rows=tuple(
            RowWrite(table="d.t", operation=Operation.INSERT, after=(row, number)) for row in rows
        ),
    )


def replica_of(received, sent_again, *, recovery=None, coordinator=LogicalClock):
    """Return a replica whose log breaks off after so many rows of its second transaction."""
    recorder = Recorder()
    settings = SourceSettings(
        barriers=False, rotations=0, collections=0, sessions=1, view_changes=0, reconnects=1
    )
    source = Source("abcd", DIALECTS["mysql_8_0"], settings)
    written = [transaction(1, "a"), transaction(2, "bc"), transaction(3, "d")]
    for one in written:
        recorder.add(one)
    source.log.files[-1] += [Entry(Part.WHOLE, one) for one in written[:2]]
    source.on_receiver_stopped(RecordedSchedule((received, sent_again)))
    source.log.append(Entry(Part.WHOLE, written[2]))
    return Replica(
        source.log,
        recorder,
        store=RowStore("abcd"),
        coordinator=coordinator,
        commit_order=CommitOrderQueue,
        recovery=recovery or GtidRecovery(),
        workers=2,
        budget=Budget(reads=0, crashes=1, checkpoints=1),
        extra_locks={},
    )


def events_of(replica, number):
    return [event for event in replica.recorder.events if event.transaction == number]


def kinds_of(replica, number):
    return [event.kind for event in events_of(replica, number)]


def coordinate(replica, label):
    (step,) = replica.coordinator_steps()
    assert step.label == label
    step.act()


def work(replica, number):
    """Let the worker of a transaction go on as far as it can."""
    (worker,) = (one for one in replica.busy_workers if one.job_id == number)
    while worker in replica.busy_workers and (act := replica.step_of(worker)) is not None:
        act()


def ended(replica):
    replica.run(RecordedSchedule(()))
    return replica.recorder.events[-1].kind is EventKind.STOPPED


@pytest.mark.parametrize("received", range(3))
def test_killed_receiver_leaves_a_half_and_gets_the_whole_again(received):
    files = replica_of(received, ALONE).log.files
    assert [[entry.part for entry in entries] for entries in files] == [
        [Part.WHOLE, Part.HALF],
        [Part.ROTATE, Part.WHOLE, Part.WHOLE],
    ]
    assert len(files[0][1].transaction.rows) == received
    assert [entry.transaction.id for entry in files[1][1:]] == [2, 3]


def test_change_master_to_a_position_before_gets_what_is_there_again():
    files = replica_of(1, WITH_THE_ONE_BEFORE).log.files
    assert [entry.transaction.id for entry in files[1][1:]] == [1, 2, 3]


@pytest.mark.parametrize("coordinator", [LogicalClock, Database])
@pytest.mark.parametrize("received", range(3))
def test_half_is_rolled_back_and_the_whole_applied_once(received, coordinator):
    replica = replica_of(received, ALONE, coordinator=coordinator)
    assert ended(replica)
    rows = [EventKind.ROW_APPLIED]
    assert kinds_of(replica, 2) == [
        *[EventKind.SCHEDULED, EventKind.BEGUN, *rows * received, EventKind.ROLLED_BACK],
        *[EventKind.SCHEDULED, EventKind.BEGUN, *rows * 2, EventKind.ENGINE_COMMITTED],
    ]
    undone = events_of(replica, 2)[2 + received]
    assert (undone.attempt, undone.note) == (1, HALF)
    assert events_of(replica, 2)[-1].attempt == 2
    assert replica.executed == [1, 2, 3]


def test_coordinator_gives_the_half_up_when_it_reads_the_next_file():
    replica = replica_of(1, ALONE)
    coordinate(replica, "dispatch")
    work(replica, 1)
    coordinate(replica, "dispatch")
    work(replica, 2)
    assert replica.busy_workers, "a worker with half a transaction waits for the rest"
    assert replica.store.holders == {"b": 2}
    coordinate(replica, "give up")
    assert list(replica.coordinator_steps()) == [], "the half must be undone first"
    work(replica, 2)
    assert (replica.store.holders, replica.store.committed("b").value) == ({}, None)
    coordinate(replica, "rotate")
    coordinate(replica, "dispatch")
    assert [one.job.rows for one in replica.busy_workers] == [transaction(2, "bc").rows]


def test_what_is_sent_again_after_change_master_is_skipped():
    replica = replica_of(1, WITH_THE_ONE_BEFORE)
    assert ended(replica)
    assert kinds_of(replica, 1)[-2:] == [EventKind.ENGINE_COMMITTED, EventKind.SKIPPED]
    assert replica.executed == [1, 2, 3]


def test_crash_with_a_half_begins_with_it_again():
    replica = replica_of(1, ALONE)
    coordinate(replica, "dispatch")
    work(replica, 1)
    coordinate(replica, "dispatch")
    work(replica, 2)
    replica.on_crash()
    assert ended(replica)
    undone = [event for event in events_of(replica, 2) if event.kind is EventKind.ROLLED_BACK]
    assert [event.attempt for event in undone] == [1]
    assert replica.executed == [1, 2, 3]


def test_half_of_what_is_executed_is_skipped_like_the_whole():
    replica = replica_of(1, ALONE)
    while 2 not in replica.executed:
        next(replica.progress_steps()).act()
    replica.on_crash()
    replica.next_entry = 0
    assert ended(replica)
    assert kinds_of(replica, 2)[-2:] == [EventKind.SKIPPED, EventKind.SKIPPED]
    assert replica.executed == [1, 2, 3]


def test_position_covers_a_transaction_once_and_the_half_only_with_what_is_before():
    recovery = Recovery()
    replica = replica_of(1, WITH_THE_ONE_BEFORE, recovery=recovery)
    coordinate(replica, "dispatch")
    work(replica, 1)
    assert recovery.on_checkpoint(replica) == [1]
    assert replica.entries[recovery.checkpoint].transaction.id == 2
    assert replica.entries[recovery.checkpoint].part is Part.WHOLE
    assert ended(replica)
    assert recovery.on_checkpoint(replica) == [1, 2, 3]


def test_runs_with_the_option_apply_each_transaction_once():
    halves = 0
    for seed in range(60):
        history = apply(SeededSchedule(seed), reconnects=2, crashes=1)
        halves += sum(event.note == HALF for event in history.events)
        commits = [event.transaction for event in history.events_of(EventKind.ENGINE_COMMITTED)]
        assert commits == [one.id for one in history.transactions]
    assert halves
