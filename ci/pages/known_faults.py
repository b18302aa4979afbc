"""The tables of ``docs/known-faults.md``, from the registries."""

from __future__ import annotations

import sys

from ci.pages.faults.fault import KnownFault
from ci.pages.faults.mariadb import MARIADB_FAULTS
from ci.pages.faults.mysql import ALGORITHM_FAULTS, MYSQL_FAULTS
from ci.pages.faults.semi_sync import KNOWN_FAULTS
from ci.pages.writing import filled, pages_main, table
from paraply.registries import mutant_named

PAGE = "docs/known-faults.md"

TABLES: dict[str, tuple[KnownFault, ...]] = {
    "mysql": MYSQL_FAULTS,
    "algorithm": ALGORITHM_FAULTS,
    "mariadb": tuple(MARIADB_FAULTS.values()),
    "semi-sync": KNOWN_FAULTS,
}


def page() -> str:
    """Return the page."""
    faults = [fault for entries in TABLES.values() for fault in entries]
    mutants = {name for fault in faults for name in fault.mutants}
    head = ["known as", "server", "fault", "detected as"]
    blocks = {
        name: table(head, ([one.known_as, one.server, one.what, _found_as(one)] for one in entries))
        for name, entries in TABLES.items()
    }
    counts = [f"{len(faults)} entries, {len(mutants)} mutants."]
    return filled(PAGE, {**blocks, "counts": counts})


def _found_as(fault: KnownFault) -> str:
    if not fault.mutants:
        return f"*no mutant*: {fault.instead}"
    return "; ".join(f"`{name}` ({mutant_named(name).caught_by})" for name in fault.mutants)


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.known_faults", {PAGE: page()}))
