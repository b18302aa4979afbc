"""A live run's result as text and JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from paraply.adapters.live.target import LiveTarget
from paraply.observing.judging import LiveResult, command_of
from paraply.reporting.escape import visible
from paraply.reporting.evidence import evidence_json
from paraply.reporting.plain_table import plain_table

_COUNTS = {
    "confirmed": "confirmed to clients",
    "refused": "refused (deadlocks, conflicts)",
    "unanswered": "without an answer",
    "reads": "snapshots read",
    "touches": "rows seen to be touched",
    "undone": "attempts seen to be undone",
    "retries": "retries counted by the server",
    "restarts": "restarts",
}


def result_text(result: LiveResult) -> str:
    """Return counts, table and findings of one mode and fault."""
    request = result.request
    server = result.evidence.get("server", "")
    lines = [
        visible(f"{result.target}, mode {request.mode}, fault {request.fault} ({server})"),
        f"  {result.rounds:,} rounds, {result.transactions:,} transactions"
        + "".join(
            f", {result.evidence[name]:,} {what}"
            for name, what in _COUNTS.items()
            if result.evidence.get(name)
        ),
        "",
    ]
    rows = []
    for answer in result.answers.values():
        why = answer.why()
        if answer.broken and answer.is_documented:
            why = f"as documented for this fault: {why}"
        rows.append((answer.name, answer.verdict.word, answer.situations, why))
    lines += plain_table(("property", "verdict", "decidable", "evidence"), rows, indent="  ")
    if result.silent_controls:
        names = ", ".join(result.silent_controls)
        lines += ["", f"  the control did not come out: {names} was to be broken"]
    lines += [f"  note: {visible(note)}" for note in result.notes]
    lines += [f"  kept: {visible(file)} (paraply show, paraply check)" for file in result.findings]
    lines += [f"  repeat: {command_of(result)}", ""]
    return "\n".join(lines) + "\n"


def result_json(result: LiveResult) -> dict[str, Any]:
    """Return JSON values; field names are stable."""
    request = dataclasses.asdict(result.request)
    for name in ("say", "basedir", "keep", "servers"):
        request.pop(name, None)
    request["nemeses"] = list(request["nemeses"])
    return {
        "target": result.target,
        "mode": result.request.mode,
        "fault": result.request.fault,
        "verdict": result.verdict().word,
        "rounds": result.rounds,
        "transactions": result.transactions,
        "properties": [
            {
                "name": answer.name,
                "verdict": answer.verdict.word,
                "rounds_held": answer.held,
                "rounds_broken": answer.broken,
                "documented": answer.is_documented,
                "rare": answer.is_rare,
                "why": answer.why(),
                "situations": evidence_json(answer.evidence),
                "examples": answer.examples,
            }
            for answer in result.answers.values()
        ],
        "evidence": result.evidence,
        "notes": result.notes,
        "findings": result.findings,
        "command": command_of(result),
        "request": request,
    }


def targets_text(targets: Sequence[LiveTarget]) -> str:
    """Return targets with modes, workloads and faults."""
    lines: list[str] = []
    for target in targets:
        lines += [f"{target.name}: {target.summary}", f"  modes: {', '.join(target.modes)}"]
        lines.append(f"  workloads: {', '.join(target.workloads)}")
        for refused, reason in target.refused.items():
            mode, _, workload = refused.partition("/")
            lines.append(f"  not in mode {mode}: {workload} ({reason})")
        if target.faults:
            rows = [
                (
                    name,
                    "control" if any(key.endswith(f"/{name}") for key in target.documented) else "",
                    meaning,
                )
                for name, meaning in target.faults.items()
            ]
            lines += plain_table(("fault", "", "what is done"), rows, indent="  ")
        lines.append("")
    return "\n".join(lines)
