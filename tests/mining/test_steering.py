"""Guided campaigns: as repeatable as blind ones, and never out of reach of anything."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import replace

import pytest

from paraply.campaigning.comparison import BLIND, GUIDED, Comparison, Needed, comparison_lines
from paraply.campaigning.files import write_counterexamples
from paraply.cli import main
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.mining.batch_runs import NOVEL_MAX, Counts
from paraply.mining.campaign import read_plan, run_campaign
from paraply.mining.clusters import clusters_of, minimise_all
from paraply.mining.coverage import course_of, features_of
from paraply.mining.engines import InProcess
from paraply.mining.steering import BLIND_EVERY, VariedSchedule, steered
from paraply.mining.store import store_at
from paraply.mining.systems import as_settings
from paraply.reference_impl.mutants import mutant_named
from paraply.vocabulary.biased_schedules import MixedSchedule
from paraply.vocabulary.history_jsonl import read_histories
from paraply.vocabulary.programs import decode_program
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule
from tests.mining.campaigns import rows_of, small_plan

PLAN = small_plan(histories=90, batch=30, subjects=("applier:logical_clock",), is_guided=True)
UNORDERED = "applier:logical_clock_unordered"
DRAWN = small_plan(
    histories=120, batch=30, seed=4, subjects=(UNORDERED,), mutants=(), is_drawn=True,
    given={"rows": "3"}, is_guided=True,
)  # fmt: skip


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return the progress and the rows of a guided campaign that draws."""
    folder = tmp_path_factory.mktemp("drawn")
    progress = run_campaign(DRAWN, str(folder), InProcess())
    return progress, rows_of(folder, DRAWN)


def is_varied(row):
    return row["run"] >= 30 and row["run"] % BLIND_EVERY != 0


@pytest.mark.parametrize("plan", [PLAN, DRAWN], ids=["defaults", "drawn"])
def test_guided_campaign_is_repeatable_and_resumes_to_the_same_table(tmp_path, plan):
    whole = run_campaign(plan, str(tmp_path / "whole"), InProcess())
    run_campaign(plan, str(tmp_path / "cut"), InProcess(), time_limit_s=0.0)
    resumed = run_campaign(plan, str(tmp_path / "cut"), InProcess(), resume=True)
    assert not rows_of(tmp_path / "cut", plan)[0]["run"]
    assert rows_of(tmp_path / "cut", plan) == rows_of(tmp_path / "whole", plan)
    assert resumed.per_system == whole.per_system


def test_blind_runs_of_a_guided_campaign_are_those_of_a_blind_one(tmp_path, drawn):
    blind = replace(DRAWN, is_guided=False)
    run_campaign(blind, str(tmp_path), InProcess())
    same = ("run", "options", "program", "violated", "course")
    guided, plain = (
        [[row[name] for name in same] for row in rows if not is_varied(row)]
        for rows in (drawn[1], rows_of(tmp_path, blind))
    )
    assert guided == plain
    assert len(guided) < 120


def test_varied_run_has_the_options_of_a_program_or_others_and_repeats_from_its_row(drawn):
    (system,) = DRAWN.systems
    earlier, kept, changed = set(), 0, 0
    for row in drawn[1]:
        runner = system.with_settings(row["options"])
        schedule = RecordedSchedule(decode_program(row["program"]), strict=True)
        history = runner.runner.run(schedule, runner.workload)
        assert schedule.is_faithful
        assert (len(history.events), course_of(history)) == (row["events"], row["course"])
        settings = json.loads(row["options"])
        assert settings["rows"] == 3
        if is_varied(row):
            kept += row["options"] in earlier
            changed += row["options"] not in earlier
        earlier.add(row["options"])
    assert kept > changed > 0
    for name in ("transactions", "workers", "stamps", "crashes"):
        assert len({json.loads(row["options"])[name] for row in drawn[1]}) > 1, name


def test_varied_workload_changes_one_value_or_all_that_are_not_given():
    (system,) = DRAWN.systems
    before = system.workload_at(7)
    settings = as_settings(system.runner.settings_of(before))
    old = json.loads(settings)
    differing = Counter()
    for seed in range(400):
        new = json.loads(system.varied(settings, seed))
        assert new["rows"] == 3
        differing[sum(new[name] != old[name] for name in old)] += 1
    assert 200 < differing[0] < 350
    assert differing[1] > 30
    assert sum(count for number, count in differing.items() if number > 2) > 20
    assert PLAN.systems[0].varied("", 7) == ""


def test_breach_of_a_varied_run_is_made_small_with_its_options_and_repeats_by_its_command(
    tmp_path, drawn, capsys
):
    (system,) = DRAWN.systems
    clusters = [one for one in clusters_of(drawn[0]) if one.specimen.settings]
    assert clusters
    found = minimise_all(DRAWN, clusters, InProcess(), smallest_of_system)
    entries = write_counterexamples(store_at(str(tmp_path)), DRAWN, [one for one in found if one])
    assert entries
    for entry in entries:
        assert entry.is_confirmed
        lines = (tmp_path / "counterexamples" / f"{entry.name}.jsonl").read_text().splitlines()
        (history,) = read_histories(lines)
        defaults = {option.name: option.default for option in system.runner.options}
        # Any order of commits needs two workers, and no option.
        assert history.header.options["workers"] == 2
        for name, default in defaults.items():
            value = history.header.options[name]
            is_number = isinstance(value, int) and not isinstance(value, bool)
            assert value == default or (is_number and value < default), name
        assert main(shlex.split(entry.command)[1:]) == 1
        assert entry.prop in capsys.readouterr().out


def test_first_round_is_that_of_a_blind_campaign_and_later_ones_are_not(tmp_path):
    blind = small_plan(histories=90, batch=30, subjects=("applier:logical_clock",))
    tables = []
    for plan, name in ((PLAN, "guided"), (blind, "blind")):
        run_campaign(plan, str(tmp_path / name), InProcess())
        tables.append(
            [(row["run"], row["mutant"], row["program"]) for row in rows_of(tmp_path / name, plan)]
        )
    guided, plain = tables
    assert [row for row in guided if row[0] < 30] == [row for row in plain if row[0] < 30]
    later = [row for row in guided if row[0] >= 30]
    same = set(later) & {row for row in plain if row[0] >= 30}
    blind_runs = [row for row in later if row[0] % BLIND_EVERY == 0]
    assert set(blind_runs) <= same
    assert len(same) < len(later) / 2


def test_novel_programs_reach_features_that_were_not_known():
    system = PLAN.systems[0]
    first = steered(PLAN, PLAN.batch(0), Counts())
    assert 0 < len(first.counts.kept) <= NOVEL_MAX
    seen = set()
    for kept in first.counts.kept:
        assert kept.settings == ""
        schedule = RecordedSchedule(decode_program(kept.program), strict=True)
        features = features_of(system.runner.run(schedule, system.workload))
        assert features - seen
        seen |= features
    again = steered(PLAN, PLAN.batch(0), Counts(features=set(first.counts.features)))
    assert again.counts.kept == []


def test_rows_of_varied_programs_have_no_seed_and_replay_from_their_program(tmp_path):
    run_campaign(PLAN, str(tmp_path), InProcess())
    rows = rows_of(tmp_path, PLAN)
    varied = [row for row in rows if row["seed"] is None]
    assert len(rows) / 4 < len(varied) < len(rows)
    system = PLAN.systems[0]
    for row in [row for row in varied if row["mutant"] == ""][:10]:
        schedule = RecordedSchedule(decode_program(row["program"]), strict=True)
        history = system.runner.run(schedule, system.workload)
        assert schedule.is_faithful
        assert (len(history.events), history.header.seed) == (row["events"], None)


def test_varied_schedule_keeps_a_beginning_and_fits_any_question():
    program = (1, 0, 2, 1, 1, 0, 3, 2)
    kept = []
    for seed in range(200):
        schedule = VariedSchedule(seed, program)
        made = [schedule.choose(count) for count in (2, 1, 2, 3, 2, 2, 2, 4, 3, 5)]
        again = VariedSchedule(seed, program)
        assert made == [again.choose(count) for count in (2, 1, 2, 3, 2, 2, 2, 4, 3, 5)]
        length = 0
        while length < 8 and schedule.choices[length] == program[length]:
            length += 1
        kept.append(length)
    assert max(kept) == 8
    plain = sum(SeededSchedule(seed).choose(2) == program[0] for seed in range(200))
    assert sum(length > 0 for length in kept) > plain


def test_varied_schedule_goes_on_as_the_schedule_that_it_is_given():
    program = (1, 0, 2, 1)
    names = [f"worker {number} applies" for number in range(4)]
    for seed in range(50):
        rest, alone = MixedSchedule(seed), MixedSchedule(seed)
        varied = VariedSchedule(seed, program, rest)
        for _ in range(30):
            varied.choose(names, "step")
        assert [varied.choose(1), varied.choose(["one"])] == [0, "one"]
        for schedule in (varied, alone):
            count = 0 if schedule is varied else len(rest.choices) - 2
            for _ in range(count):
                schedule.choose(names, "step")
            schedule.choose(3)
            schedule.choose_index(5)
        assert alone.choices == rest.choices
        assert varied.choices[len(program) :] == rest.choices[-28:]


def test_comparison_runs_both_ways_on_the_same_seeds(tmp_path, capsys):
    arguments = ["mine", "--compare", "2", "--mutants", "last_committed_off_by_one", "--batch", "5"]
    out = ["--out", str(tmp_path / "out"), "--histories", "60", "--json", "-"]
    assert main([*arguments, *out]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["seeds"] == 2
    histories = result["mutants"]["last_committed_off_by_one"]["histories"]
    assert len(histories["blind"]) == len(histories["guided"]) == 2
    folders = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert folders == ["blind-0", "blind-1", "guided-0", "guided-1"]


@pytest.mark.parametrize("is_drawn", [True, False])
def test_comparison_draws_sizes_and_options_of_mutants_by_its_seeds(tmp_path, is_drawn):
    name = "last_committed_off_by_one"
    words = ["mine", "--compare", "2", "--mutants", name, "--batch", "5", "--histories", "20"]
    out = ["--out", str(tmp_path / "out"), "--json", str(tmp_path / "result.json")]
    main([*words, *out, *([] if is_drawn else ["--defaults"])])
    plans = [read_plan(str(tmp_path / "out" / f"guided-{seed}"))[0] for seed in (0, 1)]
    options = [[plan.systems[0].workload_at(run) for run in range(5)] for plan in plans]
    assert (options[0] != options[1]) == is_drawn
    if not is_drawn:
        assert options[0] == [mutant_named(name).workload] * 5


def test_comparison_counts_only_what_the_first_batch_did_not_find():
    easy, hard = Needed(), Needed()
    easy.histories = {BLIND: [3, 4], GUIDED: [3, 4]}
    hard.histories = {BLIND: [400, 800], GUIDED: [100, 200]}
    for needed in (easy, hard):
        needed.seconds = {BLIND: [1.0], GUIDED: [0.5]}
    comparison = Comparison(seeds=2, batch=50, mutants={"easy": easy, "hard": hard})
    assert list(comparison.hard) == ["hard"]
    assert abs(comparison.mean_ratio() - 4.0) < 1e-9
    text = "\n".join(comparison_lines(comparison))
    assert "1 are found within the first 50 histories" in text
    assert "of 200 histories and more: 4.00" in text
