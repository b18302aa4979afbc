"""A replica's own binary log: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.own_logs import (
    replicas_log_what_they_commit,
    unsynced_logs,
    unsynced_logs_cost_no_sync,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | started ; "
ONE, NEXT = "begun T1@w1 ; engine_committed T1@w1", "begun T2@w1"
LOGGED, OTHER = "flushed T1@w1", "flushed T2@w2"


def run(*events, head=""):
    return history_of(head + LOG + " ; ".join(events))


@pytest.mark.parametrize(
    "events",
    [
        (LOGGED, ONE, NEXT),
        (ONE, LOGGED, NEXT),
        (OTHER, ONE, LOGGED, "stopped"),
        (LOGGED, "crashed", "recovered", ONE, NEXT),
    ],
)
def test_commit_is_logged_before_the_worker_goes_on(events):
    assert verdict(run(*events), replicas_log_what_they_commit) is Verdict.HOLDS


@pytest.mark.parametrize("events", [(ONE, NEXT), (OTHER, ONE, NEXT, LOGGED), (ONE, "stopped")])
def test_commit_without_log_is_reported(events):
    (breach,) = replicas_log_what_they_commit(run(*events))
    assert str(breach) == "r1 committed T1 and went on without logging it"


@pytest.mark.parametrize("end", ["crashed ; recovered", "failed T1@w1", "begun T2@w2"])
def test_crash_error_and_other_workers_leave_it_open(end):
    assert verdict(run(OTHER, ONE, end), replicas_log_what_they_commit) is Verdict.UNKNOWN


def test_replica_without_log_writes_none():
    head = "dialect=table_without_binlog "
    assert verdict(run(ONE, NEXT, head=head), replicas_log_what_they_commit) is Verdict.HOLDS
    (breach,) = replicas_log_what_they_commit(run(LOGGED, ONE, NEXT, head=head))
    assert str(breach) == "r1 logged T1, and is to write no log"


def test_log_that_is_not_to_be_synced_costs_no_sync():
    head = "dialect=binlog_unsynced "
    assert verdict(run(LOGGED, ONE, head=head), unsynced_logs_cost_no_sync) is Verdict.HOLDS
    (breach,) = unsynced_logs_cost_no_sync(run(LOGGED, "synced T1@w1", ONE, head=head))
    assert str(breach) == "r1 synced T1 to its log, and is to sync nothing"


def test_log_that_is_synced_is_not_judged():
    assert not unsynced_logs(run(LOGGED, "synced T1@w1", ONE, head="dialect=binlog "))
