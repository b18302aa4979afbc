"""The tables of docs/claims.md.

``--add FILE...`` stores results of ``paraply live --workload list-append --json``, replaces those
of equal target, mode and client options, and writes the page. Exit code 3 for a file without
results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ci.pages.stored_results import Result, ResultsPage, release_of
from ci.pages.writing import table
from paraply.adapters.live.clients.options import ClientOptions, IsolationLevel, Route
from paraply.observing.claims import DOCUMENTS, claim_of

_OPTIONS = ("workload", "isolation", "reads", "wait", "keys", "operations", "read_only")
_REFUTED = ("refuted", "refuted, as published")
_SEEN = ("documented", "not promised")
_DATA_CYCLES = {"G0", "G1c", "G-single", "G-nonadjacent", "G2-item"}
_ORDERED_CYCLES = {"SI-session", "cycle-session", "SI-realtime", "cycle-realtime"}
_CHARACTERS_MAX = 400


def _key(result: Result) -> tuple[str, ...]:
    options = (str(result["clients"][name]) for name in _OPTIONS)
    return (result["target"], release_of(result), result["mode"], *options)


def results_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield one table per target, its smallest witnesses, and the commands."""
    for target in dict.fromkeys(one["target"] for one in results):
        own = [one for one in results if one["target"] == target]
        servers = sorted({str(one["evidence"].get("server", "")) for one in own})
        total = sum(int(one["evidence"].get("committed", 0)) for one in own)
        yield from (f"### {target}", "")
        yield f"{', '.join(servers)}; {total:,} confirmed transactions in {len(own)} runs."
        yield ""
        yield from table(
            ("mode, level", "server", "clients", "confirmed", "verdict", "refuted",
             "seen, not excluded", "excluded, and held"),
            map(_row, own),
        )  # fmt: skip
        yield ""
        yield from _documents(own)
        yield from _witnesses(own)
        yield from ("", "Commands:", "")
        yield from (f"- `{one['command']}`" for one in own)
        yield ""


def _row(one: Result) -> tuple[str, ...]:
    clients = one["clients"]
    how = [clients["workload"]]
    if clients["reads"] != "source":
        how.append(f"reads at {clients['reads']}")
    if clients["wait"] != "none":
        how.append(clients["wait"])
    verdict = one["verdict"]
    return (
        f"{one['mode']}, {clients['isolation']}",
        str(one["evidence"].get("server", "")),
        ", ".join(how),
        f"{one['evidence'].get('committed', 0):,}",
        f"**{verdict}**" if verdict == "violated" else verdict,
        _labels(one, _REFUTED),
        _labels(one, _SEEN),
        _labels(one, ("as documented",), counted=False) or "nothing was tested",
    )


def _labels(one: Result, statuses: Sequence[str], *, counted: bool = True) -> str:
    views: dict[str, list[str]] = {}
    for each in _telling(one["findings"]):
        if each["status"] not in statuses:
            continue
        text = each["phenomenon"]
        if counted:
            text += f" {each['seen']:,}"
            if each["between_servers"]:
                text += f" ({each['between_servers']:,} between servers)"
        views.setdefault(each["view"], []).append(text)
    return "; ".join(
        ("" if view == "all" else f"{view}: ") + ", ".join(texts) for view, texts in views.items()
    )


def _telling(findings: Sequence[Result]) -> list[Result]:
    """Leave out the cycles with further orders, which every data cycle is as well."""
    seen = {each["phenomenon"] for each in findings if each["seen"]}
    implied = _ORDERED_CYCLES if _DATA_CYCLES & seen else ()
    return [each for each in findings if not each["seen"] or each["phenomenon"] not in implied]


def _documents(results: Sequence[Result]) -> Iterator[str]:
    yield from ("Documented:", "")
    told: dict[tuple[str, str], None] = {}
    for one in results:
        claim = claim_of(one["target"], one["mode"], _options(one["clients"]))
        for promise in claim.promises:
            told[promise.text, DOCUMENTS[promise.source]] = None
        for admission in claim.admissions:
            told[admission.text, DOCUMENTS[admission.source]] = None
    yield from (f"- {text} ([source]({source}))" for text, source in told)
    yield ""


def _options(clients: Result) -> ClientOptions:
    return ClientOptions(
        workload=clients["workload"],
        isolation=IsolationLevel(clients["isolation"]),
        reads=Route(clients["reads"]),
        wait=clients["wait"],
    )


def _witnesses(results: Sequence[Result]) -> Iterator[str]:
    """Yield the smallest witness of each phenomenon, of refuted promises first."""
    yield from ("Smallest witnesses:", "")
    found: dict[str, tuple[tuple[Any, ...], Result, Result]] = {}
    for one in results:
        for each in _telling(one["findings"]):
            if each["witness"] is None:
                continue
            names = each["witness"]["transactions"]
            order = (each["status"] not in _REFUTED, len(names), sum(map(len, names)))
            label = each["phenomenon"]
            if label not in found or order < found[label][0]:
                found[label] = (order, one, each)
    for label, (_, one, each) in found.items():
        where = f"{one['mode']}, {one['clients']['isolation']}, {one['clients']['workload']}"
        yield f"- **{label}** ({each['status']}; {where}): {_cut(each['witness']['sentence'])}"
        yield from (f"    - `{_cut(text)}`" for text in each["witness"]["transactions"])
    if not found:
        yield "- none: no phenomenon was seen"


def _cut(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain if len(plain) <= _CHARACTERS_MAX else f"{plain[:_CHARACTERS_MAX]} ..."


PAGE = ResultsPage(
    module="ci.pages.claims",
    page="docs/claims.md",
    results="docs/claims.jsonl",
    written_by="paraply live --workload list-append --json FILE",
    key=_key,
    lines=results_lines,
)


if __name__ == "__main__":
    sys.exit(PAGE.main())
