"""GTID sets of ten thousand intervals against plain sets."""

from __future__ import annotations

import random
from collections.abc import Callable

from ci.bench.measure import Run, interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.vocabulary.gtid_set import Gtid, GtidSet, GtidSource
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from paraply.vocabulary.intervals import IntervalSet

INTERVALS = 10_000
INTERVAL_LENGTH_MAX = 40
"""The plain set gets some 200,000 tuples."""

LOOKUPS = 10_000
TIMES_FASTER_MIN = 4.0
"""For a union; about ten times on an idle core."""

SOURCE = GtidSource("3e11fa47-71ca-11e1-9e33-c80aa9429562")

NaiveSet = frozenset[tuple[str, str, int]]


def draw_intervals(random_source: random.Random) -> list[tuple[int, int]]:
    """Return separate intervals with equal gaps."""
    intervals = []
    at = 1
    for _ in range(INTERVALS):
        first = at + random_source.randrange(1, INTERVAL_LENGTH_MAX)
        last = first + random_source.randrange(INTERVAL_LENGTH_MAX)
        intervals.append((first, last))
        at = last + 1
    return intervals


@benchmark("gtid_sets")
def gtid_sets(options: Options) -> Report:
    """Measure set operations, lookup and parsing."""
    chance = random.Random(options.seed)
    drawn = [draw_intervals(chance) for _ in range(2)]
    a, b = (GtidSet({SOURCE: IntervalSet(pairs)}) for pairs in drawn)
    naive_a, naive_b = (naive(pairs) for pairs in drawn)
    wanted = [chance.randrange(1, drawn[0][-1][1]) for _ in range(LOOKUPS)]
    text = str(a)
    work: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "union": (lambda: a | b, lambda: naive_a | naive_b),
        "intersection": (lambda: a & b, lambda: naive_a & naive_b),
        "difference": (lambda: a - b, lambda: naive_a - naive_b),
        "subset": (lambda: a <= a | b, lambda: naive_a <= naive_a | naive_b),
        f"{LOOKUPS:,} lookups": (
            lambda: sum(Gtid(SOURCE, number) in a for number in wanted),
            lambda: sum((*SOURCE, number) in naive_a for number in wanted),
        ),
        "read text": (lambda: parse_gtid_set(text), lambda: naive_of_text(text)),
    }
    report = Report(
        benchmark="gtid_sets",
        input=f"two sets of {INTERVALS:,} intervals, {a.count:,} and {b.count:,} GTIDs, "
        f"seed {options.seed}",
    )
    for name, (ours, plain) in work.items():
        check_equal(name, ours(), plain())
        runs = interleave({"intervals": _timed(ours), "plain set": _timed(plain)}, options.rounds)
        for contestant, result in runs.items():
            report.add(contestant, name, result.seconds * 1000, "ms")
        if name == "union":
            report.goals.append(
                Goal(
                    name="union: plain set over intervals",
                    wanted=TIMES_FASTER_MIN,
                    got=runs["plain set"].seconds / runs["intervals"].seconds,
                )
            )
    return report


def naive(intervals: list[tuple[int, int]]) -> NaiveSet:
    """Return the plain set."""
    return frozenset(
        (*SOURCE, number) for first, last in intervals for number in range(first, last + 1)
    )


def naive_of_text(text: str) -> NaiveSet:
    """Parse an untagged plain set."""
    found: set[tuple[str, str, int]] = set()
    for part in text.split(","):
        uuid, *intervals = part.split(":")
        for interval in intervals:
            first, _, last = interval.partition("-")
            found.update((uuid, "", n) for n in range(int(first), int(last or first) + 1))
    return frozenset(found)


def check_equal(name: str, ours: object, plain: object) -> None:
    """Raise ``RuntimeError`` unless both contestants agree."""
    if isinstance(ours, GtidSet):
        pairs = [(interval.first, interval.last) for interval in ours]
        ours = naive(pairs)
    if ours != plain:
        raise RuntimeError(f"{name}: the contestants disagree")


def _timed(work: Callable[[], object]) -> Callable[[], Run]:
    return lambda: run_here(work)
