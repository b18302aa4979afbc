"""A client run's result as text and JSON."""

from __future__ import annotations

import textwrap
from typing import Any

from paraply.observing.claims import DOCUMENTS, Admission, Promise
from paraply.observing.clients import ALL, ClientFinding, ClientResult, Status
from paraply.observing.judging import command_words
from paraply.reporting.escape import visible
from paraply.reporting.page import page
from paraply.reporting.plain_table import plain_table
from paraply.vocabulary.verdict import Verdict

_COUNTS = ("committed", "aborted", "of unknown outcome", "in the log")


def client_command(result: ClientResult) -> str:
    """Return the repeating command, up to interleaving."""
    options, defaults = result.options, type(result.options)()
    words = command_words(result.target, result.request)
    words += ["--workload", options.workload, "--isolation", options.isolation.value]
    for name, value, default in (
        ("reads", options.reads.value, defaults.reads.value),
        ("wait", options.wait, defaults.wait),
        ("keys", options.keys, defaults.keys),
        ("operations", options.operations, defaults.operations),
        ("read-only", options.read_only, defaults.read_only),
    ):
        if value != default:
            words += [f"--{name}", str(value)]
    return " ".join(words)


def client_text(result: ClientResult) -> str:
    """Return promises, findings and witnesses of one run."""
    options = result.options
    counts = ", ".join(
        f"{result.evidence[name]:,} {name}" for name in _COUNTS if result.evidence.get(name)
    )
    lines = [
        visible(
            f"{result.target}, mode {result.request.mode}, {options.workload} at"
            f" {options.isolation.sql}, reads at {options.reads.value}, wait {options.wait}"
            f" ({result.evidence.get('server', '')})"
        ),
        f"  {result.rounds:,} rounds: {counts}",
        "",
        "  documented:",
    ]
    claim = result.claim
    told_of: list[Promise | Admission] = [*claim.promises, *claim.admissions]
    for each in told_of:
        lines += textwrap.wrap(
            f"{each.text} <{DOCUMENTS[each.source]}>", page().width, initial_indent="    - ",
            subsequent_indent="      ", break_long_words=False,
        )  # fmt: skip
    if not told_of:
        lines.append("    - nothing about isolation")
    rows = [
        (
            one.label if one.view == ALL else f"{one.label} ({one.view})",
            one.verdict.word,
            _seen(one),
            one.status.value,
            one.reason if one.verdict is Verdict.UNKNOWN else one.meaning,
        )
        for one in result.findings.values()
    ]
    lines += ["", *plain_table(("phenomenon", "verdict", "seen", "", "what it says"), rows)]
    told: set[str] = set()
    for one in result.findings.values():
        lines += _witness_lines(one, told)
    lines += ["", *(f"  note: {visible(note)}" for note in result.notes)]
    lines += [f"  kept: {visible(file)} (paraply check)" for file in result.histories]
    lines += [f"  repeat: {client_command(result)}", f"{_summary(result)}", ""]
    return "\n".join(lines) + "\n"


def _seen(one: ClientFinding) -> str:
    if not one.between_servers:
        return f"{one.broken:,}" if one.broken else ""
    return f"{one.broken:,} ({one.between_servers:,} between servers)"


def _witness_lines(one: ClientFinding, told: set[str]) -> list[str]:
    if one.witness is None or one.witness.sentence in told:
        return []
    told.add(one.witness.sentence)
    lines = ["", f"{one.label} ({one.status.value})"]
    for sentence in (one.witness.sentence, *one.witness.transactions):
        lines += textwrap.wrap(
            visible(sentence), page().width, initial_indent="  ", subsequent_indent="    "
        )
    return lines


def _summary(result: ClientResult) -> str:
    verdict = result.verdict()
    if verdict is Verdict.UNKNOWN:
        return f"unknown: {result.why_unknown()}"
    broken = [
        one.label
        for one in result.findings.values()
        if one.status in (Status.REFUTED, Status.KNOWN)
    ]
    if verdict is Verdict.VIOLATED:
        return f"violated: documents exclude {', '.join(dict.fromkeys(broken))}"
    seen = (Status.DOCUMENTED, Status.PERMITTED)
    others = [one.label for one in result.findings.values() if one.status in seen]
    text = f"holds: {result.committed:,} transactions contradict no document"
    return text + (f" (seen, and not excluded: {', '.join(others)})" if others else "")


def client_json(result: ClientResult) -> dict[str, Any]:
    """Return JSON values; field names are stable."""
    options = result.options
    return {
        "target": result.target,
        "mode": result.request.mode,
        "clients": {
            "workload": options.workload,
            "isolation": options.isolation.value,
            "reads": options.reads.value,
            "wait": options.wait,
            "keys": options.keys,
            "operations": options.operations,
            "read_only": options.read_only,
        },
        "verdict": result.verdict().word,
        "rounds": result.rounds,
        "documented": [
            {"text": one.text, "source": DOCUMENTS[one.source]} for one in result.claim.promises
        ],
        "admitted": [
            {"text": one.text, "source": DOCUMENTS[one.source]} for one in result.claim.admissions
        ],
        "findings": [_finding_json(one) for one in result.findings.values()],
        "evidence": result.evidence,
        "notes": result.notes,
        "command": client_command(result),
    }


def _finding_json(one: ClientFinding) -> dict[str, Any]:
    witness = one.witness
    return {
        "view": one.view,
        "phenomenon": one.label,
        "verdict": one.verdict.word,
        "status": one.status.value,
        "seen": one.broken,
        "between_servers": one.between_servers,
        "rounds_held": one.held,
        "reason": one.reason,
        "witness": None
        if witness is None
        else {"sentence": witness.sentence, "transactions": witness.transactions},
    }
