"""Levels, witnesses and judgement of two logs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from paraply.properties.two_logs.commits import Key

NEAR = 64
"""A snapshot contains all source steps that are so many places before one that it contains."""
SNAPSHOTS_MAX = 1_000
"""Snapshots listed."""


class Level(IntEnum):
    """How closely the target follows; larger is stronger."""

    DIVERGED = 0
    """The last state is no source state."""
    UNDECIDED = 1
    """Rows go back, and the log ends too early."""
    FINAL = 2
    """The last state is a source state."""
    PER_KEY = 3
    """Each key's versions are in order; transactions are torn."""
    ATOMIC = 4
    """Whole transactions, respecting common keys."""
    BATCHES = 5
    """Rising prefixes; some are skipped."""
    PREFIX = 6
    """Rising prefixes without skips."""

    @property
    def word(self) -> str:
        """Return the name in options and documents."""
        return self.name.lower().replace("_", "-")


class End(IntEnum):
    """How the last states relate."""

    EQUAL = 0
    BEHIND = 1
    """An earlier prefix of the source."""
    DIFFERENT = 2


class Miss(IntEnum):
    """Why a target state misses a level."""

    NO_PREFIX = 0
    WENT_BACK = 1
    """An earlier prefix than a previous state."""
    SKIPPED = 2
    TORN = 3
    """A source transaction is visible on some keys only."""
    KEY_WENT_BACK = 4
    UNKNOWN_VERSION = 5
    LAST_STATE = 6
    """The last state is no prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The first target state that misses a level.

    ``target`` and ``source`` are commit numbers (0: none). ``key`` shows the source commit,
    ``other`` does not.
    """

    missed: Level
    why: Miss
    target: int
    source: int = 0
    key: Key | None = None
    other: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Consecutive target commits, inclusive, without prefix states."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """Return the number of commits."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A target state in snapshot order: source commits swapped that share no row.

    ``missing`` are absent although the later ``early`` ones show.
    """

    target: int
    missing: tuple[int, ...]
    early: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class Judgement:
    """The judgement; commits count from 1.

    A *position* is a number of source commits: the equal prefix.
    """

    level: Level = Level.DIVERGED
    end: End = End.DIFFERENT
    end_position: int | None = None
    """Position of the last state."""
    is_drained: bool = False
    """The last state shows the last source commit."""
    source_commits: int = 0
    target_commits: int = 0
    prefixes: int = 0
    """Target commits with a prefix state."""
    torn: int = 0
    """Commits that no whole source transactions explain."""
    is_snapshots: bool = True
    """Rising snapshots of the source explain all states."""
    snapshot_count: int = 0
    """Commits with a snapshot that is no prefix."""
    snapshots: list[Snapshot] = field(default_factory=list)
    skipping: int = 0
    left_early: bool = False
    """``PREFIX`` was first missed two or more states before the source's last one.

    No continuation of the source's log explains that: it begins at the last state, or, where a row
    changes outside of it, one state further. Misses of other levels are explained by a continuation
    that undoes everything and then does what the target did.
    """
    state_went_back: int = 0
    key_went_back: int = 0
    """Changes of a key to an earlier version."""
    unknown_versions: int = 0
    """Changes of a key to a value the source never had."""
    rewritten: int = 0
    """Keys that only the target rewrote unchanged."""
    found: dict[Key, int] = field(default_factory=dict)
    """Keys changed outside of the target's log only, and the commit."""
    differing: dict[Key, bool] = field(default_factory=dict)
    """Keys with another last value; whether it is an earlier version."""
    stretches: list[Stretch] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    """One per missed level, strongest first."""
    suspects: dict[Key, int] = field(default_factory=dict)
    """Keys that block explanations, and how many commits."""
    conceded: dict[Key, int] = field(default_factory=dict)
    """Keys given up after a window, and the missed source commit."""
    beyond_reach: int = 0
    """Of ``torn``: the reach cut the search."""
    beyond_window: bool = False
    """The source continues for over a window after the target."""


def level_of(
    *,
    all_prefixes: bool,
    skips: bool,
    all_atomic: bool,
    all_per_key: bool,
    end: End,
    is_lost: bool,
) -> Level:
    """Return the strongest level.

    ``is_lost``: applying more cannot repair the last state.
    """
    if all_prefixes:
        return Level.BATCHES if skips else Level.PREFIX
    if end is End.DIFFERENT and is_lost:
        return Level.DIVERGED
    if all_atomic:
        return Level.ATOMIC
    if all_per_key:
        return Level.PER_KEY
    return Level.UNDECIDED if end is End.DIFFERENT else Level.FINAL


def is_lost(differing: dict[Key, bool], *, is_drained: bool) -> bool:
    """Return whether rows differ for good.

    Values that the source never had are wrong. Earlier versions are lost only at a drained target.
    """
    return is_drained or not all(differing.values())
