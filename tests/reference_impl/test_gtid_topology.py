"""Fail-over, rings, several sources, restore: what the rules of GTIDs keep, and what breaks."""

from __future__ import annotations

from functools import cache

import pytest

from paraply.properties.search import random_schedules
from paraply.reference_impl.causes import ORDER_LOST
from paraply.reference_impl.mariadb_gtid.binlog_files import Binlog, Logged, Place, Refused
from paraply.reference_impl.mariadb_gtid.topology_subject import GTID_TOPOLOGY, SHAPES
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.mariadb_gtid import MariadbBinlogState, MariadbPosition, parse_position
from tests.properties.histories import history_of
from tests.reference_impl.judges import judges_of


@cache
def judges():
    return judges_of(GTID_TOPOLOGY)


SETTINGS = (
    {},
    {"crashes": 2, "losses": 3, "schemas": 1},
    {"filter": True, "rotations": 3, "purges": 2},
)
BUSY = {"crashes": 2, "rotations": 2}
NOWHERE = MariadbPosition()


@pytest.mark.long
@pytest.mark.parametrize("dialect", GTID_TOPOLOGY.dialects)
@pytest.mark.parametrize("topology", SHAPES)
def test_no_schedule_breaks_what_the_rules_keep(dialect, topology):
    known = GTID_TOPOLOGY.breaks.get(dialect, frozenset())
    for options in SETTINGS:
        workload = Workload(
            transactions=5, dialect=dialect, options=options | {"topology": topology}
        )
        for schedule in random_schedules(0, 15):
            history = GTID_TOPOLOGY.run(schedule, workload).check()
            for prop in judges().values():
                if prop.name not in known:
                    assert not prop.violations(history), (prop.name, options, schedule.seed)


@pytest.mark.long
@pytest.mark.parametrize("dialect", list(GTID_TOPOLOGY.breaks))
def test_every_breach_that_a_set_of_rules_is_known_for_is_found(dialect):
    missing = set(GTID_TOPOLOGY.breaks[dialect])
    shapes = {"out_of_order": ("failover", "restore"), "going_back": ("switch_over", "restore")}
    for schedule in random_schedules(1, 6_000):
        shape = shapes.get(dialect, ("ring",))[-(schedule.seed % 2)]
        options = BUSY | {"topology": shape}
        history = GTID_TOPOLOGY.run(
            schedule, Workload(transactions=5, dialect=dialect, options=options)
        )
        missing -= {name for name in missing if judges()[name].violations(history)}
        if not missing:
            return
    raise AssertionError(f"not found: {sorted(missing)}")


def binlog(*files):
    """Return a log of files, each a list of GTIDs, and the server's state after it."""
    log, state, number = Binlog(), MariadbBinlogState(), 0
    for place, names in enumerate(files):
        if place:
            log.rotate(state)
        for gtid in parse_list(names):
            number += 1
            log.append(Logged(number, gtid))
            state = state.log(gtid)
    return log, state


def parse_list(names):
    return [next(iter(parse_position(name))) for name in names.split()]


def rest(log, state, asked, own=NOWHERE):
    """Return the GTIDs that a replica gets that asks for a position; the reason if refused."""
    cursor = log.find_start(parse_position(asked), state, own)
    if isinstance(cursor, Refused):
        return cursor.reason
    sent = []
    while (group := log.read(cursor)) is not None:
        if not log.is_skipped(group, cursor):
            sent.append(str(group.gtid))
    return " ".join(sent)


TWO_DOMAINS = ("0-1-1 1-2-1 0-1-2", "0-1-3 1-2-2", "1-2-3 0-1-4")


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("", "0-1-1 1-2-1 0-1-2 0-1-3 1-2-2 1-2-3 0-1-4"),
        ("0-1-1", "1-2-1 0-1-2 0-1-3 1-2-2 1-2-3 0-1-4"),
        ("0-1-3,1-2-2", "1-2-3 0-1-4"),
        ("0-1-4,1-2-1", "1-2-2 1-2-3"),
        ("0-1-2,1-2-3", "0-1-3 0-1-4"),
        ("0-1-4,1-2-3", ""),
        ("0-1-5,1-2-3", "0-1-5 is not in the binary log"),
        ("0-2-1,1-2-3", "0-2-1 is not in the binary log"),
        ("0-1-4,1-2-3,7-1-1", ""),
    ],
)
def test_source_sends_in_each_domain_what_follows_the_gtid(asked, sent):
    assert rest(*binlog(*TWO_DOMAINS), asked) == sent


def test_file_that_begins_after_the_position_is_enough():
    log, state = binlog(*TWO_DOMAINS)
    assert log.find_start(parse_position("0-1-3,1-2-2"), state, NOWHERE).place == Place(2, 0)
    assert log.find_start(parse_position("0-1-3,1-2-1"), state, NOWHERE).place == Place(1, 0)
    assert log.find_start(parse_position("0-1-3"), state, NOWHERE).place == Place(0, 0)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("", "what follows the position is purged"),
        ("0-1-2,1-2-1", "0-1-3 1-2-2 1-2-3 0-1-4"),
        ("0-1-1,1-2-1", "what follows the position is purged"),
        ("0-1-3", "what follows the position is purged"),
        ("0-1-3,1-2-2", "1-2-3 0-1-4"),
        ("0-1-5,1-2-3", "0-1-5 is not in the binary log"),
    ],
)
def test_purged_log_serves_who_has_all_that_its_first_file_lists(asked, sent):
    log, state = binlog(*TWO_DOMAINS)
    log.first = 1
    assert rest(log, state, asked) == sent


def test_purge_stops_at_the_file_that_a_replica_reads():
    options = {"topology": "failover", "rotations": 3, "purges": 3, "losses": 0, "crashes": 0}
    purges = 0
    for schedule in random_schedules(3, 100):
        history = GTID_TOPOLOGY.run(schedule, Workload(transactions=5, options=options))
        purges += sum(one.note == "purge" for one in history.events)
        assert not judges()["purges_leave_what_replicas_read"].violations(history)
    assert purges >= 100


def test_gtid_in_a_hole_starts_at_the_next_greater_one():
    assert rest(*binlog("0-1-1 0-1-5 0-1-6"), "0-1-3") == "0-1-5 0-1-6"


def test_server_that_does_not_log_what_it_applies_serves_who_stands_where_it_stands():
    log, state = binlog("0-2-8 0-2-9")
    assert rest(log, state, "0-1-7", own=parse_position("0-1-7")) == "0-2-8 0-2-9"
    assert rest(log, state, "0-1-6", own=parse_position("0-1-7")).endswith("not in the binary log")


@pytest.mark.parametrize(
    ("file", "offset", "position"),
    [(0, 0, ""), (0, 2, "0-1-1,1-2-1"), (1, 0, "0-1-2,1-2-1"), (2, 1, "0-1-3,1-2-3")],
)
def test_file_and_offset_stand_for_a_position(file, offset, position):
    log, _ = binlog(*TWO_DOMAINS)
    assert str(log.position_at(Place(file, offset))) == position
    assert len(log.groups_before(Place(file, offset))) == [0, 3, 5][file] + offset


def test_position_of_a_backup_starts_exactly_after_its_groups():
    log, state = binlog(*TWO_DOMAINS)
    names = [str(group.gtid) for group in log.groups]
    for number, file in enumerate(log.files):
        for offset in range(len(file.groups) + 1):
            place = Place(number, offset)
            sent = rest(log, state, str(log.position_at(place)))
            assert sent == " ".join(names[len(log.groups_before(place)) :])


def runs(topology, count=300, **options):
    workload = Workload(transactions=5, options={"topology": topology} | options)
    return (GTID_TOPOLOGY.run(schedule, workload) for schedule in random_schedules(2, count))


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("topology", "situation"),
    [
        ("failover", "a_replica_changes_its_source"),
        ("restore", "a_replica_changes_its_source"),
        ("multi_source", "a_replica_changes_its_source"),
        ("failover", "a_hole_is_logged"),
        ("ring", "replication_resumes"),
    ],
)
def test_interesting_situation_is_reached(topology, situation):
    assert sum(map(judges()[situation].witness, runs(topology))) >= 5


def test_promoted_replica_counts_on_and_is_followed_from_a_position_with_the_old_servers_id():
    seen = set()
    for history in runs("failover"):
        for event in history.events_of(EventKind.STARTED):
            if event.gtid_set and event.members and event.members != ("s1",) and not event.note:
                seen.add((event.members[0], "-1-" in event.gtid_set))
    assert {("s2", True), ("s3", True)} <= seen


def test_old_source_follows_the_new_one_from_its_current_position():
    asked = {
        event.gtid_set
        for history in runs("switch_over", losses=1)
        for event in history.events_of(EventKind.STARTED, member="s1")
        if event.members == ("s2",)
    }
    # gtid_slave_pos of s1 is empty: what it asks for is what it wrote itself.
    assert any("0-1-" in position for position in asked)


def test_duplicates_over_two_connections_are_passed_over():
    notes = {
        event.note
        for history in runs("diamond", 50)
        for event in history.events_of(EventKind.SKIPPED, member="s4")
    }
    assert "duplicate" in notes


@pytest.mark.parametrize(("source", "first"), [("s2", 1), ("s2", 2), ("s1", 1), ("s1", 2)])
def test_start_from_another_source_keeps_what_one_has_sent(source, first):
    history = history_of(
        "| T1{a}\n| T2{b}\n| started @s3 members=s1 ; delivered T1@s3 gtid=0-1-1 ; "
        "delivered T2@s3 gtid=0-1-2 ; "
        f"started @s3 members={source} ; begun T{first}@s3 gtid=0-1-{first}"
    )
    assert ORDER_LOST.occurs(history) is (source == "s2" and first == 2)


@pytest.mark.parametrize("ends", ["T1 T2 T3", "T1 T3 T2"])
def test_groups_that_two_sources_send_wait_once(ends):
    """Each of T1 and T2 is sent twice; the copy that is passed over is no other group's turn."""
    both = " ; ".join(f"delivered {one}@s4 gtid=0-1-{one[1]}" for one in ("T1", "T2", "T1", "T2"))
    begun = [f"begun {one}@s4 gtid=0-1-{one[1]}" for one in ends.split()]
    passed = "skipped T1@s4 gtid=0-1-1 note=duplicate"
    history = history_of(
        "| T1{a}\n| T2{b}\n| T3{c}\n| started @s4 members=s2 ; started @s4 members=s3 ; "
        f"{both} ; delivered T3@s4 gtid=0-1-3 ; {begun[0]} ; {passed} ; {begun[1]} ; {begun[2]}"
    )
    assert ORDER_LOST.occurs(history) is (ends != "T1 T2 T3")
