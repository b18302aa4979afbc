"""Every counterexample promoted here still replays, and still breaks what it broke.

A file ``NAME.jsonl`` is a history; ``NAME.json`` says of which mutant or subject, and what must be
broken by it. Of a mutant, the same choices must not break the property without the fault.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paraply.counterexamples.replaying import replay
from paraply.properties.registry import verdict_of
from paraply.reference_impl.subject import workload_of_header
from paraply.registries import mutant_named, property_named, subject_named
from paraply.vocabulary.history_jsonl import read_histories
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.verdict import Verdict

FOLDER = Path(__file__).resolve().parent
KEPT = sorted(path.stem for path in FOLDER.glob("*.json"))


def kept(name):
    expected = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    (recorded,) = read_histories(lines, name=name)
    subject = subject_named(expected["subject"])
    runner = mutant_named(expected["mutant"]).subject if expected["mutant"] else subject
    return expected, recorded, runner, subject


def test_some_are_kept_and_each_has_both_files():
    assert len(KEPT) >= 3
    assert KEPT == sorted(path.stem for path in FOLDER.glob("*.jsonl"))


@pytest.mark.parametrize("name", KEPT)
def test_kept_counterexample_replays_and_breaks_its_property(name):
    expected, recorded, runner, _ = kept(name)
    workload = workload_of_header(recorded.header)
    again = replay(runner, workload, recorded.header.program, recorded)
    assert again.difference == ""
    prop = property_named(expected["property"])
    assert verdict_of(again.history, prop) is Verdict.VIOLATED
    assert [str(one) for one in prop.violations(again.history)] == expected["violations"]


@pytest.mark.parametrize("name", KEPT)
def test_kept_counterexample_of_a_mutant_needs_the_fault(name):
    expected, recorded, _, subject = kept(name)
    known = subject.known_breaches(workload_of_header(recorded.header))
    if not expected["mutant"] or expected["property"] in known:
        pytest.skip("the subject itself breaks this property")
    choices = decode_program(parse_program(recorded.header.program))
    history = subject.run(RecordedSchedule(choices), workload_of_header(recorded.header))
    assert verdict_of(history, property_named(expected["property"])) is not Verdict.VIOLATED
