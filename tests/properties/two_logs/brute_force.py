"""The level of a history by exhaustive search: all prefixes, all ideals, all positions of keys.

Shares no code with the judge but the form of a commit. Exponential: for a handful of commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from paraply.properties.two_logs.commits import Commit


@dataclass(frozen=True)
class Truth:
    level: str
    prefixes: int
    end: str
    snapshots: bool


def states_of(commits: Sequence[Commit], start: dict) -> list[tuple[dict, bool, frozenset]]:
    """(state, whether a commit ends in it, keys written), the state before the log first."""
    found = [(dict(start), False, frozenset())]
    state = dict(start)
    for commit in commits:
        surprises = {k: b for k, (b, _) in commit.changes.items() if state[k] != b}
        if surprises:
            state = state | surprises
            found.append((state, False, frozenset(surprises)))
        state = state | {k: a for k, (_, a) in commit.changes.items()}
        state = state | {k: state[k] + n for k, n in commit.copies.items()}
        found.append((state, True, frozenset(commit.changes) | frozenset(commit.copies)))
    return found


def start_of(source: Sequence[Commit], target: Sequence[Commit]) -> dict:
    start = {}
    for commit in reversed([*source, *target]):
        start |= {k: b for k, (b, _) in commit.changes.items()}
        start |= dict.fromkeys(commit.copies, 0)
    return start


def truth(source: Sequence[Commit], target: Sequence[Commit], near: int) -> Truth:
    start = start_of(source, target)
    prefixes = states_of(source, start)
    shown = states_of(target, start)
    last, source_last = shown[-1][0], prefixes[-1][0]
    is_prefix = any(last == state for state, _, _ in prefixes)
    end = "equal" if last == source_last else "behind" if is_prefix else "different"
    every = prefix_paths(prefixes, shown, unit_steps=False)
    if every:
        single = prefix_paths(prefixes, shown, unit_steps=True)
        level = "prefix" if single else "batches"
    elif end == "different" and lost(prefixes, last):
        level = "diverged"
    elif ideal_paths(prefixes, shown):
        level = "atomic"
    elif key_paths(prefixes, shown):
        level = "per-key"
    else:
        level = "undecided" if end == "different" else "final"
    count = sum(
        is_commit and any(state == prefix for prefix, _, _ in prefixes)
        for state, is_commit, _ in shown
    )
    return Truth(level, count, end, ideal_paths(prefixes, shown, near))


def lost(prefixes, last) -> bool:
    end, _, keys = prefixes[-1]
    if all(last[key] == end[key] for key in keys):
        return True
    return any(all(last[key] != state[key] for state, _, _ in prefixes) for key in end)


def prefix_paths(prefixes, shown, *, unit_steps: bool) -> bool:
    rank = [0]
    for (before, _, _), (after, is_commit, _) in pairwise(prefixes):
        rank.append(rank[-1] + (is_commit and before != after))
    places = {0}
    for state, _, _ in shown[1:]:
        places = {
            at
            for at, (prefix, _, _) in enumerate(prefixes)
            if prefix == state
            and any(p <= at and (not unit_steps or rank[at] - rank[p] <= 1) for p in places)
        }
    return bool(places)


def ideal_paths(prefixes, shown, near: int = 1 << 30) -> bool:
    steps = range(1, len(prefixes))
    keys = {at: prefixes[at][2] for at in steps}
    ideals = []
    for size in range(len(prefixes)):
        for chosen in combinations(steps, size):
            inside = set(chosen)
            if all(
                e in inside
                for at in chosen
                for e in range(1, at)
                if keys[e] & keys[at] or at - e >= near
            ):
                state = dict(prefixes[0][0])
                for at in chosen:
                    state |= {key: prefixes[at][0][key] for key in keys[at]}
                ideals.append((frozenset(inside), state))
    feasible = {frozenset()}
    for state, _, _ in shown[1:]:
        feasible = {
            ideal
            for ideal, seen in ideals
            if seen == state and any(before <= ideal for before in feasible)
        }
    return bool(feasible)


def key_paths(prefixes, shown) -> bool:
    for key in prefixes[0][0]:
        versions = [
            state[key] for at, (state, _, keys) in enumerate(prefixes) if not at or key in keys
        ]
        places = {0}
        for state, _, _ in shown[1:]:
            places = {
                at
                for at, value in enumerate(versions)
                if value == state[key] and any(p <= at for p in places)
            }
        if not places:
            return False
    return True
