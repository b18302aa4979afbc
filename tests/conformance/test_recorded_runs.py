"""Recorded runs of the reference are runs of the specifications, by written abstraction functions.

Each pair is a subject and a system that were written apart (``pairs.py``).
"""

from __future__ import annotations

from collections import Counter

import pytest

from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.proving import safety_statement
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope
from paraply.models.recorded.following import Recorded, RecordedStep, follow
from paraply.models.systems import commit_order
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import subject_named
from tests.conformance.pairs import PAIRS, UNSEEN, Follower

RUNS_MAX = 2_000
SIDE_BY_SIDE = {
    "applier_in_member", "group_in_certification", "group_in_parallel_applier", "member_in_applier",
}  # fmt: skip
"""Systems of two, each of which is followed by itself."""
OURS = {"linear_audit", "merged_parts", "minimiser", "prefix_test"}
"""Systems of paraply's own algorithms: the reference implements servers."""
UNFOLLOWED = {"one_copy", "commit_pipeline", "stable_rounds"}
"""No subject of the reference records all of their steps, which proofs/TRUST.md says."""


def family_of(system):
    """Return the name of a system without its variant."""
    return system.name.partition("[")[0]


@pytest.mark.long(each=2)
@pytest.mark.parametrize("name", PAIRS)
def test_every_run_of_the_reference_is_a_run_of_the_specification(name):
    pair = PAIRS[name]
    follower, subject = Follower(pair), subject_named(pair.subject)
    for schedule in random_schedules(0, RUNS_MAX):
        refused = follower.violations(subject.run(schedule, pair.workload))
        assert not refused, f"seed {schedule.seed}: {refused[0]}"
        if follower.steps >= pair.steps:
            break
    assert follower.steps >= pair.steps
    assert follower.unseen == UNSEEN.get(name, set())


def test_steps_are_many_and_of_every_system_that_a_theorem_is_about():
    steps = Counter()
    for pair in PAIRS.values():
        steps[family_of(pair.system)] += pair.steps
    assert steps.total() >= 100_000
    assert max(steps.values()) <= steps.total() // 5
    proved = {family_of(build()) for theorem in THEOREMS for build in theorem.systems}
    assert proved - SIDE_BY_SIDE - OURS - UNFOLLOWED == set(steps)


def _recorded(*steps, start=None, **hidden):
    tables = {"ws": {(0, "row0"): True, (1, "row0"): True}, "holder": {("row0",): -1}}
    return Recorded(scope=Scope(high=2), start=start or tables, steps=steps, **hidden)


def _step(action, **known):
    return RecordedStep(actions=(action,), parameters=known)


QUEUED = (_step("queue"), _step("queue"))
QUEUE = CompiledReading(commit_order.commit_order())


def test_step_that_no_world_allows_is_refused():
    followed = follow(QUEUE, _recorded(*QUEUED, _step("start", p=0), _step("start", p=1)))
    assert followed.steps == 3
    assert str(followed.refused) == "start(p=1)"


def test_unknown_parameter_is_tried_in_every_way():
    taken = _recorded(*QUEUED, _step("start"), _step("lock_row"), _step("engine_commit", p=0))
    assert follow(QUEUE, taken).refused is None


def test_hidden_action_fills_what_was_not_seen():
    steps = (*QUEUED, _step("start", p=0), _step("engine_commit", p=0))
    assert follow(QUEUE, _recorded(*steps)).refused is not None
    assert follow(QUEUE, _recorded(*steps, hidden=frozenset({"lock_row"}))).refused is None


def test_value_seen_afterwards_must_fit():
    seen = RecordedStep(actions=("start",), parameters={"p": 0}, seen=(("started", (0,), False),))
    assert follow(QUEUE, _recorded(*QUEUED, seen)).refused is seen


def test_run_that_does_not_begin_as_the_specification_is_an_error():
    with pytest.raises(ValueError, match="empty does not hold at the start"):
        follow(QUEUE, _recorded(start={"n": {(): 1}, "holder": {("row0",): -1}}))


def test_breach_is_found_where_it_happens():
    system = commit_order.commit_order(
        commit_order.Rules(name="order_off", preserve_commit_order=False)
    )
    statement = safety_statement(system, "commit_order_preserved")
    steps = (*QUEUED, _step("start", p=0), _step("start", p=1), _step("engine_commit", p=1))
    apart = {"ws": {}, "holder": {("row0",): -1}}
    followed = follow(CompiledReading(system), _recorded(*steps, start=apart), statement)
    assert followed.broken_after == 5
    assert followed.broken_for == {"p": 0, "q": 1}
