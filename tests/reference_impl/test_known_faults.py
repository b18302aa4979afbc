"""Every known fault of servers has its mutant, or says what stands for it instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci.pages.faults.mariadb import FIRST_TWENTY, MARIADB_FAULTS
from ci.pages.faults.mysql import ALGORITHM_FAULTS, MYSQL_FAULTS
from ci.pages.faults.semi_sync import KNOWN_FAULTS
from ci.pages.known_faults import page
from paraply.registries import mutant_named, registered_mutants

DOCS = Path(__file__).parent.parent.parent / "docs"
EVERY_FAULT = (*MYSQL_FAULTS, *ALGORITHM_FAULTS, *MARIADB_FAULTS.values(), *KNOWN_FAULTS)
# The bug reports and measurements that were surveyed; an entry for each.
SURVEYED_SEMI_SYNC = (
    "44058", "109829", "99370", "89370", "68250", "89331", "92882", "73397", "80102", "113489",
    "105748", "MDEV-6775", "MDEV-24526", "MDEV-7310", "MDEV-35506", "MDEV-14721", "MDEV-162",
    "MDEV-11853", "MDEV-21117", "MDEV-28461", "MDEV-33465", "MDEV-4698", "MDEV-32960", "strcmp",
    "MDEV-7591", "measured, a", "measured, b and c", "measured, d and e", "measured, f",
    "measured, g", "sync_binlog",
)  # fmt: skip
SURVEYED_MYSQL = (
    "86078", "89141", "89147", "111027", "CREATE TABLE", "106875", "m_last_blocking", "65428",
    "96414", "98719", "94814", "gh-ost 1454", "mysql-ripple 26", "(0, 0)", "9.1.3",
    "empty intersection", "same_member_message", "34157846", "89938", "93347", "103641", "89058",
    "98239", "89194", "89195", "110071", "CASCADE", "frozen", "99778", "PS-8450", "burned",
    "103636", "120281", "87796", "89247", "95863", "107574", "PS-9018", "PXC-4116", "72794",
    "lost wake-up", "92882", "73397", "80102",
)  # fmt: skip
SURVEYED_MARIADB = 52
"""Entries, numbered from 1."""
FLOORS = {
    "group replication and its applier": 40,
    "WL#4648 and MariaDB": 40,
    "semi-sync": 45,
    "composed": 35,
}
PARTS = {
    "certifier": "group replication and its applier",
    "certifier_retries": "group replication and its applier",
    "group": "group replication and its applier",
    "applier": "group replication and its applier",
    "source": "group replication and its applier",
    "write_sets": "group replication and its applier",
    "wl4648": "WL#4648 and MariaDB",
    "mariadb_parallel": "WL#4648 and MariaDB",
    "gtid_positions": "WL#4648 and MariaDB",
    "gtid_topology": "WL#4648 and MariaDB",
    "gap_free": "WL#4648 and MariaDB",
    "semi_sync": "semi-sync",
    "semi_sync_clock": "semi-sync",
    "composed": "composed",
}


@pytest.mark.parametrize("fault", EVERY_FAULT, ids=lambda fault: fault.known_as)
def test_entry_has_mutants_that_a_property_must_catch_or_says_why_not(fault):
    assert bool(fault.mutants) is not bool(fault.instead)
    for name in fault.mutants:
        # That each is caught is the business of test_mutants.
        assert not mutant_named(name).survives_because


@pytest.mark.parametrize(
    ("known_as", "faults"),
    [
        *((one, KNOWN_FAULTS) for one in SURVEYED_SEMI_SYNC),
        *((one, MYSQL_FAULTS) for one in SURVEYED_MYSQL),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_surveyed_fault_is_an_entry(known_as, faults):
    assert any(known_as in fault.known_as or known_as in fault.server for fault in faults)


def test_entries_of_mariadb_are_numbered_and_the_first_twenty_all_have_mutants():
    assert list(MARIADB_FAULTS) == list(range(1, SURVEYED_MARIADB + 1))
    assert len(set(FIRST_TWENTY)) == 20
    assert all(MARIADB_FAULTS[number].mutants for number in FIRST_TWENTY)


def test_slips_of_the_algorithm_all_have_mutants():
    assert all(fault.mutants for fault in ALGORITHM_FAULTS)


def test_every_part_has_its_share_of_mutants():
    counts = dict.fromkeys(FLOORS, 0)
    for mutant in registered_mutants():
        counts[PARTS[mutant.of]] += not mutant.survives_because
    print(counts)
    assert all(counts[part] >= floor for part, floor in FLOORS.items())


def test_every_semi_sync_mutant_stands_for_a_known_fault():
    named = {name for fault in KNOWN_FAULTS for name in fault.mutants}
    family = {mutant.name for mutant in registered_mutants() if mutant.family == "semi-sync"}
    assert family <= named


def test_page_of_semi_sync_maps_every_entry_to_its_mutants():
    text = (DOCS / "semi-sync.md").read_text(encoding="utf-8")
    table = text.partition("## Faults of servers")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    mapped = {row[0].removeprefix("| "): set(re.findall(r"`(\w+)`", row[3])) for row in rows}
    assert mapped == {fault.known_as: set(fault.mutants) for fault in KNOWN_FAULTS}


def test_page_of_known_faults_names_the_property_of_every_mutant():
    text = page()
    for fault in EVERY_FAULT:
        assert f"| {fault.known_as} |" in text
        for name in fault.mutants:
            assert f"`{name}` ({mutant_named(name).caught_by})" in text
