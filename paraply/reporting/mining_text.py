"""A campaign as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraply.campaigning.files import Filed
from paraply.campaigning.result import SystemResult, discovery_curve, overall
from paraply.mining.campaign import Progress
from paraply.mining.sketches import STANDARD_ERROR
from paraply.reporting.json_document import json_document
from paraply.reporting.plain_table import entries, plain_table
from paraply.vocabulary.verdict import Verdict

REMARKS_SHOWN_MAX = 10
CLUSTERS_SHOWN_MAX = 40
DIFFERENT = f"different (±{200 * STANDARD_ERROR:.0f} %)"
"""Column of estimates, with twice their standard error."""


def mining_text(
    progress: Progress,
    results: Sequence[SystemResult],
    filed: Sequence[Filed],
    *,
    engine: str = "",
    with_times: bool = True,
) -> str:
    """Return the report of a campaign.

    ``engine`` is empty for a stored campaign. Without ``with_times``, equal campaigns give equal
    text.
    """
    lines = heading_lines(progress, engine=engine, with_times=with_times)
    lines += ["", *subject_lines(results), *mutant_lines(results, with_times=with_times)]
    lines += ["", *curve_lines(progress), *cluster_lines(filed)]
    lines += ["", summary(progress, results), ""]
    return "\n".join(lines)


def heading_lines(progress: Progress, *, engine: str, with_times: bool) -> list[str]:
    """Return totals and speed."""
    plan = progress.plan
    guided = "guided" if plan.is_guided else "fast" if plan.is_fast else "blind"
    lines = [
        f"campaign of seed {plan.seed}, {guided}: {len(plan.systems):,} systems, "
        f"{progress.histories:,} histories in {progress.batches:,} batches"
    ]
    events = sum(counts.events for counts in progress.per_system)
    seconds = sum(progress.seconds_per_system)
    if with_times and seconds:
        lines.append(
            f"{events:,} events in {seconds:,.1f} worker seconds, "
            f"{progress.histories / seconds:,.0f} histories per worker second"
        )
    if plan.is_fast:
        confirmed = sum(counts.confirmed for counts in progress.per_system)
        lines.append(
            f"{confirmed:,} histories that break something by the kernels were replayed by the "
            "reference: it finds the same in each"
        )
    if with_times and engine:
        lines.append(f"{engine}: {progress.seconds:,.1f} s, {progress.rate:,.0f} histories/s")
    if progress.batches_kept and engine:
        lines.append(f"{progress.batches_kept:,} batches were there already")
    for system in plan.systems:
        if system.histories_max is not None and system.histories_max > plan.histories:
            lines.append(
                f"{system.name}: the first {plan.histories:,} of {system.histories_max:,} histories"
            )
    lines += progress.remarks[:REMARKS_SHOWN_MAX]
    if len(progress.remarks) > REMARKS_SHOWN_MAX:
        lines.append(f"and {len(progress.remarks) - REMARKS_SHOWN_MAX:,} more batches were redone")
    return lines


def subject_lines(results: Sequence[SystemResult]) -> list[str]:
    """Return the table of subjects."""
    subjects = [result for result in results if not result.system.mutant]
    if not subjects:
        return []
    rows = [
        (
            result.system.name, result.verdict.word, result.counts.histories,
            f"{result.counts.different:,}", str(result.evidence), result.note,
        )
        for result in subjects
    ]  # fmt: skip
    return [*plain_table(("subject", "verdict", "histories", DIFFERENT, "decidable", ""), rows), ""]


def mutant_lines(results: Sequence[SystemResult], *, with_times: bool) -> list[str]:
    """Return the histories until each fault was found."""
    mutants = [result for result in results if result.system.mutant]
    if not mutants:
        return []
    return plain_table(
        ("mutant", "found at", "of", "breaks", "ms" if with_times else "", ""),
        [
            (
                result.system.name,
                "-" if result.first_found is None else f"{result.first_found:,}",
                result.counts.histories,
                sum(result.counts.violated[goal] for goal in result.system.goals),
                _milliseconds(result) if with_times else "",
                result.note,
            )
            for result in mutants
        ],
    )


def _milliseconds(result: SystemResult) -> str:
    return "-" if result.seconds_to_find is None else f"{result.seconds_to_find * 1000:,.0f}"


def curve_lines(progress: Progress) -> list[str]:
    """Return the discovery curve."""
    sought, reachable = progress.found[1], progress.reached[1]
    return plain_table(
        ("histories of each", f"breaches of {sought:,}", f"situations of {reachable:,}"),
        [
            (f"{point.histories:,}", f"{point.found:,}", f"{point.reached:,}")
            for point in discovery_curve(progress)
        ],
    )


def cluster_lines(filed: Sequence[Filed]) -> list[str]:
    """Return the clusters with counterexample sizes."""
    if not filed:
        return []
    lines = [
        "",
        "smallest counterexamples",
        *entries(
            (
                entry.mutant or f"{entry.subject} {entry.dialect}",
                entry.name + ("" if entry.is_confirmed else " (NOT CONFIRMED by a replay)"),
                [
                    f"{entry.transactions} transactions, {entry.events} events, "
                    f"{entry.choices} choices; {entry.count:,} like it; "
                    f"{entry.signature.partition(' | ')[2]}"
                ],
            )
            for entry in filed[:CLUSTERS_SHOWN_MAX]
        ),
    ]
    if len(filed) > CLUSTERS_SHOWN_MAX:
        lines.append(f"and {len(filed) - CLUSTERS_SHOWN_MAX:,} more, in the index")
    return lines


def summary(progress: Progress, results: Sequence[SystemResult]) -> str:
    """Return the verdict and its reason."""
    subjects = [result for result in results if not result.system.mutant]
    mutants = [result for result in results if result.system.goals and result.system.mutant]
    parts = []
    if subjects:
        counts = {
            verdict: sum(result.verdict is verdict for result in subjects) for verdict in Verdict
        }
        words = ", ".join(
            f"{counts[verdict]} {verdict.word}" for verdict in reversed(Verdict) if counts[verdict]
        )
        parts.append(f"subjects: {words}")
    if mutants:
        caught = sum(result.first_found is not None for result in mutants)
        parts.append(f"{caught} of {len(mutants)} mutants caught by the property they name")
    if not progress.is_complete:
        parts.append("the campaign is not complete: go on with --resume")
    return f"{overall(progress, results).word}: {'; '.join(parts)}"


def mining_json(
    progress: Progress,
    results: Sequence[SystemResult],
    filed: Sequence[Filed],
    *,
    engine: str,
    with_times: bool,
) -> str:
    """Return JSON; seconds are null without ``with_times``."""
    plan = progress.plan
    worked = round(sum(progress.seconds_per_system), 3)
    return json_document(
        {
            "seed": plan.seed,
            "is_guided": plan.is_guided,
            "is_fast": plan.is_fast,
            "histories_per_system": plan.histories,
            "histories": progress.histories,
            "batches": progress.batches,
            "batches_kept": progress.batches_kept,
            "is_complete": progress.is_complete,
            "verdict": overall(progress, results).word,
            "engine": engine,
            "seconds": round(progress.seconds, 3) if engine and with_times else None,
            "worker_seconds": worked if with_times else None,
            "remarks": progress.remarks,
            "systems": [_system_json(result, with_times=with_times) for result in results],
            "discovery": [
                {"histories": point.histories, "found": point.found, "reached": point.reached}
                for point in discovery_curve(progress)
            ],
            "counterexamples": [entry.as_json() for entry in filed],
        }
    )


def _system_json(result: SystemResult, *, with_times: bool) -> dict[str, Any]:
    counts = result.counts
    return {
        "name": result.system.name,
        **result.system.as_json(),
        "verdict": result.verdict.word,
        "note": result.note,
        "histories": counts.histories,
        "events": counts.events,
        "worker_seconds": round(result.seconds, 3) if with_times else None,
        "found_at": result.first_found,
        "confirmed": counts.confirmed,
        "features": len(counts.features),
        "different": counts.different,
        "moments": dict(sorted(counts.moments.items())),
        "reached": counts.reached,
        "violated": counts.violated,
        "situations": {
            name: {"relevant": relevant, "decided": counts.decided[name]}
            for name, relevant in counts.relevant.items()
        },
        "first_violated": counts.first_violated,
    }
