"""The composed system's kernels against the reference: the same program, run and verdicts."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from paraply.mining.campaign import run_campaign
from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.course_kernel import course_digest
from paraply.mining.compiled.composed.system import run_fast, run_many, settings_of
from paraply.mining.coverage import course_of
from paraply.mining.engines import InProcess
from paraply.mining.systems import systems_of
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.composed.rows import item_of_row
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import RecordedSchedule
from tests.mining.campaigns import rows_of, small_plan

WITHIN = {"joins": "0", "departures": "0"}
WORDS_OF_FEW_COURSES = {
    "members": "1", "transactions": "3", "rows": "3", "workers": "1", "reads": "0",
    "broadcasts": "0",
}  # fmt: skip
FIRST_SEED = int(os.environ.get("PARAPLY_FAST_FIRST", "0"))
SEEDS = int(os.environ.get("PARAPLY_FAST_SEEDS", "25"))
"""Of each mutant and dialect; a nightly run takes a slice of its own, so that days add up."""


def system(name, words):
    named = ([name], []) if name.startswith("composed:") else ([], [name])
    (one,) = systems_of(*named, {**WITHIN, **words})
    return one


def drawn(seed):
    """Return drawn sizes and options within the kernels' scope."""
    dice = Random(seed)
    return {
        "members": str(dice.randint(1, 4)),
        "transactions": str(dice.randint(1, 9)),
        "rows": str(dice.randint(1, 6)),
        "workers": str(dice.randint(1, 5)),
        "sessions": str(dice.randint(1, 4)),
        "acknowledgements": str(dice.randint(0, 3)),
        "broadcasts": str(dice.choice((0, 4, 10))),
        "reads": str(dice.randint(0, 6)),
        "alterations": str(dice.choice((0, 0, 1, 3))),
        "block_size": str(dice.choice((1, 1, 2, 3, 7))),
        "absent": str(dice.choice((0, 0, 1, 3))),
        "single_primary": dice.choice(("true", "false", "false", "false")),
        **{
            name: dice.choice(("true", "false"))
            for name in ("after_commit", "one_commit_order", "barriers", "deletes")
        },
    }


def gtids_of(text):
    """Return the numbers of a GTID set of the group as bits."""
    bits = 0
    for part in text.split(":")[1:]:
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            bits |= 1 << number
    return bits


def bits_of(transactions):
    return sum(1 << int(one) for one in transactions)


def events_of(history, names):
    """Return the events of a history as the kernels write them."""
    rows = {item_of_row(name): row for row, name in enumerate(names)}
    members = {member: number for number, member in enumerate(history.members)}
    found = []
    for event in history.events:
        other, seen, executed = int(event.other or 0), event.transactions, gtids_of(event.gtid_set)
        if event.kind is EventKind.READ:
            other = ("reader", "auditor").index(event.session)
            executed = sum(
                int(one.writer) << A.SEEN_BITS * rows[one.item] for one in event.observed
            )
        elif event.kind is EventKind.GARBAGE_COLLECTED:
            other = sum(1 << rows[item] for item in event.items)
        elif event.kind is EventKind.CERTIFIED and event.note:
            other = rows[int(event.note.removeprefix("conflict on "))]
        elif event.kind in (EventKind.FLUSHED, EventKind.SYNCED):
            other = event.group
        stamp = event.timestamp
        found.append(
            (
                event.time, C.KINDS.index(event.kind), members[event.member], event.worker or 0,
                int(event.transaction or 0), event.attempt, C.OUTCOME_CODES[event.outcome], other,
                A.NONE if event.row is None else event.row,
                A.NONE if stamp is None else stamp.last_committed,
                A.NONE if stamp is None else stamp.sequence_number,
                int(event.gtid.partition(":")[2] or 0), executed, bits_of(seen),
            )
        )  # fmt: skip
    return found


def writes_of(history, names):
    """Return kind, origin, snapshot and row changes of each transaction."""
    members = {member: number for number, member in enumerate(history.members)}
    kinds = {
        "rows": A.KIND_ROWS,
        "no_write_set": A.KIND_NO_WRITE_SET,
        "ctas": A.KIND_CTAS,
        "ddl": C.KIND_DDL,
    }

    def value(image):
        return 0 if image is None else image[1]

    return [
        (
            kinds[one.kind.value], members[one.origin], gtids_of(one.snapshot_gtids),
            [
                (names.index((row.before or row.after)[0]), value(row.before), value(row.after))
                for row in one.rows
            ],
        )
        for one in history.transactions
    ]  # fmt: skip


def kernels_writes(fast):
    found = []
    for transaction in range(1, fast.room.left[C.G_SENT] + 1):
        one = fast.room.log[transaction].tolist()
        rows = [
            (one[C.T_ITEMS] >> 3 * change & 7, *fast.room.images[transaction, change].tolist())
            for change in range(one[C.T_COUNT])
        ]
        found.append((one[C.T_KIND], one[C.T_ORIGIN], one[C.T_SNAPSHOT], rows))
    return found


def assert_same(one, fast, choices):
    """Replay a kernel's program on the reference and compare everything."""
    schedule = RecordedSchedule(choices)
    history = one.runner.run(schedule, one.workload)
    names = one.workload.row_names
    assert tuple(schedule.choices) == fast.choices
    assert events_of(history, names) == [tuple(row) for row in fast.events.tolist()]
    assert writes_of(history, names) == kernels_writes(fast)
    judged = {
        prop.name for prop in one.properties
        if prop.name in C.JUDGED and prop.violations(history)
    }  # fmt: skip
    assert judged == fast.broken
    return judged


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_kernel_and_reference_make_the_same_run_of_drawn_settings_and_seeds(dialect):
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        one = system(f"composed:{dialect}", drawn(seed))
        for run in range(3):
            fast = run_fast(settings_of(one), seed=seed + run)
            assert assert_same(one, fast, fast.choices) <= one.known_breaches


@pytest.mark.long
@pytest.mark.parametrize("name", C.FAULTS[1:])
def test_kernel_and_reference_catch_the_same_faults(name):
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        one = system(name, drawn(seed))
        for run in range(3):
            fast = run_fast(settings_of(one), seed=seed + run)
            assert_same(one, fast, fast.choices)


def test_any_list_of_numbers_is_the_same_program_to_both():
    dice = np.random.default_rng(7)
    for name in ("composed:mysql_8_4", "composed_unlocks_when_sent"):
        one = system(name, {"rows": "4", "members": "3", "transactions": "6"})
        for length in (0, 1, 5, 40, 120):
            for _ in range(4):
                program = [int(choice) for choice in dice.integers(0, 9, length)]
                assert_same(one, run_fast(settings_of(one), program=program), program)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", C.FAULTS[1:])
def test_each_fault_is_caught_by_the_property_that_must(name):
    one = system(name, {})
    verdicts, _, _ = run_many(settings_of(one), 0, 20_000)
    (goal,) = one.goals
    caught = np.flatnonzero(verdicts >> C.JUDGED.index(goal) & 1)
    assert len(caught)
    fast = run_fast(settings_of(one), seed=int(caught[0]))
    assert goal in assert_same(one, fast, fast.choices)


@pytest.mark.long
def test_reference_without_fault_breaks_nothing_in_many_runs():
    one = system("composed:wl8440", {"members": "3", "transactions": "6"})
    verdicts, sizes, _ = run_many(settings_of(one), 0, 20_000)
    assert not verdicts.any()
    assert sizes[:, 0].min() > 30


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("composed:wl8440", {"joins": "1"}),
        ("composed:wl8440", {"departures": "1"}),
        ("composed:wl8440", {"block_size": "30"}),
        ("composed:wl8440", {"members": "5"}),
        ("composed:wl8440", {"rows": "7"}),
        ("composed:wl8440", {"transactions": "25"}),
        ("composed_crash_recovery_forgets_gtids", {}),
    ],
)
def test_what_the_kernels_do_not_know_is_left_to_the_reference(name, words):
    assert settings_of(system(name, words)) is None


@pytest.mark.long
def test_kernels_tell_apart_the_courses_that_the_reference_tells_apart():
    one = system("composed:wl8440", WORDS_OF_FEW_COURSES)
    pairs = set()
    for seed in range(300):
        fast = run_fast(settings_of(one), seed=seed)
        history = one.runner.run(RecordedSchedule(fast.choices), one.workload)
        digest = course_digest(settings_of(one), fast.room, len(fast.events))
        pairs.add((course_of(history), digest))
    courses, digests = map(set, zip(*pairs, strict=True))
    assert len(pairs) == len(courses) == len(digests)
    assert 20 < len(pairs) < 300


@pytest.mark.long
def test_fast_campaign_keeps_what_the_reference_confirms(tmp_path):
    (sound,) = systems_of(["composed:wl8440"], [], WITHIN)
    (faulty,) = systems_of([], ["composed_unlocks_when_sent"], WITHIN)
    plan = replace(
        small_plan(histories=600, batch=300, subjects=(), is_fast=True), systems=(sound, faulty)
    )
    progress = run_campaign(plan, str(tmp_path), InProcess())
    assert progress.histories == 1200
    assert progress.per_system[0].confirmed == 0
    assert progress.per_system[1].violated["rows_stay_locked_until_the_end"] > 10
    assert len(rows_of(tmp_path, plan)) < 200
