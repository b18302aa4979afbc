"""The tables of docs/live-results.md.

``--add FILE...`` stores results of ``paraply live --json``, replaces those of equal target, mode,
fault and layout, and writes the page. Exit code 3 for a file without results.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ci.pages.stored_results import Result, ResultsPage, release_of

HEALTHY = "none"
_EVIDENCE_CHARACTERS_MAX = 200
_NUMBER = re.compile(r"\d[\d,.:-]*")
_LAYOUT = ("workload", "replicas", "domains", "workers", "clients")


def _key(result: Result) -> tuple[str, ...]:
    layout = [str(result["request"].get(name, "")) for name in _LAYOUT]
    is_fault = "0" if result["fault"] == HEALTHY else "1"
    named = (result["target"], is_fault, result["fault"], result["mode"])
    return (*named, *layout, release_of(result))


def _trimmed(result: Result) -> Result:
    return {name: value for name, value in result.items() if name != "findings"}


def page(results: Sequence[Result]) -> str:
    """Return the page's generated part."""
    return "\n".join(_lines(results))


def _lines(results: Sequence[Result]) -> Iterator[str]:
    for target in dict.fromkeys(one["target"] for one in results):
        own = [one for one in results if one["target"] == target]
        servers = sorted({str(one["evidence"].get("server", "")) for one in own})
        total = sum(one["transactions"] for one in own)
        yield from (f"## {target}", "")
        yield f"{', '.join(servers)}; {total:,} transactions in {len(own)} configurations."
        healthy = [one for one in own if one["fault"] == HEALTHY]
        for title, chosen in (
            ("Nothing done to the servers", [one for one in healthy if not is_wider(one)]),
            ("Several domains or replicas, nothing done to the servers",
             [one for one in healthy if is_wider(one)]),
        ):  # fmt: skip
            if chosen:
                yield from ("", f"### {title}", "")
                yield from _healthy(chosen)
        struck = [one for one in own if one["fault"] != HEALTHY]
        if struck:
            yield from ("", "### Faults", "")
            yield from _faults(struck)
        if any(one["notes"] for one in own):
            yield from ("", "### What the runs noted", "")
            yield from _notes(own)
        yield ""
    yield from ("## Commands", "")
    yield from (f"- `{one['command']}`" for one in results)


def is_wider(result: Result) -> bool:
    """Return whether it has several replicas or domains."""
    return bool(_wider(result))


def _wider(result: Result) -> list[str]:
    given = result["request"]
    return [f"{given[name]} {name}" for name in ("replicas", "domains") if given.get(name, 1) != 1]


def _healthy(results: Sequence[Result]) -> Iterator[str]:
    names = [_column(one) for one in results]
    yield f"| | {' | '.join(names)} |"
    yield f"| --- |{' ---: |' * len(names)}"
    yield f"| server | {' | '.join(str(one['evidence'].get('server', '')) for one in results)} |"
    for what in ("transactions", "rounds"):
        yield f"| {what} | {' | '.join(f'{one[what]:,}' for one in results)} |"
    counts = dict.fromkeys(
        name for one in results for name, value in one["evidence"].items()
        if isinstance(value, int) and name != "transactions"
    )  # fmt: skip
    for name in counts:
        values = [one["evidence"].get(name, 0) for one in results]
        if any(values):
            yield f"| {name.replace('_', ' ')} | {' | '.join(f'{v:,}' for v in values)} |"
    properties = dict.fromkeys(each["name"] for one in results for each in one["properties"])
    reasons: dict[str, None] = {}
    for name in properties:
        cells = []
        for one in results:
            found = next((each for each in one["properties"] if each["name"] == name), None)
            cells.append("" if found is None else _verdict(found))
            if found is not None and found["verdict"] != "holds":
                reasons[f"`{name}` {found['verdict']}, {_column(one)}: {_cell(found['why'])}"] = (
                    None
                )
        yield f"| `{name}` | {' | '.join(cells)} |"
    if reasons:
        yield ""
        yield from (f"- {reason}" for reason in reasons)


def _column(result: Result) -> str:
    extra = _wider(result)
    workload = result["request"].get("workload", "mixed")
    if workload != "mixed":
        extra.append(f"load {workload}")
    existing = result["command"].partition("--dsn ")[2].split()
    if existing:
        extra += [str(result["evidence"]["server"]), f"{len(existing) - 1} replicas"]
    return ", ".join([result["mode"], *extra])


def _verdict(found: dict[str, Any]) -> str:
    if found["verdict"] == "holds":
        return f"holds ({found['rounds_held']})"
    return str(found["verdict"])


def _faults(results: Sequence[Result]) -> Iterator[str]:
    yield "| fault | mode | server | transactions | hold | unknown | violated | evidence |"
    yield "| --- | --- | --- | ---: | ---: | --- | --- | --- |"
    for one in results:
        words = {
            word: [each for each in one["properties"] if each["verdict"] == word]
            for word in ("holds", "unknown", "violated")
        }
        broken = [
            f"`{each['name']}`" + (" (control)" if each["documented"] else "")
            for each in words["violated"]
        ]
        evidence = words["violated"][0]["why"] if broken else ""
        lost = one["evidence"].get("seen_and_lost")
        if lost and not broken:
            evidence = f"seen or confirmed, and lost: {lost}; the wait had been abandoned"
        yield (
            f"| {one['fault']} | {_column(one)} | {one['evidence'].get('server', '')} |"
            f" {one['transactions']:,} | {len(words['holds'])} |"
            f" {_unknown(words['unknown'])} |"
            f" {', '.join([*broken, *_silent(one)])} | {_cell(evidence)} |"
        )


def _notes(results: Sequence[Result]) -> Iterator[str]:
    for fault in dict.fromkeys(one["fault"] for one in results):
        notes = [note for one in results if one["fault"] == fault for note in one["notes"]]
        alike: dict[str, list[str]] = {}
        for note in sorted(notes, key=lambda note: (len(note), note), reverse=True):
            alike.setdefault(_NUMBER.sub("#", note), []).append(note)
        if alike:
            yield f"- {fault if fault != HEALTHY else 'nothing done'}:"
        for same in sorted(alike.values()):
            times = f" (noted {len(same)} times, with other numbers)" if len(set(same)) > 1 else ""
            yield f"    - {_cell(same[0].removeprefix(f'{fault}: '))}{times}"


def _silent(result: Result) -> list[str]:
    controls = [each for each in result["properties"] if each["documented"]]
    silent = [each for each in controls if each["verdict"] != "violated"]
    if silent == controls and any(each.get("rare") for each in controls):
        names = ", ".join(f"`{each['name']}`" for each in controls)
        return [f"control did not fire in these runs (it takes luck): {names}"]
    return [f"control silent: `{each['name']}`" for each in silent if not each.get("rare")]


def _unknown(found: Sequence[dict[str, Any]]) -> str:
    names: dict[str, list[str]] = {}
    for each in found:
        names.setdefault(_cell(each["why"]), []).append(f"`{each['name']}`")
    return "; ".join(f"{', '.join(own)}: {why}" for why, own in names.items())


def _cell(text: str) -> str:
    plain = " ".join(str(text).split()).replace("|", "\\|")
    if len(plain) > _EVIDENCE_CHARACTERS_MAX:
        plain = plain[:_EVIDENCE_CHARACTERS_MAX].rstrip() + " ..."
    return plain


PAGE = ResultsPage(
    module="ci.pages.live_results",
    page="docs/live-results.md",
    results="docs/live-results.jsonl",
    written_by="paraply live --json FILE",
    key=_key,
    lines=lambda results: [page(results)],
    kept=_trimmed,
)


if __name__ == "__main__":
    sys.exit(PAGE.main())
