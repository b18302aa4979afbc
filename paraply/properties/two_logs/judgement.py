"""What the judge of two logs finds: the level reached, and a witness for each level missed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from paraply.properties.two_logs.commits import Key


class Level(IntEnum):
    """How closely the target's history follows the source's; a larger value is stronger."""

    DIVERGED = 0
    """The last state is no state of the source."""
    UNDECIDED = 1
    """Rows of one key go back, and the target's log ends before all was applied."""
    FINAL = 2
    """The last state is one of the source; states before it need not be."""
    PER_KEY = 3
    """The versions of each key come in order; transactions are torn."""
    ATOMIC = 4
    """Whole transactions, in an order that respects common keys."""
    BATCHES = 5
    """Every committed state is a prefix of the source, never going back; some are skipped."""
    PREFIX = 6
    """Every committed state is a prefix, never going back, and none is skipped."""

    @property
    def word(self) -> str:
        """Return the name used by options and documents."""
        return self.name.lower().replace("_", "-")


class End(IntEnum):
    """How the last state of the target relates to the source."""

    EQUAL = 0
    """It is the source's last state."""
    BEHIND = 1
    """It is an earlier prefix of the source."""
    DIFFERENT = 2
    """It is no prefix of the source."""


class Miss(IntEnum):
    """Why a state of the target does not reach a level."""

    NO_PREFIX = 0
    """The state is equal to no prefix of the source."""
    WENT_BACK = 1
    """The state is an earlier prefix than one shown before."""
    SKIPPED = 2
    """The state skips states of the source."""
    TORN = 3
    """A source transaction is visible on one key and not on another."""
    KEY_WENT_BACK = 4
    """A key has an earlier version than one shown before."""
    UNKNOWN_VERSION = 5
    """A key has a value that the source never gave it."""
    LAST_STATE = 6
    """The last state is no prefix of the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The first state of the target that misses a level.

    ``target`` is the number of a commit of the target; ``source`` of a commit of the source, 0
    where none is meant. ``key`` shows the source commit, ``other`` does not.
    """

    missed: Level
    why: Miss
    target: int
    source: int = 0
    key: Key | None = None
    other: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Consecutive commits of the target, first to last, whose states are no prefix."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """Return the number of commits."""
        return self.last - self.first + 1


@dataclass(slots=True, kw_only=True)
class Judgement:
    """What two logs show of an applier; commits are numbered from 1.

    A *position* is a number of source commits: the prefix that a state is equal to.
    """

    level: Level = Level.DIVERGED
    end: End = End.DIFFERENT
    end_position: int | None = None
    """The prefix that the last state is, None if it is none."""
    is_drained: bool = False
    """The last source commit is visible in the target's last state."""
    source_commits: int = 0
    target_commits: int = 0
    prefixes: int = 0
    """Target commits whose state is a prefix."""
    torn: int = 0
    """Target commits whose state no set of whole source transactions explains."""
    skipping: int = 0
    """Target commits that skip states of the source."""
    state_went_back: int = 0
    """Target commits whose state is an earlier prefix than the one before."""
    key_went_back: int = 0
    """Changes of a key to an earlier version."""
    unknown_versions: int = 0
    """Changes of a key to a value that the source never gave it."""
    rewritten: int = 0
    """Keys that the target wrote with what they held and the source did not."""
    found: dict[Key, int] = field(default_factory=dict)
    """Keys that a target commit found changed outside of its log, and the source did not, with
    the number of the commit."""
    differing: dict[Key, bool] = field(default_factory=dict)
    """Keys whose last value is not the source's, with whether it is an earlier version of it."""
    stretches: list[Stretch] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    """One for each level missed, strongest level first."""
    suspects: dict[Key, int] = field(default_factory=dict)
    """Keys that keep states from being explained, with how many commits each blocks."""
    conceded: dict[Key, int] = field(default_factory=dict)
    """Keys given up after a whole window, with the source commit that they never showed."""
    beyond_reach: int = 0
    """Of ``torn``: explanations were cut off by the reach, so the state may be whole."""
    beyond_window: bool = False
    """The source's log goes on for more than a window after the target's last commit."""


def level_of(
    *,
    all_prefixes: bool,
    skips: bool,
    all_atomic: bool,
    all_per_key: bool,
    end: End,
    is_lost: bool,
) -> Level:
    """Return the strongest level, from what is true of all states and of the last one.

    ``is_lost``: the last state is no prefix and cannot become one by applying more.
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
    """Return whether rows that differ at the end are wrong, and not only late.

    A value that the source never gave is wrong. An earlier version may be late; it is lost where
    the target shows the source's last commit and so has worked off its backlog.
    """
    return is_drained or not all(differing.values())
