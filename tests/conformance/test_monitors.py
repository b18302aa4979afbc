"""A silent monitor implies the property; a breach of the property makes the monitor speak."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from ci.pages.proofs.reference_runs import RUNS
from paraply.mining.drawing import SEEDS, drawn_schedule, drawn_workload
from paraply.models.recorded.monitors import MONITORS, monitor_named, theorem_of
from paraply.properties.search import random_schedules
from paraply.reference_impl.mutants import registered_mutants
from paraply.reference_impl.subject import Workload, subject_named
from paraply.registries import mutant_named, property_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.verdict import Verdict
from tests.conformance.pairs import PAIRS

PAIR_OF = {
    "P01": "timestamps", "P02": "timestamps", "P03": "timestamps", "P04": "timestamps",
    "P05": "certification in a group", "P06": "certification in a group",
    "P07": "commit order", "P08": "commit order", "P10": "semi-sync, recovered wait",
    "P11": "semi-sync, recovered wait", "P12": "semi-sync, recovered wait",
    "P13": "semi-sync, recovered wait", "P16": "bounds on a replica", "P17": "restart",
    "P18": "restart", "P19": "position", "P22": "low-water mark", "P30": "semi-sync, barred",
    "P50": "auto-position, crashes", "P49": "workers of a group", "P53": "workers of a group",
    "P54": "workers of a group", "P55": "workers in any order",
    "P56": "sessions of a group that wait",
}  # fmt: skip
"""The followed subject of each monitor."""
OF_A_GROUP = {"P49", "P53", "P54", "P55", "P56"}
"""Those of whole groups, whose counterexamples the reference does not run."""
ALSO = {
    "P17": ("applied_exactly_once",),
    "P19": ("position_covers_all_that_is_applied",),
    "P49": ("stable_set_is_executed_everywhere",),
    "P53": ("conflicting_transactions_are_ordered", "changes_land_as_certified"),
    "P54": ("changes_land_as_certified", "members_show_prefixes_of_one_order"),
    "P55": ("conflicting_transactions_are_ordered", "members_start_as_they_stamped"),
    "P56": ("own_commits_wait_for_other_members",),
}
"""What else silence implies."""


def breaches(theorem, history):
    names = (MONITORS[theorem].prop, *ALSO.get(theorem, ()))
    return [one for name in names for one in property_named(name).violations(history)]


def healthy(theorem, runs, seed=0, **sizes):
    pair = PAIRS[PAIR_OF[theorem]]
    for schedule in random_schedules(seed, runs):
        yield subject_named(pair.subject).run(schedule, replace(pair.workload, **sizes))


def mutated(theorem, runs):
    pair = PAIRS[PAIR_OF[theorem]]
    for mutant in registered_mutants():
        if mutant.of == pair.subject:
            for schedule in random_schedules(0, runs):
                for workload in (pair.workload, mutant.workload):
                    yield mutant.subject.run(schedule, workload)


def damaged(history, random):
    """Return the history with one event dropped, repeated or exchanged with another."""
    events = list(history.events)
    at, other = (random.randrange(len(events)) for _ in range(2))
    match random.choice(("drop", "repeat", "exchange")):
        case "drop":
            del events[at]
        case "repeat":
            events.insert(max(at, other), events[min(at, other)])
        case "exchange":
            events[at], events[other] = events[other], events[at]
    return replace(history, events=tuple(one._replace(time=now) for now, one in enumerate(events)))


def test_every_monitor_is_tested():
    assert PAIR_OF.keys() == MONITORS.keys()


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("theorem", MONITORS)
def test_healthy_runs_are_silent(theorem):
    found = [MONITORS[theorem].judge(history) for history in healthy(theorem, 8)]
    # A run may end before anything is received, read or answered.
    decided = [one.verdict for one in found if not one.reason.endswith(" events")]
    assert {*decided} == {Verdict.HOLDS}
    assert len(decided) >= 5


@pytest.mark.long(each=30)
@pytest.mark.parametrize("dialect", ["wl8440", "mysql_8_3", "mysql_9_7"])
@pytest.mark.parametrize("subject", ["certifier", "composed", "group"])
def test_no_drawn_healthy_run_is_violated(subject, dialect):
    random, said, verdicts = Random(f"{subject} {dialect}"), subject_named(subject), Counter()
    for _ in range(40):
        workload = drawn_workload(said, dialect, random)
        history = said.run(drawn_schedule(random.randrange(SEEDS)), workload)
        for theorem in sorted(OF_A_GROUP):
            found = MONITORS[theorem].judge(history)
            assert found.verdict is not Verdict.VIOLATED, f"{theorem}: {found.reason}"
            verdicts[found.verdict] += 1
    assert verdicts[Verdict.UNKNOWN]
    assert subject == "certifier" or verdicts[Verdict.HOLDS]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"joins": 0, "sessions": 3}, "this group does not promise"),
        (
            {"single_primary": True, "preemptive_rows_threshold": 1, "broadcasts": 3},
            "collects preemptively",
        ),
    ],
)
def test_assumption_that_a_run_does_not_keep_is_the_reason(options, reason):
    group = subject_named("group")
    workload = Workload(transactions=9, rows=2, members=3, dialect="mysql_8_3", options=options)
    runs = (group.run(schedule, workload) for schedule in random_schedules(0, 200))
    found = next(one for one in map(MONITORS["P49"].judge, runs) if reason in one.reason)
    assert found.verdict is Verdict.UNKNOWN


@pytest.mark.long(quick=7)
@pytest.mark.parametrize("theorem", MONITORS)
def test_silence_implies_the_property_on_damaged_runs(theorem):
    random, verdicts = Random(theorem), Counter()
    for history in healthy(theorem, 3 if theorem in OF_A_GROUP else 8, seed=7):
        for _ in range(3):
            changed = damaged(history, random)
            found = MONITORS[theorem].judge(changed)
            verdicts[found.verdict] += 1
            assert not (found.verdict is Verdict.HOLDS and breaches(theorem, changed))
    assert verdicts[Verdict.HOLDS]
    assert verdicts[Verdict.UNKNOWN] + verdicts[Verdict.VIOLATED]


@pytest.mark.long(each=30)
@pytest.mark.parametrize("theorem", MONITORS)
def test_mutants_that_break_the_property_make_the_monitor_speak(theorem):
    runs = 8 if theorem in OF_A_GROUP else 2
    broken = [history for history in mutated(theorem, runs) if breaches(theorem, history)]
    verdicts = {MONITORS[theorem].judge(history).verdict for history in broken}
    assert Verdict.HOLDS not in verdicts
    assert theorem not in OF_A_GROUP or Verdict.VIOLATED in verdicts


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("theorem", sorted(MONITORS.keys() - OF_A_GROUP))
def test_counterexamples_of_the_theorem_make_the_monitor_speak(theorem):
    spoken = [
        MONITORS[theorem].judge(RUNS[counter].run()).verdict
        for counter in theorem_of(theorem).delimited_by
        if counter in RUNS and RUNS[counter].reading is not None
    ]
    assert spoken
    assert Verdict.HOLDS not in spoken


SESSIONS = ("sessions of a group that wait", "composed_commit_does_not_wait")
CLIENTS = ("clients of a group that wait", "composed_answer_does_not_wait")


@pytest.mark.parametrize(
    ("pair", "mutant", "runs"),
    [
        (*SESSIONS, range(4)),
        pytest.param(*SESSIONS, range(24), marks=pytest.mark.long(each=1)),
        (*CLIENTS, range(12, 16)),
        pytest.param(*CLIENTS, range(24), marks=pytest.mark.long(each=1)),
    ],
)
def test_group_that_does_not_wait_is_violated(pair, mutant, runs):
    schedules = list(random_schedules(0, runs.stop))[runs.start :]
    for subject, is_silent in (
        (subject_named("composed"), True),
        (mutant_named(mutant).subject, False),
    ):
        histories = [subject.run(one, PAIRS[pair].workload) for one in schedules]
        found = [MONITORS["P56"].judge(history) for history in histories]
        spoken = [one.reason for one in found if one.verdict is Verdict.VIOLATED]
        assert (not spoken) is is_silent
        assert all("hear(" in one and "for any a" in one for one in spoken)


@pytest.mark.long
def test_group_with_fewer_members_than_acknowledge_is_unknown():
    options = {"acknowledgements": 2, "departures": 2, "joins": 0}
    workload = Workload(transactions=6, rows=3, members=3, dialect="mysql_9_7", options=options)
    runs = (subject_named("composed").run(one, workload) for one in random_schedules(0, 20))
    found = [MONITORS["P56"].judge(run) for run in runs]
    assert not any(one.verdict is Verdict.VIOLATED for one in found)
    assert any("fewer members remain" in one.reason for one in found)


def test_breach_names_its_event_and_the_guard():
    history = RUNS["C11"].run()
    found = monitor_named("p07").judge(history)
    assert found.verdict is Verdict.VIOLATED
    assert "requires (= p head)" in found.reason
    number = int(found.reason.split(",")[0].removeprefix("event "))
    before = replace(history, events=history.events[: number - 1])
    assert monitor_named("P07").judge(before).verdict is not Verdict.VIOLATED


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("theorem", sorted(OF_A_GROUP))
def test_stable_set_that_nobody_has_certified_is_unknown(theorem):
    for history in healthy("P49", 40, transactions=8):
        collections = history.events_of(EventKind.GARBAGE_COLLECTED)
        early = next((one for one in collections if one.transactions), None)
        if early is not None:
            break
    place = next(n for n, one in enumerate(history.events) if one.kind is EventKind.SUBMITTED)
    events = (*history.events[:place], early, *history.events[place:])
    changed = replace(history, events=events)
    assert breaches("P49", changed)
    said = MONITORS[theorem].judge(changed)
    assert said.verdict is Verdict.UNKNOWN
    assert "for stable before it is certified" in said.reason


def test_missing_commit_is_named():
    history = next(healthy("P07", 1))
    first = next(e for e in history.events if e.kind.value == "engine_committed")
    kept = tuple(event for event in history.events if event is not first)
    found = MONITORS["P07"].judge(replace(history, events=kept))
    assert found.verdict is Verdict.UNKNOWN
    assert "engine_commit(p=0)" in found.reason
    assert "not recorded" in found.reason


def test_reading_that_ends_early_is_unknown():
    history = next(healthy("P54", 1))
    place, sent = next((n, e) for n, e in enumerate(history.events) if e.kind.value == "submitted")
    report = sent._replace(kind=EventKind.EXECUTED_SET_BROADCAST, transaction=None)
    events = (*history.events[: place + 1], report, report, *history.events[place + 1 :])
    found = MONITORS["P54"].judge(replace(history, events=events))
    assert found.verdict is Verdict.UNKNOWN
    assert f"{sent.member} has two reports under way" in found.reason


@pytest.mark.long
def test_number_of_a_member_that_misses_a_writer_is_named():
    for history in healthy("P53", 40, transactions=8):
        for number, event in enumerate(history.events):
            stamp = event.timestamp
            if stamp is None or stamp.last_committed < 2:
                continue
            lowered = event._replace(timestamp=LogicalTimestamp.of(1, stamp.sequence_number))
            events = (*history.events[:number], lowered, *history.events[number + 1 :])
            changed = replace(history, events=events)
            if not property_named("conflicting_transactions_are_ordered").violations(changed):
                continue
            found = MONITORS["P53"].judge(changed)
            assert found.verdict is Verdict.VIOLATED
            named, said = found.reason.split(", ", 1)
            assert int(named.removeprefix("event ")) > number
            assert said.startswith(f"certified of T{event.transaction}")
            return
    raise AssertionError("no such event")


def test_theorem_without_monitor_is_an_error():
    with pytest.raises(ParaplyError, match="P25"):
        monitor_named("P25")
