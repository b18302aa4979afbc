"""Monitors of theorems on recorded rounds: a real group, replicas, and readers of the reference."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from paraply.adapters.live.group.story import history_of_trace
from paraply.models.recorded import group_segments, group_traces, replicas, unordered_groups
from paraply.models.recorded.monitors import MONITORS
from paraply.observing import live_monitors
from paraply.observing.live_monitors import LIVE_MONITORS, monitor_round, monitor_segments
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named, subject_named
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.group_trace import TransactionDelivered
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GtidSet
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.observations import told, update
from tests.conformance.test_recorded_groups import JOINER_COLLECTS, SINGLE_PRIMARY, recorded

LOG = [update(1, 1), update(2, 2), update(3, 1)]
FIRST = replace(MONITORS["P03"], systems=(2, 3))
PAIR = ("no_event_is_applied_twice", "readers_see_prefixes")


def monitored(trace):
    return {one.theorem: one for one in monitor_round(history_of(trace), trace, ())}


def history_of(trace):
    return history_of_trace(trace, seed=0, options={})


@cache
def whole():
    trace = recorded(JOINER_COLLECTS)
    return whole_segments(trace)


def whole_segments(trace, read=unordered_groups.parallel_group):
    run = group_segments.run_of(history_of(trace), trace)
    return {one.name: one for one in group_segments.segments(run, read)}


def changed(step_of, change):
    """Return the recorded group with the first chosen delivery changed, and its number."""
    trace = recorded(JOINER_COLLECTS)
    steps = list(trace.steps)
    at = next(
        n for n, step in enumerate(steps)
        if isinstance(step, TransactionDelivered) and step_of(step)
    )  # fmt: skip
    steps[at] = change(steps[at])
    number = sum(isinstance(step, TransactionDelivered) for step in steps[: at + 1])
    return replace(trace, steps=tuple(steps)), f"T{number}"


def with_bound(bound_of):
    """Return how a delivery's numbers at the members change."""

    def change(step):
        decided = {
            member: replace(one, last_committed=bound_of(one)) if one.sequence_number else one
            for member, one in step.decided.items()
        }
        return replace(step, decided=decided)

    return change


def judged(theorem, segments, name):
    """Return what a monitor says of one segment."""
    chosen = [one for one in segments if one.name.split()[0] == name]
    assert chosen
    return monitor_segments(MONITORS[theorem], chosen, "it")


def numbers(trace):
    return [one for member in trace.members for one in group_traces.numbers(trace, member)]


@pytest.mark.long
def test_recorded_group_is_a_run_where_it_has_what_monitors_need(monkeypatch):
    monkeypatch.setattr(live_monitors, "SEGMENTS_MAX", 60)
    found = monitored(recorded(JOINER_COLLECTS))
    holds = {name for name, one in found.items() if one.verdict is Verdict.HOLDS}
    assert holds == {"P01", "P02", "P03", "P04", "P05", "P06", "P53", "P55"}
    assert all(found[name].steps >= 40 for name in holds)
    for name in found.keys() - holds:
        assert found[name].verdict is Verdict.UNKNOWN
        assert found[name].steps == 0
    assert found.keys() | {"P08", "P50"} == set(LIVE_MONITORS)
    assert found["P53"].steps >= 2_000
    assert "workers start and change rows just before they commit" in found["P53"].said
    assert "left out" not in found["P55"].said
    for name in ("P49", "P54"):
        assert found[name].reason.startswith("r1 commits T47 before T44")
    assert found["P56"].reason == "sessions wait for no acknowledgement"


@pytest.mark.long
def test_segments_have_members_that_leave_and_return():
    actions = Counter(
        action for one in whole().values() for step in one.recorded.steps for action in step.actions
    )
    for action in ("crash", "join", "refuse", "receive", "pass_over", "start", "change_row"):
        assert actions[action] >= 10, action


@pytest.mark.long
@pytest.mark.parametrize("theorem", ["P53", "P55"])
def test_whole_group_whose_number_misses_a_waiting_writer_is_refused(theorem):
    trace = recorded(JOINER_COLLECTS)
    names = {id(step): f"T{n}" for n, step in enumerate(trace.transactions, start=1)}
    rows_of = {
        name: next(one for one in segment.history.transactions if f"T{one.id}" == name).write_set
        for name, segment in whole().items()
    }
    lowered, name = changed(
        lambda step: (
            rows_of.get(names[id(step)])
            and min((one.last_committed or 9 for one in step.decided.values()), default=0) > 8
        ),
        with_bound(lambda _: 1),
    )
    assert monitor_segments(MONITORS[theorem], [whole()[name]], "it").verdict is Verdict.HOLDS
    found = monitor_segments(MONITORS[theorem], [whole_segments(lowered)[name]], "it")
    assert found.verdict is Verdict.VIOLATED
    assert "does not allow" in found.reason
    assert "receive(m=" in found.reason


@pytest.mark.long
def test_whole_group_whose_member_commits_writers_of_a_row_the_other_way_round_is_refused():
    trace, held = recorded(JOINER_COLLECTS), Counter()
    history = history_of(trace)
    for segment in list(whole().values())[::20]:
        *_, before, last = sorted(segment.chosen)
        rows = {one.id: one.write_set for one in segment.history.transactions}
        if not rows[before] & rows[last]:
            continue
        exchange = {before: last, last: before}
        events = tuple(
            event._replace(transaction=exchange.get(event.transaction, event.transaction))
            if event.kind is EventKind.ENGINE_COMMITTED and event.member == "r2" else event
            for event in history.events
        )  # fmt: skip
        run = group_segments.run_of(replace(history, events=events), trace)
        commits = [one for one in run.commits["r2"] if one.kind is EventKind.ENGINE_COMMITTED]
        if exchange.keys().isdisjoint(one.transaction for one in commits):
            continue
        broken = replace(segment, run=run)
        held[monitor_segments(MONITORS["P55"], [broken], "it").verdict] += 1
    assert held[Verdict.VIOLATED]
    assert not held[Verdict.HOLDS]


def with_late_snapshots(trace):
    """Return the segments with a message that shows less than one before of its member."""
    run = group_segments.run_of(history_of(trace), trace)
    found = group_segments.segments(run, unordered_groups.parallel_group)
    return run, [one for one in found if one.chosen & run.late]


def test_session_may_send_a_snapshot_after_a_later_one():
    run, found = with_late_snapshots(recorded(JOINER_COLLECTS))
    assert (len(run.late), run.left_out) == (5, set())
    assert len(found) >= 15
    for one in found:
        assert any(event.kind is EventKind.BEGUN for event in one.history.events)
        assert judged("P55", [one], one.name).verdict is Verdict.HOLDS


@pytest.mark.long
def test_snapshot_that_its_member_never_had_is_refused():
    trace, refused = recorded(JOINER_COLLECTS), 0
    run, found = with_late_snapshots(trace)
    for one in found:
        for late in sorted(one.chosen & run.late):
            seen = [n for n in sorted(one.chosen) if n < late and run.has_seen(late, n)]
            home = run.commits[run.origins[late - 1]]
            commits = {each.transaction: each.delivered for each in home}
            if len(seen) < 2 or commits[seen[0]] == commits[seen[-1]]:
                continue
            step = run.delivered[late - 1]
            lacking = replace(step, snapshot=step.snapshot - GtidSet.of([run.gtids[seen[0] - 1]]))
            steps = tuple(lacking if each is step else each for each in trace.steps)
            segments = whole_segments(replace(trace, steps=steps))
            answer = judged("P55", [segments[one.name]], one.name)
            assert answer.verdict is Verdict.VIOLATED
            refused += "take_snapshot(" in answer.reason
    assert refused >= 5


@pytest.mark.long
def test_group_that_commits_in_one_order_is_followed_by_p54_too(monkeypatch):
    monkeypatch.setattr(live_monitors, "SEGMENTS_MAX", 20)
    trace = recorded(SINGLE_PRIMARY)
    first = replace(trace, steps=trace.steps[:150])
    found = monitored(first)
    for name in ("P49", "P53", "P54", "P55"):
        assert found[name].verdict is Verdict.HOLDS, found[name].reason
        assert found[name].steps >= 200


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("theorem", ["P01", "P04"])
def test_number_below_that_of_the_last_writer_is_refused(theorem):
    trace = recorded(JOINER_COLLECTS)
    needed = {
        one.name.split()[0] for one in numbers(trace)
        if len(one.recorded.steps) == 2 and not one.recorded.start["empty"]
        and one.recorded.steps[-1].parameters["new_lc"] == 2
    }  # fmt: skip
    delivered = {id(step): f"T{n}" for n, step in enumerate(trace.transactions, start=1)}
    lowered, name = changed(
        lambda step: delivered[id(step)] in needed and step.items, with_bound(lambda _: 1)
    )
    assert judged(theorem, numbers(trace), name).verdict is Verdict.HOLDS
    found = judged(theorem, numbers(lowered), name)
    assert found.verdict is Verdict.VIOLATED
    assert "does not allow step 2: certify(new_lc=1" in found.reason


def firsts(trace, change=lambda member, commits: commits):
    """Return the segments of P03 by name, with changed logs of the members."""
    run = group_segments.run_of(history_of(trace), trace)
    return {
        one.name.replace(uuid, member): one
        for uuid, member in zip(trace.members, run.names, strict=True)
        for one in group_traces.firsts(trace, uuid, change(member, run.committed(member)))
    }


def by_p03(segment):
    return monitor_segments(FIRST, [segment], "it")


@pytest.mark.long
def test_first_transaction_after_each_start_is_followed_by_p03():
    found = firsts(recorded(JOINER_COLLECTS))
    assert list(found) == ["T8 at r1", "T1 at r2", "T512 at r2", "T1 at r3"]
    for one in found.values():
        assert by_p03(one).verdict is Verdict.HOLDS
    assert len(found["T512 at r2"].recorded.steps) == 18


@pytest.mark.long
@pytest.mark.parametrize("other", [199, 513])
def test_member_that_commits_its_first_transaction_beside_another_is_refused_by_p03(other):
    def exchanged(member, commits):
        if member != "r2":
            return commits
        exchange = {512: other, other: 512}
        return [exchange.get(one, one) for one in commits]

    one = firsts(recorded(JOINER_COLLECTS), exchanged)["T512 at r2"]
    found = by_p03(one)
    assert found.verdict is Verdict.VIOLATED
    assert "does not allow" in found.reason
    assert "finish(" in found.reason


def test_number_that_misses_the_first_transaction_is_refused_by_p03():
    trace, name = changed(
        lambda step: any(one.last_committed == 2 for one in step.decided.values()),
        with_bound(lambda _: 1),
    )
    assert name == "T2"
    found = by_p03(firsts(trace)["T1 at r2"])
    assert found.verdict is Verdict.VIOLATED
    assert "does not allow step 2: certify(new_lc=1" in found.reason


def test_group_without_a_recorded_start_is_unknown_to_p03():
    trace = recorded(JOINER_COLLECTS)
    trace = replace(trace, steps=trace.steps[:2])
    found = monitored(trace)["P03"]
    assert found.verdict is Verdict.UNKNOWN
    assert found.reason == (
        "the recording does not have a member's first remote transaction after a start"
    )


def test_barrier_that_does_not_wait_for_the_one_before_is_refused():
    trace, name = changed(
        lambda step: (
            not step.items
            and not step.is_empty
            and max((one.last_committed or 0 for one in step.decided.values()), default=0) > 2
        ),
        with_bound(lambda one: one.sequence_number - 2),
    )
    found = judged("P02", numbers(trace), name)
    assert found.verdict is Verdict.VIOLATED
    assert found.reason.startswith(name)


def test_second_writer_that_had_not_seen_the_first_is_refused():
    seen = {one.name for one in group_traces.certifications(recorded(JOINER_COLLECTS))}
    places = {id(s): f"T{n}" for n, s in enumerate(recorded(JOINER_COLLECTS).transactions, 1)}
    trace, name = changed(
        lambda step: step.decided and places[id(step)] in seen,
        lambda step: replace(step, snapshot=EMPTY_GTID_SET),
    )
    found = judged("P05", list(group_traces.certifications(trace)), name)
    assert found.verdict is Verdict.VIOLATED
    assert "certify_positively" in found.reason


def test_refusal_of_one_that_had_seen_all_writers_is_refused():
    trace = recorded(JOINER_COLLECTS)
    places = {id(step): f"T{n}" for n, step in enumerate(trace.transactions, 1)}
    names = {
        one.name for one in group_traces.certifications(trace)
        if one.recorded.steps[-1].actions == ("certify_positively",)
    }  # fmt: skip
    changed_trace, name = changed(
        lambda step: places[id(step)] in names, lambda step: replace(step, decided={})
    )
    found = judged("P06", list(group_traces.certifications(changed_trace)), name)
    assert found.verdict is Verdict.VIOLATED
    assert "certify_negatively" in found.reason


@pytest.mark.parametrize(
    ("done", "verdict"),
    [(LOG, Verdict.HOLDS), (LOG[:1], Verdict.HOLDS), ([*LOG, LOG[0]], Verdict.VIOLATED),
     ([], Verdict.UNKNOWN)],
)  # fmt: skip
def test_each_replica_is_followed_by_exactly_once(done, verdict):
    found = {one.theorem: one for one in monitor_round(told(LOG, done), None, PAIR)}
    assert found["P50"].verdict is verdict
    assert property_named(PAIR[0]).violations(told(LOG, done)) == () or (
        verdict is Verdict.VIOLATED
    )


def test_reads_of_several_domains_are_unknown():
    log = [update(1, 1), update(2, 2, domain=5)]
    found = {one.theorem: one for one in monitor_round(told(log, log[::-1]), None, PAIR)}
    assert found["P08"].verdict is Verdict.UNKNOWN
    assert "several domains" in found["P08"].reason
    assert found["P50"].verdict is Verdict.HOLDS


def test_round_of_which_neither_is_asked_has_no_monitors():
    assert list(monitor_round(told(LOG, LOG), None, ())) == []


def test_reads_are_judged_as_the_property_judges_them():
    verdicts = Counter()
    for dialect in ("logical_clock", "logical_clock_unordered"):
        workload = Workload(transactions=8, rows=4, dialect=dialect, options={"workers": 4})
        for schedule in random_schedules(3, 25):
            history = subject_named("applier").run(schedule, workload)
            (member,) = history.members
            reads = list(replicas.snapshots(history, member))
            found = monitor_segments(MONITORS["P08"], reads, "a read")
            verdicts[dialect, found.verdict] += 1
            broken = property_named("readers_see_prefixes").violations(history)
            assert (found.verdict is Verdict.VIOLATED) is bool(broken)
            assert (found.verdict is Verdict.UNKNOWN) is (not reads)
    assert verdicts["logical_clock", Verdict.HOLDS]
    assert not verdicts["logical_clock", Verdict.VIOLATED]
    assert verdicts["logical_clock_unordered", Verdict.VIOLATED]
