"""The table of docs/first-verdict.md: ``python -m ci.pages.first_verdict --write``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ci.pages.writing import filled, pages_main, table
from ci.stranger import Start, stored

PAGE = "docs/first-verdict.md"


def page(found: Sequence[Start]) -> str:
    """Return the page of the stored results."""
    return filled(PAGE, {"summary": summary(found), "commands": commands(found), "run": run(found)})


def summary(found: Sequence[Start]) -> list[str]:
    """Return time and megabytes to the first verdict, by user."""
    rows = (
        (
            one.user, f"`{one.install}`", f"{one.seconds:.0f} s", f"{one.install_seconds:.0f} s",
            f"{one.cpu_seconds:.0f} s" if one.cpu_seconds is not None else "",
            f"{one.downloaded_mb:,.0f} MB", f"{one.installed_mb:,.0f} MB",
        )
        for one in found
    )  # fmt: skip
    head = (
        "user",
        "installs",
        "first verdict after",
        "of which installing",
        "processor time",
        "downloads",
        "on disk",
    )
    return table(head, rows)


def commands(found: Sequence[Start]) -> list[str]:
    """Return the seconds of every command."""
    return table(("user", "command", "seconds", "exit code", "caches left"), _commands(found))


def _commands(found: Sequence[Start]) -> Iterator[tuple[str, ...]]:
    for one in found:
        for number, ran in enumerate(one.commands):
            is_last = number == len(one.commands) - 1
            left = f"{one.home_mb:,.1f} MB" if is_last and one.home_mb else ""
            seconds = f"{float(ran['seconds']):,.1f}"
            yield one.user, f"`{ran['command']}`", seconds, str(ran["exit_code"]), left


def run(found: Sequence[Start]) -> list[str]:
    """Return the dates of the runs."""
    dates = ", ".join(sorted({one.date for one in found}))
    return [f"Measured on {dates} by `python -m ci.stranger`."]


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.first_verdict", {PAGE: page(stored())}))
