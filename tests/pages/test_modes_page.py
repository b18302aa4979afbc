"""The page on MariaDB's parallel modes says what the enumeration finds."""

from __future__ import annotations

import pytest

from ci.pages.modes import COLUMNS, SITUATIONS, cell, decide, run_words
from paraply.properties.registry import registered_properties
from paraply.properties.vocabularies import BETWEEN_DOMAINS
from paraply.reference_impl.mariadb.subject import MARIADB_PARALLEL


@pytest.mark.long
@pytest.mark.parametrize(
    "dialect",
    ["minimal", "conservative", "conservative_by_schema", "conservative_non_transactional"],
)
def test_broken_columns_are_those_that_the_mode_is_known_to_break(dialect):
    decided = decide(dialect)
    known = MARIADB_PARALLEL.breaks[dialect]
    if dialect.endswith("_by_schema"):
        known |= {one.name for one in registered_properties() if BETWEEN_DOMAINS in one.exemptions}
    assert {COLUMNS[one] for one in decided.smallest} == known & set(COLUMNS.values())
    assert decided.cut <= {"reads"}


def test_mode_none_has_nothing_to_order():
    decided = decide("none")
    assert decided.smallest == {}
    assert cell("conflicts", decided) == "–"
    assert cell("never fails", decided) == "kept (70)"
    assert decided.reached == dict.fromkeys(SITUATIONS, 0)


@pytest.mark.long
def test_conservative_reaches_kills_and_group_commits():
    reached = decide("conservative").reached
    assert all(reached[one] for one in ("kill", "revoked", "retry", "pulled in", "overlap"))
    assert not reached["overtaking"]


@pytest.mark.long
def test_run_is_told_with_marks_and_domains():
    story = run_words(decide("conservative_by_schema").smallest["marks"])
    assert story.startswith("T1{a} (domain 24), T2{a} (domain 24, waited): begin T1; ")
    assert story.endswith("engine commit T2")
