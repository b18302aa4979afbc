"""Metadata locks of a client's DDL: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.group.metadata_locks import (
    definitions_are_sent_with_their_statement,
    workers_begin_beside_no_ddl,
)
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

OPEN = "submitted T1@r1 ; "
BEGUN = "begun T2@r1 worker=1 ; engine_committed T2@r1 worker=1"


def run(events, *, ddl=1, table="d.t"):
    history = history_of(f"members=r1,r2 | T1{{d.t.a}} | T2{{{table}.b}} | {events}")
    transactions = tuple(
        replace(
            one, kind=TransactionKind.DDL, statement="ALTER TABLE d.t ADD c INT",
            write_set=frozenset(),
        )
        if one.id == ddl
        else one
        for one in history.transactions
    )  # fmt: skip
    return replace(history, transactions=transactions)


@pytest.mark.parametrize("end", ["engine_committed T1@r1", "rolled_back T1@r1", "crashed @r1"])
def test_worker_that_begins_after_the_ddl_holds(end):
    assert not workers_begin_beside_no_ddl(run(f"{OPEN}{end} ; {BEGUN}"))


def test_other_table_and_other_member_hold():
    assert verdict(run(OPEN + BEGUN, table="d.u"), workers_begin_beside_no_ddl) is Verdict.HOLDS
    assert not workers_begin_beside_no_ddl(run(f"submitted T1@r2 ; {BEGUN}"))


@pytest.mark.parametrize("ddl", [1, 2])
def test_worker_that_begins_beside_a_ddl_is_reported(ddl):
    (breach,) = workers_begin_beside_no_ddl(run(OPEN + BEGUN, ddl=ddl))
    assert str(breach) == (
        "r1: a worker began T2 beside T1 of a client; one of them alters d.t, which the other uses"
    )


@pytest.mark.parametrize("ddl", [1, 2])
def test_commit_tells_of_a_worker_where_nothing_tells_of_begins(ddl):
    of_worker = "engine_committed T2@r1"
    (breach,) = workers_begin_beside_no_ddl(run(OPEN + of_worker, ddl=ddl))
    assert (breach.transaction, breach.client) == (2, 1)
    assert not workers_begin_beside_no_ddl(
        run(f"{OPEN} engine_committed T1@r1 ; {of_worker}", ddl=ddl)
    )
    assert not workers_begin_beside_no_ddl(run(f"{OPEN} crashed @r1 ; {of_worker}", ddl=ddl))


SENT = "submitted T1@r1 ; certified T1@r1 positive gtid=g:1"


def test_definition_is_sent_with_its_statement():
    history = run(SENT)
    assert verdict(history, definitions_are_sent_with_their_statement) is Verdict.HOLDS
    empty = tuple(replace(one, statement="") for one in history.transactions)
    (breach,) = definitions_are_sent_with_their_statement(replace(history, transactions=empty))
    assert str(breach) == "T1 is a DDL, and names no table that it alters"
    of_rows = f"{SENT} ; submitted T2@r1 ; certified T2@r1 positive gtid=g:2"
    assert verdict(run(of_rows), definitions_are_sent_with_their_statement) is Verdict.HOLDS
    stated = tuple(replace(one, statement="ALTER TABLE d.t") for one in run(of_rows).transactions)
    (needless,) = definitions_are_sent_with_their_statement(
        replace(run(of_rows), transactions=stated)
    )
    assert str(needless) == "T2 changes rows, and is sent with a statement"


def test_workers_ddl_beside_a_client_of_another_table_holds():
    history = run(OPEN + BEGUN, ddl=2)
    assert workers_begin_beside_no_ddl(history)
    used, ddl = history.transactions
    other = replace(ddl, statement="ALTER TABLE d.u ADD c INT")
    assert not workers_begin_beside_no_ddl(replace(history, transactions=(used, other)))
