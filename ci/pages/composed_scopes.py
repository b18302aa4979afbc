"""Exhaustive scopes of the composed system and their commands, for ``docs/explore.md``."""

from __future__ import annotations

import sys
from typing import NamedTuple

from ci.pages.writing import filled, pages_main
from paraply.reference_impl.composed.subject import COMPOSED
from paraply.reference_impl.subject import SIZES, Workload
from paraply.vocabulary.history import OptionValue

PAGE_PATH = "docs/explore.md"
LEAST = Workload(dialect="wl8440")
"""What the command takes where nothing is given."""
NEW = "mysql_8_4"
"""Without transactions for view changes, scopes are smaller."""


class Scope(NamedTuple):
    """A scope with the number of runs that differ."""

    runs: int
    workload: Workload


def workload_of(
    transactions: int, *, members: int = 2, rows: int = 1, dialect: str = "wl8440",
    **options: OptionValue,
) -> Workload:  # fmt: skip
    """Return a workload with one client and worker per member, unless given."""
    return COMPOSED.small_scope(
        Workload(
            transactions=transactions,
            rows=rows,
            members=members,
            dialect=dialect,
            options={"sessions": 1, "workers": 1, **options},
        )
    )


SCOPES = {
    "one": Scope(2, workload_of(1)),
    "one, after commit": Scope(4, workload_of(1, after_commit=True)),
    "two at a primary": Scope(2, workload_of(2, single_primary=True)),
    "two": Scope(62, workload_of(2)),
    "departure": Scope(364, workload_of(1, departures=1)),
    "departure, after commit": Scope(924, workload_of(1, departures=1, after_commit=True)),
    "departure, reader": Scope(600, workload_of(1, dialect=NEW, departures=1, reads=1)),
    "departure amid two": Scope(
        480, workload_of(2, dialect=NEW, departures=1, single_primary=True)
    ),
    "departure of three": Scope(
        290, workload_of(1, members=3, dialect=NEW, departures=1, single_primary=True)
    ),
    "join": Scope(209, workload_of(1, joins=1, absent=1)),
    "collection": Scope(314, workload_of(1, dialect=NEW, broadcasts=2)),
    "recovery": Scope(
        1_453, workload_of(1, dialect=NEW, departures=1, joins=1, single_primary=True)
    ),
    "join amid two": Scope(657, workload_of(2, dialect=NEW, joins=1, absent=1)),
    "two rows": Scope(682, workload_of(2, rows=2, dialect=NEW, sessions=2, workers=2)),
}


def command_of(workload: Workload) -> str:
    """Return the command that enumerates a scope."""
    sizes = {name: getattr(workload, name) for name in ("dialect", *SIZES)}
    small = COMPOSED.small_scope(Workload()).options
    given = {name: one for name, one in workload.options.items() if one != small.get(name)}
    return " ".join(
        [
            "paraply explore composed --exhaustive",
            *(f"--{name}={one}" for name, one in sizes.items() if one != getattr(LEAST, name)),
            *(f"--option {name}={str(one).lower()}" for name, one in sorted(given.items())),
        ]
    )


def page() -> str:
    """Return the page with its commands."""
    lines = ["```sh"]
    for name, scope in SCOPES.items():
        lines += [f"# {name}: {scope.runs:,} runs", command_of(scope.workload)]
    return filled(PAGE_PATH, {"composed-scopes": [*lines, "```"]})


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.composed_scopes", {PAGE_PATH: page()}))
