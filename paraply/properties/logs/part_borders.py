"""Borders of log parts: checks that approaches are long enough.

:func:`get_faults` reports what a short memory may change:

- Windows must not reach before the approach (``last_committed``, an open commit group). The key
  index must have begun to forget: indexes of one horizon then agree. Logical clocks only require
  the file's beginning.
- Carried GTID numbers, times and servers are right, by induction, if they equal the previous part's
  end.

GTIDs are unique if unique and disjoint across parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from paraply.properties.logs.lint_gtids import _SeenNumbers
from paraply.properties.logs.log_lint import LINT_MAX, LogLint
from paraply.properties.logs.overlap_rules import get_commit_group
from paraply.vocabulary.log import LoggedTransaction

Intervals = list[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """Values carried across one point of a log."""

    highest: dict[str, int] = field(default_factory=dict)
    domains: dict[int, tuple[int, str]] = field(default_factory=dict)
    servers: frozenset[int] = frozenset()
    time_s: int = 0
    committed_at_us: int = 0
    stamped: bool = False
    named: bool = False
    half: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartBorders:
    """A part's two borders and its border-relevant content."""

    begin: Border
    end: Border
    transactions_before: int
    reaches_back: str
    """What precedes the approach, or empty."""
    writes_settled: bool
    reads_settled: bool
    has_writes: bool
    has_reads: bool
    has_groups: bool
    from_file_start: bool
    """Whether a file starts the approach."""
    numbers: dict[str, Intervals]
    """Own GTID numbers by origin."""
    servers: frozenset[int]


class PartLint(LogLint):
    """Lint of a part, approach and borders."""

    def __init__(self, listed_max: int = LINT_MAX, *, from_file_start: bool = False) -> None:
        super().__init__(listed_max)
        self.from_file_start = from_file_start
        self.reaches_back = ""
        self.own_servers: set[int] = set()
        self.has_groups = False
        self._numbers: dict[str, _SeenNumbers] = {}
        self._in_part = False
        self._transactions = 0
        self._clock_first: tuple[int, int] | None = None
        self._group_first: tuple[int, int] | None = None
        self._group_is_first = not from_file_start
        self._lanes: dict[int, tuple[int, int] | None] = {}

    def begin_part(self) -> int:
        """Start the part; return the approach's length."""
        self._in_part = True
        return self._transactions

    def observe(self, txn: LoggedTransaction) -> None:
        """Check the next transaction."""
        super().observe(txn)
        self._transactions += 1
        self.has_groups |= txn.domain is not None or txn.commit_id is not None
        if not self.from_file_start:
            self._watch_windows(txn)
        if self._in_part:
            self.own_servers.add(txn.server_id)
            self._add_number(txn)

    def _watch_windows(self, txn: LoggedTransaction) -> None:
        last_committed, number = txn.last_committed, txn.sequence_number
        if number and last_committed is not None and self._clock_first is None:
            self._clock_first = (txn.clock, number)
        group = get_commit_group(txn)
        if self._transactions == 1:
            self._group_first = group
        self._group_is_first &= group is not None and group == self._group_first
        lane = txn.domain or 0
        if txn.commit_id is not None and lane not in self._lanes:
            self._lanes[lane] = group
        elif self._lanes.get(lane) is not None and self._lanes[lane] != group:
            self._lanes[lane] = None
        if not self._in_part or self.reaches_back:
            return
        if self._group_is_first:
            self.reaches_back = "a commit group"
        elif txn.commit_id is not None and self._lanes.get(lane) == group:
            self.reaches_back = "a commit group of a domain"
        elif number and last_committed is not None and self._clock_first is not None:
            clock, first = self._clock_first
            if txn.clock == clock and last_committed < first - 1:
                self.reaches_back = "a window of the logical clock"

    def _add_number(self, txn: LoggedTransaction) -> None:
        if txn.domain is not None:
            origin, _, number = txn.gtid.rpartition("-")
        else:
            origin, _, number = txn.gtid.rpartition(":")
        if origin and number.isdecimal():
            seen = self._numbers.get(origin)
            if seen is None:
                seen = self._numbers[origin] = _SeenNumbers()
            seen.add(int(number))

    def border(self) -> Border:
        """Return the values carried across this point."""
        gtids = self._gtids
        return Border(
            highest={origin: seen.highest for origin, seen in gtids._numbers.items()},
            domains=dict(gtids._highest_of_domain),
            servers=frozenset(self._servers),
            time_s=self._time_s,
            committed_at_us=self._committed_at_us,
            stamped=self._clock._stamped,
            named=gtids._named,
            half=self._half is not None,
        )

    def own_numbers(self) -> dict[str, Intervals]:
        """Return own GTID numbers as disjoint ascending intervals."""
        return {
            origin: list(zip(seen._starts, seen._ends, strict=True))
            for origin, seen in self._numbers.items()
        }


class Carried:
    """Values carried from the parts so far."""

    def __init__(self) -> None:
        self._border = Border()
        self._numbers: dict[str, Intervals] = {}
        self._has_writes = self._has_reads = self._has_groups = False

    def get_faults(self, part: PartBorders) -> list[str]:
        """Return why the approach may be short."""
        found = [part.reaches_back] if part.reaches_back else []
        follows_files = part.from_file_start and not (part.has_groups or self._has_groups)
        if not follows_files:
            if self._has_writes and not part.writes_settled:
                found.append("earlier writers of keys")
            if self._has_reads and not part.reads_settled:
                found.append("earlier readers of keys")
        found.extend(self._carried_faults(part))
        return found

    def _carried_faults(self, part: PartBorders) -> Iterable[str]:
        carried, begin = self._border, part.begin
        for origin, own in part.numbers.items():
            known = self._numbers.get(origin, [])
            if _overlap(known, own):
                yield f"GTIDs of {origin} seen before"
            if begin.highest.get(origin, 0) != carried.highest.get(origin, 0):
                yield f"GTIDs of {origin}"
        for domain, highest in carried.domains.items():
            if begin.domains.get(domain) != highest and domain in part.end.domains:
                yield f"GTIDs of domain {domain}"
        if (part.servers - begin.servers) & carried.servers or (
            carried.servers and not begin.servers
        ):
            yield "servers"
        if (begin.time_s, begin.committed_at_us) != (carried.time_s, carried.committed_at_us):
            yield "times"
        if (begin.stamped, begin.named, begin.half) != (
            carried.stamped,
            carried.named,
            carried.half,
        ):
            yield "the kind of GTIDs and timestamps before"

    def add(self, part: PartBorders) -> None:
        """Add a part with correct beginning."""
        before, end = self._border, part.end
        self._border = Border(
            highest={**before.highest, **end.highest},
            domains={**before.domains, **end.domains},
            servers=before.servers | end.servers,
            time_s=end.time_s,
            committed_at_us=end.committed_at_us,
            stamped=end.stamped,
            named=end.named,
            half=end.half,
        )
        self._has_writes |= part.has_writes
        self._has_reads |= part.has_reads
        self._has_groups |= part.has_groups
        for origin, own in part.numbers.items():
            self._numbers[origin] = _union(self._numbers.get(origin, []), own)


def _overlap(first: Intervals, second: Intervals) -> bool:
    at = 0
    for low, high in second:
        while at < len(first) and first[at][1] < low:
            at += 1
        if at < len(first) and first[at][0] <= high:
            return True
    return False


def _union(first: Intervals, second: Intervals) -> Intervals:
    joined: Intervals = []
    for low, high in sorted([*first, *second]):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
