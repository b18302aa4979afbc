"""The tables of docs/claims.md.

``--add FILE...`` stores results of ``paraply live --workload list-append --json``, replaces those
of equal target, mode and client options, and writes the page. Exit code 3 for a file without
results.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ci.pages.writing import ROOT, filled, pages_main, table
from paraply.adapters.live.clients.options import ClientOptions, IsolationLevel, Route
from paraply.cli import Parser, report
from paraply.errors import NOTHING_READ
from paraply.observing.claims import DOCUMENTS, claim_of
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import EXIT_UNREADABLE

MODULE = "ci.pages.claims"
PAGE_PATH = "docs/claims.md"
RESULTS_PATH = "docs/claims.jsonl"
_OPTIONS = ("workload", "isolation", "reads", "wait", "keys", "operations", "read_only")
_REFUTED = ("refuted", "refuted, as published")
_SEEN = ("documented", "not promised")
_DATA_CYCLES = {"G0", "G1c", "G-single", "G-nonadjacent", "G2-item"}
_ORDERED_CYCLES = {"SI-session", "cycle-session", "SI-realtime", "cycle-realtime"}
_CHARACTERS_MAX = 400

Result = dict[str, Any]


def read_results(path: Path) -> list[Result]:
    """Return the stored results, one per line."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def merged(stored: Sequence[Result], new: Sequence[Result]) -> list[Result]:
    """Return all results in a fixed order; new ones replace stored ones."""
    by_key = {_key(one): one for one in (*stored, *new)}
    return [by_key[key] for key in sorted(by_key)]


def _key(result: Result) -> tuple[str, ...]:
    # Servers that are already there may be of either family.
    family, _, _ = str(result["evidence"].get("server", "")).partition(" ")
    options = (str(result["clients"][name]) for name in _OPTIONS)
    return (result["target"], family, result["mode"], *options)


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
            ("mode, level", "clients", "confirmed", "verdict", "refuted", "seen, not excluded",
             "excluded, and held"),
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


def generated() -> dict[str, str]:
    """Return the page by its path."""
    results = read_results(ROOT / RESULTS_PATH)
    return {PAGE_PATH: filled(PAGE_PATH, {"results": results_lines(results)})}


def added(files: Sequence[str]) -> list[Result]:
    """Return results of client runs.

    Raises:
        ParaplyError: P307 for an unreadable file or other content.
    """
    new: list[Result] = []
    for file in files:
        try:
            found = json.loads(Path(file).read_text(encoding="utf-8"))["results"]
            # A result without the page's fields must fail before anything is stored.
            list(results_lines(merged([], found)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ParaplyError(
                NOTHING_READ,
                where=file,
                reason=f"{type(error).__name__}: {error}",
                remedy="name files that `paraply live --workload list-append --json FILE` wrote",
            ) from error
        new += found
    return new


def main(argv: Sequence[str] | None = None) -> int:
    """Add results, or write or check the page."""
    parser = Parser(prog=f"python -m {MODULE}", add_help=False)
    parser.add_argument("--add", nargs="+", metavar="FILE", default=[])
    try:
        given, arguments = parser.parse_known_args(argv)
        if given.add:
            stored = ROOT / RESULTS_PATH
            results = merged(read_results(stored), added(given.add))
            lines = [json.dumps(one, sort_keys=True) for one in results]
            stored.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            arguments = ["--write"]
    except ParaplyError as error:
        report(error, sys.stderr)
        return EXIT_UNREADABLE
    return pages_main(MODULE, generated(), arguments)


if __name__ == "__main__":
    sys.exit(main())
