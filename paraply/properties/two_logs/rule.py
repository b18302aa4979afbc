"""The readable rule; :mod:`paraply.properties.two_logs.streaming` is its fast twin.

* **Prefixes.** If rising prefixes explain all states, the first one not before the previous always
  does: exchange the larger for the smaller.
* **Whole transactions.** An *ideal* contains, with a commit, all earlier ones with a common key.
  All conditions have the form "with this commit also that one", so explaining sets are closed under
  union and intersection. The least one above the previous is contained in every other, so choosing
  it is exact, also for returning values (A, B, A).
* **Snapshots** (:mod:`paraply.properties.two_logs.snapshots`). They are ideals that also contain,
  with a step, all that are ``near`` or more places earlier; the same argument holds.
* **Keys.** A key alone takes the first version not before its last. These positions are separate,
  because ideals push keys further.

Logs contain no reads: dependencies through reads are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from paraply.properties.two_logs.commits import (
    Commit,
    Key,
    State,
    Step,
    Value,
    initial_values,
    steps,
)
from paraply.properties.two_logs.judgement import (
    NEAR,
    End,
    Judgement,
    Level,
    Miss,
    Snapshot,
    Stretch,
    Witness,
    is_lost,
    level_of,
)

Chains = dict[Key, list[tuple[int, Value]]]
"""(source step, value) by key, in source order; step 0 is before."""


def judge(source: Sequence[Commit], target: Sequence[Commit], *, near: int = NEAR) -> Judgement:
    """Return the strongest level and witnesses."""
    initial = initial_values(source, target)
    source_steps = [Step(0, {}), *steps(source, initial)]
    target_steps = list(steps(target, initial))
    chains = version_chains(source_steps, initial)
    result = Judgement(source_commits=len(source), target_commits=len(target))
    first: dict[Level, Witness] = {}

    def miss(level: Level, why: Miss, step: Step, source: int = 0, key: Key | None = None) -> None:
        witness = Witness(missed=level, why=why, target=step.number, source=source, key=key)
        first.setdefault(level, witness)

    positions = _judge_prefixes(source_steps, target_steps, initial, result, miss)
    included: frozenset[int] = frozenset()
    state = dict(initial)
    for step in target_steps:
        state.update(step.values)
        explained = least_ideal(state, included, chains, source_steps)
        if explained is None:
            result.torn += not step.is_found
            miss(Level.ATOMIC, Miss.TORN, step)
        else:
            included = explained
    _judge_snapshots(source_steps, target_steps, initial, chains, result, near)
    _judge_keys(target_steps, source_steps, chains, result, miss)
    rewritten_at_source = frozenset().union(*(commit.rewritten for commit in source))
    result.rewritten = sum(len(commit.rewritten - rewritten_at_source) for commit in target)
    last = {key: chain[-1][1] for key, chain in chains.items()}
    result.end, result.end_position = _end(state, last, positions, source_steps)
    result.is_drained = all(state[key] == last[key] for key in source_steps[-1].values)
    if result.end is End.DIFFERENT:
        result.differing = {
            key: any(state[key] == value for _, value in chains[key])
            for key in last
            if state[key] != last[key]
        }
        number = target_steps[-1].number if target_steps else 0
        miss(Level.FINAL, Miss.LAST_STATE, Step(number, {}), key=next(iter(result.differing)))
    result.level = level_of(
        all_prefixes=Level.BATCHES not in first,
        skips=result.skipping > 0,
        all_atomic=Level.ATOMIC not in first,
        all_per_key=Level.PER_KEY not in first,
        end=result.end,
        is_lost=is_lost(result.differing, is_drained=result.is_drained),
    )
    result.witnesses = [first[level] for level in sorted(first, reverse=True)]
    return result


def version_chains(source_steps: Sequence[Step], initial: State) -> Chains:
    """Return each key's source versions."""
    chains: Chains = {key: [(0, value)] for key, value in initial.items()}
    for at, step in enumerate(source_steps):
        for key, value in step.values.items():
            chains[key].append((at, value))
    return chains


def prefix_states(source_steps: Sequence[Step], initial: State) -> list[State]:
    """Return the source state after each step."""
    states = []
    state = dict(initial)
    for step in source_steps:
        state = {**state, **step.values}
        states.append(state)
    return states


def position_of(state: State, prefixes: Sequence[State], last: int) -> int | None:
    """Return the first equal prefix from ``last``, else the nearest before."""
    equal = [at for at, prefix in enumerate(prefixes) if prefix == state]
    ahead = [at for at in equal if at >= last]
    return ahead[0] if ahead else equal[-1] if equal else None


def least_ideal(
    state: State,
    included: frozenset[int],
    chains: Chains,
    source_steps: Sequence[Step],
    near: int | None = None,
) -> frozenset[int] | None:
    """Return the least explaining ideal, or snapshot, above ``included``; or None."""
    ideal = set(included)
    moved = True
    while moved:
        moved = False
        for key, chain in chains.items():
            reached = max((at for at, (step, _) in enumerate(chain) if step in ideal), default=0)
            at = reached
            while at < len(chain) and chain[at][1] != state[key]:
                at += 1
            if at == len(chain):
                return None
            needed = {step for step, _ in chain[1 : at + 1]} - ideal
            moved = moved or bool(needed)
            ideal |= needed
        if near is not None:
            needed = set(range(1, max(ideal, default=0) - near + 1)) - ideal
            moved = moved or bool(needed)
            ideal |= needed
    return frozenset(ideal)


def _judge_snapshots(
    source_steps: Sequence[Step],
    target_steps: Sequence[Step],
    initial: State,
    chains: Chains,
    result: Judgement,
    near: int,
) -> None:
    """Explain states by rising snapshots; after one without, go on at the next later prefix."""
    prefixes = prefix_states(source_steps, initial)
    state = dict(initial)
    included: frozenset[int] = frozenset()
    last = 0
    is_lost = False
    for step in target_steps:
        state.update(step.values)
        at = position_of(state, prefixes, last)
        last = last if at is None else at
        explained = None if is_lost else least_ideal(state, included, chains, source_steps, near)
        if explained is None:
            result.is_snapshots = False
            is_lost = at is None or at < max(included, default=0)
            included = included if is_lost else frozenset(range(1, last + 1))
            continue
        included = explained
        if at is None and not step.is_found:
            top = max(included)
            gaps = [n for n in range(1, top) if n not in included and source_steps[n].values]
            early = [n for n in range(gaps[0], top + 1) if n in included and source_steps[n].values]
            result.snapshot_count += 1
            result.snapshots.append(
                Snapshot(
                    target=step.number,
                    missing=tuple(source_steps[n].number for n in gaps),
                    early=tuple(source_steps[n].number for n in early),
                )
            )


class _Misses(Protocol):
    def __call__(
        self, level: Level, why: Miss, step: Step, source: int = 0, key: Key | None = None
    ) -> None: ...


def _judge_prefixes(
    source_steps: Sequence[Step],
    target_steps: Sequence[Step],
    initial: State,
    result: Judgement,
    miss: _Misses,
) -> list[int | None]:
    prefixes = prefix_states(source_steps, initial)
    effective = [0]  # Commits so far that changed the state: others cannot be seen skipped.
    for before, after, step in zip(prefixes, prefixes[1:], source_steps[1:], strict=False):
        effective.append(effective[-1] + (before != after and not step.is_found))
    state = dict(initial)
    last = 0
    one_by_one = {0}  # Where the target may be if it skipped nothing since it last did.
    followed = 0  # Effective commits that it may have shown before it first skipped one.
    is_missed = False
    bad: list[int] = []
    positions: list[int | None] = []
    for step in target_steps:
        state.update(step.values)
        at = position_of(state, prefixes, last)
        positions.append(at)
        result.prefixes += at is not None and not step.is_found
        if at is None:
            miss(Level.BATCHES, Miss.NO_PREFIX, step)
            miss(Level.PREFIX, Miss.NO_PREFIX, step)
            is_missed = True
            if not step.is_found:
                bad.append(step.number)
            continue
        if at < last:
            result.state_went_back += 1
            miss(Level.BATCHES, Miss.WENT_BACK, step, commits_of(source_steps[at]))
            miss(Level.PREFIX, Miss.WENT_BACK, step, commits_of(source_steps[at]))
            is_missed = True
        one_by_one = {
            here
            for here, prefix in enumerate(prefixes)
            if prefix == state
            and any(p <= here and effective[here] - effective[p] <= 1 for p in one_by_one)
        }
        if not one_by_one:
            one_by_one = {at}
            if at >= last:
                result.skipping += 1
                miss(Level.PREFIX, Miss.SKIPPED, step, commits_of(source_steps[at]))
            is_missed = True
        if not is_missed:
            followed = max(followed, *(effective[here] for here in one_by_one))
        last = at
    result.stretches = stretches_of(bad)
    result.left_early = is_missed and followed + 1 < effective[-1]
    return positions


def commits_of(step: Step) -> int:
    """Return the number of source commits up to a step."""
    return step.number - step.is_found


def stretches_of(numbers: Sequence[int]) -> list[Stretch]:
    """Return consecutive numbers as stretches."""
    found: list[Stretch] = []
    for number in numbers:
        if found and found[-1].last + 1 == number:
            found[-1] = Stretch(first=found[-1].first, last=number)
        else:
            found.append(Stretch(first=number, last=number))
    return found


def _judge_keys(
    target_steps: Sequence[Step],
    source_steps: Sequence[Step],
    chains: Chains,
    result: Judgement,
    miss: _Misses,
) -> None:
    """Follow each key through its versions.

    A found value that the source also finds next is a cascade outside of both logs: no finding.
    """
    position = dict.fromkeys(chains, 0)
    for step in target_steps:
        for key, value in step.values.items():
            equal = [at for at, (_, version) in enumerate(chains[key]) if version == value]
            ahead = [at for at in equal if at >= position[key]]
            if not equal:
                result.unknown_versions += 1
                miss(Level.PER_KEY, Miss.UNKNOWN_VERSION, step, key=key)
            elif not ahead:
                result.key_went_back += 1
                miss(Level.PER_KEY, Miss.KEY_WENT_BACK, step, key=key)
            if equal:
                position[key] = ahead[0] if ahead else equal[-1]
            if step.is_found:
                now = [at for at in equal if at >= position[key]]
                if not now or not source_steps[chains[key][now[0]][0]].is_found:
                    result.found.setdefault(key, step.number)


def _end(
    state: State, last: State, positions: Sequence[int | None], source_steps: Sequence[Step]
) -> tuple[End, int | None]:
    if state == last:
        return End.EQUAL, commits_of(source_steps[-1])
    at = positions[-1] if positions else 0
    return (End.DIFFERENT, None) if at is None else (End.BEHIND, commits_of(source_steps[at]))
