"""Guided campaigns: as repeatable as blind ones, and never out of reach of anything."""

from __future__ import annotations

import json

import pytest

from paraply.campaigning.comparison import BLIND, GUIDED, Comparison, Needed, comparison_lines
from paraply.cli import main
from paraply.mining.batch_runs import NOVEL_MAX, Counts
from paraply.mining.campaign import run_campaign
from paraply.mining.coverage import features_of
from paraply.mining.engines import InProcess
from paraply.mining.steering import BLIND_EVERY, VariedSchedule, steered
from paraply.vocabulary.programs import decode_program
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule
from tests.mining.campaigns import rows_of, small_plan

PLAN = small_plan(histories=90, batch=30, subjects=("applier:logical_clock",), is_guided=True)


@pytest.mark.long
def test_guided_campaign_is_repeatable_and_resumes_to_the_same_table(tmp_path):
    whole = run_campaign(PLAN, str(tmp_path / "whole"), InProcess())
    run_campaign(PLAN, str(tmp_path / "cut"), InProcess(), time_limit_s=0.0)
    resumed = run_campaign(PLAN, str(tmp_path / "cut"), InProcess(), resume=True)
    assert rows_of(tmp_path / "cut", PLAN) == rows_of(tmp_path / "whole", PLAN)
    assert resumed.per_system == whole.per_system


@pytest.mark.long
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
    assert 0 < len(first.counts.novel) <= NOVEL_MAX
    seen = set()
    for program in first.counts.novel:
        schedule = RecordedSchedule(decode_program(program), strict=True)
        features = features_of(system.runner.run(schedule, system.workload))
        assert features - seen
        seen |= features
    again = steered(PLAN, PLAN.batch(0), Counts(features=set(first.counts.features)))
    assert again.counts.novel == []


@pytest.mark.long
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
