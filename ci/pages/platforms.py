"""The tables of docs/platforms.md: ``python -m ci.pages.platforms --write``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from packaging.version import Version

from ci import installs
from ci.installs import Install
from ci.pages.dependencies import LOCK, locked
from ci.pages.writing import ROOT, filled, pages_main, table
from ci.platforms import CORE, PARTS, PLATFORMS, PYTHONS, Resolution, stored

PAGE = "docs/platforms.md"
NONE = "none"


def page(found: Sequence[Resolution]) -> str:
    """Return the page of the stored results."""
    return filled(
        PAGE,
        {
            "platforms": overview(found),
            "missing": missing(found),
            "older": older(found),
            "run": run(found),
            "installed": installed(installs.stored()),
        },
    )


def overview(found: Sequence[Resolution]) -> list[str]:
    """Return the Python versions on which each part resolves, by platform."""
    rows = []
    for platform in PLATFORMS:
        cells = [platform.name]
        for part in PARTS:
            mine = [one for one in found if (one.platform, one.part) == (platform.name, part)]
            cell = pythons([one.python for one in mine if not one.missing])
            with_source = any(one.source and not one.missing for one in mine)
            cells.append(cell + (" ¹" if with_source else ""))
        rows.append(cells)
    return table(("", *(part if part == CORE else f"`{part}`" for part in PARTS)), rows)


def pythons(versions: Iterable[str]) -> str:
    """Return Python versions in words.

    >>> pythons(["3.11", "3.12", "3.13"]), pythons(["3.11", "3.14"]), pythons([])
    ('3.11 to 3.13', '3.11, 3.14', 'none')
    """
    known = {*versions}
    given = [one for one in PYTHONS if one in known]
    first = PYTHONS.index(given[0]) if given else 0
    if len(given) > 2 and tuple(given) == PYTHONS[first : first + len(given)]:
        return f"{given[0]} to {given[-1]}"
    return ", ".join(given) or NONE


def missing(found: Sequence[Resolution]) -> list[str]:
    """Return what does not resolve, with the reasons."""
    reasons = [
        (one.part, one.platform, f"{name} {reason}", one.python)
        for one in found
        for name, reason in one.missing.items()
    ]
    return table(("extra", "platform", "Python", "reason"), _by_python(reasons))


def older(found: Sequence[Resolution]) -> list[str]:
    """Return distributions that resolve to an older version than the tests use."""
    tested: dict[str, Version] = {}
    for pin in locked((ROOT / LOCK).read_text(encoding="utf-8")):
        # Of several pins, for several Pythons, the lowest counts.
        tested[pin.name] = min(Version(pin.version), tested.get(pin.name, Version(pin.version)))
    rows = [
        (one.part, one.platform, f"{name} {version}; tests use {tested[name]}", one.python)
        for one in found
        if not one.missing
        for name, version in one.versions.items()
        if name in tested and Version(version) < tested[name]
    ]
    return table(("part", "platform", "Python", "version"), _by_python(rows))


def _by_python(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[tuple[str, str, str, str]]:
    """Merge rows (part, platform, fact, Python) that differ in the Python version alone."""
    places = [platform.name for platform in PLATFORMS]
    ordered = sorted(rows, key=lambda row: (PARTS.index(row[0]), places.index(row[1]), row[2]))
    for (part, platform, fact), same in groupby(ordered, lambda row: row[:3]):
        yield part, platform, pythons([row[3] for row in same]), fact


def installed(found: Iterable[Install]) -> list[str]:
    """Return the Pythons on which the core was installed, with the exit codes of its commands."""
    rows = [
        (
            one.python,
            one.machine,
            ", ".join(f"`{command}` {code}" for command, code in one.codes.items()),
            one.date,
        )
        for one in found
    ]
    return table(("Python", "platform", "exit codes", "date"), rows)


def run(found: Sequence[Resolution]) -> list[str]:
    """Return the dates of the runs, the number of results and the sources."""
    dates = sorted({one.date for one in found})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    sources = sorted({name for one in found for name in one.source})
    lines = [f"Resolved on {when} by `python -m ci.platforms`: {len(found)} results."]
    if sources:
        lines += ["", f"¹ Source distributions, which pip builds: {', '.join(sources)}."]
    return lines


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.platforms", {PAGE: page(stored())}))
