"""``python -m tests.properties.two_logs.against_brute_force --cases 100000 --seed 0``.

Judges random small histories by the readable rule, by its fast twin and by exhaustive search.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from random import Random

from paraply.properties.two_logs.judgement import Judgement
from paraply.properties.two_logs.rule import judge
from paraply.properties.two_logs.streaming import judge_streaming
from tests.properties.two_logs.brute_force import truth
from tests.properties.two_logs.small_histories import history

NEAR = 2
"""Small enough for short histories to leave it."""
NOT_COMPARED = {"suspects", "witnesses"}
"""Only the fast twin names suspects; its witnesses say more."""


def differences(source, target, judging=judge_streaming) -> list[str]:
    """What the three judges disagree about."""
    readable, fast = judge(source, target, near=NEAR), judging(source, target, near=NEAR)
    exact = truth(source, target, NEAR)
    found = [
        f"{field.name}: readable {getattr(readable, field.name)}, fast {getattr(fast, field.name)}"
        for field in fields(Judgement)
        if field.name not in NOT_COMPARED
        and getattr(readable, field.name) != getattr(fast, field.name)
    ]
    if shown(readable) != shown(fast):
        found.append(f"witnesses: readable {shown(readable)}, fast {shown(fast)}")
    said = (
        readable.level.word, readable.prefixes, readable.end.name.lower(), readable.is_snapshots,
    )  # fmt: skip
    if said != (exact.level, exact.prefixes, exact.end, exact.snapshots):
        found.append(f"readable {said}, exhaustive search {exact}")
    others = readable.target_commits - readable.prefixes
    if readable.is_snapshots and readable.snapshot_count != others:
        found.append(f"{others} states are no prefix, {readable.snapshot_count} snapshots")
    return found


def shown(judgement: Judgement) -> list[tuple]:
    return [(w.missed, w.why, w.target) for w in judgement.witnesses]


def wrong_cases(cases: int, seed: int, levels: Counter) -> Iterator[tuple[int, str, list[str]]]:
    for number in range(cases):
        chance = Random(f"{seed}/{number}")
        source, target, name = history(chance)
        found = differences(source, target)
        levels[name, judge(source, target).level.word] += 1
        if found:
            yield number, name, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    levels: Counter = Counter()
    wrong = 0
    for number, name, found in wrong_cases(chosen.cases, chosen.seed, levels):
        wrong += 1
        print(f"case {chosen.seed}/{number} ({name}): {'; '.join(found)}")
        if wrong > 20:
            break
    for (name, level), count in sorted(levels.items()):
        print(f"{name:<12} {level:<10} {count:>8,}")
    print(f"{sum(levels.values()):,} cases of seed {chosen.seed}, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
