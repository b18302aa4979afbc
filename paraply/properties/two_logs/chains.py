"""Versions of one key and the window of source steps, for the streaming judge."""

from __future__ import annotations

from bisect import bisect_left

from paraply.properties.two_logs.commits import Key, Value
from paraply.properties.two_logs.fingerprints import weight_of_copies

_TRIMMED_AT_ONCE = 64


class Chain:
    """The versions of a key in source order, and how far the target has come.

    Positions count from 0 for the version before the log and stay valid when old versions are
    dropped. ``atomic`` is the position in the least ideal, ``single`` that of the key alone,
    ``value`` what the target holds.
    """

    __slots__ = (
        "_dropped",
        "_steps",
        "_values",
        "_where",
        "atomic",
        "counts",
        "is_conceded",
        "key",
        "single",
        "value",
    )

    def __init__(self, key: Key, before: Value, *, counts: bool) -> None:
        self.key = key
        self.counts = counts
        """Whether values are numbers of copies."""
        self.value = before
        self.is_conceded = False
        self.atomic = 0
        self.single = 0
        self._steps = [-1]
        self._values = [before]
        self._where: dict[Value, list[int]] = {before: [0]}
        self._dropped = 0

    def weight(self, value: Value) -> int:
        """Return what a value adds to the sum of a state."""
        return weight_of_copies(self.key, value) if self.counts else value

    def value_before(self, step: int) -> Value:
        """Return the value that the source held before a step of the window."""
        return self._values[bisect_left(self._steps, step) - 1]

    def is_unique(self, value: Value) -> bool:
        """Return whether a value comes once in the window, so that it shows where the target is."""
        return len(self._where[value]) == 1

    @property
    def last(self) -> int:
        """Return the last position."""
        return self._dropped + len(self._steps) - 1

    @property
    def last_value(self) -> Value:
        """Return what the source holds at the end of the window."""
        return self._values[-1]

    def append(self, step: int, value: Value) -> int:
        """Add a version; return its position."""
        self._steps.append(step)
        self._values.append(value)
        position = self.last
        self._where.setdefault(value, []).append(position)
        return position

    def step(self, position: int) -> int:
        """Return the source step that wrote a version, -1 for the one before the window."""
        return self._steps[position - self._dropped]

    def version(self, position: int) -> Value:
        """Return the value at a position."""
        return self._values[position - self._dropped]

    def find(self, value: Value, at_least: int) -> int | None:
        """Return the first position of a value not before ``at_least``."""
        where = self._where.get(value)
        if where is None or where[-1] < at_least:
            return None
        return where[bisect_left(where, at_least)]

    def find_last(self, value: Value) -> int | None:
        """Return the last position of a value."""
        where = self._where.get(value)
        return where[-1] if where else None

    def drop_before(self, position: int) -> None:
        """Forget the versions before a position."""
        count = position - self._dropped
        if count >= _TRIMMED_AT_ONCE or position == self.last:
            for value in self._values[:count]:
                where = self._where[value]
                del where[: bisect_left(where, position)]
                if not where:
                    del self._where[value]
            del self._values[:count], self._steps[:count]
            self._dropped = position

    @property
    def is_at_rest(self) -> bool:
        """Return whether the target holds the last version, by either reckoning."""
        return self.atomic == self.single == self.last and self.value == self._values[-1]


class SourceStep:
    """One source step in the window: the keys it wrote, and the sum of the state after it."""

    __slots__ = ("effective", "included", "is_found", "number", "total", "versions")

    def __init__(self, number: int, total: int, effective: int, *, is_found: bool) -> None:
        self.number = number
        self.total = total
        self.effective = effective
        """Commits so far that changed the state."""
        self.is_found = is_found
        self.included = False
        """Whether the least ideal contains it."""
        self.versions: list[tuple[Chain, int]] = []

    @property
    def commits_done(self) -> int:
        """Return how many source commits are done after it."""
        return self.number - self.is_found
