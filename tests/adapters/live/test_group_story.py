"""A recorded group run, told as a history, is judged by the properties of every group."""

from __future__ import annotations

from dataclasses import replace

import pytest

import paraply.properties.all  # noqa: F401
from paraply.adapters.live.group.clients import GroupClients
from paraply.adapters.live.group.lab import told
from paraply.adapters.live.group.run import GroupRun
from paraply.adapters.live.group.story import history_of_trace
from paraply.adapters.live.group.target import MYSQL_GROUP
from paraply.adapters.live.target import LiveRequest
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.group_trace import TransactionDelivered, ViewInstalled
from paraply.vocabulary.verdict import Verdict
from tests.conformance.test_recorded_groups import beginning, chosen, with_step


def broken(trace, name):
    history = history_of_trace(trace, seed=0, options={}).check()
    return property_named(name).violations(history)


@pytest.mark.long
def test_recorded_run_breaks_nothing_that_the_target_answers_to():
    for name in MYSQL_GROUP.properties:
        assert broken(beginning(), name) == (), name


@pytest.mark.long
def test_every_refusal_is_told_by_every_member_that_was_there():
    history = history_of_trace(beginning(), seed=0, options={})
    refused = [
        event for event in history.events_of(EventKind.CERTIFIED)
        if event.outcome is Outcome.NEGATIVE
    ]  # fmt: skip
    transactions = {event.transaction for event in refused}
    assert len(transactions) == sum(not step.decided for step in beginning().transactions)
    assert len(refused) >= 2 * len(transactions)


@pytest.mark.long
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


def clients_of(trace, **fields):
    """Return clients who were told of every tenth transaction, by the member that it came from."""
    confirmed, gtids = {}, {}
    for tag, step in enumerate(trace.transactions):
        if tag % 10 == 0 and step.decided:
            gtids[tag] = str(next(iter(step.decided.values())).gtid)
            confirmed.setdefault(step.origin, []).append(tag)
    everything = dict.fromkeys(trace.members, frozenset(gtids))
    fields.setdefault("journals", everything)
    return GroupClients(confirmed=confirmed, gtids=gtids, **fields)


def judged(trace, clients, name):
    history = history_of_trace(trace, seed=0, options={}, clients=clients).check()
    prop = property_named(name)
    return verdict_of(history, prop), prop.violations(history)


def test_what_clients_were_told_and_all_members_have_survived():
    trace = beginning()
    verdict, _ = judged(trace, clients_of(trace), "what_a_group_confirmed_survives")
    assert verdict is Verdict.HOLDS
    # Nothing was listened to in a recorded run: it says nothing.
    verdict, _ = judged(trace, GroupClients(), "what_a_group_confirmed_survives")
    assert verdict is Verdict.UNKNOWN


@pytest.mark.long
def test_confirmed_transaction_that_a_journal_lacks_or_no_log_has_is_lost():
    trace = beginning()
    whole = clients_of(trace)
    last = trace.members[2]
    tags = [tag for tag in whole.gtids if tag in whole.confirmed[trace.members[0]]]
    lacking = {**whole.journals, last: whole.journals[last] - {tags[3]}}
    _, breaches = judged(trace, replace(whole, journals=lacking), "what_a_group_confirmed_survives")
    assert [(one.told_by, one.member) for one in breaches] == [("r1", "r3")]
    stranger = {**whole.confirmed, last: [*whole.confirmed[last], 10**6]}
    _, breaches = judged(
        trace, replace(whole, confirmed=stranger), "what_a_group_confirmed_survives"
    )
    assert {one.member for one in breaches} == {"r1", "r2", "r3"}


@pytest.mark.long
def test_member_that_was_cut_off_and_confirmed_something_is_found():
    trace = beginning()
    left = next(
        step.left[0] for step in trace.steps if isinstance(step, ViewInstalled) and step.left
    )
    clients = clients_of(trace, cut_off=left)
    verdict, _ = judged(trace, clients, "members_cut_off_confirm_nothing")
    assert verdict is Verdict.HOLDS
    alone = frozenset(clients.confirmed[left][-1:])
    _, breaches = judged(
        trace, replace(clients, confirmed_while_cut_off=alone), "members_cut_off_confirm_nothing"
    )
    assert len(breaches) == 1
