"""Runs of mining campaigns are runs of the specifications, those that a guided one varied, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

import paraply.reference_impl.subjects  # noqa: F401 - registers
from paraply.mining.campaign import run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.plan import Plan
from paraply.mining.systems import System
from paraply.reference_impl.subject import subject_named
from paraply.vocabulary.programs import decode_program
from paraply.vocabulary.schedule import RecordedSchedule
from tests.conformance.pairs import PAIRS, Follower
from tests.mining.campaigns import rows_of

ROUNDS, BATCH = 3, 5
"""The first round is blind; the later ones vary what reached something new."""


def histories_of(place, pair, mutant=""):
    """Run a guided campaign of a pair's subject, or of a mutant of it; yield each row's history."""
    subject = subject_named(pair.subject)
    workload = replace(pair.workload, dialect=subject.dialect_of(pair.workload))
    system = System(subject=pair.subject, mutant=mutant, workload=workload, judges=())
    plan = Plan(
        systems=(system,), histories=ROUNDS * BATCH, seed=7, batch_histories=BATCH, is_guided=True
    )
    run_campaign(plan, str(place), InProcess())
    rows = rows_of(place, plan)
    assert len(rows) == plan.histories
    assert any(row["seed"] is None for row in rows)
    for row in rows:
        schedule = RecordedSchedule(decode_program(row["program"]), strict=True)
        history = system.runner.run(schedule, workload)
        assert len(history.events) == row["events"]
        yield history


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_every_run_of_a_campaign_is_a_run_of_the_specification(name, tmp_path):
    follower = Follower(PAIRS[name])
    for history in histories_of(tmp_path, PAIRS[name]):
        assert not follower.violations(history)
    assert follower.steps > 3 * ROUNDS * BATCH


@pytest.mark.long(quick=9)
@pytest.mark.parametrize(
    ("name", "mutant"),
    [("commit order", "commit_order_is_not_asked"), ("batches", "batch_has_no_barrier"),
     ("quorum, two of three", "one_acknowledgement_suffices"),
     ("sessions of a group that wait", "composed_commit_does_not_wait"),
     ("sessions of a group that wait", "composed_member_counts_itself"),
     ("sessions of a group that wait", "composed_sending_counts_as_receipt"),
     ("clients of a group that wait", "composed_answer_does_not_wait"),
     ("members that come back", "composed_crash_recovery_forgets_gtids"),
     ("members that come back", "composed_joiner_copies_gtids_only"),
     ("members that come back", "composed_joiner_copies_backwards")],
)  # fmt: skip
def test_campaign_of_a_mutant_is_refused_by_the_specification(name, mutant, tmp_path):
    follower = Follower(PAIRS[name])
    assert any(follower.violations(one) for one in histories_of(tmp_path, PAIRS[name], mutant))
