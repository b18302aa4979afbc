"""Jobs of merged transactions: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.merged_jobs import (
    jobs_delete_nothing_that_they_insert,
    only_small_transactions_are_merged,
    small_neighbours_are_merged,
)
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

INSERT, UPDATE, DELETE = Operation.INSERT, Operation.UPDATE, Operation.DELETE


def row(operation, name="a"):
    return RowWrite(
        table="d.t",
        operation=operation,
        before=None if operation is INSERT else (name, 1),
        after=None if operation is DELETE else (name, 1),
    )


def run(*jobs, rows=((INSERT,), (UPDATE,), (DELETE,)), merged=2):
    events = "".join(
        f"begun T{one} worker=1 transactions={','.join(job)} ; engine_committed T{one} worker=1 ; "
        if len(job) > 1
        else f"begun T{one} worker=1 ; engine_committed T{one} worker=1 ; "
        for job in jobs
        for one in job
    )
    history = history_of(
        f'members=r1 dialect=c4 options={{"merged":{merged}}} | T1{{a}} | T2{{a}} | T3{{a}} | '
        + events.rstrip(" ;")
    )
    transactions = tuple(
        replace(one, rows=tuple(map(row, changes)))
        for one, changes in zip(history.transactions, rows, strict=True)
    )
    return replace(history, transactions=transactions)


def test_jobs_that_take_all_they_may_hold():
    assert verdict(run("12", "3"), small_neighbours_are_merged) is Verdict.HOLDS


def test_small_neighbour_that_is_left_apart_is_reported():
    (breach,) = small_neighbours_are_merged(run("1", "23"))
    assert str(breach) == "r1: the job of T1 had room for T2, a small one"


@pytest.mark.parametrize(
    "rows",
    [((INSERT,), (DELETE,), (INSERT,)), ((UPDATE,) * 5, (UPDATE,), (UPDATE,))],
)
def test_delete_of_an_inserted_row_and_larger_transactions_may_stay_apart(rows):
    assert not small_neighbours_are_merged(run("1", "23", rows=rows))


def test_small_neighbours_may_have_several_rows():
    rows = ((UPDATE,) * 4, (UPDATE,) * 2, (UPDATE,))
    assert len(small_neighbours_are_merged(run("1", "23", rows=rows))) == 1


@pytest.mark.parametrize(
    ("jobs", "sizes", "is_wrong"),
    [
        (("12", "3"), (4, 1, 5), False),
        (("1", "23"), (5, 1, 1), False),
        (("12", "3"), (5, 1, 1), True),
        (("1", "23"), (1, 1, 5), True),
    ],
)
def test_large_transactions_have_jobs_of_their_own(jobs, sizes, is_wrong):
    history = run(*jobs, rows=tuple((UPDATE,) * size for size in sizes))
    found = [str(one) for one in only_small_transactions_are_merged(history)]
    large = sizes.index(5) + 1
    names = " ".join(f"T{one}" for one in next(job for job in jobs if str(large) in job))
    assert found == is_wrong * [f"r1: the job of {names} merges T{large} of 5 rows"]
    assert verdict(history, only_small_transactions_are_merged) is (
        Verdict.VIOLATED if is_wrong else Verdict.HOLDS
    )


def test_jobs_of_one_small_transaction_are_no_situation():
    history = run("1", "2", "3")
    assert verdict(history, only_small_transactions_are_merged) is Verdict.UNKNOWN


@pytest.mark.parametrize("rows", [((INSERT,), (UPDATE,), (DELETE,)), ((DELETE,), (INSERT,), ())])
def test_job_that_keeps_what_it_inserts_holds(rows):
    assert verdict(run("12", "3", rows=rows), jobs_delete_nothing_that_they_insert) is Verdict.HOLDS


def test_job_that_deletes_what_it_inserts_is_reported():
    (breach,) = jobs_delete_nothing_that_they_insert(run("123", merged=3))
    assert str(breach) == "r1: T3 deletes a row that its job, T1 T2 T3, inserts"


def test_jobs_of_one_transaction_say_nothing():
    assert verdict(run("1", "2", "3"), jobs_delete_nothing_that_they_insert) is Verdict.UNKNOWN
