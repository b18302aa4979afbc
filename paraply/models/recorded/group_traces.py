"""Abstraction of a recorded group: what was delivered, and what its members decided and numbered.

A group of thousands of transactions is read in segments: a transaction with the last writers of its
rows before it. A segment of a run of the specification is such a run. A number from outside of a
segment is taken as that of a further common row, which adds waits and hides none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.recorded.following import Recorded, RecordedStep, Segment
from paraply.models.systems.certification import TXN
from paraply.vocabulary.group_trace import (
    GroupTrace,
    LoggedDecision,
    MemberUuid,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.gtid_set import Gtid

_NUMBERING = frozenset(
    {"certify", "certify_local", "certify_first", "collect_garbage", "change_view", "join"}
)
"""What a segment has in full, as far as it lowers no number."""
BESIDE = 4
"""Before a start's first transaction, and after it."""
WRITERS_MAX = 5
"""Followed together with a transaction that comes after them."""


def certifications(trace: GroupTrace) -> Iterator[Segment]:
    """Yield each decision after the last writers of its rows, for ``certification.py``.

    Collections only forget what every later snapshot has, so the reading goes without them.
    """
    writers: dict[str, int] = {}
    delivered = trace.transactions
    for number, step in enumerate(delivered):
        found = sorted({writers[item] for item in step.items if item in writers})
        # Those that it had not seen come first: they decide.
        found.sort(key=lambda one: _gtid_of(delivered[one]) in step.snapshot)
        before = [delivered[one] for one in sorted(found[:WRITERS_MAX])]
        if before:
            yield Segment(name=f"T{number + 1}", recorded=_decided([*before, step]))
        if _gtid_of(step) is not None:
            writers.update(dict.fromkeys(step.items, number))


def _gtid_of(step: TransactionDelivered) -> Gtid | None:
    return next((one.gtid for one in step.decided.values()), None)


def _rows_of(sets: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Return who writes each row; rows of the same writers count once."""
    by_item: dict[str, list[int]] = {}
    for number, items in enumerate(sets):
        for item in dict.fromkeys(items):
            by_item.setdefault(item, []).append(number)
    return sorted({tuple(those) for those in by_item.values() if len(those) > 1})


def _decided(steps: list[TransactionDelivered]) -> Recorded:
    rows = _rows_of([step.items for step in steps])
    scope = Scope(low=0, high=0, size=max(len(steps), len(rows), 1))
    names = scope.values(TXN)
    gtids = [_gtid_of(step) for step in steps]
    ws: Table = {(names[t], f"row{r}"): True for r, those in enumerate(rows) for t in those}
    snap: Table = {
        (names[t], names[u]): True
        for t, step in enumerate(steps)
        for u, gtid in enumerate(gtids)
        if u != t and gtid in step.snapshot
    }
    actions = ["certify_negatively" if gtid is None else "certify_positively" for gtid in gtids]
    return Recorded(
        scope=scope, start={"ws": ws, "snap": snap},
        steps=tuple(
            RecordedStep(actions=(action,), parameters={"t": names[t]})
            for t, action in enumerate(actions)
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Numbered:
    """A transaction at a member; one of its own has no numbers."""

    number: int
    step: TransactionDelivered
    logged: LoggedDecision

    @property
    def stamp(self) -> int:
        return self.logged.sequence_number or 0

    @property
    def is_barrier(self) -> bool:
        return self.step.is_create_select or not (self.step.items or self.step.is_empty)


@dataclass(slots=True)
class _Clock:
    """What a member has numbered since its numbers began."""

    last: _Numbered | None = None
    barrier: _Numbered | None = None
    writers: dict[str, tuple[_Numbered, ...]] = field(default_factory=dict)
    """Of each row the last that has a number, and its own one after it."""

    def take(self, one: _Numbered) -> None:
        for item in one.step.items:
            before = tuple(w for w in self.writers.get(item, ()) if w.stamp)
            self.writers[item] = (one,) if one.stamp else (*before, one)
        if one.stamp:
            self.last = one
            self.barrier = one if one.is_barrier else self.barrier

    def segment_of(self, one: _Numbered) -> Recorded | None:
        """Return a transaction after what its number depends on, if there is any."""
        rows = {self.writers[item] for item in one.step.items if item in self.writers}
        those = {w.number: w for row in rows for w in row} if not one.is_barrier else {}
        kept = sorted(those)[-WRITERS_MAX:]
        alone = [w for w in (self.barrier, self.last if one.is_barrier else None) if w is not None]
        segment = {w.number: w for w in (*map(those.__getitem__, kept), *alone)}
        if not segment:
            return None
        there = [tuple(w.number for w in row if w.number in segment) for row in rows]
        return _numbered([segment[n] for n in sorted(segment)], one, sorted(set(there) - {()}))


def numbers(trace: GroupTrace, member: MemberUuid) -> Iterator[Segment]:
    """Yield each number of a member after what it depends on, for ``applier.py``.

    Worker starts are unobservable. A snapshot shows what had committed at its member.
    """
    clock, number = _Clock(), 0
    for step in trace.steps:
        if isinstance(step, ViewInstalled) and member in (*step.joined, *step.left):
            clock = _Clock()
        if not isinstance(step, TransactionDelivered):
            continue
        number += 1
        logged = step.decided.get(member)
        if logged is None:
            continue
        one = _Numbered(number, step, logged)
        is_again = clock.last is not None and one.stamp <= clock.last.stamp
        if logged.sequence_number is not None and (is_again or not one.stamp):
            clock = _Clock()
        if logged.sequence_number == 0:
            continue  # The first after a start: its rows have a number that is not logged.
        recorded = clock.segment_of(one) if one.stamp else None
        if recorded is not None:
            yield Segment(name=f"T{number} at {member}", recorded=recorded)
        clock.take(one)


def firsts(trace: GroupTrace, member: MemberUuid, commits: Sequence[int]) -> Iterator[Segment]:
    """Yield a member's first remote transaction after each start, logged with (0, 0), among others.

    It is the view change of ``applier.py``. ``commits`` are the numbers of the member's log. Others
    that it committed before share no row here: they concern another clock.
    """
    all_of_them = list(enumerate(trace.transactions, start=1))
    here = [_Numbered(n, step, step.decided[member]) for n, step in all_of_them
            if member in step.decided]  # fmt: skip
    remote = [one for one in here if one.logged.sequence_number is not None]
    for place, first in enumerate(remote):
        before = [n for n, step in all_of_them[: first.number - 1]
                  if step.origin != member and n in commits][-BESIDE:]  # fmt: skip
        after = list(takewhile(lambda one: one.stamp, remote[place + 1 : place + 1 + BESIDE]))
        if first.stamp or first.number not in commits or not (before or after):
            continue
        last = (after or [first])[-1].number
        those = [one for one in here if first.number <= one.number <= last]
        recorded = _first(before, first, after, those, commits)
        yield Segment(name=f"T{first.number} at {member}", recorded=recorded)


def _first(
    before: Sequence[int], first: _Numbered, after: Sequence[_Numbered],
    those: Sequence[_Numbered], commits: Sequence[int],
) -> Recorded:  # fmt: skip
    """Read a start's first transaction, which has the number 2, before numbered ones."""
    segment = [*before, first.number, *(one.number for one in after)]
    places = {number: place for place, number in enumerate(segment)}
    versions: Counter[str] = Counter()
    """A row is another one after a member's own writer, which has no number."""
    written: dict[tuple[str, int], list[int]] = {}
    for one in those:
        for item in dict.fromkeys(one.step.items):
            if one.number in places:
                written.setdefault((item, versions[item]), []).append(one.number)
            else:
                versions[item] += 1
    rows = [list(row) for row in sorted(set(map(tuple, written.values()))) if len(row) > 1]
    steps = [RecordedStep(actions=("certify",), parameters={"new_lc": 1}) for _ in before]
    opens = {"number": 2, "opened": 1}
    steps.append(RecordedStep(actions=("certify_first",), parameters=opens))
    numbered, alone = [first], {one.number for one in (first, *after) if one.is_barrier}
    for one in after:
        bound = 1 + sum((other.stamp or 2) <= (one.logged.last_committed or 0)
                        for other in numbered)  # fmt: skip
        last = [max([n for n in row if n < one.number], default=0) for row in rows]
        wanted = numbered[bound - 2].number if bound > 1 else 0
        mine = [r for r, row in enumerate(rows) if one.number in row and last[r] == wanted]
        if wanted and not mine and alone.isdisjoint((wanted, one.number)):
            # It waits for one that shares no row with it here, but a further one outside.
            mine = [len(rows)]
            rows.append([wanted, one.number])
        number = len(numbered) + 2
        numbered.append(one)
        steps.append(RecordedStep(
            actions=("certify",),
            parameters={"new_lc": bound, "witness": f"row{mine[0] if mine else 0}"},
            seen=(("sn", (places[one.number],), number), ("lc", (places[one.number],), bound)),
        ))  # fmt: skip
    steps += [
        RecordedStep(actions=("finish",), parameters={"p": places[number]})
        for number in dict.fromkeys(commits) if number in places
    ]  # fmt: skip
    ws: Table = {(places[one], f"row{r}"): True for r, row in enumerate(rows) for one in row}
    return Recorded(
        scope=Scope(high=len(segment) + 2, size=max(1, len(rows))),
        start={
            "ws": ws, "empty": {(places[one],): True for one in alone},
            "vc": {(places[first.number],): True},
            "next_sn": {(): 2}, "lc_global": {(): 1},
        },
        steps=tuple(steps), hidden=frozenset({"start"}),
        complete=_NUMBERING | {"certify_first", "finish"},
    )  # fmt: skip


def _numbered(
    before: Sequence[_Numbered], last: _Numbered, rows: Sequence[tuple[int, ...]]
) -> Recorded:
    """Read ``last`` after others; ``rows`` are their common rows, by who wrote them."""
    segment = [*before, last]
    stamped = [one for one in segment if one.stamp]
    places = {one.number: place for place, one in enumerate(stamped)}
    writers = [[*row, last.number] for row in rows if not last.is_barrier]
    items = [0] * len(writers)
    """The number in each row's item."""
    window = 1
    ws: Table = {}
    steps: list[RecordedStep] = []
    done: set[int] = set()
    for one in segment:
        if not one.stamp:
            steps += _finished(one, before, places, done)
            local: Table = {
                (f"row{r}",): True for r, row in enumerate(writers) if one.number in row
            }
            steps.append(RecordedStep(actions=("certify_local",), chosen={"local_ws": local}))
            items = [0 if one.number in row else n for n, row in zip(items, writers, strict=True)]
            continue
        place = places[one.number]
        # Numbers of the segment begin at 2.
        bound = 1 + sum(
            other.stamp <= (one.logged.last_committed or 0) for other in stamped[:place]
        )
        mine = [r for r, row in enumerate(writers) if one.number in row]
        if bound > max([window, *(items[r] for r in mine)]) and not one.is_barrier:
            # It waits for one that shares no row with it here, but a further one outside.
            writers.append([stamped[bound - 2].number, one.number])
            items.append(bound)
            mine.append(len(items) - 1)
        witness = next((r for r in mine if items[r] == bound), 0)
        known: dict[str, Value] = {"new_lc": bound, "witness": f"row{witness}"}
        seen = (("sn", (place,), place + 2), ("lc", (place,), bound))
        steps.append(RecordedStep(actions=("certify",), parameters=known, seen=seen))
        for r in mine:
            items[r] = place + 2
        window = place + 2 if one.is_barrier else window
    for r, row in enumerate(writers):
        ws |= {(places[number], f"row{r}"): True for number in row if number in places}
    return Recorded(
        scope=Scope(high=len(stamped) + 2, size=max(1, len(writers))),
        start={
            "ws": ws, "empty": {(places[one.number],): True for one in stamped if one.is_barrier},
            "next_sn": {(): 2}, "lc_global": {(): 1},
        },
        steps=tuple(steps), hidden=frozenset({"start"}), possible_afterwards=frozenset({"finish"}),
        complete=_NUMBERING,
    )  # fmt: skip


def _finished(
    one: _Numbered, before: Sequence[_Numbered], places: Mapping[int, int], done: set[int]
) -> Iterator[RecordedStep]:
    """Yield the commits that a member's own transaction had seen."""
    for other in before:
        place = places.get(other.number)
        if place is not None and place not in done and other.logged.gtid in one.step.snapshot:
            done.add(place)
            yield RecordedStep(actions=("finish",), parameters={"p": place})
