"""Who goes with the leader of a MariaDB replica's commit: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.mariadb.commit_queue import leaders_take_all_that_wait
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

PLAIN = "domain=0 flags=transactional,allow_parallel"
LOG = f"| T1{{a}} {PLAIN} | T2{{b}} {PLAIN} | T3{{c}} domain=1 flags=transactional |"
GIVEN = "started ; scheduled T1@w1 ; scheduled T2@w2 ; scheduled T3@w3 ; begun T1@w1"


def replica(*events, eager="true", dialect="optimistic"):
    head = f'dialect={dialect} options={{"eager":{eager},"workers":3}} '
    return history_of(head + LOG + " ; ".join((GIVEN, *events, "engine_committed T1@w1")))


def starts(*numbers):
    return " ; ".join(f"prepared T{one}@w{one}" for one in numbers)


def writes(*numbers, time):
    return " ; ".join(f"flushed T{one}@w{one} time={time}" for one in numbers)


@pytest.mark.parametrize(
    "events",
    [
        (starts(1, 2), writes(1, 2, time=50)),
        (starts(2, 1), writes(1, 2, time=50)),
        (starts(1), writes(1, time=50), "prepared T2@w2 time=51", writes(2, time=52)),
        (starts(1, 3), writes(1, 3, time=50)),
        (starts(2, 3), writes(3, time=50)),
        (starts(1, 2), writes(1, time=50), "rolled_back T2@w2 time=51"),
    ],
    ids=["both", "the later first", "later", "another domain", "its turn comes", "undone"],
)
def test_leader_takes_whose_turn_it_is(events):
    assert not leaders_take_all_that_wait(replica(*events, "flushed T2@w2 time=60"))


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ((starts(1, 2), writes(1, time=50)), 2),
        ((starts(1), writes(1, time=50), starts(2), starts(3), writes(3, time=70)), 2),
        ((starts(1, 3), writes(1, time=50)), 3),
    ],
    ids=["follower", "after the one before is written", "another domain"],
)
def test_transaction_that_the_leader_leaves_is_reported(events, left):
    run = replica(*events, f"flushed T{left}@w{left} time=90")
    assert [one.transaction for one in leaders_take_all_that_wait(run)] == [left]


def test_breach_names_both():
    (breach,) = leaders_take_all_that_wait(
        replica(starts(1, 2), writes(1, time=50), writes(2, time=60))
    )
    assert str(breach) == (
        "r1: T2 had started to commit, all before it was written, and the leader wrote T1 "
        "without it"
    )
    assert verdict(replica(starts(1), writes(1, time=50)), leaders_take_all_that_wait) is (
        Verdict.HOLDS
    )
    assert verdict(replica(), leaders_take_all_that_wait) is Verdict.UNKNOWN


def test_domains_have_one_order_in_minimal():
    events = (starts(1, 3), writes(1, time=50), writes(3, time=60))
    assert leaders_take_all_that_wait(replica(*events))
    assert not leaders_take_all_that_wait(replica(*events, dialect="minimal"))


def test_workers_that_wait_at_will_are_not_judged():
    (prop,) = [one for one in registered_properties() if one.name.startswith("leaders_take")]
    assert prop.applies_to(replica())
    assert not prop.applies_to(replica(eager="false"))


def test_what_began_first_is_written_first_where_nothing_is_scheduled():
    begun = "started ; begun T1@w1 ; begun T2@w2 ; begun T3@w3"
    for first, second, left in ((1, 3, [3]), (1, 2, [2]), (3, 2, [])):
        writes_apart = (
            f"flushed T{one}@w{one} group={group} time=5{group}"
            for group, one in enumerate((first, second), start=1)
        )
        events = " ; ".join((begun, starts(first, second), *writes_apart))
        run = history_of("dialect=table " + LOG + events)
        assert [one.transaction for one in leaders_take_all_that_wait(run)] == left
