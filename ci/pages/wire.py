"""The profiles in docs/wire.md: ``python -m ci.pages.wire --write``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ci.pages.writing import filled, pages_main
from paraply.adapters.wire.commands import HELD
from paraply.conforming.wire.profiles import PROFILES

PAGE = "docs/wire.md"


def page() -> str:
    """Return the page."""
    return filled(PAGE, {"profiles": profiles()})


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
