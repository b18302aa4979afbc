"""A real Galera cluster, recorded once: its appliers overlap, and keep every rule they are held to.

The record holds the binary logs of three members and what their error logs tell of appliers and
write sets; ``python -m ci.record_galera_logs`` makes a new one. What is forged in it is found.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

import paraply.properties.all
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.galera.history import cluster_history
from paraply.adapters.live.galera.log import read_provider_log
from paraply.adapters.live.galera.windows import seen_inside
from paraply.adapters.live.observed import Member
from paraply.adapters.live.source_log import Keys
from paraply.adapters.live.translation import Run
from paraply.adapters.live.workload import create_statements, schema_name
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import ISOLATED
from paraply.vocabulary.verdict import Verdict

assert paraply.properties.all

FOLDER = Path(__file__).parent.parent / "data" / "galera" / "mariadb-10.11.19"
MEMBERS = ("m1", "m2", "m3")
RULES = (
    "no_conflicting_parallel_apply",
    "starts_respect_last_committed",
    "write_sets_depend_on_earlier_writers",
    "senders_saw_writers_of_other_members",
    "members_decide_alike",
    "gtids_are_unique",
    "replica_logs_domains_in_order",
    "a_write_set_runs_beside_an_unseen_one",
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The history of the record, and what its error logs tell."""
    folder = tmp_path_factory.mktemp("galera")
    members, logs = [], {}
    for name in MEMBERS:
        file = folder / f"{name}.bin.000001"
        file.write_bytes(gzip.decompress((FOLDER / f"{file.name}.gz").read_bytes()))
        transactions = [one for one in read_transactions([str(file)]) if one.complete]
        members.append(Member(name=name, log=transactions))
        with gzip.open(FOLDER / f"{name}.error.log.gz", "rt", encoding="utf-8") as lines:
            logs[name] = read_provider_log(lines)
    seen = seen_inside(members, logs)
    run = Run(subject="recorded", dialect="galera_4", seed=9, options={})
    keys = Keys(create_statements(schema_name(0)))
    history, unknown = cluster_history(run, members, keys, seen)
    assert not unknown
    return history.check(), seen


def broken(history):
    return {name for name in RULES if property_named(name).violations(history)}


@pytest.mark.long
def test_both_logs_of_every_member_go_together_and_appliers_overlap(recorded):
    history, seen = recorded
    assert not seen.unmatched
    assert list(seen.windows) == list(MEMBERS)
    assert seen.overlapping > 200
    assert len(seen.seqnos) == len(history.transactions)
    assert all(one.timestamp is not None for one in history.transactions)
    assert {one.origin for one in history.transactions} == set(MEMBERS)
    assert any(ISOLATED in one.flags for one in history.transactions)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("rule", RULES)
def test_recorded_cluster_keeps_the_rule(recorded, rule):
    assert verdict_of(recorded[0], property_named(rule)) is Verdict.HOLDS


def test_depends_seqno_is_that_of_the_last_writer_where_nothing_raises_it(recorded):
    """Purged entries, tables without a key and undone statements raise it; nothing lowers it."""
    writers, exact, raised = {}, 0, 0
    for one in recorded[0].transactions:
        needed = max((writers.get(item, 0) for item in one.write_set), default=0)
        if needed and ISOLATED not in one.flags:
            exact += one.timestamp.last_committed == needed
            raised += one.timestamp.last_committed > needed
        writers.update(dict.fromkeys(one.write_set, one.timestamp.sequence_number))
    assert exact > 100
    assert raised > 10


# Forged in the record


def conflict_of_two_members(history):
    """A transaction that an applier began, and the one of another member that it must follow."""
    begun = {event.transaction for event in history.events_of(EventKind.BEGUN)}
    writers = {}
    for one in history.transactions:
        for item in sorted(map(str, one.write_set)):
            earlier = writers.get(item)
            is_row = ".PRIMARY(" in item
            if is_row and earlier and earlier.origin != one.origin and one.id in begun:
                return earlier, one
        writers.update(dict.fromkeys(map(str, one.write_set), one))
    raise AssertionError("no such two")


def with_transaction(history, changed):
    return replace(
        history,
        transactions=tuple(
            changed if one.id == changed.id else one for one in history.transactions
        ),
    )


def test_depends_seqno_that_is_lowered_is_found(recorded):
    history, _ = recorded
    earlier, later = conflict_of_two_members(history)
    before = earlier.timestamp.sequence_number - 1
    stamp = LogicalTimestamp.as_recorded(before, later.timestamp.sequence_number)
    forged = with_transaction(history, replace(later, timestamp=stamp))
    assert broken(forged) == {"write_sets_depend_on_earlier_writers"}


@pytest.mark.parametrize("held_back", ["depends", "seen"])
def test_cluster_that_serialises_has_no_write_set_beside_another(recorded, held_back):
    forged = []
    for place, one in enumerate(recorded[0].transactions, start=1):
        stamp, number = one.timestamp, one.timestamp.sequence_number
        if held_back == "depends":
            stamp = LogicalTimestamp.as_recorded(number - 1, number)
        seen = place - 1 if held_back == "seen" else one.snapshot_version
        forged.append(replace(one, timestamp=stamp, snapshot_version=seen))
    serial = replace(recorded[0], transactions=tuple(forged))
    # No safety property sees it. What its appliers did meanwhile is as recorded.
    assert broken(serial) <= {"starts_respect_last_committed"}
    prop = property_named("a_write_set_runs_beside_an_unseen_one")
    assert verdict_of(serial, prop) is Verdict.UNKNOWN


def test_write_set_whose_sender_had_seen_less_is_found(recorded):
    history, _ = recorded
    earlier, later = conflict_of_two_members(history)
    forged = with_transaction(history, replace(later, snapshot_version=earlier.id - 1))
    assert broken(forged) == {"senders_saw_writers_of_other_members"}


def test_applier_that_does_not_wait_is_found(recorded):
    history, _ = recorded
    earlier, later = conflict_of_two_members(history)
    member = next(
        event.member for event in history.events_of(EventKind.BEGUN)
        if event.transaction == later.id
    )  # fmt: skip

    def is_of(event, transaction, *kinds):
        return (event.member, event.transaction) == (member, transaction.id) and event.kind in kinds

    begins = [
        event for event in history.events
        if is_of(event, later, EventKind.BEGUN, EventKind.ROW_APPLIED)
    ]  # fmt: skip
    events = [event for event in history.events if event not in begins]
    place = next(
        n for n, event in enumerate(events) if is_of(event, earlier, EventKind.ENGINE_COMMITTED)
    )
    events[place:place] = begins
    forged = replace(history, events=tuple(events))
    assert broken(forged) == {"no_conflicting_parallel_apply", "starts_respect_last_committed"}
