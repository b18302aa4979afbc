"""The tables of docs/counterexamples.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from ci.pages.stored_results import Result, ResultsPage
from ci.pages.writing import ROOT, table

_RACE = "the window lies between two steps of one thread; no lock, signal or wire separates them"
UNFORCED: Mapping[str, str] = {
    "C18": "groups pass from one stage of the commit to the next under mutexes of the server; no"
    " session can hold a group between them. `binlog_order_commits=OFF` releases the order by"
    " option, and also gives no place to hold it",
    "C31": f"a worker that is rolled back after it began to commit: {_RACE}",
    "C32": f"rollback and revocation of the commit's start: {_RACE}",
    "C34": f"a temporary error after the commit began: {_RACE}",
    "C35": f"a kill that arrives after its reason is gone: {_RACE}",
    "C50": "a member releases row locks only in the engine commit; no option or session releases"
    " them between certification and commit",
    "C69": "which of several waiting sessions gets a freed row is decided inside the lock"
    " manager. The first circle of C68 was seen to close again in one of two runs"
    " ([live](live.md#mysql-974)), by chance",
}
"""Why a counterexample cannot be forced from outside, where no script decides it."""
PUBLISHED: Mapping[str, str] = {
    "J1": "[Jepsen 2026](https://jepsen.io/analyses/mariadb-galera-cluster-12.1.2): members that"
    " crash together lose confirmed transactions",
}
"""Findings of others, which no model has."""
NUMBERS = tuple(f"C{number:02}" for number in range(1, 75))
OURS = tuple(f"C{number}" for number in (*range(79, 89), *range(107, 112)))
"""Counterexamples of paraply's own algorithms, which speak of no server."""
UNTRIED = (range(75, 79), range(89, 107), range(112, 141))
"""Numbers of those not tried on servers so far."""


def title(number: str) -> str:
    """Return a counterexample's title."""
    if number in PUBLISHED:
        return PUBLISHED[number]
    first = (ROOT / f"proofs/{number}.md").read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2]


def _servers(results: Sequence[Result]) -> list[str]:
    return sorted({one["server"] for one in results})


def results_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield the count, the table, and what was seen."""
    servers = _servers(results)
    found: dict[str, dict[str, tuple[str, str, str]]] = {}
    for one in results:
        for number, decision in one["decisions"].items():
            found.setdefault(number, {})[one["server"]] = (
                decision["outcome"], decision["seen"], one["script"],
            )  # fmt: skip
    counts = {
        outcome: sum(
            any(each[0] == outcome for each in by.values())
            for number, by in found.items()
            if number in NUMBERS
        )
        for outcome in ("reproduced", "impossible")
    }
    modelled = [number for number in NUMBERS if number in found]
    yield (
        f"{len(modelled)} of {len(NUMBERS)} are decided on real servers: {counts['reproduced']}"
        f" reproduced on at least one, {counts['impossible']} impossible on at least one."
        f" {len(UNFORCED)} cannot be forced from outside."
    )
    yield ""
    yield from table(
        ("", "in the model", *servers, "script, or why it cannot be forced"),
        (_row(number, found.get(number, {}), servers) for number in (*NUMBERS, *PUBLISHED)),
    )
    yield from ("", "### Seen", "")
    for number in (*NUMBERS, *PUBLISHED):
        for server, (outcome, seen, _) in sorted(found.get(number, {}).items()):
            yield f"- **{number}**, {server}, {outcome}: {_plain(seen)}"
    yield from ("", "### Runs", "")
    for one in results:
        yield f"**{one['script']}**, {one['server']}, {one['seconds']} s:"
        yield ""
        yield from (f"- {_plain(note)}" for note in one["notes"])
        yield ""


def _row(
    number: str, decided: Mapping[str, tuple[str, str, str]], servers: Sequence[str]
) -> tuple[str, ...]:
    scripts = sorted({f"`{script}`" for _, _, script in decided.values()})
    outcomes = (
        "" if server not in decided
        else "**reproduced**" if decided[server][0] == "reproduced" else decided[server][0]
        for server in servers
    )  # fmt: skip
    why = ", ".join(scripts) or UNFORCED.get(number, "not tried")
    link = number if number in PUBLISHED else f"[{number}](../proofs/{number}.md)"
    return (link, title(number), *outcomes, why)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


PAGE = ResultsPage(
    module="ci.pages.counterexamples",
    page="docs/counterexamples.md",
    results="docs/counterexamples.jsonl",
    written_by="python -m ci.counterexamples --publish",
    key=lambda one: (one["script"], one["server"]),
    lines=results_lines,
)


if __name__ == "__main__":
    sys.exit(PAGE.main())
