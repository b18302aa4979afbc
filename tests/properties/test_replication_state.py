"""Size of the state, and holes: each property holds, breaks, and on its edge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.gtid.replication_state import (
    auto_position_finds_what_it_asks,
    executed_set_has_a_hole,
    executed_sets_close_their_holes,
    executed_sets_name_what_is_logged,
    has_hole,
    nothing_is_sent_again,
    purges_stop_at_the_slowest_server,
    replicas_come_to_rest,
    sources_refuse_where_they_have_purged,
    state_has_one_entry_per_domain,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

A, B = "aaaaaaaa-0000-0000-0000-000000000001", "bbbbbbbb-0000-0000-0000-000000000002"
MARIADB = "| T1{a} gtid=0-1-1 domain=0 origin=s1 | T2{b} gtid=0-2-2 domain=0 origin=s2 | "
MYSQL = f"| T1{{a}} gtid={A}:1 origin=s1 | T2{{b}} gtid={B}:1 origin=s2 | "


def test_position_keeps_its_size_whoever_wrote():
    run = history_of(f"{MARIADB} stopped @r1 gtid_set=0-2-2")
    assert verdict(run, state_has_one_entry_per_domain) is Verdict.HOLDS


def test_executed_set_grows_with_each_server_that_ever_wrote():
    run = history_of(f'{MYSQL} stopped @r1 gtid_set="{A}:1,{B}:1"')
    (breach,) = state_has_one_entry_per_domain(run)
    assert (breach.member, breach.domains) == ("r1", 1)
    assert str(breach) == f"r1 needs {A}:1,{B}:1 to say how far it is in 1 domain(s)"


def test_one_writer_alone_shows_nothing_of_the_size():
    run = history_of("| T1{a} gtid=0-1-1 domain=0 origin=s1 | stopped @r1 gtid_set=0-1-1")
    assert verdict(run, state_has_one_entry_per_domain) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("executed", "is_hole"),
    [(f"{A}:1-5", False), (f"{A}:1", False), (f"{A}:1-2:4", True), (f"{A}:2-3", True),
     (f"{A}:1,{B}:2", True)],
)  # fmt: skip
def test_hole_is_whatever_is_not_one_run_from_one(executed, is_hole):
    assert has_hole(executed) is is_hole
    run = history_of(f'{MYSQL} stopped @r1 gtid_set="{executed}"')
    assert executed_set_has_a_hole(run) is is_hole
    assert bool(executed_sets_close_their_holes(run)) is is_hole


LOGGED = f"{MYSQL} started @r1 ; flushed T1 @r1 gtid={A}:1 ; "


def test_executed_set_names_what_the_server_has_logged():
    run = history_of(f'{LOGGED} stopped @r1 gtid_set="{A}:1"')
    assert verdict(run, executed_sets_name_what_is_logged) is Verdict.HOLDS


@pytest.mark.parametrize("stated", [f"{A}:1-2", f"{A}:1,{B}:1", f"{B}:1", f"{A}:2"])
def test_executed_set_of_something_else_is_reported(stated):
    run = history_of(f'{LOGGED} started @r1 gtid_set="{stated}"')
    (breach,) = executed_sets_name_what_is_logged(run)
    assert str(breach) == f"r1 says that it has executed {stated}, and has logged {A}:1"


def test_server_that_logged_nothing_has_executed_nothing():
    run = history_of(f'{LOGGED} stopped @r2 gtid_set="{A}:1"')
    assert [one.logged for one in executed_sets_name_what_is_logged(run)] == ["nothing"]
    part = replace(run, header=replace(run.header, tier=EvidenceTier.ROW_OUTCOMES))
    (prop,) = [
        one for one in registered_properties() if one.name == "executed_sets_name_what_is_logged"
    ]
    assert prop.applies_to(run)
    assert not prop.applies_to(part)
    unnamed = history_of(f'{LOGGED} stopped @r1 gtid_set=""')
    assert verdict(unnamed, executed_sets_name_what_is_logged) is Verdict.UNKNOWN


def test_hole_before_the_end_may_still_close():
    run = history_of(f'{MYSQL} started @r1 gtid_set="{A}:2" ; stopped @r1 gtid_set="{A}:1-2"')
    assert executed_set_has_a_hole(run)
    assert verdict(run, executed_sets_close_their_holes) is Verdict.HOLDS


def test_position_of_mariadb_has_no_holes_to_close():
    run = history_of(f"{MARIADB} stopped @r1 gtid_set=0-2-2")
    assert verdict(run, executed_sets_close_their_holes) is Verdict.UNKNOWN


END = f" ; stopped @r1 gtid_set={A}:1"


def test_transaction_that_was_passed_over_and_comes_again_is_reported():
    again = f"{MYSQL} delivered T1@r1 ; skipped T1@r1 note=filtered ; delivered T1@r1{END}"
    (breach,) = nothing_is_sent_again(history_of(again))
    assert str(breach) == "r1 was sent T1, which it filters out, once more"


def test_transaction_passed_over_once_is_fine():
    once = history_of(f"{MYSQL} delivered T1@r1 ; skipped T1@r1 note=filtered{END}")
    assert verdict(once, nothing_is_sent_again) is Verdict.HOLDS
    elsewhere = f"{MYSQL} skipped T1@r1 note=filtered ; delivered T1@r2{END}"
    assert not nothing_is_sent_again(history_of(elsewhere))


PURGE = "relay_rotated @s1 ; started @r1 members=s1 gtid_set={}:2 note={}"


def test_source_that_purged_a_hole_refuses_for_ever():
    run = history_of(MYSQL + PURGE.format(A, '"1236: purged"'))
    (breach,) = auto_position_finds_what_it_asks(run)
    assert str(breach) == f"s1 has purged what r1 lacks, having executed {A}:2"


def test_source_that_purged_what_everyone_has_serves():
    run = history_of(MYSQL + PURGE.format(A, '""'))
    assert verdict(run, auto_position_finds_what_it_asks) is Verdict.HOLDS


def test_refusal_by_a_mariadb_source_is_another_matter():
    run = history_of(f'{MARIADB} started @r1 members=s1 gtid_set=0-1-1 note="1236: no"')
    assert not auto_position_finds_what_it_asks(run)


CONNECTED = f"{MYSQL} started @s1 ; started @r1 members=s1"


@pytest.mark.parametrize("end", ["stopped @r1", "crashed @r1", "failed T1@r1"])
def test_replica_that_follows_a_source_ends(end):
    assert verdict(history_of(f"{CONNECTED} ; {end}"), replicas_come_to_rest) is Verdict.HOLDS


@pytest.mark.parametrize("after", ["", " ; stopped @s1", " ; stopped @r1 ; started @r1 members=s1"])
def test_replica_without_an_end_is_reported(after):
    (breach,) = replicas_come_to_rest(history_of(CONNECTED + after))
    assert str(breach) == "r1 started after s1 and never came to rest"


def test_replica_of_a_run_that_was_broken_off_needs_no_end():
    run = replace(history_of(CONNECTED), is_complete=False)
    assert replicas_come_to_rest(run) == ()


PURGED = f'relay_rotated @s1 gtid_set="{A}:1" note=purge ; '


@pytest.mark.parametrize(
    ("executed", "note", "found"),
    [
        (f"{A}:1", "", 0),
        (f"{B}:1", ' note="1236: purged"', 0),
        (f"{B}:1", "", 1),
        ("", "", 1),
        (f"{A}:1", ' note="1236: purged"', 1),
    ],
)
def test_source_refuses_who_lacks_what_it_has_purged(executed, note, found):
    start = f'started @r1 members=s1 gtid_set="{executed}"{note}'
    run = history_of(f"{MYSQL}{PURGED}{start}")
    assert len(sources_refuse_where_they_have_purged(run)) == found


def test_purged_start_names_both_servers():
    start = f'started @r1 members=s1 gtid_set="{B}:1"'
    (breach,) = sources_refuse_where_they_have_purged(history_of(f"{MYSQL}{PURGED}{start}"))
    assert str(breach) == f"s1 let r1 start without {A}:1, which it has purged"
    refused = f'started @r1 members=s1 gtid_set="{A}:1" note="1236: purged"'
    (breach,) = sources_refuse_where_they_have_purged(history_of(f"{MYSQL}{PURGED}{refused}"))
    assert str(breach) == "s1 refused r1, which has all that it has purged"
    other = f'started @r1 members=s2 gtid_set="{B}:1"'
    held = history_of(f"{MYSQL}{PURGED}{other}")
    assert verdict(held, sources_refuse_where_they_have_purged) is Verdict.HOLDS


LOGS = f'flushed T1@s1 gtid={A}:1 ; flushed T2@s1 gtid={B}:1 ; started @r1 gtid_set="{A}:1" ; '
PURGE_EVENT = 'relay_rotated @s1 gtid_set="{}" note=purge'


@pytest.mark.parametrize(
    ("passed", "purged", "is_right"),
    [
        (f"flushed T1@r1 gtid={A}:1", f"{A}:1", True),
        (f"flushed T1@r1 gtid={A}:1", f"{A}:1,{B}:1", False),
        (f"flushed T1@r1 gtid={A}:1 ; skipped T2@r1", f"{A}:1", False),
        (f"flushed T1@r1 gtid={A}:1 ; skipped T2@r1", f"{A}:1,{B}:1", True),
        ("crashed @r1", f"{A}:1,{B}:1", True),
    ],
)
def test_purge_stops_at_the_slowest_server(passed, purged, is_right):
    history = history_of(f"{MYSQL} {LOGS}{passed} ; {PURGE_EVENT.format(purged)}")
    breaches = purges_stop_at_the_slowest_server(history)
    assert not breaches if is_right else len(breaches) == 1


def test_misplaced_purge_is_told():
    history = history_of(f"{MYSQL} {LOGS}{PURGE_EVENT.format(f'{A}:1')}")
    (breach,) = purges_stop_at_the_slowest_server(history)
    assert str(breach) == f"s1 has purged ({A}:1); all servers have passed () of its log"
