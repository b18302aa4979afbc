"""The source's log around the target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paraply.properties.two_logs.chains import Chain, SourceStep
from paraply.properties.two_logs.commits import Commit, Key, Value
from paraply.properties.two_logs.fingerprints import MODULUS

_STEPS_TRIMMED_AT_ONCE = 4096

Values = list[tuple[Chain, Value]]


class SourceWindow:
    """Source steps from ``dropped``; step 0 is before the log."""

    def __init__(self, source: Iterable[Commit], excluded: frozenset[Key]) -> None:
        self.excluded = set(excluded)
        self.chains: dict[Key, Chain] = {}
        self.where: dict[int, list[int]] = {0: [0]}
        """Steps by state sum."""
        self.dropped = 0
        self.total = 0
        """The last state sum."""
        self.commits = 0
        self.has_ended = False
        self.rewritten: set[Key] = set()
        self._source: Iterator[Commit] = iter(source)
        self._steps = [SourceStep(0, 0, 0, is_found=False)]
        self._trimmed = 0

    @property
    def head(self) -> int:
        """Return the last step number."""
        return self._trimmed + len(self._steps) - 1

    @property
    def last_step(self) -> SourceStep:
        """Return the step at the head."""
        return self._steps[-1]

    def step(self, number: int) -> SourceStep:
        """Return a step of the window."""
        return self._steps[number - self._trimmed]

    def read_to(self, head: int) -> None:
        """Read commits up to ``head``."""
        while not self.has_ended and self.head < head:
            commit = next(self._source, None)
            if commit is None:
                self.has_ended = True
                return
            self.commits += 1
            self._read(commit)

    def count_rest(self) -> None:
        """Count the commits after the window."""
        self.commits += sum(1 for _ in self._source)

    def changes(self, commit: Commit, *, is_source: bool) -> tuple[Values, Values]:
        """Return unexpected before-values, and after-values."""
        found: Values = []
        written: Values = []
        for key, (before, after) in commit.changes.items():
            if key in self.excluded:
                continue
            chain = self.chains.get(key)
            if chain is None:
                chain = self.chains[key] = Chain(key, before, counts=False)
            elif (chain.last_value if is_source else chain.value) != before:
                found.append((chain, before))
            written.append((chain, after))
        for key, added in commit.copies.items():
            if key not in self.excluded:
                chain = self.chains.get(key)
                if chain is None:
                    chain = self.chains[key] = Chain(key, 0, counts=True)
                held = chain.last_value if is_source else chain.value
                written.append((chain, held + added))
        return found, written

    def _read(self, commit: Commit) -> None:
        self.rewritten |= commit.rewritten
        found, written = self.changes(commit, is_source=True)
        if found:
            self._append(found, is_found=True)
        self._append(written, is_found=False)

    def _append(self, values: Values, *, is_found: bool) -> None:
        before = total = self.total
        at = self.head + 1
        step = SourceStep(self.commits, 0, self.last_step.effective, is_found=is_found)
        for chain, value in values:
            total += chain.weight(value) - chain.weight(chain.last_value)
            step.versions.append((chain, chain.append(at, value)))
        step.total = self.total = total % MODULUS
        step.effective += step.total != before and not is_found
        self._steps.append(step)
        self.where.setdefault(step.total, []).append(at)

    def drop_first(self) -> None:
        """Drop the first step and resting keys."""
        step = self.step(self.dropped)
        where = self.where[step.total]
        del where[0]
        if not where:
            del self.where[step.total]
        self.dropped += 1
        if self.dropped - self._trimmed >= _STEPS_TRIMMED_AT_ONCE:
            del self._steps[: self.dropped - self._trimmed]
            self._trimmed = self.dropped
        for chain, position in step.versions:
            if chain.is_conceded:
                continue
            if position == chain.last and chain.is_at_rest:
                del self.chains[chain.key]
            elif chain.atomic >= position and chain.single >= position:
                chain.drop_before(position)

    def concede(self, chain: Chain) -> None:
        """Stop judging a key; :meth:`take_out` must follow."""
        chain.is_conceded = True
        self.excluded.add(chain.key)
        self.chains.pop(chain.key, None)

    def take_out(self, conceded: list[Chain]) -> None:
        """Remove conceded keys from all state sums."""
        gone = set(conceded)
        held = {chain: chain.value_before(self.dropped) for chain in conceded}
        removed = sum(chain.weight(value) for chain, value in held.items())
        self.where = {}
        for at in range(self.dropped, self.head + 1):
            step = self.step(at)
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
            self.where.setdefault(step.total, []).append(at)
        self.total = self.last_step.total
