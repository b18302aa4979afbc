"""The profiles in docs/wire.md: ``python -m ci.pages.wire --write``."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator

from ci.pages.stored_results import read_results
from ci.pages.writing import filled, pages_main, table
from ci.wire_cases import STORE
from paraply.adapters.wire.commands import HELD
from paraply.conforming.wire.profiles import PROFILES

PAGE = "docs/wire.md"
NAMES = {"mysql": "MySQL", "mariadb": "MariaDB"}


def page() -> str:
    """Return the page."""
    return filled(PAGE, {"profiles": profiles(), "cases": cases()})


def cases() -> Iterator[str]:
    """Yield how many cases each server logs, and why it does not log the others."""
    lines = read_results(STORE)
    servers = dict.fromkeys((one["family"], one["server"]) for one in lines)
    rows = []
    for family, server in servers:
        own = [one for one in lines if (one["family"], one["server"]) == (family, server)]
        logged = sum(not one["reason"] for one in own)
        reasons: dict[str, list[str]] = defaultdict(list)
        for one in own:
            if one["reason"]:
                reasons[_sort_of(one["reason"])].append(one["case"])
        others = "; ".join(f"{reason}: {', '.join(names)}" for reason, names in reasons.items())
        rows.append((f"{NAMES[family]} {server}", f"{logged} of {len(own)}", others))
    yield from table(("server", "cases as logs", "others"), rows)
    yield ""


def _sort_of(reason: str) -> str:
    return re.sub(r"^transaction \d+ is", "a transaction is", reason.partition(": ")[0])


def profiles() -> Iterator[str]:
    """Yield a part for each profile."""
    for one in PROFILES.values():
        yield from (f"### {one.name}", "", "```sh")
        yield f"paraply conform --wire --profile {one.name} -- \\"
        yield from (f"  {one.command}", "```", "", one.note, "")
        settings = {
            "--server": one.server,
            "--require": one.required,
            "--hold": "" if one.hold == HELD else one.hold,
            "--pass": one.let_pass,
            "--ghost": one.ghost,
            "--begin": one.begin,
            "--faults": ",".join(fault.value for fault in one.faults),
            "--patience": f"{one.patience_s:g}",
        }
        yield from ("Equal to these options:", "", "```text")
        yield from (f"{option} '{value}'" for option, value in settings.items() if value)
        yield from (["--compacts"] if one.compacts else [])
        yield from ("```", "")


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.wire", {PAGE: page()}))
