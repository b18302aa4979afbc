"""The judgement of two logs: level, and a witness per missed level."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from paraply.properties.two_logs.commits import Key


class Level(IntEnum):
    """How closely the target follows the source; larger is stronger."""

    DIVERGED = 0
    """The last state is no state of the source."""
    UNDECIDED = 1
    """Rows go back, and the target's log ends before all was applied."""
    FINAL = 2
    """The last state is a source state; earlier ones may differ."""
    PER_KEY = 3
    """Versions of each key are in order; transactions are torn."""
    ATOMIC = 4
    """Whole transactions, in an order that respects common keys."""
    BATCHES = 5
    """Every state is a prefix, never going back; some are skipped."""
    PREFIX = 6
    """Every state is a prefix, never going back, without skips."""

    @property
    def word(self) -> str:
        """Return the name in options and documents."""
        return self.name.lower().replace("_", "-")


class End(IntEnum):
    """How the last states relate."""

    EQUAL = 0
    """The source's last state."""
    BEHIND = 1
    """An earlier prefix of the source."""
    DIFFERENT = 2
    """No prefix of the source."""


class Miss(IntEnum):
    """Why a target state misses a level."""

    NO_PREFIX = 0
    """The state equals no prefix."""
    WENT_BACK = 1
    """The state is an earlier prefix than a previous state."""
    SKIPPED = 2
    """The state skips source states."""
    TORN = 3
    """A source transaction is visible on one key, not on another."""
    KEY_WENT_BACK = 4
    """A key returns to an earlier version."""
    UNKNOWN_VERSION = 5
    """The source never had this value."""
    LAST_STATE = 6
    """The last state is no prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The first target state that misses a level.

    ``target`` and ``source`` are commit numbers; 0 means none. ``key`` shows the source commit,
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


@dataclass(slots=True, kw_only=True)
class Judgement:
    """The judgement; commits are numbered from 1.

    A *position* is the number of source commits in an equal prefix.
    """

    level: Level = Level.DIVERGED
    end: End = End.DIFFERENT
    end_position: int | None = None
    """Position of the last state; None without one."""
    is_drained: bool = False
    """The last target state shows the last source commit."""
    source_commits: int = 0
    target_commits: int = 0
    prefixes: int = 0
    """Target commits with a prefix state."""
    torn: int = 0
    """Target commits that no set of whole source transactions explains."""
    skipping: int = 0
    """Target commits that skip source states."""
    state_went_back: int = 0
    """Target commits whose prefix is earlier than the previous one."""
    key_went_back: int = 0
    """Changes of a key to an earlier version."""
    unknown_versions: int = 0
    """Changes of a key to a value the source never had."""
    rewritten: int = 0
    """Keys rewritten unchanged by the target, not by the source."""
    found: dict[Key, int] = field(default_factory=dict)
    """Keys changed outside of the target's log only, with the target commit's number."""
    differing: dict[Key, bool] = field(default_factory=dict)
    """Keys with another last value, and whether it is an earlier version."""
    stretches: list[Stretch] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    """One per missed level, strongest first."""
    suspects: dict[Key, int] = field(default_factory=dict)
    """Keys that keep states unexplained, with the number of commits each blocks."""
    conceded: dict[Key, int] = field(default_factory=dict)
    """Keys given up after a whole window, with the source commit they never showed."""
    beyond_reach: int = 0
    """Of ``torn``: the reach cut the search, so the state may be whole."""
    beyond_window: bool = False
    """The source's log continues for over a window after the target's last commit."""


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

    ``is_lost``: the last state cannot become a prefix by applying more.
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
    """Return whether rows differ for good and not only by lag.

    A value that the source never had is wrong. An earlier version is lost only where the target
    shows the source's last commit.
    """
    return is_drained or not all(differing.values())
