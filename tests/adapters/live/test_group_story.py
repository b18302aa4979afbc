"""A recorded group run, told as a history, is judged by the properties of every group."""

from __future__ import annotations

from dataclasses import replace

import properties.all  # noqa: F401
from adapters.live.group import told
from adapters.live.group_run import GroupRun
from adapters.live.group_story import history_of_trace
from adapters.live.group_target import MYSQL_GROUP
from adapters.live.target import LiveRequest
from properties.registry import property_named
from tests.conformance.test_recorded_groups import beginning, chosen, with_step
from vocabulary.events import EventKind, Outcome
from vocabulary.group_trace import TransactionDelivered


def broken(trace, name):
    history = history_of_trace(trace, seed=0, options={}).check()
    return property_named(name).violations(history)


def test_recorded_run_breaks_nothing_that_the_target_answers_to():
    for name in MYSQL_GROUP.properties:
        assert broken(beginning(), name) == (), name


def test_every_refusal_is_told_by_every_member_that_was_there():
    history = history_of_trace(beginning(), seed=0, options={})
    refused = [
        event for event in history.events_of(EventKind.CERTIFIED)
        if event.outcome is Outcome.NEGATIVE
    ]  # fmt: skip
    transactions = {event.transaction for event in refused}
    assert len(transactions) == sum(not step.decided for step in beginning().transactions)
    assert len(refused) >= 2 * len(transactions)


def test_member_that_refuses_alone_is_found():
    trace = beginning()
    number = chosen(trace, lambda step: len(step.decided) == 3)
    decided = dict(trace.steps[number].decided)
    decided.pop(trace.members[2])
    assert broken(with_step(trace, number, decided=decided), "members_decide_alike")


def test_gtid_that_two_transactions_bear_is_found():
    trace = beginning()
    first = chosen(trace, lambda step: len(step.decided) == 3 and step.specified is None)
    decided = trace.steps[first].decided
    second = next(
        n for n, step in enumerate(trace.steps)
        if n > first and getattr(step, "decided", None) and len(step.decided) == 3
    )  # fmt: skip
    assert broken(with_step(trace, second, decided=decided), "gtids_are_unique")


def test_round_says_which_tables_differ():
    run = GroupRun(
        trace=replace(beginning(), steps=beginning().steps[:50]),
        outcomes={"committed": 7},
        conflicts_detected={"a": 3},
        checksums={"d.t": frozenset({1, 2}), "d.p": frozenset({5})},
    )
    request = LiveRequest(mode="multi-primary")
    found = told(request, 1, 0, run)
    assert found.evidence["differing_tables"] == "d.t"
    assert found.notes == ("members end with different rows in d.t",)


def test_timestamps_that_let_a_conflict_overlap_are_found():
    trace = beginning()
    numbers = [
        number for number, step in enumerate(trace.steps[:400])
        if isinstance(step, TransactionDelivered)
        and any((one.last_committed or 0) > 1 for one in step.decided.values())
    ]  # fmt: skip
    assert numbers
    forged = trace
    for number in numbers:
        decided = {
            member: one if one.last_committed is None else replace(one, last_committed=1)
            for member, one in trace.steps[number].decided.items()
        }
        forged = with_step(forged, number, decided=decided)
    short = replace(forged, steps=forged.steps[:400])
    assert (
        broken(replace(trace, steps=trace.steps[:400]), "conflicting_transactions_are_ordered")
        == ()
    )
    assert broken(short, "conflicting_transactions_are_ordered")


def test_commit_is_told_where_a_transaction_of_the_member_has_seen_it():
    history = history_of_trace(
        replace(beginning(), steps=beginning().steps[:400]), seed=0, options={}
    )
    certified = set()
    commits = 0
    for event in history.events_of(EventKind.CERTIFIED, EventKind.ENGINE_COMMITTED):
        key = (event.member, event.transaction)
        if event.kind is EventKind.CERTIFIED:
            certified.add(key)
        else:
            commits += 1
            assert key in certified
    assert commits > 100
