"""Rollbacks and waits that speculation does not need: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.mariadb.speculation import (
    rollbacks_have_a_reason,
    speculation_begins_at_once,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

PLAIN = "domain=0 flags=transactional,allow_parallel"
OTHER = "domain=1 flags=transactional"
LOG = f"| T1{{a}} {PLAIN} | T2{{b}} {PLAIN} | T3{{b}} {PLAIN} | T4{{a}} {OTHER} |"
EAGER = 'dialect={dialect} options={{"eager":true,"workers":3}} '


def replica(*events, log=LOG, head="dialect=optimistic "):
    return history_of(f"{head}{log} started ; {' ; '.join(events)}")


def begun(*numbers):
    given = (f"scheduled T{one}@w{one} ; begun T{one}@w{one}" for one in numbers)
    return " ; ".join(given)


def row(one, item, outcome="ok", other=""):
    named = f" other={other}" if other else ""
    return f"row_applied T{one}@w{one} {{{item}}} {outcome}{named}"


UNDONE = "rolled_back T2@w2"


@pytest.mark.parametrize(
    "events",
    [
        (begun(1, 2), row(2, "b", "missing_before_image"), UNDONE),
        (begun(1, 2), row(1, "b", "lock_wait", 2), UNDONE),
        (begun(1, 2, 3), row(2, "b"), row(1, "b", "lock_wait", 3), UNDONE),
        (begun(4, 2), row(2, "a"), row(4, "a", "lock_wait", 2), UNDONE),
        (begun(1, 2), "failed T1@w1", UNDONE),
        (begun(1, 2), f'{UNDONE} note="lock wait timeout"'),
        (begun(1, 2), f'{UNDONE} note="from outside"'),
    ],
    ids=["row", "waiter", "row granted in turn", "other domain", "error", "timeout", "failure"],
)
def test_attempt_is_rolled_back_for_a_reason(events):
    run = replica(*events, "engine_committed T1@w1")
    assert verdict(run, rollbacks_have_a_reason) is Verdict.HOLDS


@pytest.mark.parametrize(
    "events",
    [
        (begun(1, 2), row(2, "b"), UNDONE),
        (begun(1, 2, 3), row(2, "b"), row(3, "b", "lock_wait", 2), UNDONE),
        (begun(1, 2), row(1, "a", "lock_wait", 3), row(2, "b"), UNDONE),
        (begun(2, 3), "failed T3@w3", UNDONE),
        (begun(4, 2), "failed T4@w4", UNDONE),
        (begun(1, 2), row(1, "b", "lock_wait", 2), "rolled_back T1@w1", begun(2), UNDONE),
        (begun(1, 2), "failed T1@w1", "stopped ; started", begun(1, 2), UNDONE),
    ],
    ids=["nothing", "later waiter", "other row", "later error", "other domain", "waits no more",
         "error before the start"],
)  # fmt: skip
def test_attempt_that_is_rolled_back_without_a_reason_is_reported(events):
    breaches = rollbacks_have_a_reason(replica(*events))
    assert [(one.transaction, one.attempt) for one in breaches if one.transaction == 2] == [(2, 1)]


def test_breach_says_what_there_was_not():
    (breach,) = rollbacks_have_a_reason(replica(begun(1, 2), row(2, "b"), UNDONE))
    assert str(breach) == (
        "r1 rolled attempt 1 of T2 back: its rows were as logged, it had to yield to nothing, "
        "and nothing before it had failed"
    )


KILLED = 'rolled_back T2@w2 other=4 note="deadlock kill"'


def test_another_domain_kills_only_what_speculates():
    waits = (begun(4, 2), row(2, "a"), row(4, "a", "lock_wait", 2))
    assert not rollbacks_have_a_reason(replica(*waits, KILLED))
    assert rollbacks_have_a_reason(replica(*waits, KILLED, head="dialect=conservative "))
    again = ("retried T2@w2 #2", "begun T2@w2 #2", row(2, "a") + " #2")
    last = KILLED + " #2"
    assert rollbacks_have_a_reason(
        replica(*waits, KILLED, *again, row(4, "a", "lock_wait", 2), last)
    )
    circle = KILLED.replace(" kill", "")
    assert not rollbacks_have_a_reason(replica(*waits, circle, head="dialect=conservative "))


def test_error_of_any_domain_is_a_reason_where_all_have_one_order():
    run = replica(begun(4, 2), "failed T1@w1", UNDONE, head="dialect=minimal ")
    assert not rollbacks_have_a_reason(run)
    mixed = f"| T1{{a}} {OTHER} | T2{{b}} {PLAIN} |"
    assert not rollbacks_have_a_reason(
        replica(begun(1, 2), "failed T1@w1", UNDONE, log=mixed, head="dialect=minimal ")
    )
    assert rollbacks_have_a_reason(replica(begun(1, 2), "failed T1@w1", UNDONE, log=mixed))


DDL = "domain=0 flags=ddl"


def eager(*events, second=PLAIN, first=PLAIN, dialect="optimistic"):
    kinds = [":ddl" if "ddl" in flags else "" for flags in (first, second)]
    log = f"| T1{kinds[0]}{{a}} {first} | T2{kinds[1]}{{b}} {second} | T3{{c}} {PLAIN} |"
    return replica(*events, log=log, head=EAGER.format(dialect=dialect))


FIRST = "scheduled T1@w1 time=1 ; begun T1@w1 time=1"
SECOND = "scheduled T2@w2 time=1"
ENDS = "engine_committed T1@w1"
LATE = (FIRST, SECOND, row(1, "a"), ENDS, "begun T2@w2")


def test_worker_begins_beside_what_is_uncommitted():
    run = eager(FIRST, SECOND, "begun T2@w2 time=1", row(1, "a"), ENDS)
    assert verdict(run, speculation_begins_at_once) is Verdict.HOLDS


def test_transaction_that_is_kept_back_is_reported():
    (breach,) = speculation_begins_at_once(eager(*LATE))
    assert str(breach) == (
        "r1: T2 may run beside all before it and was first in its worker's queue, but row_applied "
        "of T1 came before its begin"
    )


@pytest.mark.parametrize(
    ("flags", "is_late_if_aggressive"),
    [
        (f"{PLAIN},waited", True),
        ("domain=0 flags=transactional", True),
        ("domain=0 flags=allow_parallel", False),
        (DDL, False),
    ],
    ids=["waited", "not allowed", "not transactional", "ddl"],
)
def test_mark_keeps_a_transaction_back(flags, is_late_if_aggressive):
    assert not speculation_begins_at_once(eager(*LATE, second=flags))
    found = speculation_begins_at_once(eager(*LATE, second=flags, dialect="aggressive"))
    assert len(found) == is_late_if_aggressive


def test_ddl_keeps_back_what_follows_it_until_it_has_committed():
    at_once = (FIRST, SECOND, row(1, "a"), ENDS, "begun T2@w2 time=3")
    assert not speculation_begins_at_once(eager(*at_once, first=DDL))
    third = "scheduled T3@w3 time=1"
    late = (FIRST, SECOND, third, row(1, "a"), ENDS, "begun T2@w2 time=3", row(2, "b"))
    found = speculation_begins_at_once(eager(*late, "begun T3@w3", first=DDL))
    assert [one.transaction for one in found] == [3]


def test_transaction_waits_for_its_workers_queue():
    behind = (FIRST, "scheduled T2@w1 time=1", row(1, "a"), ENDS, "begun T2@w1 time=3")
    assert not speculation_begins_at_once(eager(*behind))


def test_what_a_stop_skips_is_given_again():
    stop = (FIRST, SECOND, row(1, "a"), ENDS, "stopped ; started time=4")
    again = "scheduled T2@w1 time=4 ; begun T2@w1 time=4"
    assert not speculation_begins_at_once(eager(*stop, again))


@pytest.mark.parametrize(
    "head",
    ["dialect=optimistic ", EAGER.format(dialect="conservative"), f"tier=T2 {EAGER}".format(
        dialect="optimistic")],
    ids=["not eager", "conservative", "recorded"],
)  # fmt: skip
def test_begin_is_judged_where_nothing_delays_it(head):
    (prop,) = [
        one for one in registered_properties() if one.name == speculation_begins_at_once.__name__
    ]
    assert not prop.applies_to(replica(*LATE, head=head))
    assert prop.applies_to(eager(*LATE))
