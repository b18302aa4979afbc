"""Certified, rolled back and tried again: holds, breaks, edge."""

from __future__ import annotations

import pytest

from paraply.properties.certification.decisions import only_used_gtids_are_refused
from paraply.properties.certification.retries import (
    certifications_are_counted_one_by_one,
    certified_transactions_are_executed,
    executed_gtids_are_refused,
    retries_are_certified_again,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

RETRY = """
| T1{{a}} gtid=g:1
| submitted T1@r1 ; certified T1@r1 positive ; rolled_back T1@r1 ; retried T1@r1 attempt=2
; certified T1@r1 attempt=2 {second}
"""
REUSE = """
| T1{{a}} gtid=g:1 | T2{{b}} gtid=g:1
| certified T1@r1 positive ; {executed} certified T2@r1 {second}
"""


def test_retry_that_is_certified_holds():
    history = history_of(RETRY.format(second="positive"))
    assert verdict(history, retries_are_certified_again) is Verdict.HOLDS


def test_retry_that_is_refused_is_reported():
    (breach,) = retries_are_certified_again(history_of(RETRY.format(second="negative")))
    assert (breach.transaction, breach.gtid) == (1, "g:1")
    assert "second attempt" in str(breach)


def test_retry_that_is_never_certified_is_reported():
    announced = "| T1{a} gtid=g:1 | certified T1@r1 positive ; retried T1@r1 attempt=2"
    (breach,) = retries_are_certified_again(history_of(announced))
    assert (breach.transaction, breach.attempt) == (1, 2)
    assert not retries_are_certified_again(history_of(f"{announced} ; crashed @r1"))


def test_retries_are_unknown_where_nothing_is_retried():
    history = history_of("| T1{a} gtid=g:1 | certified T1@r1 negative")
    assert verdict(history, retries_are_certified_again) is Verdict.UNKNOWN


def test_executed_gtid_that_is_refused_holds():
    history = history_of(REUSE.format(executed="engine_committed T1@r1 ;", second="negative"))
    assert verdict(history, executed_gtids_are_refused) is Verdict.HOLDS


def test_executed_gtid_that_is_certified_is_reported():
    history = history_of(REUSE.format(executed="engine_committed T1@r1 ;", second="positive"))
    (breach,) = executed_gtids_are_refused(history)
    assert (breach.transaction, breach.executed) == (2, 1)


def test_gtid_that_is_not_executed_yet_is_another_matter():
    history = history_of(REUSE.format(executed="", second="positive"))
    assert not executed_gtids_are_refused(history)
    assert verdict(history, executed_gtids_are_refused) is Verdict.UNKNOWN


REFUSED = "| T1{a} gtid=g:1 | T2{b} | certified T2@r1 positive gtid=g:1 ; certified T1@r1 negative"


def test_gtid_that_another_transaction_was_given_may_be_refused():
    assert verdict(history_of(REFUSED), only_used_gtids_are_refused) is Verdict.HOLDS


def test_refusal_of_a_gtid_that_nobody_had_is_reported():
    (breach,) = only_used_gtids_are_refused(history_of(REFUSED.replace("=g:1 ;", "=g:2 ;")))
    assert (breach.transaction, breach.gtid) == (1, "g:1")
    assert "no earlier transaction had g:1" in str(breach)


def test_conflict_refuses_an_unused_gtid():
    conflict = """| T1{a} | T2{a} gtid=g:9 | submitted T1@r1 ; submitted T2@r1
    ; certified T1@r1 positive gtid=g:1 ; certified T2@r1 negative"""
    assert not only_used_gtids_are_refused(history_of(conflict))
    assert only_used_gtids_are_refused(history_of(conflict.replace("T2{a}", "T2{b}")))


REST = 'stopped @r1 note="at rest" version={}'
TWO = "| T1{{a}} | T2{{b}} | certified T1@r1 positive ; certified T2@r1 {} ; "


def test_member_at_rest_has_executed_what_it_certified():
    for second, executed in (("positive", 2), ("negative", 1)):
        good = history_of(TWO.format(second) + REST.format(executed))
        assert verdict(good, certified_transactions_are_executed) is Verdict.HOLDS
        (breach,) = certified_transactions_are_executed(
            history_of(TWO.format(second) + REST.format(executed - 1))
        )
        assert f"executed {executed - 1} of the {executed} transactions" in str(breach)


def test_retry_that_is_refused_is_not_to_be_executed():
    history = history_of(RETRY.format(second="negative") + "; " + REST.format(0))
    assert not certified_transactions_are_executed(history)


UNCOUNTED = 'stopped @r1 note="at rest"'


@pytest.mark.parametrize(
    "end", ["stopped @r1 version=0", UNCOUNTED, f"crashed @r1 ; {REST.format(0)}"]
)
def test_member_that_does_not_count_at_rest_or_crashed_is_not_judged(end):
    history = history_of(TWO.format("positive") + end)
    assert verdict(history, certified_transactions_are_executed) is Verdict.UNKNOWN


@pytest.mark.parametrize(("second", "is_wrong"), [(1, True), (2, False), (3, True)])
def test_certifications_are_counted(second, is_wrong):
    first = "| T1{a} | certified T1@r1 positive ; certified T1@r2 positive ; "
    history = history_of(f"{first}certified T1@r1 attempt={second} negative")
    assert [str(one) for one in certifications_are_counted_one_by_one(history)] == is_wrong * [
        f"r1 certified T1 in attempt {second}; this is attempt 2"
    ]


def test_certifications_are_counted_anew_after_a_start():
    events = "certified T1@r1 positive ; started @r1 ; certified T1@r1 positive"
    history = history_of(f"| T1{{a}} | {events}")
    assert verdict(history, certifications_are_counted_one_by_one) is Verdict.HOLDS
