"""A counterexample of the proofs is a run of the reference, and breaks the property there."""

from __future__ import annotations

import shlex

import pytest

from ci.pages.proofs.reference_runs import RUNS
from ci.pages.proofs.replays import counterexample_named, shown
from ci.pages.proofs.replays_page import command
from paraply.__main__ import main
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.recorded.following import follow
from paraply.registries import mutant_named, property_named, subject_named
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.verdict import Verdict

READ = [name for name, entry in RUNS.items() if entry.reading is not None]
OF_MUTANTS = [name for name, entry in RUNS.items() if entry.mutant]


def test_every_counterexample_has_a_run_or_is_shown_elsewhere():
    assert set(RUNS) == {counter.id for counter in COUNTEREXAMPLES if not counter.elsewhere}
    for name, entry in RUNS.items():
        assert bool(entry.mutant) is not bool(entry.subject), name
        assert bool(entry.subject) == bool(entry.fault), name
        assert bool(entry.reading) is not bool(entry.unread), name
    assert len(READ) >= 55


@pytest.mark.parametrize("name", sorted(RUNS))
def test_run_of_the_reference_breaks_the_property(name):
    entry = RUNS[name]
    schedule = RecordedSchedule(decode_program(parse_program(entry.program)), strict=True)
    history = entry.run(schedule)
    assert schedule.is_faithful, command(entry)
    assert property_named(entry.breaks).violations(history)


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("name", READ)
def test_run_is_one_of_the_faulty_specification_and_of_no_other(name):
    entry = RUNS[name]
    found = shown(entry, counterexample_named(name), entry.run())
    assert found.is_the_same
    assert found.followed.steps >= found.followed.broken_after
    assert set(found.sound) | set(found.assumes)


@pytest.mark.parametrize("name", OF_MUTANTS)
def test_same_choices_without_the_fault_break_nothing(name):
    entry = RUNS[name]
    schedule = RecordedSchedule(decode_program(parse_program(entry.program)))
    sound = subject_named(mutant_named(entry.mutant).subject.name)
    assert not property_named(entry.breaks).violations(sound.run(schedule, entry.scope))


def test_a_run_without_the_fault_does_not_pass_for_the_counterexample():
    entry, counter = RUNS["C29"], counterexample_named("C29")
    schedule = RecordedSchedule(decode_program(parse_program(entry.program)))
    sound = subject_named("applier").run(schedule, entry.scope)
    assert not shown(entry, counter, sound).is_the_same


def test_specification_with_another_fault_does_not_follow_the_run():
    entry = RUNS["C11"]
    other = CompiledReading(counterexample_named("C13").system())
    assert follow(other, entry.reading(entry.run())).refused is not None


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", sorted(RUNS))
def test_command_on_the_page_makes_the_run_again(name, capsys):
    entry = RUNS[name]
    words = shlex.split(command(entry))
    assert words[:2] == ["paraply", "replay"]
    assert main(words[1:]) == Verdict.VIOLATED.exit_code
    assert "program" not in capsys.readouterr().err
