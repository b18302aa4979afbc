"""From whom replicas receive, and what becomes of that: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.connections import (
    domains_are_applied_as_received,
    received_groups_are_applied_or_passed_over,
    replicas_connect_unless_refused,
    replicas_receive_from_who_accepted_them,
    schemas_are_applied_as_received,
    stopped_replicas_name_who_accepted_them,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} gtid=0-1-1 domain=0 | T2{b} gtid=0-1-2 domain=0 | "
START, REFUSED = "started @s2 members=s1", 'started @s2 members=s1 note="1236: unknown"'
GETS = "delivered T1@s2"
ENDS_A_CONNECTION = [REFUSED, "crashed @s2", "failed T2@s2", "crashed @s1 note=lost"]
ELECTED = "started @s3 note=elected"


def run(*events):
    return history_of(LOG + " ; ".join(events))


@pytest.mark.parametrize("end", [*ENDS_A_CONNECTION, ELECTED])
def test_replica_receives_again_once_it_is_accepted(end):
    late = run(START, end, GETS)
    (breach,) = replicas_receive_from_who_accepted_them(late)
    assert str(breach) == "s2 received T1, and no source had accepted it"
    again = run(START, end, START, GETS)
    assert verdict(again, replicas_receive_from_who_accepted_them) is Verdict.HOLDS


def test_second_source_goes_on():
    other = "started @s2 members=s3"
    for end in (REFUSED, "failed T2@s2", "crashed @s1 note=lost"):
        assert not replicas_receive_from_who_accepted_them(run(START, other, end, GETS))


@pytest.mark.parametrize("end", ENDS_A_CONNECTION)
def test_stopped_replica_names_only_who_accepted_it(end):
    stop = "stopped @s2 members=s1"
    assert verdict(run(START, stop), stopped_replicas_name_who_accepted_them) is Verdict.HOLDS
    (breach,) = stopped_replicas_name_who_accepted_them(run(START, end, stop))
    assert str(breach) == (
        "s2 states that it follows s1, which has not accepted it, or at whose group it failed since"
    )
    none = run(START, end, "stopped @s2")
    assert verdict(none, stopped_replicas_name_who_accepted_them) is Verdict.UNKNOWN


@pytest.mark.parametrize("end", ["engine_committed T1@s2", "skipped T1@s2 note=own"])
def test_replica_at_rest_has_ended_what_it_received(end):
    stop = "stopped @s2 members=s1"
    good = run(START, GETS, end, stop)
    assert verdict(good, received_groups_are_applied_or_passed_over) is Verdict.HOLDS
    (breach,) = received_groups_are_applied_or_passed_over(run(START, GETS, stop))
    assert str(breach) == "s2 came to rest with T1 received and not applied"


@pytest.mark.parametrize("end", [*ENDS_A_CONNECTION, ELECTED])
def test_what_is_received_goes_with_the_connection(end):
    again = run(START, GETS, end, START, "stopped @s2 members=s1")
    assert not received_groups_are_applied_or_passed_over(again)
    alone = run(START, GETS, "stopped @s2")
    assert verdict(alone, received_groups_are_applied_or_passed_over) is Verdict.UNKNOWN


BOTH = "delivered T1@s2 ; delivered T2@s2"


@pytest.mark.parametrize("goes_on", ["begun T{}@s2", "skipped T{}@s2 note=own"])
def test_domain_is_applied_as_it_is_received(goes_on):
    first = (START, BOTH, goes_on.format(1), "engine_committed T1@s2", goes_on.format(2))
    assert verdict(run(*first), domains_are_applied_as_received) is Verdict.HOLDS
    (breach,) = domains_are_applied_as_received(run(START, BOTH, goes_on.format(2)))
    assert str(breach) == ("s2 went on to T2 before T1, of its domain, which it had received first")


def test_groups_of_two_sources_have_no_order():
    late = run(START, "started @s2 members=s3", BOTH, "begun T2@s2")
    assert verdict(late, domains_are_applied_as_received) is Verdict.UNKNOWN


SCHEMAS = """| T1{x.a} gtid=0-1-1 domain=0 | T2{y.b} gtid=0-1-2 domain=0
    | T3{x.c} gtid=0-1-3 domain=0 | """
ALL = (START, "delivered T1@s2", "delivered T2@s2", "delivered T3@s2")


@pytest.mark.parametrize("order", [(1, 2, 3), (2, 1, 3), (1, 3, 2)])
def test_schemas_may_be_reordered_within_a_domain(order):
    begun = [f"begun T{one}@s2 ; engine_committed T{one}@s2" for one in order]
    history = history_of(SCHEMAS + " ; ".join((*ALL, *begun)))
    assert verdict(history, schemas_are_applied_as_received) is Verdict.HOLDS


def test_schema_that_is_reordered_is_reported():
    history = history_of(SCHEMAS + " ; ".join((*ALL, "begun T3@s2")))
    (breach,) = schemas_are_applied_as_received(history)
    assert (breach.transaction, breach.before) == (3, 1)


ALONE = 'stopped @s2 note="not connected"'


def test_replica_that_ends_unconnected_was_refused():
    assert verdict(run(REFUSED, ALONE), replicas_connect_unless_refused) is Verdict.HOLDS
    for before in ("started @s2", START, f"{REFUSED} ; {START}"):
        (breach,) = replicas_connect_unless_refused(run(before, ALONE))
        assert str(breach) == "s2 came to rest without a connection, and no source had refused it"
    for undecided in (ALONE, f"{START} ; stopped @s2"):
        assert verdict(run(undecided), replicas_connect_unless_refused) is Verdict.UNKNOWN
