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
    smaller_only,
    there_too,
)
from paraply.models.claims.theorems import THEOREMS, theorem

GROUP_SYSTEM = re.compile(r"(parallel_|acknowledged_|returning_)?group(\[|$)")
WORDS_MAX = 12


def is_of_a_group(entry):
    return all(GROUP_SYSTEM.match(build().name) for build in entry.systems)


@pytest.mark.parametrize("entry", THEOREMS, ids=lambda entry: entry.id)
def test_theorems_of_the_group_model_are_those_of_its_systems(entry):
    assert is_of_a_group(entry) == (entry.standing.place is Place.OF_THE_GROUP)


@pytest.mark.parametrize("entry", THEOREMS, ids=lambda entry: entry.id)
def test_theorem_names_statements_of_the_group_model_or_a_short_reason(entry):
    standing = entry.standing
    assert bool(standing.by) == (standing.place is Place.THERE_TOO)
    for name, statement in standing.by:
        named = theorem(name)
        assert isinstance(named, Theorem)
        assert is_of_a_group(named)
        assert statement in named.statements
    assert bool(standing.reason) or standing.place in {Place.THERE_TOO, Place.OF_THE_GROUP}
    assert len(standing.reason.split()) <= WORDS_MAX


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
    small, other = smaller_only("it has no DDL"), about("the audit")
    assert standing_line(small) == "Of this smaller model only: it has no DDL."
    assert standing_line(other) == "About something else than a group: the audit."
    assert standing_line(OF_THE_GROUP) == "Of the group model."
