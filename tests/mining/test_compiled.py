"""The fast path against the reference: the same program, the same run, the same verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from paraply.mining import fast_batches
from paraply.mining.campaign import run_campaign
from paraply.mining.compiled import applier
from paraply.mining.compiled import columns as C
from paraply.mining.compiled.applier import broken_names, run_fast, run_many, settings_of
from paraply.mining.compiled.verdict_kernel import judge
from paraply.mining.engines import InProcess
from paraply.mining.systems import systems_of
from paraply.properties.registry import property_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import RecordedSchedule
from tests.mining.campaigns import rows_of, small_plan

ORDERED, UNORDERED = "applier:logical_clock", "applier:logical_clock_unordered"
WORKLOADS = (
    {},
    {"transactions": "7", "rows": "5", "workers": "4", "sessions": "1", "reads": "0"},
    {"stamps": "mysql_8_4", "barriers": "false", "rotations": "2", "collections": "3"},
    {"stamps": "wl8440_literal", "rows": "1"},
)
FIRST_SEED = int(os.environ.get("PARAPLY_FAST_FIRST", "0"))
SEEDS = int(os.environ.get("PARAPLY_FAST_SEEDS", "60"))
"""Of each mutant and workload; a nightly run takes a slice of its own, so that days add up."""


def system(name, words):
    named = ([name], []) if name.startswith("applier") else ([], [name])
    (one,) = systems_of(*named, words)
    return one


def events_of(history, names):
    """Return the events of a history as the kernels write them."""
    rows = []
    for event in history.events:
        other = int(event.other or 0)
        if event.kind is EventKind.READ:
            other = sum(
                int(one.writer) << C.SEEN_BITS * names.index(one.item) for one in event.observed
            )
        rows.append(
            (
                event.time, C.EVENT_CODES[event.kind], event.worker or 0,
                int(event.transaction or 0), event.attempt, C.OUTCOME_CODES[event.outcome], other,
                C.NONE if event.row is None else event.row,
            )
        )  # fmt: skip
    return rows


def stamps_of(history):
    return [
        (one.timestamp.last_committed, one.timestamp.sequence_number, one.clock)
        for one in history.transactions
    ]


def assert_same(one, fast, choices):
    """Replay a kernel's program on the reference and compare everything."""
    schedule = RecordedSchedule(choices)
    history = one.runner.run(schedule, one.workload)
    assert tuple(schedule.choices) == fast.choices
    assert events_of(history, one.workload.row_names) == [
        tuple(row) for row in fast.events.tolist()
    ]
    assert stamps_of(history) == [
        (row[C.L_LC], row[C.L_SN], row[C.L_CLOCK]) for row in fast.log.tolist()
    ]
    judged = {name for name in C.JUDGED if property_named(name).violations(history)}
    assert judged == fast.broken
    return judged


@pytest.mark.long
@pytest.mark.parametrize("words", WORKLOADS, ids=range(len(WORKLOADS)))
@pytest.mark.parametrize("name", [ORDERED, UNORDERED, *C.FAULTS[1:]])
def test_kernel_and_reference_make_the_same_run_of_each_seed(name, words):
    one = system(name, words)
    settings = settings_of(one)
    assert settings is not None
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        fast = run_fast(settings, seed=seed)
        assert_same(one, fast, fast.choices)


@pytest.mark.parametrize("name", [UNORDERED, "gap_is_waited_for"])
def test_any_list_of_numbers_is_the_same_program_to_both(name):
    one = system(name, {"rows": "4"})
    settings = settings_of(one)
    dice = np.random.default_rng(7)
    for length in (0, 1, 5, 20, 60):
        for _ in range(8):
            program = [int(choice) for choice in dice.integers(0, 9, length)]
            assert_same(one, run_fast(settings, program=program), program)


@pytest.mark.long
def test_each_property_that_the_kernels_judge_is_broken_by_some_mutant():
    broken = 0
    for name in C.FAULTS[1:]:
        verdicts, _, _ = run_many(settings_of(system(name, {})), 0, 20_000)
        broken |= int(np.bitwise_or.reduce(verdicts))
    # Nothing here loses a row without meeting an error first, as forgotten retries do.
    assert {name for bit, name in enumerate(C.JUDGED) if broken >> bit & 1} == set(C.JUDGED) - {
        "final_state_is_the_sources"
    }


def test_verdict_sees_a_row_left_by_another_and_an_end_that_never_came():
    # No fault that the kernels know loses a row in silence, so the state is changed by hand.
    settings = settings_of(system(ORDERED, {}))
    fast = run_fast(settings, seed=3)
    count = len(fast.events)
    assert fast.verdict == 0
    assert fast.events[count - 1, C.E_KIND] == C.STOPPED

    def verdict(events):
        return broken_names(judge(settings, fast.room, events))

    assert verdict(count - 1) == {"applier_reaches_the_end"}
    (row,) = np.flatnonzero(fast.room.last)[:1]
    fast.rows[row, 1] += 1
    assert verdict(count) == {"final_state_is_the_sources"}


@pytest.mark.long
def test_reference_without_fault_breaks_nothing_in_many_runs():
    verdicts, sizes, _ = run_many(settings_of(system(ORDERED, {"transactions": "6"})), 0, 50_000)
    assert not verdicts.any()
    assert sizes[:, 0].min() > 10


def test_runs_by_the_thousand_are_those_made_one_by_one():
    settings = settings_of(system(UNORDERED, {}))
    verdicts, sizes, _ = run_many(settings, 100, 300)
    for at in range(0, 300, 7):
        fast = run_fast(settings, seed=100 + at)
        assert (fast.verdict, len(fast.events)) == (verdicts[at], sizes[at, 0])
    assert len(set(verdicts.tolist())) > 1


INTERPRETED = """
import json, sys
from paraply.mining.compiled.applier import run_fast, settings_of
from paraply.mining.systems import systems_of
runs = []
for name in ("last_committed_off_by_one", "low_water_mark_is_highest_done"):
    (one,) = systems_of([], [name], {"rows": "4"})
    for seed in range(12):
        fast = run_fast(settings_of(one), seed=seed)
        runs.append([fast.verdict, list(fast.choices), fast.events.tolist(), fast.rows.tolist()])
print(json.dumps(runs))
"""


@pytest.mark.long
def test_interpreter_and_compiler_run_the_same_source_alike():
    printed = [
        subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "-c", INTERPRETED],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True, text=True, timeout=120, check=True,
        ).stdout
        for disable in ("0", "1")
    ]  # fmt: skip
    assert printed[0] == printed[1]
    assert len(json.loads(printed[0])) == 24


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("applier:database", {}),
        (ORDERED, {"crashes": "1"}),
        (ORDERED, {"sleeps": "true"}),
        (ORDERED, {"extra_locks": "true"}),
        (ORDERED, {"view_changes": "1"}),
        (ORDERED, {"rows": "7"}),
        (ORDERED, {"transactions": "33"}),
        (ORDERED, {"workers": "9"}),
        ("rollback_keeps_rows", {}),
        ("write_sets", {}),
    ],
)
def test_what_the_kernels_do_not_know_is_left_to_the_reference(name, words):
    named = ([], [name]) if name == "rollback_keeps_rows" else ([name], [])
    assert settings_of(systems_of(*named, words)[0]) is None


FAST = small_plan(
    histories=3000, batch=1500, subjects=(ORDERED,), mutants=("last_committed_off_by_one",),
    is_fast=True,
)  # fmt: skip


@pytest.mark.long
def test_fast_campaign_keeps_what_the_reference_confirms(tmp_path):
    progress = run_campaign(FAST, str(tmp_path), InProcess())
    rows = rows_of(tmp_path, FAST)
    assert progress.histories == 6000
    assert 0 < len(rows) < 200
    assert progress.found == (1, 1)
    sampled = [row for row in rows if row["mutant"] == ""]
    assert [row["run"] for row in sampled] == [0, 1500]
    mutant = progress.per_system[1]
    assert mutant.violated["starts_respect_last_committed"] > 100
    assert mutant.confirmed >= max(mutant.violated.values())
    assert progress.per_system[0].confirmed == 0
    assert all(one.size for one in mutant.clusters.values())
    for row in rows:
        if row["violated"] and row["mutant"]:
            assert row["history"]


def test_disagreement_ends_the_campaign(tmp_path, monkeypatch):
    def wrong(settings, first, count):
        verdicts, sizes, courses = run_many(settings, first, count)
        verdicts[0] ^= 1
        return verdicts, sizes, courses

    monkeypatch.setattr(applier, "run_many", wrong)
    with pytest.raises(ParaplyError, match=r"P727.*run 0 \(seed 0\)"):
        run_campaign(FAST, str(tmp_path), InProcess())
    assert rows_of(tmp_path, FAST) == []


def test_breach_that_the_reference_does_not_find_ends_the_campaign_however_large_it_is(
    tmp_path, monkeypatch
):
    changed = []

    def wrong(settings, first, count):
        verdicts, sizes, courses = run_many(settings, first, count)
        breaking = np.flatnonzero(verdicts)
        if len(breaking):
            changed.append(breaking[np.argmax(sizes[breaking, 0])])
            verdicts[changed[0]] ^= 1 << C.JUDGED.index("rows_apply_as_logged")
        return verdicts, sizes, courses

    monkeypatch.setattr(applier, "run_many", wrong)
    monkeypatch.setattr(fast_batches, "KEPT_MAX", 0)
    with pytest.raises(ParaplyError, match="P727") as raised:
        run_campaign(FAST, str(tmp_path), InProcess())
    assert f"run {changed[0]} " in str(raised.value)


@pytest.mark.long
def test_run_that_outgrows_the_kernels_is_judged_by_the_reference(tmp_path, monkeypatch):
    def overflows(settings, first, count):
        verdicts, sizes, courses = run_many(settings, first, count)
        verdicts[5] = C.OVERFLOWN
        return verdicts, sizes, courses

    monkeypatch.setattr(applier, "run_many", overflows)
    run_campaign(FAST, str(tmp_path), InProcess())
    assert {5, 1505} <= {row["run"] for row in rows_of(tmp_path, FAST) if row["mutant"] == ""}


def test_who_holds_an_earlier_ones_row_is_called_back_in_kernel_and_reference():
    words = {"stamps": "wl8440_literal", "rows": "4", "transactions": "7", "workers": "4"}
    one = system("last_committed_off_by_one", words)
    program = [
        2, 0, 0, 7, 0, 0, 7, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 12, 0, 0, 0, 0, 0, 0, 2, 2, 0, 1, 1,
        1, 0, 0, 2, 2,
    ]  # fmt: skip
    fast = run_fast(settings_of(one), program=program)
    rolled_back = fast.events[fast.events[:, C.E_KIND] == C.ROLLED_BACK]
    assert rolled_back[:, [C.E_TRANSACTION, C.E_OTHER]].tolist()[0] == [6, 4]
    assert fast.events[:, C.E_ATTEMPT].max() == 2
    assert_same(one, fast, program)
