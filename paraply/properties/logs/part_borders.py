"""Was the approach to a part of a log long enough? What the border of two parts must show.

An auditor that begins before a part, not at the beginning of the log, has a shorter memory there
than one that has read everything. :func:`get_faults` names what this may have changed. Two sorts of
memory are compared:

- What reaches back by rule: a window of the metadata must not reach back before the approach
  (``last_committed`` below its first transaction, a commit group that is open at its beginning),
  and the index of keys must have begun to forget, since two indexes that hold the last transactions
  up to one horizon hold the same. Under a logical clock it is enough to have read the file from its
  beginning, as nothing in it conflicts with another file.
- What is carried on: highest GTID numbers, times, servers. By induction from the first part they
  are right at a border if they equal what the part before ended with.

GTIDs are unique in the log if they are in every part and the parts' sets of numbers are disjoint.
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
    """What is carried on across one point of a log."""

    highest: dict[str, int] = field(default_factory=dict)
    """Highest GTID number by origin."""
    domains: dict[int, tuple[int, str]] = field(default_factory=dict)
    servers: frozenset[int] = frozenset()
    time_s: int = 0
    committed_at_us: int = 0
    stamped: bool = False
    named: bool = False
    half: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartBorders:
    """A part's two borders, and what lies between them as far as borders matter."""

    begin: Border
    end: Border
    transactions_before: int
    """Length of the approach."""
    reaches_back: str
    """What reaches back before the approach; empty if nothing does."""
    writes_settled: bool
    reads_settled: bool
    has_writes: bool
    has_reads: bool
    has_groups: bool
    from_file_start: bool
    """Whether the approach begins where a file does."""
    numbers: dict[str, Intervals]
    """The part's own GTID numbers by origin."""
    servers: frozenset[int]


class PartLint(LogLint):
    """The lint of one part and its approach, which also watches what borders depend on."""

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
        """Note that the part begins; return the length of the approach."""
        self._in_part = True
        return self._transactions

    def observe(self, txn: LoggedTransaction) -> None:
        """Check the next transaction of the approach or the part."""
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
        """Return what is carried on across this point."""
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
        """Return the part's own GTID numbers by origin, as disjoint ascending intervals."""
        return {
            origin: list(zip(seen._starts, seen._ends, strict=True))
            for origin, seen in self._numbers.items()
        }


class Carried:
    """What the parts so far carry on to the next."""

    def __init__(self) -> None:
        self._border = Border()
        self._numbers: dict[str, Intervals] = {}
        self._has_writes = self._has_reads = self._has_groups = False

    def get_faults(self, part: PartBorders) -> list[str]:
        """Return what the approach of the next part may have been too short for."""
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
        """Carry on what a part, with the right memory at its beginning, ended with."""
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
