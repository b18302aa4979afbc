"""Every state of the semi-sync source in a small scope: how many there are, and what breaks."""

from __future__ import annotations

import pytest

from paraply.cli import main
from paraply.exploring.state_space import state_space
from paraply.properties.semi_sync.breaches import (
    GapSeen,
    SeenThenLost,
    SeenUnacknowledged,
    StageOvertaken,
)
from paraply.properties.semi_sync.watch import Watch
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.semi_sync.subject import SEMI_SYNC
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schedule import Exploration, RecordedSchedule

CALM = {"reads": 1, "rotations": 0, "source_crashes": 0, "abandons": 0, "source_returns": False}


def workload(transactions, members, dialect="", **options):
    return Workload(
        transactions=transactions, members=members, dialect=dialect, options={**CALM, **options}
    )


def counts(space):
    assert space.is_complete
    return space.states, space.watched, space.steps


# Two transactions in one or two groups, two replicas, one rotation, one read, the source may be
# lost at any moment. Pinned: a change in a number is a change of the subject or of the reductions.


@pytest.mark.long
def test_every_state_with_a_crash_of_the_source_keeps_every_promise():
    space = state_space(SEMI_SYNC, workload(2, 3, rotations=1, source_crashes=1))
    assert counts(space) == (3_504, 6_336, 14_791)
    assert not space.breaches
    assert not space.stalls


@pytest.mark.long
def test_every_state_with_a_crash_of_a_replica_keeps_every_promise():
    space = state_space(SEMI_SYNC, workload(2, 3, rotations=1, replica_crashes=1))
    assert counts(space) == (6_452, 8_110, 22_905)
    assert not space.breaches
    assert not space.stalls


def test_without_commit_order_every_state_breaks_order_and_nothing_else():
    space = state_space(SEMI_SYNC, workload(2, 2, "mysql_unordered", source_crashes=1))
    assert space.is_complete
    assert {type(breach) for breach in space.breaches} == {StageOvertaken, GapSeen}


@pytest.mark.parametrize(
    ("dialect", "states", "kinds"),
    [
        ("after_sync", (55, 82), set()),
        ("barred_recovery", (64, 102), set()),
        ("stock_recovery", (56, 83), {SeenUnacknowledged, SeenThenLost}),
    ],
)
def test_hole_of_the_text_is_found_and_both_remedies_close_it(dialect, states, kinds):
    scope = workload(1, 2, dialect, source_crashes=1)
    space = state_space(SEMI_SYNC, scope, is_reduced=False)
    assert counts(space)[:2] == states
    assert {type(breach) for breach in space.breaches} == kinds


# That visiting a state once loses nothing.


def end_of(schedule, scope):
    """Run to the end and return the names of state and watch there."""
    options = SEMI_SYNC.options_of(scope)
    state = SEMI_SYNC.start(scope, SEMI_SYNC.dialect_of(scope), options, Recorder())
    state.on_start()
    while steps := state.steps():
        state.take(schedule.choose(steps))
    history = SEMI_SYNC.run(RecordedSchedule(schedule.choices), scope)
    watch = Watch.of(history)
    found = {type(breach) for event in history.events for breach in watch.follow(event)}
    return (state.name(), tuple(map(state.name_of, state.replicas)), watch.name()), found


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["stock_recovery", "after_commit", "barred_recovery"])
def test_every_run_of_a_scope_ends_in_a_state_of_its_space(dialect):
    scope = workload(1, 2, dialect, source_crashes=1)
    ends, found = set(), set()
    for schedule in Exploration():
        end, breaches = end_of(schedule, scope)
        ends.add(end)
        found |= breaches
    space = state_space(SEMI_SYNC, scope, is_reduced=False)
    names = {
        (n.state.name(), tuple(map(n.state.name_of, n.state.replicas)), n.watch.name())
        for n in space.ends
    }
    assert names == ends
    assert {type(breach) for breach in space.breaches} == found


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    ["recovery_commits_unacknowledged", "any_replica_is_promoted", "reply_is_read_late",
     "engine_commit_does_not_wait", "one_acknowledgement_suffices", "registration_starves",
     "promotion_discards_the_relay_log"],
)  # fmt: skip
def test_reductions_leave_the_breaches_of_a_mutant_in(name):
    mutant = mutant_named(name)
    options = {**mutant.workload.options, **CALM, "source_crashes": 1, "replica_crashes": 1}
    scope = Workload(transactions=1, members=3, options=options)
    full = state_space(mutant.subject, scope, is_reduced=False)
    reduced = state_space(mutant.subject, scope)
    kinds = {type(breach) for breach in full.breaches}
    assert {type(breach) for breach in reduced.breaches} == kinds
    assert bool(reduced.stalls) is bool(full.stalls)
    assert kinds or full.stalls
    assert reduced.watched < full.watched


def test_replay_of_a_breach_breaks_the_property():
    space = state_space(SEMI_SYNC, workload(1, 2, "stock_recovery", source_crashes=1))
    for breach, node in space.breaches.items():
        history = space.run(node)
        watch = Watch.of(history)
        assert breach in [found for event in history.events for found in watch.follow(event)]


def test_name_of_a_state_covers_whatever_a_cluster_has():
    scope = workload(1, 2)
    state = SEMI_SYNC.start(scope, "after_sync", SEMI_SYNC.options_of(scope), Recorder())
    apart = {"settings", "recorder", "groups_made", "replicas", "promoted"}
    lists = {"waiting", "queue", "groups", "visible", "held_back", "binlog", "budget", "heard"}
    plain = {name for name, value in vars(state).items() if isinstance(value, (bool, int, str))}
    assert set(vars(state)) == apart | lists | (plain - apart)


def test_space_that_meets_its_bound_is_not_complete():
    space = state_space(SEMI_SYNC, workload(2, 3), states_max=50)
    assert not space.is_complete


def test_command_prints_how_many_states_there_are(capsys):
    command = ["explore", "semi_sync", "--states", "--transactions=1", "--members=2",
               "--property", "what_was_seen_survives"]  # fmt: skip
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "every state: 33 states, 34 with what readers and clients know, 44 steps" in printed
    assert main([*command, "--runs-max", "5"]) == 2
    assert "NOT every state" in capsys.readouterr().out


def test_subject_without_named_states_is_refused_with_a_remedy(capsys):
    assert main(["explore", "applier", "--states"]) == 3
    assert "P310" in capsys.readouterr().err
    with pytest.raises(ParaplyError):
        state_space(mutant_named("first_item_decides").subject, Workload())
