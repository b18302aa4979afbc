"""The sketch of different histories: its error, its merging, and the kernels' part in it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import reduce
from operator import or_

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.campaigning.result import judge
from paraply.mining.batch_runs import Counts, counts_from_json
from paraply.mining.campaign import read_campaign, run_campaign
from paraply.mining.compiled import columns as C
from paraply.mining.compiled.applier import run_fast, run_many, settings_of
from paraply.mining.compiled.course_kernel import course_digest, note_digest
from paraply.mining.coverage import course_of
from paraply.mining.engines import InProcess
from paraply.mining.sketches import (
    BUCKETS,
    LEVELS,
    SKETCH_BYTES,
    STANDARD_ERROR,
    as_bytes,
    estimated,
    from_bytes,
    seen,
)
from paraply.mining.sql import query_campaign
from paraply.reporting.mining_text import mining_json, mining_text
from paraply.vocabulary.schedule import RecordedSchedule
from tests.mining.campaigns import rows_of, small_plan
from tests.mining.test_compiled import ORDERED, UNORDERED, WORKLOADS, system

DIGESTS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=40)
ERRORS = 4
"""Standard errors; a fair sketch is further off once in 16,000 times."""


def sketch_of(digests):
    return reduce(or_, map(seen, digests), 0)


@given(DIGESTS, DIGESTS, DIGESTS)
def test_merging_is_associative_commutative_and_idempotent(first, second, third):
    counts = [Counts(courses=sketch_of(digests)) for digests in (first, second, third)]
    whole = sketch_of([*first, *second, *third])
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2, 1)):
        merged = Counts()
        for place in order:
            merged.take(counts_from_json(counts[place].as_json()))
        assert merged.courses == whole
    right = Counts(courses=counts[1].courses)
    right.take(counts[2])
    right.take(counts[0])
    assert right.courses == whole
    assert from_bytes(as_bytes(whole)) == whole


@pytest.mark.parametrize("number", [1, 30, 1_000, 30_000])
def test_estimate_is_within_its_error(number):
    rng = random.Random(number)
    sketch = sketch_of(rng.getrandbits(64) for _ in range(number))
    assert abs(estimated(sketch) / number - 1) < ERRORS * STANDARD_ERROR
    # Half of the histories seen again change nothing; as many others do.
    rng = random.Random(number)
    assert sketch | sketch_of(rng.getrandbits(64) for _ in range(number // 2)) == sketch
    if number >= 1_000:
        twice = sketch | sketch_of(rng.getrandbits(64) for _ in range(2 * number))
        assert abs(estimated(twice) / number - 1) > 2 * ERRORS * STANDARD_ERROR


def test_large_numbers_are_estimated_from_levels_drawn_for_them():
    """Draw each bit by its chance for 10^10 digests, which cannot be drawn one by one."""
    number, rng = 10**10, random.Random(1)
    sketch = 0
    for level in range(LEVELS):
        chance = 2.0 ** -min(level + 1, LEVELS - 1) / BUCKETS
        for bucket in range(BUCKETS):
            if rng.random() >= np.exp(-number * chance):
                sketch |= 1 << (bucket * LEVELS + level)
    assert abs(estimated(sketch) / number - 1) < ERRORS * STANDARD_ERROR


def test_empty_full_and_malformed_sketches():
    assert estimated(0) == 0
    assert estimated((1 << 8 * SKETCH_BYTES) - 1) == float("inf")
    with pytest.raises(ValueError, match="4096 bytes"):
        from_bytes(b"\0")


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("words", WORKLOADS, ids=range(len(WORKLOADS)))
@pytest.mark.parametrize("name", [ORDERED, UNORDERED])
def test_kernels_tell_apart_the_courses_that_the_reference_tells_apart(name, words):
    one = system(name, words | {"transactions": "3"})
    settings = settings_of(one)
    pairs = set()
    for seed in range(150):
        fast = run_fast(settings, seed=seed)
        history = one.runner.run(RecordedSchedule(fast.choices), one.workload)
        digest = course_digest(settings, fast.room, len(fast.events))
        pairs.add((course_of(history), digest))
        cells = np.zeros(SKETCH_BYTES, np.uint8)
        note_digest(cells, digest)
        assert from_bytes(cells.tobytes()) == seen(digest)
    courses, digests = map(set, zip(*pairs, strict=True))
    assert len(pairs) == len(courses) == len(digests)
    # Some courses occur twice and most do not, so both kinds of error would show.
    assert 20 < len(pairs) < 150


def test_kernels_estimate_what_they_could_count():
    settings = settings_of(system(UNORDERED, {}))
    digests = set()
    for seed in range(4_000):
        fast = run_fast(settings, seed=seed)
        digests.add(course_digest(settings, fast.room, len(fast.events)))
    *_, sketch = run_many(settings, 0, 4_000)
    assert sketch == sketch_of(digests)
    assert abs(estimated(sketch) / len(digests) - 1) < ERRORS * STANDARD_ERROR


@pytest.mark.long
def test_many_courses_of_kernels_are_estimated_within_the_error():
    """Digests of real histories are as even as random ones."""
    settings = settings_of(system(ORDERED, {"transactions": "12", "rows": "6", "workers": "4"}))
    first, second = (run_many(settings, at, 20_000)[2] for at in (0, 20_000))
    # Histories of this size do not recur.
    for sketch, number in ((first, 20_000), (second, 20_000), (first | second, 40_000)):
        assert abs(estimated(sketch) / number - 1) < ERRORS * STANDARD_ERROR


@pytest.mark.long
def test_sketch_of_a_campaign_is_that_of_its_rows_however_it_is_cut(tmp_path):
    plans = [small_plan(batch=batch) for batch in (7, 20, 60)]
    found = []
    for plan in plans:
        place = tmp_path / str(plan.batch_histories)
        run_campaign(plan, str(place), InProcess())
        found.append([counts.courses for counts in read_campaign(str(place)).per_system])
    assert found[0] == found[1] == found[2]
    rows = rows_of(tmp_path / "20", plans[1])
    for one, sketch in zip(plans[1].systems, found[1], strict=True):
        assert sketch == sketch_of(row["course"] for row in rows if row["system"] == one.name)


@pytest.mark.long
def test_report_and_view_show_the_estimate(tmp_path):
    plan = small_plan()
    progress = run_campaign(plan, str(tmp_path), InProcess())
    results = judge(progress)
    text = mining_text(progress, results, [])
    found = json.loads(mining_json(progress, results, [], engine="", with_times=False))
    _, rows = query_campaign(str(tmp_path), "SELECT system, different FROM systems")
    stored = {row["system"]: set() for row in rows_of(tmp_path, plan)}
    for row in rows_of(tmp_path, plan):
        stored[row["system"]].add(row["course"])
    assert {name for name, _ in rows} == stored.keys()
    assert "different (±4 %)" in text
    for name, different in rows:
        assert abs(different - len(stored[name])) <= 2
        assert {"name": name, "different": different}.items() <= next(
            one for one in found["systems"] if one["name"] == name
        ).items()


def test_state_of_an_earlier_version_has_no_sketch():
    value = Counts(histories=3, courses=sketch_of([1, 2])).as_json()
    assert counts_from_json(value).different == 2
    del value["courses"]
    assert counts_from_json(value).different == 0


@pytest.mark.long
def test_interrupted_campaign_has_the_sketch_of_a_whole_one(tmp_path):
    plan = small_plan(batch=10)
    whole = run_campaign(plan, str(tmp_path / "whole"), InProcess())

    def stop(progress):
        if progress.batches == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_campaign(plan, str(tmp_path / "cut"), InProcess(), on_batch=stop)
    again = run_campaign(plan, str(tmp_path / "cut"), InProcess(), resume=True)
    assert again.batches_kept == 4
    assert [one.courses for one in again.per_system] == [one.courses for one in whole.per_system]


def test_overflown_runs_are_counted_by_their_rows(tmp_path, monkeypatch):
    from paraply.mining.compiled import applier

    def overflows(settings, first, count):
        verdicts, sizes, _ = run_many(settings, first, count)
        verdicts[3] = C.OVERFLOWN
        return verdicts, sizes, 0

    plan = replace(small_plan(subjects=("applier:logical_clock",), mutants=()), is_fast=True)
    monkeypatch.setattr(applier, "run_many", overflows)
    progress = run_campaign(plan, str(tmp_path), InProcess())
    runs = {3, 23, 43}
    courses = [row["course"] for row in rows_of(tmp_path, plan) if row["run"] in runs]
    assert len(courses) == 3
    assert progress.per_system[0].courses == sketch_of(courses)
