"""Compares the histories and seconds that guided and blind search need.

Both share each seed's first batch, so only later detections count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import exp, log
from statistics import median

from paraply.campaigning.result import judge
from paraply.mining.campaign import Progress, StopWhen, run_campaign
from paraply.mining.engines import Engine
from paraply.mining.plan import Plan
from paraply.reporting.plain_table import plain_table

BLIND, GUIDED = "blind", "guided"
WAYS = (BLIND, GUIDED)


@dataclass(slots=True)
class Needed:
    """Cost of one mutant, per way and seed.

    ``missed`` searches count with all their histories, which understates them.
    """

    histories: dict[str, list[int]] = field(default_factory=lambda: {way: [] for way in WAYS})
    seconds: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    missed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WAYS, 0))

    @property
    def ratio(self) -> float:
        """Return blind over guided histories, by medians."""
        return median(self.histories[BLIND]) / median(self.histories[GUIDED])


@dataclass(slots=True, kw_only=True)
class Comparison:
    """All compared mutants, by name."""

    seeds: int
    batch: int
    mutants: dict[str, Needed] = field(default_factory=dict)

    @property
    def hard(self) -> dict[str, Needed]:
        """Return mutants that a first batch missed, hardest first."""
        found = {
            name: needed
            for name, needed in self.mutants.items()
            if max(needed.histories[BLIND] + needed.histories[GUIDED]) > self.batch
        }
        return dict(
            sorted(found.items(), key=lambda item: (-median(item[1].histories[BLIND]), item[0]))
        )

    def mean_ratio(self, least: int = 0) -> float | None:
        """Return hard mutants' geometric mean ratio.

        ``least``: minimum of blind histories (median).
        """
        ratios = [
            log(needed.ratio)
            for needed in self.hard.values()
            if median(needed.histories[BLIND]) >= least
        ]
        return exp(sum(ratios) / len(ratios)) if ratios else None


def compare(
    plan: Plan,
    place: str,
    engine: Engine,
    seeds: Iterable[int],
    *,
    resume: bool = False,
    on_batch: Callable[[Progress], None] = lambda _: None,
) -> Comparison:
    """Search blind and guided on each seed until detection."""
    comparison = Comparison(seeds=0, batch=plan.batch_histories)
    for seed in seeds:
        comparison.seeds += 1
        for way in WAYS:
            progress = run_campaign(
                replace(plan, seed=seed, is_guided=way == GUIDED),
                f"{place}/{way}-{seed}",
                engine,
                resume=resume,
                stop_when=StopWhen.FOUND,
                on_batch=on_batch,
            )
            for result in judge(progress):
                if not result.system.goals:
                    continue
                needed = comparison.mutants.setdefault(result.system.name, Needed())
                is_found = result.first_found is not None
                needed.histories[way].append(result.first_found or result.counts.histories)
                needed.seconds[way].append(result.seconds_to_find or result.seconds)
                needed.missed[way] += not is_found
    return comparison


def comparison_lines(comparison: Comparison, *, with_times: bool = True) -> list[str]:
    """Return the table and summary."""
    hard = comparison.hard
    easy = len(comparison.mutants) - len(hard)
    lines = [
        f"{len(comparison.mutants):,} systems with a breach to find, {comparison.seeds} seeds; "
        f"{easy:,} are found within the first {comparison.batch} histories of every seed",
        "",
    ]
    heading = ("mutant", "blind", "guided", "ratio", "missed", *(("ms",) if with_times else ("",)))
    rows = [
        (
            name,
            int(median(needed.histories[BLIND])),
            int(median(needed.histories[GUIDED])),
            needed.ratio,
            f"{needed.missed[BLIND]}/{needed.missed[GUIDED]}",
            _times(needed) if with_times else "",
        )
        for name, needed in hard.items()
    ]
    lines += plain_table(heading, rows) if rows else []
    for least in (0, 4 * comparison.batch):
        mean = comparison.mean_ratio(least)
        if mean is not None:
            which = f"of {least} histories and more" if least else "of these"
            lines.append(f"geometric mean of the ratios {which}: {mean:.2f}")
    return lines


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """Return plain values."""
    return {
        "seeds": comparison.seeds,
        "batch": comparison.batch,
        "mean_ratio": comparison.mean_ratio(),
        "mean_ratio_of_hardest": comparison.mean_ratio(4 * comparison.batch),
        "mutants": {
            name: {
                "histories": needed.histories,
                "seconds": {
                    way: [round(seconds, 4) for seconds in values]
                    for way, values in needed.seconds.items()
                },
                "missed": needed.missed,
            }
            for name, needed in comparison.mutants.items()
        },
    }


def _times(needed: Needed) -> str:
    return "/".join(f"{median(needed.seconds[way]) * 1000:,.0f}" for way in WAYS)
