"""The fast twin of :mod:`paraply.properties.two_logs.rule`: one pass, linear time, bounded memory.

Prefixes are found by fingerprints of states, explanations by version chains. The source is read
``window`` steps ahead of the furthest that the target shows, and forgotten a window behind it. A
key that does not show a source step for a whole window is *conceded*: listed, taken out of the
sums, and the rest is judged on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from paraply.properties.two_logs.chains import Chain, SourceStep
from paraply.properties.two_logs.commits import Commit, Key, Value
from paraply.properties.two_logs.fingerprints import MODULUS
from paraply.properties.two_logs.judgement import (
    End,
    Judgement,
    Level,
    Miss,
    Stretch,
    Witness,
    is_lost,
    level_of,
)
from paraply.properties.two_logs.least_ideal import LeastIdeal

WINDOW = 50_000
"""Source steps kept ahead of and behind the target by default."""
REACH = 256
"""How many source steps past the furthest direct evidence an explanation may use by default.

Values that come back (A, B, A) allow explanations far ahead, and to follow each to the end of
the window would be quadratic.
"""
STRETCHES_MAX = 10_000
SUSPECTS_MAX = 100_000
_RECENT = 65
_COMMITS_PER_MEDIAN = 16
_STEPS_TRIMMED_AT_ONCE = 4096

OnState = Callable[[int, int | None, int], None]
"""Called after each target commit: its number, the prefix or None, the furthest source commit."""


def judge_streaming(
    source: Iterable[Commit],
    target: Iterable[Commit],
    *,
    window: int = WINDOW,
    reach: int = REACH,
    excluded: frozenset[Key] = frozenset(),
    on_state: OnState | None = None,
) -> Judgement:
    """Return what :func:`paraply.properties.two_logs.rule.judge` returns, without some keys.

    Exact while no key stays behind for a whole window; explanations of whole transactions are
    complete within the reach, and ``Judgement.beyond_reach`` counts the states cut off by it.
    """
    judge = StreamingJudge(source, window=window, reach=reach, excluded=excluded)
    for commit in target:
        judge.observe(commit)
        if on_state is not None:
            on_state(judge.result.target_commits, judge.position, judge.furthest)
    return judge.finish()


class StreamingJudge:
    """Takes the commits of the target one by one; ``result`` is filled as they come."""

    def __init__(
        self, source: Iterable[Commit], *, window: int, reach: int, excluded: frozenset[Key]
    ) -> None:
        self.result = Judgement()
        self.position: int | None = 0
        """The prefix that the target's state is now, in source commits; None if it is none."""
        self._source: Iterator[Commit] = iter(source)
        self._source_ended = False
        self._window = window
        self._reach = reach
        self._excluded = set(excluded)
        self._chains: dict[Key, Chain] = {}
        self._steps = [SourceStep(0, 0, 0, is_found=False)]
        self._steps_trimmed = 0
        self._steps_dropped = 0
        self._where: dict[int, list[int]] = {0: [0]}
        self._source_total = 0
        self._target_total = 0
        self._last = 0
        self._one_by_one = [0]
        """Where the target may be if it has skipped nothing since it last did; rising."""
        self._frontier = 0
        self._progress = 0
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._first: dict[Level, Witness] = {}
        self._ideal = LeastIdeal(self._step, lambda: self._frontier + self._reach)
        self._rewritten_at_source: set[Key] = set()
        self._rewritten_at_target: dict[Key, int] = {}
        self._read_ahead()

    @property
    def furthest(self) -> int:
        """Return the number of the furthest source commit that the target has shown."""
        return self._step(self._frontier).number

    # The source

    @property
    def _head(self) -> int:
        return self._steps_trimmed + len(self._steps) - 1

    def _step(self, number: int) -> SourceStep:
        return self._steps[number - self._steps_trimmed]

    def _read_ahead(self) -> None:
        while not self._source_ended and self._head < self._progress + self._window:
            commit = next(self._source, None)
            if commit is None:
                self._source_ended = True
                return
            self.result.source_commits += 1
            self._read(self.result.source_commits, commit)

    def _read(self, number: int, commit: Commit) -> None:
        self._rewritten_at_source |= commit.rewritten
        found: list[tuple[Chain, Value]] = []
        written: list[tuple[Chain, Value]] = []
        for key, (before, after) in commit.changes.items():
            if key in self._excluded:
                continue
            chain = self._chains.get(key)
            if chain is None:
                chain = self._chains[key] = Chain(key, before, counts=False)
            elif chain.last_value != before:
                found.append((chain, before))
            written.append((chain, after))
        for key, added in commit.copies.items():
            if key not in self._excluded:
                chain = self._chains.get(key)
                if chain is None:
                    chain = self._chains[key] = Chain(key, 0, counts=True)
                written.append((chain, chain.last_value + added))
        if found:
            self._append_step(number, found, is_found=True)
        self._append_step(number, written, is_found=False)

    def _append_step(
        self, number: int, values: list[tuple[Chain, Value]], *, is_found: bool
    ) -> None:
        before = self._source_total
        at = self._head + 1
        step = SourceStep(number, 0, self._steps[-1].effective, is_found=is_found)
        total = before
        for chain, value in values:
            total += chain.weight(value) - chain.weight(chain.last_value)
            step.versions.append((chain, chain.append(at, value)))
        step.total = self._source_total = total % MODULUS
        step.effective += step.total != before and not is_found
        self._steps.append(step)
        self._where.setdefault(step.total, []).append(at)

    # The target

    def observe(self, commit: Commit) -> None:
        """Judge the next commit of the target."""
        result = self.result
        result.target_commits += 1
        for key in commit.rewritten:
            self._rewritten_at_target[key] = self._rewritten_at_target.get(key, 0) + 1
        found: list[tuple[Chain, Value]] = []
        written: list[tuple[Chain, Value]] = []
        for key, (before, after) in commit.changes.items():
            if key in self._excluded:
                continue
            chain = self._chains.get(key)
            if chain is None:
                chain = self._chains[key] = Chain(key, before, counts=False)
            if chain.value != before:
                found.append((chain, before))
            written.append((chain, after))
        for key, added in commit.copies.items():
            if key not in self._excluded:
                chain = self._chains.get(key)
                if chain is None:
                    chain = self._chains[key] = Chain(key, 0, counts=True)
                written.append((chain, chain.value + added))
        if found:
            self._take_found(found)
        self._take(written, is_found=False)
        if result.target_commits % _COMMITS_PER_MEDIAN == 0 and len(self._recent) == _RECENT:
            # A single value may come back far ahead of where the target is; not half of them.
            self._progress = max(self._progress, sorted(self._recent)[_RECENT // 2])
            self._frontier = max(self._frontier, self._progress)
        self._read_ahead()
        self._forget()

    def _take_found(self, found: list[tuple[Chain, Value]]) -> None:
        """Take what the target found changed outside of its log as a state of its own."""
        self._take(found, is_found=True)
        for chain, value in found:
            at = chain.find(value, chain.single)
            step = -1 if at is None else chain.step(at)
            # A change that neither log shows is no fault of the applier: cascades are one.
            if step < self._steps_dropped or not self._step(step).is_found:
                self.result.found.setdefault(chain.key, self.result.target_commits)

    def _take(self, values: list[tuple[Chain, Value]], *, is_found: bool) -> None:
        total = self._target_total
        for chain, value in values:
            total += chain.weight(value) - chain.weight(chain.value)
            chain.value = value
            self._judge_key(chain)
        self._target_total = total % MODULUS
        self._judge_prefix(is_found=is_found)
        if not self._ideal.explains([chain for chain, _ in values]):
            self._note_torn(is_found=is_found)

    def _judge_prefix(self, *, is_found: bool) -> None:
        result = self.result
        equal = self._where.get(self._target_total, [])
        at = self._position(equal)
        if at is None:
            self.position = None
            self._miss(Level.PREFIX, Miss.NO_PREFIX)
            self._miss(Level.BATCHES, Miss.NO_PREFIX)
            if not is_found:
                self._stretch(result.target_commits)
            return
        step = self._step(at)
        self.position = step.commits_done
        result.prefixes += not is_found
        if at < self._last:
            result.state_went_back += 1
            self._miss(Level.PREFIX, Miss.WENT_BACK, source=step.commits_done)
            self._miss(Level.BATCHES, Miss.WENT_BACK, source=step.commits_done)
        self._one_by_one = self._without_a_skip(equal)
        if not self._one_by_one:
            self._one_by_one = [at]
            if at >= self._last:
                result.skipping += 1
                self._miss(Level.PREFIX, Miss.SKIPPED, source=step.commits_done)
        self._last = at
        self._frontier = max(self._frontier, at)
        self._progress = max(self._progress, at)

    def _position(self, equal: list[int]) -> int | None:
        """Return the first prefix not before the last one, else the nearest before it."""
        if not equal:
            return None
        index = bisect_left(equal, self._last)
        return equal[index] if index < len(equal) else equal[-1]

    def _without_a_skip(self, equal: list[int]) -> list[int]:
        """Return which of these prefixes the target may show without having skipped a state."""
        before = self._one_by_one
        found = []
        nearest = 0
        for at in equal[bisect_left(equal, before[0]) :]:
            while nearest + 1 < len(before) and before[nearest + 1] <= at:
                nearest += 1
            skipped = self._step(at).effective - self._step(before[nearest]).effective - 1
            if skipped <= 0:
                found.append(at)
            elif nearest + 1 == len(before):
                break
        return found

    def _judge_key(self, chain: Chain) -> None:
        at = chain.find(chain.value, chain.single)
        if at is None:
            at = chain.find_last(chain.value)
            if at is None:
                self.result.unknown_versions += 1
                self._suspect(chain)
                self._miss(Level.PER_KEY, Miss.UNKNOWN_VERSION, key=chain.key)
                return
            self.result.key_went_back += 1
            self._suspect(chain)
            self._miss(Level.PER_KEY, Miss.KEY_WENT_BACK, key=chain.key)
        chain.single = at
        step = chain.step(at)
        self._recent.append(step)
        if chain.is_unique(chain.value):
            self._frontier = max(self._frontier, step)

    def _note_torn(self, *, is_found: bool) -> None:
        ideal = self._ideal
        self.result.torn += not is_found
        self.result.beyond_reach += ideal.was_cut_off and not is_found
        blocker, shown = ideal.blocker, ideal.shown
        if blocker is None:
            return
        self._suspect(blocker)
        if Level.ATOMIC not in self._first:
            missing = ideal.missing_step
            source = self._step(missing).number if missing >= self._steps_dropped else 0
            key = None if shown is None else shown.key
            self._miss(Level.ATOMIC, Miss.TORN, source=source, key=key, other=blocker.key)

    def _suspect(self, chain: Chain) -> None:
        suspects = self.result.suspects
        if chain.key in suspects or len(suspects) < SUSPECTS_MAX:
            suspects[chain.key] = suspects.get(chain.key, 0) + 1

    def _stretch(self, number: int) -> None:
        stretches = self.result.stretches
        if stretches and stretches[-1].last + 1 == number:
            stretches[-1] = Stretch(first=stretches[-1].first, last=number)
        elif len(stretches) < STRETCHES_MAX:
            stretches.append(Stretch(first=number, last=number))

    def _miss(
        self,
        level: Level,
        why: Miss,
        *,
        source: int = 0,
        key: Key | None = None,
        other: Key | None = None,
    ) -> None:
        if level not in self._first:
            number = self.result.target_commits
            self._first[level] = Witness(
                missed=level, why=why, target=number, source=source, key=key, other=other
            )

    # The window

    def _forget(self) -> None:
        """Drop source steps that are a window behind, conceding keys that never showed them."""
        conceded: list[Chain] = []
        while self._steps_dropped < self._progress - self._window:
            step = self._step(self._steps_dropped)
            late = [chain for chain, at in step.versions if chain.single < at]
            conceded += self._concede(late, step)
            if not step.included and not late:
                conceded += self._unblock(step)
            self._drop_first_step()
        if conceded:
            self._take_out(conceded)

    def _unblock(self, step: SourceStep) -> list[Chain]:
        """Concede keys until the ideal reaches a step that all its keys have shown."""
        conceded: list[Chain] = []
        while not step.included and not self._ideal.attempt():
            blocker = self._ideal.blocker
            if blocker is None or self._ideal.was_cut_off:
                break
            conceded += self._concede([blocker], step)
        if not step.included:
            for chain, at in step.versions:
                if chain.key not in self._excluded:
                    chain.atomic = max(chain.atomic, at)
        return conceded

    def _concede(self, chains: list[Chain], step: SourceStep) -> list[Chain]:
        new = [chain for chain in chains if chain.key not in self._excluded]
        for chain in new:
            self.result.conceded[chain.key] = step.number
            self._excluded.add(chain.key)
            self._chains.pop(chain.key, None)
            self._ideal.forget(chain)
        return new

    def _drop_first_step(self) -> None:
        step = self._step(self._steps_dropped)
        where = self._where[step.total]
        del where[0]
        if not where:
            del self._where[step.total]
        self._steps_dropped += 1
        if self._steps_dropped - self._steps_trimmed >= _STEPS_TRIMMED_AT_ONCE:
            del self._steps[: self._steps_dropped - self._steps_trimmed]
            self._steps_trimmed = self._steps_dropped
        self._last = max(self._last, self._steps_dropped)
        if self._one_by_one[0] < self._steps_dropped:
            kept = self._one_by_one[bisect_left(self._one_by_one, self._steps_dropped) :]
            self._one_by_one = kept or [self._steps_dropped]
        for chain, position in step.versions:
            if chain.key in self._excluded:
                continue
            if position == chain.last and chain.is_at_rest:
                del self._chains[chain.key]
            elif chain.atomic >= position and chain.single >= position:
                chain.drop_before(position)

    def _take_out(self, chains: list[Chain]) -> None:
        """Take conceded keys out of the sums of the window and of the target."""
        gone = set(chains)
        held = {chain: chain.value_before(self._steps_dropped) for chain in chains}
        removed = sum(chain.weight(value) for chain, value in held.items())
        self._where = {}
        for at in range(self._steps_dropped, self._head + 1):
            step = self._step(at)
            rest = []
            for chain, position in step.versions:
                if chain in gone:
                    value = chain.version(position)
                    removed += chain.weight(value) - chain.weight(held[chain])
                    held[chain] = value
                else:
                    rest.append((chain, position))
            step.versions = rest
            step.total = (step.total - removed) % MODULUS
            self._where.setdefault(step.total, []).append(at)
        self._source_total = self._steps[-1].total
        self._target_total -= sum(chain.weight(chain.value) for chain in chains)
        self._target_total %= MODULUS

    # The end

    def finish(self) -> Judgement:
        """Compare the last states and return the judgement."""
        result = self.result
        self._progress = self._head
        self._read_ahead()
        if not self._source_ended:
            result.beyond_window = True
            result.source_commits += sum(1 for _ in self._source)
        for key, times in self._rewritten_at_target.items():
            if key not in self._rewritten_at_source:
                result.rewritten += times
        if not result.beyond_window and self._target_total == self._source_total:
            result.end, result.end_position = End.EQUAL, self._steps[-1].commits_done
        elif self.position is not None:
            result.end, result.end_position = End.BEHIND, self.position
        else:
            result.end = End.DIFFERENT
            result.differing = {
                chain.key: chain.find_last(chain.value) is not None
                for chain in self._chains.values()
                if chain.value != chain.last_value
            }
            first = min(result.differing, default=None)
            self._miss(Level.FINAL, Miss.LAST_STATE, key=first)
        result.is_drained = not result.beyond_window and all(
            chain.value == chain.last_value for chain, _ in self._steps[-1].versions
        )
        missed = self._first
        result.level = level_of(
            all_prefixes=Level.BATCHES not in missed,
            skips=result.skipping > 0,
            all_atomic=Level.ATOMIC not in missed,
            all_per_key=Level.PER_KEY not in missed,
            end=result.end,
            is_lost=is_lost(result.differing, is_drained=result.is_drained),
        )
        result.witnesses = [missed[level] for level in sorted(missed, reverse=True)]
        return result
