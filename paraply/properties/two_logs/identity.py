"""Checks that named transactions (GTIDs) arrive once, in order and unchanged.

One pass. Memory grows with the logs' distance and findings, plus 8 bytes per transaction for the
longest rising subsequence.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeVar

from paraply.properties.two_logs.commits import Commit, Key
from paraply.vocabulary.gtid_names import split_name

_Finding = TypeVar("_Finding")

LISTED_MAX = 1_000
"""Findings listed per kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A named commit; ``group`` promises an order (MariaDB domain).

    ``session`` is a client connection of the server that the name begins with, if known.
    """

    name: str
    number: int
    commit: Commit
    group: Hashable = 0
    session: int | None = None
    hides_rows: bool = False
    """Whether it may have other changes than those of ``commit``."""


class Difference(IntEnum):
    """How versions of a transaction differ."""

    OTHER_ROWS = 0
    FOUND_OTHER = 1
    """Same after-images, other before-images."""
    FEWER_ROWS = 2
    MORE_ROWS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A changed transaction, with its first differing row."""

    source: int
    target: int
    how: Difference
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Inversion:
    """Reversed source commits with a common key."""

    earlier: int
    later: int
    key: Key


@dataclass(slots=True, kw_only=True)
class IdentityJudgement:
    """The judgement by names; lists are cut at ``LISTED_MAX``, counts complete."""

    matched: int = 0
    missing: list[int] = field(default_factory=list)
    """Absent source commits with rows, before later ones of their group."""
    missing_count: int = 0
    filtered: int = 0
    """Absent source commits without judged rows."""
    lag: int = 0
    """Source commits after the target's last in their group."""
    errant: list[int] = field(default_factory=list)
    """Target commits absent from the source."""
    errant_count: int = 0
    errant_with_rows: int = 0
    twice: list[int] = field(default_factory=list)
    twice_count: int = 0
    changed: list[Changed] = field(default_factory=list)
    changed_count: int = 0
    descents: int = 0
    """Target commits directly after a later source commit."""
    group_descents: int = 0
    session_descents: int = 0
    """Target commits after a later one of their session."""
    to_move: int = 0
    """Fewest commits to move for source order."""
    not_prefix: int = 0
    """Target commits with an earlier one missing."""
    longest_not_prefix: int = 0
    inversions: list[Inversion] = field(default_factory=list)
    inversion_count: int = 0
    """Commits after a later one with a common key."""
    first_hidden: float = math.inf
    """The first target commit of which either version hides rows; 0 if its place is unknown."""

    @property
    def is_faultless(self) -> bool:
        """Return whether each commit came once, unchanged, without extra rows."""
        return not (
            self.missing_count or self.errant_with_rows or self.twice_count or self.changed_count
        )


def judge_identity(source: Iterable[Named], target: Iterable[Named]) -> IdentityJudgement:
    """Return the judgement of both logs."""
    judge = _IdentityJudge()
    sources, targets = iter(source), iter(target)
    more_source = more_target = True
    while more_source or more_target:
        if more_source:
            commit = next(sources, None)
            more_source = commit is not None
            if commit is not None:
                judge.take_source(commit)
        if more_target:
            commit = next(targets, None)
            more_target = commit is not None
            if commit is not None:
                judge.take_target(commit)
    return judge.finish()


class _IdentityJudge:
    def __init__(self) -> None:
        self.result = IdentityJudgement()
        self._waiting: dict[str, tuple[int, Named]] = {}
        """Source commits that have not arrived."""
        self._early: dict[str, list[tuple[int, Named]]] = {}
        """Target commits before or without source commit."""
        self._known: dict[str, _Numbers] = {}
        self._read_source = self._read_target = 0
        self._queue: dict[int, tuple[int, Named, Named] | None] = {}
        """By target place: source place, both commits; None without source."""
        self._next = 1
        self._order = _Order(self.result)

    def take_source(self, commit: Named) -> None:
        self._read_source += 1
        early = self._early.pop(commit.name, None)
        if early is None:
            self._waiting[commit.name] = (self._read_source, commit)
            return
        place, first = early[0]
        self._match(self._read_source, commit, place, first)
        for place, again in early[1:]:
            self._note_twice(place, again)
        self._work_off()

    def take_target(self, commit: Named) -> None:
        self._read_target += 1
        place = self._read_target
        match = self._waiting.pop(commit.name, None)
        if match is not None:
            self._match(*match, place, commit)
        elif self._was_matched(commit.name):
            self._note_twice(place, commit)
        else:
            self._early.setdefault(commit.name, []).append((place, commit))
        self._work_off()

    def _match(self, at_source: int, source: Named, place: int, target: Named) -> None:
        stem, number = split_name(source.name)
        self._known.setdefault(stem, _Numbers()).add(number)
        self._queue[place] = (at_source, source, target)

    def _was_matched(self, name: str) -> bool:
        stem, number = split_name(name)
        return stem in self._known and number in self._known[stem]

    def _note_twice(self, place: int, commit: Named) -> None:
        self.result.twice_count += 1
        _keep(self.result.twice, commit.number)
        self._queue[place] = None

    def _work_off(self) -> None:
        while self._next in self._queue:
            pair = self._queue.pop(self._next)
            self._next += 1
            if pair is not None:
                self._judge(*pair)

    def _judge(self, at_source: int, source: Named, target: Named) -> None:
        self.result.matched += 1
        hides_rows = source.hides_rows or target.hides_rows
        if hides_rows:
            self._note_hidden(target.number)
        changed = difference(source.commit, target.commit)
        if changed is not None and not hides_rows:
            how, key = changed
            self.result.changed_count += 1
            entry = Changed(source=source.number, target=target.number, how=how, key=key)
            _keep(self.result.changed, entry)
        self._order.take(at_source, source)

    def _note_hidden(self, number: int) -> None:
        self.result.first_hidden = min(self.result.first_hidden, number)

    def finish(self) -> IdentityJudgement:
        result = self.result
        for commits in self._early.values():
            (place, first), *again = commits
            if first.hides_rows:
                self._note_hidden(first.number)
            result.errant_count += 1
            result.errant_with_rows += bool(first.commit.changes or first.commit.copies)
            _keep(result.errant, first.number)
            self._queue[place] = None
            for place, commit in again:
                self._note_twice(place, commit)
        self._work_off()
        without_rows = array("q")
        for at, commit in sorted(self._waiting.values(), key=lambda each: each[0]):
            has_rows = bool(commit.commit.changes or commit.commit.copies)
            if not has_rows:
                without_rows.append(at)
            if at > self._order.last_of_group.get(commit.group, 0):
                result.lag += 1
                continue
            if commit.hides_rows:
                self._note_hidden(0)
            if has_rows:
                result.missing_count += 1
                _keep(result.missing, commit.number)
            else:
                result.filtered += 1
        self._order.finish(without_rows)
        return result


class _Order:
    def __init__(self, result: IdentityJudgement) -> None:
        self.last_of_group: dict[Hashable, int] = {}
        self._result = result
        self._previous = 0
        self._previous_of_group: dict[Hashable, int] = {}
        self._highest_of_session: dict[tuple[str, int], int] = {}
        self._came = array("q")
        self._last_writer: dict[Key, tuple[int, int]] = {}
        """Place and number."""
        self._low = 0
        self._above: set[int] = set()
        self._forget_at = 1 << 16

    def take(self, at: int, source: Named) -> None:
        result = self._result
        result.descents += at < self._previous
        self._previous = at
        result.group_descents += at < self._previous_of_group.get(source.group, 0)
        self._previous_of_group[source.group] = at
        if source.session is not None:
            session = split_name(source.name)[0], source.session
            highest = self._highest_of_session.get(session, 0)
            result.session_descents += at < highest
            self._highest_of_session[session] = max(at, highest)
        self.last_of_group[source.group] = max(at, self.last_of_group.get(source.group, 0))
        self._came.append(at)
        inverted = None
        for key in (*source.commit.changes, *source.commit.copies):
            writer, number = self._last_writer.get(key, (0, 0))
            if writer > at:
                inverted = Inversion(earlier=source.number, later=number, key=key)
            else:
                self._last_writer[key] = (at, source.number)
        if inverted is not None:
            result.inversion_count += 1
            _keep(result.inversions, inverted)
        self._above.add(at)
        while self._low + 1 in self._above:
            self._low += 1
            self._above.remove(self._low)
        if len(self._last_writer) + len(self._highest_of_session) > self._forget_at:
            # Commits come once: only those above the low-water mark can be overtaken.
            kept = {key: w for key, w in self._last_writer.items() if w[0] > self._low}
            open_ = {key: n for key, n in self._highest_of_session.items() if n > self._low}
            self._last_writer, self._highest_of_session = kept, open_
            self._forget_at = max(1 << 16, 2 * (len(kept) + len(open_)))

    def finish(self, lacking: array[int]) -> None:
        """Count states that are no prefix; ``lacking`` commits are optional."""
        result = self._result
        tails = array("q")
        highest = stretch = 0
        for came, at in enumerate(self._came, start=1):
            slot = bisect_right(tails, at)
            if slot == len(tails):
                tails.append(at)
            else:
                tails[slot] = at
            highest = max(highest, at)
            whole = came == highest - bisect_right(lacking, highest)
            stretch = 0 if whole else stretch + 1
            result.not_prefix += not whole
            result.longest_not_prefix = max(result.longest_not_prefix, stretch)
        result.to_move = len(self._came) - len(tails)


def difference(source: Commit, target: Commit) -> tuple[Difference, Key] | None:
    """Return difference and first differing key, or None."""
    wrote = {key: after for key, (_, after) in source.changes.items()} | dict(source.copies)
    writes = {key: after for key, (_, after) in target.changes.items()} | dict(target.copies)
    other = next((key for key in wrote if key in writes and writes[key] != wrote[key]), None)
    if other is not None:
        return Difference.OTHER_ROWS, other
    fewer = next((key for key in wrote if key not in writes), None)
    if fewer is not None:
        return Difference.FEWER_ROWS, fewer
    more = next((key for key in writes if key not in wrote), None)
    if more is not None:
        return Difference.MORE_ROWS, more
    found = next((k for k, pair in source.changes.items() if target.changes[k] != pair), None)
    return None if found is None else (Difference.FOUND_OTHER, found)


class _Numbers:
    """Nearly ordered numbers: a low-water mark and those above."""

    def __init__(self) -> None:
        self._first = 0
        self._low = 0
        self._above: set[int] = set()

    def add(self, number: int) -> None:
        if not self._first:
            self._first, self._low = number, number
            return
        self._above.add(number)
        while self._low + 1 in self._above:
            self._low += 1
            self._above.remove(self._low)

    def __contains__(self, number: int) -> bool:
        return self._first <= number <= self._low or number in self._above


def _keep(kept: list[_Finding], finding: _Finding) -> None:
    if len(kept) < LISTED_MAX:
        kept.append(finding)
