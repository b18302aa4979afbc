"""Turns of a MariaDB replica's workers and row locks: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.mariadb.turns import (
    rows_are_granted_in_turn,
    workers_of_a_domain_take_turns,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

PLAIN = "flags=transactional,allow_parallel"
LOG = (
    f"| T1{{a}} {PLAIN} domain=0 | T2{{a}} {PLAIN} domain=0 | T3{{a}} {PLAIN} domain=0 "
    f"| T4{{a}} {PLAIN} domain=1 | started ; "
)
HEAD = 'dialect={} options={{"workers":{},"domain_workers":{}}} '


def given(text, *, dialect="optimistic", workers=2, domain_workers=0):
    events = " ; ".join(
        f"engine_committed T{one[1:]}@w1" if one[0] == "c" else f"scheduled T{one[0]}@w{one[2]}"
        for one in text.split()
    )
    return history_of(HEAD.format(dialect, workers, domain_workers) + LOG + events)


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("1@1 2@2 3@1", {}, 0),
        ("1@1 2@1", {}, 1),
        ("1@1 c1 2@1", {}, 0),
        ("1@1 2@1", {"domain_workers": 1}, 0),
        ("1@1 2@2 3@1", {"workers": 3}, 1),
        ("1@1 4@1", {}, 0),
        ("1@1 2@2 4@2", {}, 0),
        ("3@1 4@1", {"dialect": "minimal"}, 1),
    ],
)
def test_worker_gets_a_second_transaction_when_all_had_their_turn(text, options, found):
    assert len(workers_of_a_domain_take_turns(given(text, **options))) == found


def test_early_second_transaction_is_named():
    (breach,) = workers_of_a_domain_take_turns(given("1@1 2@1"))
    assert str(breach) == (
        "r1: T2 was given to worker 1 behind T1 before each worker of its domain had its turn"
    )
    assert verdict(given("1@1 2@2 3@1"), workers_of_a_domain_take_turns) is Verdict.HOLDS
    assert verdict(given("1@1 2@2"), workers_of_a_domain_take_turns) is Verdict.UNKNOWN


def test_one_thread_takes_no_turns():
    (prop,) = [one for one in registered_properties() if one.name.startswith("workers_of_a")]
    committed = "1@1 c1"
    assert prop.applies_to(given(committed))
    assert not prop.applies_to(given(committed, dialect="none"))
    assert not prop.applies_to(given(committed, workers=0))


def rows(*events):
    begun = ("begun T2@w2", "begun T3@w3")
    return history_of("dialect=optimistic " + LOG + " ; ".join((*begun, *events)))


WAITS = "row_applied T{0}@w{0} {{a}} lock_wait other=1"
GETS = "row_applied T{0}@w{0} {{a}} ok"


def test_first_to_wait_is_served_first():
    held = rows(WAITS.format(2), WAITS.format(3), GETS.format(2), GETS.format(3))
    assert verdict(held, rows_are_granted_in_turn) is Verdict.HOLDS
    (breach,) = rows_are_granted_in_turn(
        rows(WAITS.format(2), WAITS.format(3), GETS.format(3), GETS.format(2))
    )
    assert str(breach) == "r1: T3 got a before T2, which had waited for it longer"
    (breach,) = rows_are_granted_in_turn(rows(WAITS.format(2), GETS.format(3), GETS.format(2)))
    assert (breach.waiting, breach.served) == (2, 3)


@pytest.mark.parametrize("end", ["rolled_back T2@w2", "failed T2@w2", "crashed ; recovered"])
def test_wait_ends_with_the_attempt(end):
    again = (GETS.format(3), GETS.format(2))
    assert not rows_are_granted_in_turn(rows(WAITS.format(2), end, *again))


def test_attempt_that_is_rolled_back_next_may_have_left_the_queue():
    assert not rows_are_granted_in_turn(rows(WAITS.format(2), GETS.format(3), "rolled_back T2@w2"))
    assert not rows_are_granted_in_turn(rows(WAITS.format(2), GETS.format(3)))
