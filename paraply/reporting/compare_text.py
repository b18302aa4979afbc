"""A comparison of appliers as text and JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from paraply.auditing.comparing import BINLOG, Compared, Comparison
from paraply.reporting.escape import visible
from paraply.reporting.json_document import json_document
from paraply.reporting.page import page
from paraply.reporting.plain_table import plain_table

COLUMNS = ("applier", "ticks", "speed-up", "out of order", "overlaps", "wrong rows", "retries",
           "syncs", "gap", "")  # fmt: skip

LEGEND = (
    "ticks: one per row event, one per commit with its sync (MySQL and MariaDB share syncs), one "
    "per DDL; waiting, reading and rolling back cost none.",
    "out of order: transactions that committed before an earlier one. overlaps: row events applied "
    "before a conflicting transaction had committed. wrong rows: row events that met a row as the "
    "source never gave it to them; a strict replica stops at the first. gap: most transactions "
    "that had committed past the first that had not; 0: one position is enough at each moment.",
)


def compare_text(result: Comparison, *, command: str) -> str:
    """Return the report; ``command`` repeats the comparison."""
    bounds = result.bounds
    lines = [*heading_lines(result), ""]
    lines += plain_table(COLUMNS, [_cells(line, result) for line in result.lines])
    lines += [
        "",
        f"bounds: {bounds.work:,} ticks in series; critical path {bounds.critical_path:,} ticks; "
        f"with {bounds.workers} worker{'s' if bounds.workers > 1 else ''} at best "
        f"{bounds.makespan_min:,} ticks, a speed-up of {bounds.speedup_max:.2f}",
        *(f"note: {visible(remark)}" for remark in result.remarks),
        "",
        *(line for paragraph in LEGEND for line in textwrap.wrap(paragraph, page().width)),
        "",
        f"again: {visible(command)}",
        "",
    ]
    return "\n".join(lines)


def heading_lines(result: Comparison) -> list[str]:
    """Return the compared workload."""
    request = result.request
    made = (
        ", ".join(visible(name) for name in request.files)
        if request.workload == BINLOG
        else f"seed {request.seed}, theta {request.theta:g}"
    )
    workers = f"{request.workers} worker{'' if request.workers == 1 else 's'}"
    sizes = (
        f"{result.transactions:,} transactions, {result.row_events:,} row events, "
        f"{result.barriers:,} barriers, {result.conflicts:,} conflicts"
    )
    domains = f", {result.domains} domains" if result.domains > 1 else ""
    return [f"{request.workload} ({made}), {workers}", sizes + domains]


def _cells(line: Compared, result: Comparison) -> tuple[object, ...]:
    what = line.measured
    speedup = what.speedup(result.bounds.work)
    if line.rests_on_unknown:
        return (line.applier.name, "?", "?", *[""] * (len(COLUMNS) - 4), "rests on unknown keys")
    return (
        line.applier.name,
        "stalls" if what.makespan is None else f"{what.makespan:>{len(COLUMNS[1]) + 2},}",
        "" if speedup is None else f"{speedup:>{len(COLUMNS[2])}.2f}",
        what.out_of_order, what.overlaps, what.misapplied, what.retries, what.syncs,
        what.gap_max,
        "; ".join(notes(line, result)),
    )  # fmt: skip


def notes(line: Compared, result: Comparison) -> Iterable[str]:
    """Yield warnings."""
    what = line.measured
    if what.makespan is None:
        yield f"after {what.applied:,} of {result.transactions:,}"
    elif not what.ends_as_serial:
        yield "ends in another state"
    if what.partly_visible:
        yield f"{what.partly_visible:,} transactions visible in parts"
    if what.gap_max and result.domains > 1 and not what.domain_gap_max:
        yield "one position per domain is enough"


def compare_json(result: Comparison) -> str:
    """Return JSON; equal input gives an equal document."""
    request, bounds = result.request, result.bounds
    return json_document(
        {
            "workload": request.workload,
            "files": list(request.files),
            "seed": request.seed,
            "theta": request.theta,
            "workers": request.workers,
            "transactions": result.transactions,
            "row_events": result.row_events,
            "barriers": result.barriers,
            "conflicts": result.conflicts,
            "domains": result.domains,
            "bounds": {
                "work_ticks": bounds.work,
                "critical_path_ticks": bounds.critical_path,
                "makespan_min_ticks": bounds.makespan_min,
                "speedup_max": round(bounds.speedup_max, 4),
            },
            "remarks": list(result.remarks),
            "appliers": [_line_json(line, result) for line in result.lines],
        }
    )


def _line_json(line: Compared, result: Comparison) -> dict[str, Any]:
    what, applier = line.measured, line.applier
    speedup = None if line.rests_on_unknown else what.speedup(result.bounds.work)
    return {
        "name": applier.name,
        "meaning": applier.meaning,
        "reference": applier.reference,
        "rests_on_unknown_keys": line.rests_on_unknown,
        "makespan_ticks": None if line.rests_on_unknown else what.makespan,
        "applied": what.applied,
        "speedup": None if speedup is None else round(speedup, 4),
        "out_of_order": what.out_of_order,
        "overlaps": what.overlaps,
        "misapplied_row_events": what.misapplied,
        "partly_visible": what.partly_visible,
        "ends_as_serial": what.ends_as_serial,
        "one_position_is_enough": not what.gap_max,
        "gap_max": what.gap_max,
        "gap_ticks": what.gap_ticks,
        "domain_gap_max": what.domain_gap_max,
        "retries": what.retries,
        "syncs": what.syncs,
    }
