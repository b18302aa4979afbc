"""Campaigns that draw each run: sizes and options are stored, and known breaches have causes."""

from __future__ import annotations

import json

import pytest

from paraply.campaigning.files import write_counterexamples
from paraply.campaigning.result import judge
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.exploring.explore import explore
from paraply.mining.campaign import run_campaign
from paraply.mining.clusters import clusters_of, minimise_all
from paraply.mining.drawing import Drawing, drawn_schedules
from paraply.mining.engines import InProcess
from paraply.mining.plan import Plan, plan_from_json
from paraply.mining.store import store_at
from paraply.mining.systems import Draws, systems_of
from paraply.properties.campaign import content_digest
from paraply.properties.registry import property_named
from paraply.reference_impl.applier.subject import APPLIER
from paraply.reference_impl.subject import SIZES, Cause, Workload
from paraply.vocabulary.history_jsonl import read_histories
from paraply.vocabulary.programs import decode_program
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.verdict import Verdict
from tests.mining.campaigns import rows_of

UNORDERED = "logical_clock_unordered"
ORDER = "engine_commits_follow_the_log"


def drawn_plan(*subjects, histories=60, seed=4, **given):
    systems = systems_of(subjects, [], given, draw_seed=seed)
    return Plan(systems=systems, histories=histories, seed=seed, batch_histories=20)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """Return a campaign's plan, its progress and its rows."""
    plan = drawn_plan(f"applier:{UNORDERED}", "certifier:mysql_8_4", rows="2", workers="3")
    folder = tmp_path_factory.mktemp("drawn")
    progress = run_campaign(plan, str(folder), InProcess())
    return plan, progress, rows_of(folder, plan)


@pytest.mark.long
def test_program_and_options_of_a_row_repeat_its_run(campaign):
    plan, _, rows = campaign
    runners = {system.name: system.runner for system in plan.systems}
    assert len(rows) == 120
    for row in rows:
        settings = json.loads(row["options"])
        workload = Workload(
            dialect=row["dialect"],
            options={name: value for name, value in settings.items() if name not in SIZES},
            **{size: settings[size] for size in SIZES},
        )
        schedule = RecordedSchedule(decode_program(row["program"]), strict=True)
        history = runners[row["system"]].run(schedule, workload)
        assert len(history.events) == row["events"]
        broken = {name for name in row["violated"] if property_named(name).violations(history)}
        assert broken == set(row["violated"])


def test_what_is_given_holds_for_every_run_and_the_rest_differs(campaign):
    _, _, rows = campaign
    settings = [json.loads(row["options"]) for row in rows if row["subject"] == "applier"]
    assert {one["rows"] for one in settings} == {2}
    assert {one["workers"] for one in settings} == {3}
    for name in ("transactions", "members", "stamps", "crashes", "extra_locks"):
        assert len({one[name] for one in settings}) > 1, name


def test_runs_are_those_that_explore_draws(campaign):
    plan, _, rows = campaign
    (system,) = (one for one in plan.systems if one.subject == "applier")
    drawing = Drawing(subject=APPLIER, given=system.workload, sizes=frozenset({"rows"}))
    digests = [content_digest(drawing.run(schedule)) for schedule in drawn_schedules(plan.seed, 60)]
    with system.opened() as make_history:
        programs = [row["program"] for row in rows if row["subject"] == "applier"]
        again = [
            content_digest(make_history(RecordedSchedule(decode_program(program)), run))
            for run, program in enumerate(programs)
        ]
    assert again == digests


def test_stored_plan_is_read_as_it_was_and_nonsense_is_refused():
    plan = drawn_plan("applier:database", rows="2")
    assert plan_from_json(json.loads(json.dumps(plan.as_json()))) == plan
    for draws in (
        {"seed": 1},
        {"seed": "1", "sizes": []},
        {"seed": 1, "sizes": ["crashes"]},
        {"seed": 10**4000, "sizes": []},
    ):
        value = plan.as_json()
        value["systems"][0]["draws"] = draws
        with pytest.raises(ValueError, match="draws"):
            plan_from_json(value)


def test_breach_that_is_known_of_drawn_options_only_is_no_violation(campaign):
    _, progress, rows = campaign
    expected = {name for row in rows for name in row["expected"]}
    assert "logged_numbers_rise_above_last_committed" in expected
    assert not expected & {name for row in rows for name in row["violated"]}
    result = judge(progress, allow_expected=True)[0]
    assert "known of drawn options: " in result.note
    assert result.verdict is not Verdict.VIOLATED


@pytest.mark.long
def test_known_breach_without_its_cause_is_a_violation_and_is_made_small(tmp_path, monkeypatch):
    never = Cause("something that never happens", lambda _: False)
    monkeypatch.setattr(type(APPLIER), "causes", {**APPLIER.causes, ORDER: never})
    plan = drawn_plan(f"applier:{UNORDERED}", rows="2", workers="3")
    progress = run_campaign(plan, str(tmp_path), InProcess())
    result = judge(progress, allow_expected=True)[0]
    assert result.verdict is Verdict.VIOLATED
    assert result.note == f"breaks {ORDER}"
    clusters = [one for one in clusters_of(progress, most=1) if one.prop == ORDER]
    assert [one.is_unexplained for one in clusters] == [True]
    found = [one for one in minimise_all(plan, clusters, InProcess(), smallest_of_system) if one]
    (entry,) = write_counterexamples(store_at(str(tmp_path)), plan, found)
    assert entry.is_confirmed
    assert not entry.is_expected


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("seed", [0, 1])
def test_options_of_a_small_counterexample_have_their_default_unless_it_needs_them(seed):
    given = Workload(dialect=UNORDERED)
    result = explore(
        APPLIER,
        given,
        [property_named(ORDER)],
        drawn_schedules(seed, 40),
        seed=seed,
        is_named=True,
        drawing=Drawing(subject=APPLIER, given=given),
    )
    (finding,) = result.findings
    assert finding.smallest is not None
    # Any order of commits needs two transactions and two workers, and no option at all.
    defaults = {option.name: option.default for option in APPLIER.options}
    settings = APPLIER.options_of(finding.smallest.workload)
    for name, value in settings.items():
        is_number = isinstance(value, int) and not isinstance(value, bool)
        assert value == defaults[name] or (is_number and value < defaults[name]), name
    assert settings["workers"] == 2


def test_nothing_is_drawn_without_a_seed():
    (system,) = systems_of(["applier:database"], [], {})
    assert system.draws is None
    assert system.workload_at(7) == system.workload
    (drawn,) = systems_of(["applier:database"], [], {}, draw_seed=5)
    assert drawn.draws == Draws(seed=5)
    assert drawn.workload_at(7) == drawn.workload_at(7) != drawn.workload_at(8)


def test_counterexample_of_a_drawn_run_is_stored_with_its_own_options(tmp_path):
    plan = drawn_plan(f"applier:{UNORDERED}", histories=20)
    progress = run_campaign(plan, str(tmp_path), InProcess())
    clusters = [one for one in clusters_of(progress, most=1) if one.prop == ORDER]
    (small,) = minimise_all(plan, clusters, InProcess(), smallest_of_system)
    store = store_at(str(tmp_path))
    (entry,) = write_counterexamples(store, plan, [small])
    lines = store.read(f"counterexamples/{entry.name}.jsonl").decode().splitlines()
    (history,) = read_histories(lines)
    assert property_named(ORDER).violations(history)
    assert history.header.options["rows"] == small.system.workload.rows
