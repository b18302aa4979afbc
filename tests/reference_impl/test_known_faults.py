"""Every known fault of servers has its mutant, and every semi-sync mutant is a known fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paraply.registries import mutant_named, registered_mutants
from reference_impl.semi_sync.known_faults import KNOWN_FAULTS

PAGE = Path(__file__).parent.parent.parent / "docs" / "semi-sync.md"
MUTANTS_MIN = 45
# The entries of bug reports and measurements on group commit and semi-sync that were surveyed.
SURVEYED = (
    "44058", "109829", "99370", "89370", "68250", "89331", "92882", "73397", "80102", "113489",
    "105748", "MDEV-6775", "MDEV-24526", "MDEV-7310", "MDEV-35506", "MDEV-14721", "MDEV-162",
    "MDEV-11853", "MDEV-21117", "MDEV-28461", "MDEV-33465", "MDEV-4698", "MDEV-32960", "strcmp",
    "MDEV-7591", "measured, a", "measured, b and c", "measured, d and e", "measured, f",
    "measured, g", "sync_binlog",
)  # fmt: skip


@pytest.mark.parametrize("fault", KNOWN_FAULTS, ids=lambda fault: fault.known_as)
def test_entry_has_mutants_that_a_property_must_catch_or_says_why_not(fault):
    assert bool(fault.mutants) is not bool(fault.instead)
    for name in fault.mutants:
        # That each is caught is the business of test_mutants.
        assert not mutant_named(name).survives_because


@pytest.mark.parametrize("known_as", SURVEYED)
def test_surveyed_fault_is_an_entry(known_as):
    assert any(known_as in fault.known_as or known_as in fault.server for fault in KNOWN_FAULTS)


def test_every_semi_sync_mutant_stands_for_a_known_fault():
    named = {name for fault in KNOWN_FAULTS for name in fault.mutants}
    family = {mutant.name for mutant in registered_mutants() if mutant.family == "semi-sync"}
    assert family <= named
    assert len(family) >= MUTANTS_MIN


def test_page_maps_every_entry_to_its_mutants():
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("## Faults of servers")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    mapped = {row[0].removeprefix("| "): set(re.findall(r"`(\w+)`", row[3])) for row in rows}
    assert mapped == {fault.known_as: set(fault.mutants) for fault in KNOWN_FAULTS}
