"""``paraply list`` and ``paraply mutants``."""

from __future__ import annotations

import json
import shlex

import pytest

from paraply.cli import main
from paraply.commands import mutants as command
from paraply.exploring import mutation_testing
from paraply.exploring.mutation_testing import original_breaks, try_mutant
from paraply.reference_impl.mutants import Mutant
from paraply.reference_impl.subject import Workload
from paraply.registries import (
    mutant_named,
    property_named,
    registered_mutants,
    registered_properties,
    registered_subjects,
)


def pretended(**fields):
    """Return the unchanged certifier under the name of a mutant: nothing can catch it."""
    return Mutant(
        **{
            "name": "pretended",
            "family": "none",
            "source": "none",
            "fault": "None at all.",
            "caught_by": "first_certified_wins",
            "of": "certifier",
            "workload": Workload(transactions=3),
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("subjects", [subject.name for subject in registered_subjects()]),
        ("properties", [prop.name for prop in registered_properties()]),
        pytest.param(
            "mutants",
            [mutant.name for mutant in registered_mutants()],
            marks=pytest.mark.long(each=1),
        ),
        ("dialects", [d for subject in registered_subjects() for d in subject.dialects]),
    ],
)
def test_list_names_everything_registered(what, names, capsys):
    assert main(["list", what]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in names)
    assert main(["list", what, "--json", "-"]) == 0
    records = json.loads(capsys.readouterr().out)[what]
    assert [record.get("dialect") or record["name"] for record in records] == names


def test_list_of_something_else_is_wrong_usage(capsys):
    assert main(["list", "nosuch"]) == 3
    assert "P301" in capsys.readouterr().err


def test_mutant_is_shown_with_what_catches_it_and_a_command_that_replays_it(capsys):
    assert main(["mutants", "first_item_decides"]) == 0
    out = capsys.readouterr().out
    assert "caught by first_certified_wins; certifier.cc" in out
    assert "1 of 1 caught by the property they name; seed 0" in out
    words = shlex.split(out.partition("replay: ")[2].splitlines()[0])
    assert main(words[1:]) == 1


def test_mutants_json_has_size_runs_and_history(capsys):
    assert main(["mutants", "first_item_decides", "create_select_is_plain", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["seed"] == 0
    first, second = document["mutants"]
    assert (first["name"], second["name"]) == ("first_item_decides", "create_select_is_plain")
    assert first["is_as_stated"] is True
    assert first["transactions"] == 3
    assert first["runs"] > 0
    assert first["violations"]
    assert first["history"][0]["record"] == "history"


def test_mutant_that_survives_exits_1(capsys, monkeypatch):
    monkeypatch.setattr(command, "mutant_named", lambda name: pretended())
    assert main(["mutants", "pretended", "--runs-max", "20"]) == 1
    out = capsys.readouterr().out
    assert "SURVIVES first_certified_wins" in out
    assert "no history found" in out
    assert "0 of 1 caught" in out


@pytest.mark.long
def test_mutant_that_is_said_to_be_equivalent_and_is_not_exits_1(capsys, monkeypatch):
    faulty = mutant_named("create_select_is_plain")
    liar = pretended(
        changes=faulty.changes,
        of=faulty.of,
        workload=faulty.workload,
        caught_by="",
        survives_because="of a lie",
    )
    monkeypatch.setattr(command, "mutant_named", lambda name: liar)
    assert main(["mutants", "pretended"]) == 1
    assert "NOT EQUIVALENT, caught by barriers_are_ordered_with_all" in capsys.readouterr().out


def test_equivalent_mutant_that_nothing_catches_exits_0(capsys, monkeypatch):
    monkeypatch.setattr(
        command, "mutant_named", lambda name: pretended(caught_by="", survives_because="it is it")
    )
    assert main(["mutants", "pretended", "--runs-max", "20"]) == 0
    out = capsys.readouterr().out
    assert "equivalent, caught by none" in out
    assert "Equivalent: it is it" in out
    assert "1 of 1 equivalent" in out


def test_unknown_mutant_exits_3(capsys):
    assert main(["mutants", "nosuch"]) == 3
    assert "P408" in capsys.readouterr().err


def test_same_seed_finds_the_same_history():
    mutant = mutant_named("first_item_decides")
    one, other = try_mutant(mutant, seed=6), try_mutant(mutant, seed=6)
    assert one.smallest.program == other.smallest.program
    assert one.runs == other.runs


def test_original_that_breaks_the_property_is_noticed(monkeypatch):
    faulty = mutant_named("create_select_is_plain")
    prop = property_named(faulty.caught_by)
    assert original_breaks(faulty, prop, runs=100) is None
    monkeypatch.setattr(mutation_testing, "subject_named", lambda name: faulty.subject)
    assert original_breaks(faulty, prop, runs=1_000) is not None
