"""Overlap rules: which transactions an applier may run concurrently.

Transactions i < j of one lane and run may overlap if and only if ``rank_i > floor_j``; different
runs never. Ranks rise strictly inside a run, for the linear safety check.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Protocol

from paraply.properties.start_rule import must_wait
from paraply.vocabulary.log import LoggedTransaction

LOGICAL_CLOCK = "logical-clock"
COMMIT_GROUP = "commit-group"
STRETCHES_MAX = 100_000
"""Stretches of sequence numbers, one per gap. Past this, allowed pairs are a lower bound."""
LANES_MAX = 4_096
"""Domains. Past this the first is forgotten, its next transaction starts a group, and safety is
unknown.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A rule's place of one transaction."""

    lane: int
    """Domain under ``commit-group``, else 0."""
    run: int
    rank: int
    floor: int
    allowed: int
    """Earlier overlaps; large values are lower bounds."""
    follows: bool = True
    """Whether a predecessor may share lane and run."""
    break_rank: int = 0
    """Last rank before which the server's scheduler drains beyond the rule, or 0."""
    break_reason: str = ""

    def may_overlap(self, earlier: Place) -> bool:
        """Return whether this may start before ``earlier`` commits."""
        same_run = earlier.lane == self.lane and earlier.run == self.run
        return same_run and not must_wait(self.floor, earlier.rank)


class OverlapRule(Protocol):
    """An applier's reading of the metadata."""

    @property
    def name(self) -> str:
        """The applier's name in reports."""
        ...

    @property
    def lanes_forgotten(self) -> int:
        """Lanes forgotten while possibly in use."""
        ...

    def place(self, txn: LoggedTransaction) -> Place:
        """Return the place of ``txn``; call in log order."""
        ...


class _NumberedRun:
    def __init__(self) -> None:
        self._starts: list[int] = []
        self._counts_before: list[int] = []
        self.count = 0
        self.last = 0

    def add(self, sequence_number: int) -> None:
        if not self._starts or sequence_number != self.last + 1:
            if len(self._starts) >= STRETCHES_MAX:
                del self._starts[: STRETCHES_MAX // 2]
                del self._counts_before[: STRETCHES_MAX // 2]
            self._starts.append(sequence_number)
            self._counts_before.append(self.count)
        self.count += 1
        self.last = sequence_number

    def above(self, last_committed: int) -> int:
        """Return how many numbers are greater; a lower bound after drops."""
        at = bisect_right(self._starts, last_committed) - 1
        if at < 0:
            return self.count - (self._counts_before[0] if self._counts_before else 0)
        end = self._counts_before[at + 1] if at + 1 < len(self._starts) else self.count
        covered = self._counts_before[at] + last_committed - self._starts[at] + 1
        return self.count - min(covered, end)


class LogicalClockRule:
    """MySQL's prefix rule: j may start once every transaction with SN <= LC_j has committed.

    Only MySQL's coordinator also drains at gaps and LC=0 (``Mts_submode_logical_clock``,
    ``new_group``): such pairs overlap, with ``break_rank``.

    A run ends at a new clock (rotation, restart), (0, 0), no timestamps, or a contradiction (LC >=
    SN, or SN does not rise). The server replaces contradictions by (0, 0).
    """

    name = LOGICAL_CLOCK
    lanes_forgotten = 0

    def __init__(self) -> None:
        self._run = 0
        self._clock: int | None = None
        self._numbers = _NumberedRun()
        self._break_rank = 0
        self._break_reason = ""

    def place(self, txn: LoggedTransaction) -> Place:
        """Return the place by logical timestamp."""
        if txn.clock != self._clock:
            self._clock = txn.clock
            self._begin_run()
        last_committed, sequence_number = txn.last_committed, txn.sequence_number
        if (
            last_committed is None
            or sequence_number is None
            or last_committed < 0
            or last_committed >= sequence_number
            or sequence_number <= self._numbers.last
        ):
            self._begin_run()
            alone = Place(lane=0, run=self._run, rank=1, floor=1, allowed=0, follows=False)
            self._begin_run()
            return alone
        numbers = self._numbers
        if numbers.count and sequence_number > numbers.last + 1:
            self._break_rank, self._break_reason = sequence_number, "a gap in the sequence numbers"
        elif numbers.count and last_committed == 0:
            self._break_rank, self._break_reason = sequence_number, "last_committed=0"
        place = Place(
            lane=0,
            run=self._run,
            rank=sequence_number,
            floor=last_committed,
            allowed=numbers.above(last_committed),
            follows=numbers.count > 0,
            break_rank=self._break_rank,
            break_reason=self._break_reason,
        )
        numbers.add(sequence_number)
        return place

    def _begin_run(self) -> None:
        self._run += 1
        self._numbers = _NumberedRun()
        self._break_rank, self._break_reason = 0, ""


@dataclass(slots=True)
class _Lane:
    group: tuple[int, int] | None = None
    rank: int = 0
    floor: int = 0


class CommitGroupRule:
    """MariaDB's conservative mode: consecutive transactions of one commit id overlap.

    Transactions without commit id and DDL (``rpl_parallel.cc``, FORCE_SWITCH) are alone; DDL with a
    forged id is a member. Groups are per domain. ``by_last_committed`` is 5.7.2's rule for MySQL
    logs.
    """

    name = COMMIT_GROUP

    def __init__(self, *, by_last_committed: bool = False) -> None:
        self._by_last_committed = by_last_committed
        self.lanes_forgotten = 0
        self._lanes: dict[int, _Lane] = {}

    def place(self, txn: LoggedTransaction) -> Place:
        """Return the place in its domain's groups."""
        domain = txn.domain or 0
        lane = self._lanes.get(domain)
        if lane is None:
            if len(self._lanes) >= LANES_MAX:
                del self._lanes[next(iter(self._lanes))]
                self.lanes_forgotten += 1
            # A forgotten domain continues with the log's ranks, apart from its past.
            lane = self._lanes[domain] = _Lane(rank=txn.ordinal, floor=txn.ordinal)
        group = get_commit_group(txn)
        if txn.commit_id is None and not self._by_last_committed:
            group = None
        is_alone = txn.is_ddl and txn.commit_id is None
        if group is None or is_alone or group != lane.group:
            lane.floor = lane.rank
        lane.group = None if is_alone else group
        lane.rank += 1
        return Place(
            lane=domain,
            run=0,
            rank=lane.rank,
            floor=lane.floor,
            allowed=lane.rank - 1 - lane.floor,
            # Without domains and commit ids the rule does not apply.
            follows=txn.domain is not None or txn.commit_id is not None,
        )


def get_commit_group(txn: LoggedTransaction) -> tuple[int, int] | None:
    """Return the commit group's identity, if any."""
    if txn.commit_id is not None:
        return txn.clock, txn.commit_id
    if txn.last_committed is not None and txn.sequence_number:
        return txn.clock, txn.last_committed
    return None


RULES: dict[str, type[LogicalClockRule] | type[CommitGroupRule]] = {
    LOGICAL_CLOCK: LogicalClockRule,
    COMMIT_GROUP: CommitGroupRule,
}
