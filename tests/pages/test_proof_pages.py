"""The facts on the pages of proofs that are kept by hand, and those for machines."""

from __future__ import annotations

import re
import tomllib
from functools import cache

import pytest

from ci.pages.proofs.manifest import LIMIT_S, manifest, seconds_of, seconds_section
from ci.pages.proofs.pages import FOLDER, theorem_page
from paraply.models.claims.claim import Theorem
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS, theorem
from paraply.models.judging.judges import JUDGES
from paraply.proving.stability import stored as stored_stability

CHANGES = tomllib.loads((FOLDER / "history.toml").read_text(encoding="utf-8"))["change"]
PROSE = tomllib.loads((FOLDER / "prose.toml").read_text(encoding="utf-8"))
ASSUMPTIONS = tomllib.loads((FOLDER / "assumptions.toml").read_text(encoding="utf-8"))
EXAMPLE_WORDS_MAX = 60
FIGURE_LINES_MAX = 14

ALONE = {
    entry.id for entry in THEOREMS
    if all(one.elsewhere for one in COUNTEREXAMPLES if one.id in entry.delimited_by)
}  # fmt: skip
"""Theorems whose faulty twins have no run of the reference."""


@cache
def names_of(entry):
    """Return the names of a theorem's systems."""
    return {build().name for build in entry.systems}


def test_history_begins_with_the_proof_of_every_theorem_and_goes_on_in_time():
    first = {}
    for change in CHANGES:
        for identifier in change["theorems"]:
            assert isinstance(theorem(identifier), Theorem)
            first.setdefault(identifier, change["what"])
    assert set(first) == {entry.id for entry in THEOREMS}
    assert all(what.startswith("Proved") for what in first.values())
    dates = [change["date"] for change in CHANGES]
    assert dates == sorted(dates)


def test_page_of_a_theorem_ends_with_its_history():
    page = (FOLDER / "P31.md").read_text(encoding="utf-8")
    told = page.partition("\n## History\n")[2].strip().splitlines()
    wanted = [c["what"] for c in CHANGES if "P31" in c["theorems"]]
    assert [line.partition(": ")[2] for line in told] == wanted


@pytest.mark.long
def test_manifest_says_how_long_each_judge_takes_and_which_mutants_are_caught():
    facts = tomllib.loads(manifest())
    for entry in THEOREMS:
        assert set(facts[entry.id]["seconds"]) == set(JUDGES)
        assert facts[entry.id]["mutants"] or entry.id in ALONE
    assert facts["P28"]["mutants"] == ["too_few_replicas_are_asked", "any_replica_is_promoted"]
    assert facts["P13"]["mutants"] == ["sync_binlog=0"]
    shown_by_runs = [entry.id for entry in COUNTEREXAMPLES if not entry.elsewhere]
    assert all(facts[name]["mutants"] for name in shown_by_runs)


def test_every_system_was_measured_with_every_judge():
    names = {name for entry in THEOREMS for name in names_of(entry)}
    for judge, row in stored_stability().items():
        assert names <= set(row["systems"]), judge


def test_index_says_how_long_the_slowest_theorem_and_all_take():
    (said,) = seconds_section()
    assert said in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    spent = {entry.id: sum(seconds_of(entry).values()) for entry in THEOREMS}
    slowest = max(spent, key=spent.get)
    assert f"[{slowest}]({slowest}.md), {spent[slowest]:.1f} over three judges" in said
    assert spent[slowest] < LIMIT_S
    for judge, row in stored_stability().items():
        assert f"{judge} {row['median_seconds']}" in said


@pytest.mark.parametrize("identifier", [entry.id for entry in THEOREMS])
def test_theorem_has_a_short_example_on_its_page_before_what_is_not_claimed(identifier):
    example = PROSE[identifier]["example"]
    assert 0 < len(example.split()) <= EXAMPLE_WORDS_MAX
    page = (FOLDER / f"{identifier}.md").read_text(encoding="utf-8")
    assert f"\n## Example\n\n{example}\n" in page
    assert page.index("## Example") < page.index("## Not claimed")


def test_page_without_an_example_is_refused_and_names_the_theorem():
    prose = {key: value for key, value in PROSE["P21"].items() if key != "example"}
    with pytest.raises(SystemExit, match="P21 has no example"):
        theorem_page(theorem("P21"), prose, ASSUMPTIONS)


FIGURES = {name: prose["figure"] for name, prose in PROSE.items() if "figure" in prose}


@pytest.mark.parametrize("identifier", FIGURES)
def test_figure_is_a_short_diagram_under_the_example(identifier):
    figure = FIGURES[identifier]
    lines = figure.splitlines()
    assert re.fullmatch(r"sequenceDiagram|flowchart (LR|TD|BT)", lines[0])
    assert len(lines) <= FIGURE_LINES_MAX
    page = (FOLDER / f"{identifier}.md").read_text(encoding="utf-8")
    section = page.partition("\n## Example\n")[2].partition("\n## ")[0]
    assert section.endswith(f"```mermaid\n{figure}```\n")


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("identifier", ["P49", "P53"])
def test_figure_of_layers_names_the_theorems_of_each_system(identifier):
    named = re.findall(r'"(\w+(?:\[[^]]*\])?): (P\d\d(?:, P\d\d)*)"', FIGURES[identifier])
    assert named
    for system, theorems in named:
        of = [t.id for t in THEOREMS if system in names_of(t)]
        assert theorems.split(", ") == of, system
