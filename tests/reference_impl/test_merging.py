"""C4 of WL#4648: what is merged, what a job leaves, and that it commits at once."""

from __future__ import annotations

import pytest

from paraply.properties.apply.commit_order import applier_reaches_the_end
from paraply.properties.apply.consistency_levels import (
    gap_free_states_are_the_sources,
    replica_ends_in_the_sources_state,
    replica_states_existed_on_the_source,
)
from paraply.properties.apply.parallel_apply import (
    no_conflicting_parallel_apply,
    two_transactions_overlap,
)
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.merging import SMALL_ROWS, is_full, merged_job
from paraply.reference_impl.wl4648.subject import WL4648
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.transactions import RowWrite, Transaction
from tests.reference_impl.test_wl4648 import enumerate_runs


def transaction(number, *rows):
    """Return a transaction of (row, before, after)."""
    return Transaction(
        id=number,
        write_set=frozenset(row for row, _, _ in rows),
        rows=tuple(
            RowWrite(
                table="t",
                operation=Operation.INSERT if before is None
                else Operation.DELETE if after is None else Operation.UPDATE,
                before=None if before is None else (row, before),
                after=None if after is None else (row, after),
            )
            for row, before, after in rows
        ),
    )  # fmt: skip


# Pinned, as runs and breaches of any-time and of eventual consistency over every run of three
# transactions: a change in the numbers is a change of the subject.
@pytest.mark.parametrize(
    ("dialect", "counts"), [("c4", (131, 4, 0)), ("c4_c1", (308, 0, 59)), ("c4_c2", (41, 4, 0))]
)
def test_claims_of_the_document_for_c4_are_decided_in_a_whole_scope(dialect, counts):
    runs = any_time = eventual = 0
    for history in enumerate_runs(dialect, 3):
        runs += 1
        any_time += bool(replica_states_existed_on_the_source(history))
        eventual += bool(replica_ends_in_the_sources_state(history))
        assert not gap_free_states_are_the_sources(history)
        assert not applier_reaches_the_end(history)
        if dialect != "c4_c1":
            assert not no_conflicting_parallel_apply(history)
    assert (runs, any_time, eventual) == counts


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("dialect", ["c4", "c4_c1", "c4_c2"])
def test_transactions_of_a_job_commit_in_one_step_and_count_as_no_overlap(dialect):
    merged = overlapped = 0
    for seed in range(40):
        workload = Workload(transactions=6, rows=5, dialect=dialect, options={"merged": 3})
        history = WL4648.run(SeededSchedule(seed), workload)
        times = {e.transaction: e.time for e in history.events_of(EventKind.ENGINE_COMMITTED)}
        for event in history.events_of(EventKind.BEGUN):
            assert len(event.transactions) in (0, 2, 3)
            merged += bool(event.transactions)
            committed = {times.get(one) for one in event.transactions}
            assert len(committed) <= 1
        overlapped += two_transactions_overlap(history)
    assert merged > 40
    # Jobs of so few rows have one in common nearly always, and C2 then waits for everybody.
    assert overlapped or dialect == "c4_c2"
    alone = Workload(
        transactions=3, rows=3, dialect=dialect, options={"merged": 3, "deletes": False}
    )  # fmt: skip
    assert not any(two_transactions_overlap(WL4648.run(SeededSchedule(s), alone)) for s in range(9))


def test_one_transaction_a_job_is_the_scheme_that_serves_it():
    for dialect, served_by in (("c4", "c3"), ("c4_c1", "c1"), ("c4_c2", "c2")):
        for seed in range(15):
            runs = [
                WL4648.run(
                    SeededSchedule(seed),
                    Workload(transactions=5, dialect=name, options={"merged": 1, "crashes": 1}),
                )
                for name in (dialect, served_by)
            ]
            assert runs[0].events == runs[1].events


def test_merged_rows_lead_from_the_first_before_image_to_the_last_after_image():
    job = merged_job([
        transaction(4, ("a", 1, 4), ("b", None, 4)),
        transaction(5, ("b", 4, 5), ("a", 4, None)),
        transaction(6, ("c", 2, 6), ("a", None, 6)),
    ])  # fmt: skip
    assert job.id == 4
    assert job.write_set == {"a", "b", "c"}
    assert [(row.operation, row.before, row.after) for row in job.rows] == [
        (Operation.UPDATE, ("a", 1), ("a", 6)),
        (Operation.INSERT, None, ("b", 5)),
        (Operation.UPDATE, ("c", 2), ("c", 6)),
    ]


def test_job_is_full_at_its_number_of_transactions_and_takes_no_big_one():
    def full(*sizes, following=1, merged=3, is_alone=False):
        return is_full(sizes, following, is_alone=is_alone, merged=merged)

    assert not full(1, 1)
    assert full(1, 1, 1)
    assert not full(1, following=SMALL_ROWS)
    assert full(1, following=SMALL_ROWS + 1)
    assert full(SMALL_ROWS + 1)
    assert full(1, is_alone=True)


def test_insert_and_delete_of_one_row_are_not_merged_into_nothing():
    # Over many logs with deletes every job has rows, and the end is the source's.
    for seed in range(60):
        workload = Workload(transactions=6, rows=1, dialect="c4", options={"merged": 4})
        history = WL4648.run(SeededSchedule(seed), workload)
        assert not replica_ends_in_the_sources_state(history)
        for event in history.events_of(EventKind.BEGUN):
            members = [history.transaction(one) for one in event.transactions]
            if members:
                assert not (members[0].rows[0].before is members[-1].rows[0].after is None)
