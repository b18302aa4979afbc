"""Mutants judged by their own tests, in a process of its own because that runs pytest."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ci.mutation.judges import called_at_import
from paraply.mutating.patches import key_of
from tests.builders.seeds import SEEDS
from tests.mutating import sample


def judge(folder, count, seed=1):
    command = [sys.executable, "-m", "tests.mutating.judging_the_sample"]
    options = ["--store", str(folder), "--sample", str(count), "--seed", str(seed)]
    return subprocess.run(
        [*command, *options], check=True, capture_output=True, text=True, timeout=120
    ).stdout


def fates_in(folder):
    lines = (folder / "judges.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    return judge(folder, 1_000), {(one["place"], one["what"]): one for one in fates_in(folder)}


@pytest.mark.long
def test_changes_that_an_example_or_a_drawn_input_shows_are_caught(judged):
    _, fates = judged
    strict = fates["Account.may_take", "`amount <= self.balance` → `amount < self.balance`"]
    assert strict["fate"] == "caught"
    assert strict["where"].endswith("test_last_cent_may_be_taken")
    assert fates["greater", "`one > other` → `one <= other`"]["fate"] == "caught"


@pytest.mark.long
def test_equivalent_change_is_the_same_on_random_inputs(judged):
    _, fates = judged
    assert fates["greater", "`one > other` → `one >= other`"]["fate"] == "same"


@pytest.mark.long
def test_change_of_what_no_passing_test_calls_survives(judged):
    output, fates = judged
    assert "test_that_fails_without_a_change" in output
    for place in ("untested", "Account.is_empty"):
        found = [one for (function, _), one in fates.items() if function == place]
        assert found
        assert {one["fate"] for one in found} == {"survived"}


@pytest.mark.long
def test_functions_that_only_run_at_import_are_left_out(judged):
    _, fates = judged
    assert key_of(sample.early.__code__) in called_at_import([sample.__name__])
    assert key_of(sample.untested.__code__) not in called_at_import([sample.__name__])
    assert not [place for place, _ in fates if place == "early"]


@pytest.mark.long
def test_later_run_continues_and_keeps_the_order(tmp_path, judged):
    judge(tmp_path, 3)
    first = fates_in(tmp_path)
    judge(tmp_path, 6)
    both = fates_in(tmp_path)
    assert both[:3] == first
    assert len({one["name"] for one in both}) == len(both) == 6
    _, fates = judged
    assert all(one["fate"] == fates[one["place"], one["what"]]["fate"] for one in both)


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_sample_of_published_mutants_is_still_caught(seed):
    command = [sys.executable, "-m", "ci.mutation.published", "--sample", "6"]
    done = subprocess.run(
        [*command, "--seed", str(seed)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-2_000:]}"
    assert "published mutants judged again" in done.stdout
