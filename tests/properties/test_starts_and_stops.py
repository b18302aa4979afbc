"""Servers stop and recover once, and clients are served: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.starts_and_stops import (
    servers_recover_once_after_a_crash,
    stopped_servers_are_silent,
    stops_leave_nothing_under_way,
)
from paraply.properties.group.served_clients import (
    clients_are_served_to_the_end,
    members_serve_the_configured_clients,
    servers_with_clients,
    transactions_end_where_they_began,
)
from paraply.properties.registry import registered_properties, verdict_of
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | "


@pytest.mark.parametrize(
    "events",
    [
        "begun T1@w1 ; stopped",
        "stopped @r1 ; started @r1 ; begun T1@w1 ; stopped @r1",
        "stopped @r1 ; read @r1 session=s",
        "stopped @r1 ; crashed @r1 note=lost ; stopped @r1 note=refused",
        "stopped @r1 ; begun T1@w1@r2",
    ],
)
def test_stopped_server_that_does_nothing_until_it_starts_holds(events):
    assert verdict(history_of(LOG + events), stopped_servers_are_silent) is Verdict.HOLDS


@pytest.mark.parametrize("after", ["begun T1 worker=1", "stopped @r1", "flushed T1@r1"])
def test_stopped_server_that_acts_is_reported(after):
    (breach,) = stopped_servers_are_silent(history_of(f"{LOG}stopped @r1 ; {after}"))
    assert (breach.member, breach.kind.value) == ("r1", after.split()[0])
    assert "r1 had stopped" in str(breach)


def test_stops_of_observed_servers_are_not_judged():
    observed = history_of(f"tier=T2 {LOG}stopped @r1 ; begun T1 worker=1")
    assert verdict(observed, stopped_servers_are_silent) is Verdict.VIOLATED
    (prop,) = [one for one in registered_properties() if one.name == "stopped_servers_are_silent"]
    assert not prop.applies_to(observed)


def test_recovery_after_each_crash_holds():
    run = history_of(f"{LOG}crashed @r1 ; recovered @r1 ; crashed @r1 ; recovered @r1")
    assert verdict(run, servers_recover_once_after_a_crash) is Verdict.HOLDS


@pytest.mark.parametrize(
    "events",
    ["crashed @r1 ; recovered @r1 ; recovered @r1", "crashed @r2 ; recovered @r1"],
)
def test_recovery_without_a_crash_is_reported(events):
    (breach,) = servers_recover_once_after_a_crash(history_of(LOG + events))
    assert breach.member == "r1"
    assert "had not crashed" in str(breach)


GROUP = 'options={{"transactions":{wanted},"sessions":{sessions}}} {log}' + (
    "started @r1 ; view_installed @r1 view=1 members=r1 ; submitted T1@r1 ; stopped @r1"
)


def of_group(wanted, sessions=1):
    (prop,) = [one for one in registered_properties() if one.name.startswith("clients_are_served")]
    return verdict_of(history_of(GROUP.format(wanted=wanted, sessions=sessions, log=LOG)), prop)


def test_clients_that_all_write_are_served():
    assert of_group(2) is Verdict.HOLDS


def test_clients_that_wait_for_ever_are_reported():
    assert of_group(3) is Verdict.VIOLATED
    run = history_of(GROUP.format(wanted=3, sessions=1, log=LOG))
    (breach,) = clients_are_served_to_the_end(run)
    assert (breach.served, breach.wanted) == (2, 3)
    assert "only 2 of the clients' 3" in str(breach)


def test_group_without_sessions_has_no_clients():
    assert of_group(3, sessions=0) is Verdict.UNKNOWN


def test_logged_view_change_is_no_clients_transaction():
    text = GROUP.format(wanted=2, sessions=1, log="| T1{a} | T2:view_change | ")
    assert len(clients_are_served_to_the_end(history_of(text))) == 1


def test_run_that_was_cut_is_not_judged():
    text = "complete=false " + GROUP.format(wanted=3, sessions=1, log=LOG)
    assert verdict(history_of(text), clients_are_served_to_the_end) is Verdict.UNKNOWN


def alone(served, log="", options='{"transactions":2,"sessions":1}'):
    """Return the end of a run of a source without replicas."""
    run = history_of(f"options={options} members=r1 {log}| started @r1{served}")
    judge = next(
        one for one in registered_properties() if one.check is clients_are_served_to_the_end
    )
    return verdict_of(run, judge)


def test_source_alone_serves_its_sessions_to_the_end():
    one, two = "| T1{a} session=s1 ", "| T1{a} session=s1 | T2{b} session=s1 "
    logs = " ; flushed T1@r1"
    assert alone(logs, two) is Verdict.HOLDS
    assert alone(logs, one) is Verdict.VIOLATED
    assert alone("") is Verdict.VIOLATED
    for other in ('{"transactions":2,"sessions":0}', '{"transactions":2}', '{"sessions":1}'):
        assert alone(logs, one, options=other) is Verdict.UNKNOWN
    assert alone(f"{logs} ; begun T1@r1 worker=1", one) is Verdict.UNKNOWN


def serving(*events, answers=False):
    """Return a run of a member with two clients."""
    log = 'options={"transactions":3,"sessions":2} members=r1 | T1{a} | T2{b} | T3{c} | '
    head = "view_installed @r1 view=1 members=r1 ; certified T1@r1 positive gtid=g:1 ; "
    end = " ; client_acknowledged T1@r1" if answers else ""
    return history_of(f"{log}{head}{' ; '.join(events)}{end}")


TAKEN = ("submitted T1@r1", "submitted T2@r1")


@pytest.mark.parametrize("end", ["engine_committed T1@r1", "rolled_back T2@r1", "started @r1"])
def test_member_takes_the_next_transaction_when_one_has_ended(end):
    run = serving(*TAKEN, end, "submitted T3@r1")
    assert verdict(run, members_serve_the_configured_clients) is Verdict.HOLDS


def test_member_that_takes_too_many_transactions_is_reported():
    (breach,) = members_serve_the_configured_clients(serving(*TAKEN, "submitted T3@r1"))
    assert str(breach) == ("r1 took T3 as the transaction of client 3; at most 2 are configured")


def test_transaction_is_open_until_its_client_is_answered():
    run = serving(*TAKEN, "engine_committed T1@r1", "submitted T3@r1", answers=True)
    assert len(members_serve_the_configured_clients(run)) == 1


ONE = "begun T1@w1 ; engine_committed T1@w1 ; "


@pytest.mark.parametrize(
    "end",
    ["engine_committed T2@w2", "rolled_back T2@w2", "failed T2@w2", "crashed", "started"],
)
def test_replica_that_stops_has_ended_what_it_began(end):
    good = history_of(f"{LOG}{ONE}begun T2@w2 ; {end} ; stopped")
    assert verdict(good, stops_leave_nothing_under_way) is Verdict.HOLDS
    (breach,) = stops_leave_nothing_under_way(history_of(f"{LOG}{ONE}begun T2@w2 ; stopped"))
    assert str(breach) == (
        "r1 stopped, and neither committed nor rolled back T2, which it had begun"
    )


def test_merged_transactions_end_with_their_job():
    job = "begun T1@w1 transactions=1,2 ; engine_committed T1@w1 transactions=1,2 ; stopped"
    assert verdict(history_of(LOG + job), stops_leave_nothing_under_way) is Verdict.HOLDS


UNSENT = '{"transactions":2,"sessions":1,"acknowledgements":1}'


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ("view_installed @r1 view=1 members=r1,r2", Verdict.VIOLATED),
        ('view_installed @r1 view=1 members=r1,r2 ; stopped @r1 note="at rest"', Verdict.VIOLATED),
        # What a client has not yet sent may be rolled back, of which nothing is recorded.
        ("view_installed @r1 view=1 members=r1,r2 ; submitted T1@r1", Verdict.UNKNOWN),
        ("view_installed @r1 view=1 members=r1,r2 ; crashed @r2", Verdict.UNKNOWN),
        ("view_installed @r1 view=1 members=r1,r2 ; stopped @r2", Verdict.UNKNOWN),
    ],
)
def test_clients_that_wait_for_acknowledgements_are_served_unless_broken_off(events, found):
    run = history_of(f"options={UNSENT} members=r1,r2 | T1{{a}} origin=r1 | {events}")
    judge = next(
        one for one in registered_properties() if one.check is clients_are_served_to_the_end
    )
    assert verdict_of(run, judge) is found


OF_CLIENTS = "members=r1,r2 | T1{a} origin=r1 | T2{b} origin=r2 | "
CERTIFIED = "certified T1@r1 positive ; "


@pytest.mark.parametrize(
    "events",
    [
        "flushed T1@r1 ; engine_committed T2@r2",
        "rolled_back T1@r1 ; failed T2@r2",
        # Who crashes or leaves the group may leave something open.
        "flushed T1@r1 ; crashed @r2",
        f"{CERTIFIED}flushed T1@r1 ; stopped @r2",
    ],
)
def test_transactions_that_end_hold(events):
    assert (
        verdict(history_of(OF_CLIENTS + events), transactions_end_where_they_began) is Verdict.HOLDS
    )


@pytest.mark.parametrize(
    "events",
    [
        "started @r1 ; flushed T2@r2",
        "started @r1 ; flushed T1@r2 ; flushed T2@r2",
        "submitted T1@r1 ; flushed T2@r2 ; stopped @r1",
        f'{CERTIFIED}flushed T2@r2 ; stopped @r1 note="at rest"',
    ],
)
def test_transaction_without_an_end_is_reported(events):
    (breach,) = transactions_end_where_they_began(history_of(OF_CLIENTS + events))
    assert str(breach) == (
        "r1 took T1 from a client, and neither logged, committed nor rolled it back"
    )


def test_transactions_of_others_and_of_runs_that_were_cut_are_not_judged():
    for text in (
        f"complete=false {OF_CLIENTS}flushed T2@r2",
        "members=r1 | T1{a} | flushed T1@r1",
        "members=r1 | T1:view_change origin=r1 | started @r1",
        "members=r1,r2 | T1{a} origin=r1 | started @r2",
    ):
        assert verdict(history_of(text), transactions_end_where_they_began) is Verdict.UNKNOWN


def test_servers_with_clients_are_those_of_a_group_or_that_do_not_certify():
    head = f'options={{"transactions":2}} {OF_CLIENTS}'
    assert servers_with_clients(history_of(f"{head}flushed T1@r1"))
    certified = f"{head}{CERTIFIED}"
    assert not servers_with_clients(history_of(f"{certified}flushed T1@r1"))
    assert servers_with_clients(history_of(f"{certified}view_installed @r1 view=1 members=r1"))
    assert not servers_with_clients(history_of(f"{OF_CLIENTS}flushed T1@r1"))
    no_origin = 'options={"transactions":2} members=r1 | T1{a} | '
    assert not servers_with_clients(history_of(f"{no_origin}flushed T1@r1"))
