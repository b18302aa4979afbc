"""A small scope's exploration as text and JSON."""

from __future__ import annotations

from dataclasses import asdict

from paraply.mining.compiled.scope_kernel import ROWS
from paraply.mining.small_scope import ScopeResult, words
from paraply.reporting.json_document import json_document
from paraply.vocabulary.counting import counted

PROPERTY = "conflicting_transactions_never_overlap"


def scope_text(result: ScopeResult, *, transactions: int, fault: str) -> str:
    """Return verdict, coverage, and first breaking schedule."""
    lines = [
        f"{PROPERTY}: {result.verdict.name.lower()}",
        f"  every history of {counted(transactions, 'transaction')} on {ROWS} rows"
        + (f", with the fault {fault}" if fault else ""),
        f"  {result.schedules:,} schedules of write sets, garbage collections, view changes and "
        "rejoins, one of those that differ in the names of rows",
        f"  {result.overlapping:,} of them with transactions that overlap",
        f"  {result.states:,} states of the applier: every order that its workers allow",
    ]
    if result.violating:
        lines += [
            f"  {result.violating:,} schedules in which conflicting transactions overlap, the "
            "first of them:",
            f"    {words(result.witness)}",
        ]
    return "\n".join([*lines, ""])


def scope_json(result: ScopeResult, *, transactions: int, fault: str) -> str:
    """Return JSON."""
    found = {"property": PROPERTY, "verdict": result.verdict.name.lower(), "fault": fault or None}
    scope = {"transactions": transactions, "rows": ROWS}
    witness = words(result.witness) if result.witness else None
    return json_document({**found, **scope, **asdict(result), "witness": witness})
