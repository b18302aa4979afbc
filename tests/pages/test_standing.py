"""Each theorem says where it stands to the one model of a group."""

from __future__ import annotations

import re

import pytest

from ci.pages.proofs.pages import FOLDER
from ci.pages.proofs.standing import standing_cell, standing_line
from paraply.models.claims.claim import (
    OF_THE_GROUP,
    Place,
    Theorem,
    about,
    corollary,
    smaller_only,
    there_too,
)
from paraply.models.claims.theorems import THEOREMS, theorem

GROUP_SYSTEM = re.compile(r"(parallel_|acknowledged_|returning_)?group(\[|$|_in_)")
WORDS_MAX = 12


def is_of_a_group(entry):
    return all(GROUP_SYSTEM.match(build().name) for build in entry.systems)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("entry", THEOREMS, ids=lambda entry: entry.id)
def test_theorems_of_the_group_model_are_those_of_its_systems(entry):
    assert is_of_a_group(entry) == (entry.standing.place is Place.OF_THE_GROUP)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("entry", THEOREMS, ids=lambda entry: entry.id)
def test_theorem_names_statements_of_the_group_model_or_a_short_reason(entry):
    standing = entry.standing
    assert bool(standing.by) == (standing.place in {Place.THERE_TOO, Place.COROLLARY})
    for name, statement in standing.by:
        named = theorem(name)
        assert isinstance(named, Theorem)
        assert is_of_a_group(named)
        assert statement in named.statements
    without_reason = {Place.THERE_TOO, Place.COROLLARY, Place.OF_THE_GROUP}
    assert bool(standing.reason) or standing.place in without_reason
    assert len(standing.reason.split()) <= WORDS_MAX


@pytest.mark.parametrize(
    "entry", [one for one in THEOREMS if one.standing.place is Place.COROLLARY],
    ids=lambda entry: entry.id,
)  # fmt: skip
def test_corollary_rests_on_a_refinement_of_its_own_model(entry):
    ((refining, _),) = entry.standing.by
    assert "every_step_is_matched" in theorem(refining).statements
    (joint,) = (build() for build in theorem(refining).systems)
    smaller = joint.name.removeprefix("group_in_")
    assert {re.split(r"\[", build().name)[0] for build in entry.systems} == {smaller}


def test_theorem_without_a_standing_cannot_be_stated():
    with pytest.raises(TypeError, match="standing"):
        Theorem(id="P99", claim="", systems=(), statements=(), assumes=(), delimited_by=(),
                source="")  # fmt: skip


@pytest.mark.parametrize("entry", THEOREMS, ids=lambda entry: entry.id)
def test_standing_is_on_the_page_and_in_the_table(entry):
    page = (FOLDER / f"{entry.id}.md").read_text(encoding="utf-8")
    assert page.splitlines().count(standing_line(entry.standing)) == 1
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    row = next(one for one in table.splitlines() if one.startswith(f"| [{entry.id}]"))
    assert row.endswith(f" | {standing_cell(entry.standing)} |")


def test_words_of_each_standing():
    both = there_too("P53.one", "P53.two", "P54.three", but="DDL")
    assert standing_line(both) == (
        "In the group model too: [P53](P53.md) (`one`, `two`) and [P54](P54.md) (`three`), "
        "but for DDL."
    )
    assert standing_cell(both) == "[P53](P53.md), [P54](P54.md), in part"
    assert standing_cell(there_too("P53.one")) == "[P53](P53.md)"
    follows = corollary("P58.one")
    assert standing_line(follows) == (
        "The group model refines this one: [P58](P58.md) (`one`) is the same of a group."
    )
    assert standing_cell(follows) == "[P58](P58.md), by refinement"
    partly = corollary("P58.one", but="DDL")
    assert standing_line(partly) == standing_line(follows)[:-1] + ", but for DDL."
    assert standing_cell(partly) == "[P58](P58.md), by refinement, in part"
    small, other = smaller_only("it has no DDL"), about("the audit")
    assert standing_line(small) == "Of this smaller model only: it has no DDL."
    assert standing_line(other) == "About something else than a group: the audit."
    assert standing_line(OF_THE_GROUP) == "Of the group model."
