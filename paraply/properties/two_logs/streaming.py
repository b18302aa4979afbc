"""The fast twin of :mod:`paraply.properties.two_logs.rule`: linear, bounded memory.

State fingerprints find prefixes, version chains explanations. A key that misses a source step for a
whole window is *conceded*: listed and excluded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable

from paraply.properties.two_logs.chains import Chain
from paraply.properties.two_logs.commits import Commit, Key
from paraply.properties.two_logs.fingerprints import MODULUS
from paraply.properties.two_logs.judgement import (
    NEAR,
    SNAPSHOTS_MAX,
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
from paraply.properties.two_logs.least_ideal import LeastIdeal
from paraply.properties.two_logs.snapshots import LeastSnapshot
from paraply.properties.two_logs.window import SourceWindow, Values

WINDOW = 50_000
"""Source steps kept on both sides of the target."""
REACH = 256
"""Source steps that explanations may use past direct evidence.

Returning values (A, B, A) would make unlimited search quadratic.
"""
STRETCHES_MAX = 10_000
SUSPECTS_MAX = 100_000
_RECENT = 65
_COMMITS_PER_MEDIAN = 16

OnState = Callable[[int, int | None, int], None]
"""Arguments: target commit, its prefix, furthest source commit."""


def judge_streaming(
    source: Iterable[Commit],
    target: Iterable[Commit],
    *,
    window: int = WINDOW,
    reach: int = REACH,
    excluded: frozenset[Key] = frozenset(),
    on_state: OnState | None = None,
    near: int = NEAR,
) -> Judgement:
    """Return :func:`paraply.properties.two_logs.rule.judge` without ``excluded`` keys.

    Exact unless a key lags by a window. ``Judgement.beyond_reach`` counts states beyond ``reach``.
    """
    judge = StreamingJudge(source, window=window, reach=reach, excluded=excluded, near=near)
    for commit in target:
        judge.observe(commit)
        if on_state is not None:
            on_state(judge.result.target_commits, judge.position, judge.furthest)
    return judge.finish()


class StreamingJudge:
    """Judges target commits into ``result``."""

    def __init__(
        self,
        source: Iterable[Commit],
        *,
        window: int,
        reach: int,
        excluded: frozenset[Key],
        near: int = NEAR,
    ) -> None:
        self.result = Judgement()
        self.position: int | None = 0
        """The current state's prefix."""
        self._window = window
        self._reach = reach
        self._source = SourceWindow(source, excluded)
        self._total = 0
        self._last = 0
        self._one_by_one = [0]
        """Possible positions if nothing was skipped; rising."""
        self._followed = 0
        """State-changing source commits that may have shown before the first skip."""
        self._frontier = 0
        self._progress = 0
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._first: dict[Level, Witness] = {}
        self._ideal = LeastIdeal(self._source.step, self._limit)
        self._snapshot = LeastSnapshot(self._source.step, self._limit, near)
        self._rewritten: dict[Key, int] = {}
        self._source.read_to(window)

    @property
    def furthest(self) -> int:
        """Return the furthest source commit shown."""
        return self._source.step(self._frontier).number

    def _limit(self) -> int:
        return self._frontier + self._reach

    def observe(self, commit: Commit) -> None:
        """Judge the next target commit."""
        result = self.result
        result.target_commits += 1
        for key in commit.rewritten:
            self._rewritten[key] = self._rewritten.get(key, 0) + 1
        found, written = self._source.changes(commit, is_source=False)
        if found:
            self._take_found(found)
        self._take(written, is_found=False)
        if result.target_commits % _COMMITS_PER_MEDIAN == 0 and len(self._recent) == _RECENT:
            # Single values recur far ahead; half of them do not.
            self._progress = max(self._progress, sorted(self._recent)[_RECENT // 2])
            self._frontier = max(self._frontier, self._progress)
        self._source.read_to(self._progress + self._window)
        self._forget()

    def _take_found(self, found: Values) -> None:
        """Treat outside changes as a separate state."""
        self._take(found, is_found=True)
        for chain, value in found:
            at = chain.find(value, chain.single)
            step = -1 if at is None else chain.step(at)
            # A change outside of both logs (a cascade) is no fault.
            if step < self._source.dropped or not self._source.step(step).is_found:
                self.result.found.setdefault(chain.key, self.result.target_commits)

    def _take(self, values: Values, *, is_found: bool) -> None:
        total = self._total
        for chain, value in values:
            total += chain.weight(value) - chain.weight(chain.value)
            chain.value = value
            self._judge_key(chain)
        self._total = total % MODULUS
        self._judge_prefix(is_found=is_found)
        self._judge_snapshot([chain for chain, _ in values], is_found=is_found)
        if not self._ideal.explains([chain for chain, _ in values]):
            self._note_torn(is_found=is_found)

    def _judge_prefix(self, *, is_found: bool) -> None:
        result = self.result
        equal = self._source.where.get(self._total, [])
        at = self._position(equal)
        if at is None:
            self.position = None
            self._miss(Level.PREFIX, Miss.NO_PREFIX)
            self._miss(Level.BATCHES, Miss.NO_PREFIX)
            if not is_found:
                self._stretch(result.target_commits)
            return
        step = self._source.step(at)
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
        if Level.PREFIX not in self._first:
            effective = self._source.step(self._one_by_one[-1]).effective
            self._followed = max(self._followed, effective)
        self._last = at
        self._frontier = max(self._frontier, at)
        self._progress = max(self._progress, at)

    def _judge_snapshot(self, changed: list[Chain], *, is_found: bool) -> None:
        result, snapshot = self.result, self._snapshot
        if not snapshot.explains(changed):
            result.is_snapshots = False
            if self.position is not None:
                snapshot.start_again(self._last)
        elif self.position is None and not is_found:
            result.snapshot_count += 1
            if len(result.snapshots) < SNAPSHOTS_MAX:
                numbers = [
                    tuple(
                        self._source.step(at).number
                        for at in steps
                        if self._source.step(at).versions
                    )
                    for steps in (snapshot.missing(), sorted(snapshot.early))
                ]
                result.snapshots.append(
                    Snapshot(target=result.target_commits, missing=numbers[0], early=numbers[1])
                )

    def _position(self, equal: list[int]) -> int | None:
        if not equal:
            return None
        index = bisect_left(equal, self._last)
        return equal[index] if index < len(equal) else equal[-1]

    def _without_a_skip(self, equal: list[int]) -> list[int]:
        """Return prefixes that need no skipped state."""
        before = self._one_by_one
        found = []
        nearest = 0
        for at in equal[bisect_left(equal, before[0]) :]:
            while nearest + 1 < len(before) and before[nearest + 1] <= at:
                nearest += 1
            skipped = (
                self._source.step(at).effective - self._source.step(before[nearest]).effective - 1
            )
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
            source = self._source.step(missing).number if missing >= self._source.dropped else 0
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
        """Drop old source steps; concede keys that never showed them."""
        source = self._source
        conceded: list[Chain] = []
        while source.dropped < self._progress - self._window:
            step = source.step(source.dropped)
            for chain, at in step.versions:
                if chain.single >= at or chain.is_conceded:
                    continue
                back = chain.find(chain.value, at)
                if back is not None:  # The source returned to this value.
                    chain.single = back
                else:
                    self.result.conceded[chain.key] = step.number
                    source.concede(chain)
                    self._ideal.forget(chain)
                    conceded.append(chain)
            if not step.included:
                self._ideal.force(step)
            self._snapshot.drop(source.dropped)
            source.drop_first()
        if conceded:
            source.take_out(conceded)
            self._total -= sum(chain.weight(chain.value) for chain in conceded)
            self._total %= MODULUS
        self._last = max(self._last, source.dropped)
        if self._one_by_one[0] < source.dropped:
            kept = self._one_by_one[bisect_left(self._one_by_one, source.dropped) :]
            self._one_by_one = kept or [source.dropped]

    # The end

    def finish(self) -> Judgement:
        """Compare the last states; return the judgement."""
        result, source = self.result, self._source
        source.read_to(source.head + self._window)
        if not source.has_ended:
            result.beyond_window = True
            source.count_rest()
        result.source_commits = source.commits
        result.rewritten = sum(
            times for key, times in self._rewritten.items() if key not in source.rewritten
        )
        if not result.beyond_window and self._total == source.total:
            result.end, result.end_position = End.EQUAL, source.last_step.commits_done
        elif self.position is not None:
            result.end, result.end_position = End.BEHIND, self.position
        else:
            result.end = End.DIFFERENT
            result.differing = {
                chain.key: chain.find_last(chain.value) is not None
                for chain in source.chains.values()
                if chain.value != chain.last_value
            }
            first = next(iter(result.differing), None)
            self._miss(Level.FINAL, Miss.LAST_STATE, key=first)
        result.is_drained = not result.beyond_window and all(
            chain.value == chain.last_value for chain, _ in source.last_step.versions
        )
        missed = self._first
        result.left_early = (
            Level.PREFIX in missed and self._followed + 1 < source.last_step.effective
        )
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
