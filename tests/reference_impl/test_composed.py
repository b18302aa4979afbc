"""The composed system: healthy runs, what they reach, and mutants between pieces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from paraply.counterexamples.hunt import properties_of, system_of
from paraply.exploring.healthy import false_alarms
from paraply.exploring.mutation_testing import original_breaks
from paraply.properties.campaign import run_campaign
from paraply.properties.search import random_schedules, search
from paraply.reference_impl import composed
from paraply.reference_impl.applier.row_store import Version
from paraply.reference_impl.composed.rows import Table
from paraply.reference_impl.composed.subject import COMPOSED
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named, property_named, registered_mutants
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.transactions import TransactionId, TransactionKind

WAIT = "own_commits_wait_for_other_members"
MUTANTS = [mutant.name for mutant in registered_mutants() if mutant.of == COMPOSED.name]
RUNS = 250
RUNS_OF_A_MUTANT = 3_000
SITUATIONS = {
    "a_certified_row_is_read_and_changed",
    "definitions_are_as_certified",
    "a_deleted_row_is_inserted_again",
    "a_joiner_certifies",
    "a_member_recovers_from_a_donor",
    "a_members_workers_overlap",
    "a_purged_row_is_written_again",
    "a_reader_lags_behind_the_group",
    "a_transaction_is_refused",
    "a_transaction_waits_for_a_row",
    "a_view_changes_while_transactions_are_queued",
    "members_commit_as_flushed",
    "members_end_in_one_state",
    "members_show_only_what_they_committed",
    "members_answer_when_others_have_it",
    "members_start_as_they_stamped",
    "own_and_remote_transactions_commit_in_turn",
    WAIT,
    "rows_stay_locked_until_the_end",
    "something_happens_after_a_crash",
    "what_a_group_confirmed_survives",
}


@pytest.mark.long
@pytest.mark.parametrize("dialect", COMPOSED.dialects)
def test_healthy_runs_with_drawn_options_break_nothing(dialect):
    alarms = [one for one in false_alarms(COMPOSED, dialect, histories=RUNS, seed=11) if one]
    assert [str(one.counterexample.violations[0]) for one in alarms] == []


@pytest.mark.long
def test_default_runs_reach_the_meetings_of_the_pieces():
    campaign = run_campaign(
        system_of(COMPOSED, Workload()), properties_of(COMPOSED), random_schedules(0, 4 * RUNS)
    )
    assert {tally.prop.name for tally in campaign.tallies if tally.reached} >= SITUATIONS


def test_semi_sync_transactions_wait_with_their_locks_and_an_applier_waits_for_them():
    """T1 holds its row until the engine commit, which is after an acknowledgement."""
    for seed in range(400):
        history = COMPOSED.run(SeededSchedule(seed), Workload())
        waits = [
            event
            for event in history.events_of(EventKind.ROW_APPLIED)
            if event.outcome is Outcome.LOCK_WAIT
        ]
        if waits:
            break
    (first, *_) = waits
    holder = history.transaction(first.other)
    assert holder.origin == first.member
    assert first.items <= holder.write_set


def test_a_deleted_row_is_absent_until_a_client_inserts_it_again():
    """The images of a row's changes are a chain, with an insert after each delete."""
    left, operations = {}, set()
    workload = Workload(transactions=12, rows=1, members=1, options={"barriers": False})
    for row in [
        row for one in COMPOSED.run(SeededSchedule(1), workload).transactions for row in one.rows
    ]:
        assert row.before == left.get(row.table)
        assert (row.operation is Operation.INSERT) == (row.before is None)
        assert (row.operation is Operation.DELETE) == (row.after is None)
        left[row.table] = row.after
        operations.add(row.operation)
    assert operations == {Operation.INSERT, Operation.UPDATE, Operation.DELETE}


def test_readers_find_in_a_row_who_wrote_it():
    """A version that keeps the old value shows the old writer, so that a lost delete is seen."""
    table = Table(["a"])
    table.versions["a"] = [Version(TransactionId(1), 1), Version(TransactionId(2), 1)]
    assert [one.writer for one in table.seen()] == [1]
    table.versions["a"].append(Version(TransactionId(3), None))
    assert [one.writer for one in table.seen()] == [3]


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("after_commit", [False, True])
def test_only_after_commit_breaks_the_wait_of_commits(after_commit):
    """The exception of the property is needed there, and hides nothing elsewhere."""
    (prop,) = (one for one in properties_of(COMPOSED) if one.name == WAIT)
    without = replace(prop, exemptions=())
    workload = Workload(options={"after_commit": after_commit})
    histories = [COMPOSED.run(SeededSchedule(seed), workload) for seed in range(60)]
    assert any(without.violations(one) for one in histories) is after_commit
    assert [prop.applies_to(one) for one in histories] == [
        not after_commit and without.applies_to(one) for one in histories
    ]
    answers = property_named("members_answer_when_others_have_it")
    assert any(answers.witness(one) for one in histories)
    assert not any(answers.violations(one) for one in histories)


@pytest.mark.long
def test_no_row_of_the_table_is_changed_while_a_ddl_runs_at_any_member():
    """From its client's submission to each member's commit, only earlier ones' rows are applied."""
    used_after = 0
    for seed in range(300):
        history = COMPOSED.run(SeededSchedule(seed), Workload(transactions=6))
        for ddl in [one.id for one in history.transactions if one.kind is TransactionKind.DDL]:
            running = set()
            for event in history.events:
                if event.transaction == ddl and event.kind in (
                    EventKind.SUBMITTED,
                    EventKind.BEGUN,
                ):
                    running.add(event.member)
                elif event.kind in (EventKind.CRASHED, EventKind.STOPPED) or (
                    event.transaction == ddl and event.kind is EventKind.ENGINE_COMMITTED
                ):
                    running.discard(event.member)
                elif event.kind is EventKind.ROW_APPLIED:
                    assert event.member not in running, (seed, event)
                    used_after += event.transaction > ddl
    assert used_after > 20


def test_workers_apply_a_ddl_behind_the_barrier_of_its_stamp():
    stamps = {
        (event.timestamp.last_committed, event.timestamp.sequence_number)
        for seed in range(100)
        for history in [COMPOSED.run(SeededSchedule(seed), Workload())]
        for event in history.events_of(EventKind.CERTIFIED)
        if event.timestamp is not None
        and history.transaction(event.transaction).kind is TransactionKind.DDL
    }
    assert len(stamps) > 1
    assert {number - last for last, number in stamps} == {1}


def test_stamps_of_the_applier_are_the_certifiers():
    history = COMPOSED.run(SeededSchedule(3), Workload(transactions=6))
    begun = {(event.member, event.transaction) for event in history.events_of(EventKind.BEGUN)}
    stamped = {
        (event.member, event.transaction)
        for event in history.events_of(EventKind.CERTIFIED)
        if event.timestamp is not None
    }
    assert begun
    assert begun <= stamped
    assert all(one.timestamp is None for one in history.transactions if one.rows)


def test_there_are_mutants_between_the_pieces():
    assert len(MUTANTS) >= 45


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught_in_random_runs(name):
    mutant = mutant_named(name)
    system = system_of(mutant.subject, mutant.workload)
    prop = property_named(mutant.caught_by)
    found = search(system, prop, random_schedules(0, RUNS_OF_A_MUTANT))
    assert found is not None
    assert original_breaks(mutant, prop, runs=found.runs) is None


def test_no_piece_alone_runs_what_a_mutant_changes():
    """Mutants change the composed room only, which no other subject imports."""
    places = {change.place for name in MUTANTS for change in mutant_named(name).changes}
    assert {place.partition(".")[0] for place in places} == {"composed"}
    rooms = Path(composed.__file__).parent.parent
    for path in rooms.rglob("*.py"):
        room = path.relative_to(rooms).parts[0]
        if room not in {"composed", "subjects.py"}:
            assert "reference_impl.composed" not in path.read_text(encoding="utf-8"), path
