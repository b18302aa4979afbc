"""Key versions and source steps."""

from __future__ import annotations

from bisect import bisect_left

from paraply.properties.two_logs.commits import Key, Value
from paraply.properties.two_logs.fingerprints import weight_of_copies

_TRIMMED_AT_ONCE = 64


class Chain:
    """A key's versions in source order.

    Position 0 is before the log; dropping versions keeps positions. ``atomic`` is the position in
    the least ideal, ``near`` that in the least snapshot, ``single`` the key's own, ``value`` the
    target's value.
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
        "near",
        "single",
        "value",
    )

    def __init__(self, key: Key, before: Value, *, counts: bool) -> None:
        self.key = key
        self.counts = counts
        """Values are numbers of copies."""
        self.value = before
        self.is_conceded = False
        self.atomic = 0
        self.near = 0
        self.single = 0
        self._steps = [-1]
        self._values = [before]
        self._where: dict[Value, list[int]] = {before: [0]}
        self._dropped = 0

    def weight(self, value: Value) -> int:
        """Return a value's summand."""
        return weight_of_copies(self.key, value) if self.counts else value

    def value_before(self, step: int) -> Value:
        """Return the source's value before a step."""
        return self._values[bisect_left(self._steps, step) - 1]

    def is_unique(self, value: Value) -> bool:
        """Return whether a value is unique in the window."""
        return len(self._where[value]) == 1

    @property
    def last(self) -> int:
        """Return the last position."""
        return self._dropped + len(self._steps) - 1

    @property
    def last_value(self) -> Value:
        """Return the source's last value."""
        return self._values[-1]

    def append(self, step: int, value: Value) -> int:
        """Add a version; return its position."""
        self._steps.append(step)
        self._values.append(value)
        position = self.last
        self._where.setdefault(value, []).append(position)
        return position

    def step(self, position: int) -> int:
        """Return a version's source step; -1 before the window."""
        return self._steps[position - self._dropped]

    def version(self, position: int) -> Value:
        """Return the value at a position."""
        return self._values[position - self._dropped]

    def find(self, value: Value, at_least: int) -> int | None:
        """Return a value's first position from ``at_least``."""
        where = self._where.get(value)
        if where is None or where[-1] < at_least:
            return None
        return where[bisect_left(where, at_least)]

    def find_last(self, value: Value) -> int | None:
        """Return a value's last position."""
        where = self._where.get(value)
        return where[-1] if where else None

    def drop_before(self, position: int) -> None:
        """Drop the versions before a position."""
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
        """Return whether both positions are last."""
        return self.atomic == self.single == self.last and self.value == self._values[-1]


class SourceStep:
    """A source step: keys and state sum."""

    __slots__ = ("effective", "included", "is_found", "number", "total", "versions")

    def __init__(self, number: int, total: int, effective: int, *, is_found: bool) -> None:
        self.number = number
        self.total = total
        self.effective = effective
        """State-changing commits so far."""
        self.is_found = is_found
        self.included = False
        """In the least ideal."""
        self.versions: list[tuple[Chain, int]] = []

    @property
    def commits_done(self) -> int:
        """Return the number of source commits up to this step."""
        return self.number - self.is_found
