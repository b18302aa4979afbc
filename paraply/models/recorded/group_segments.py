"""Segments of a real group's run with all members: sending, decisions, numbers, engine commits.

A segment is a transaction with the last writers of its rows and the deliveries before it. The
steps of a run that concern some transactions are a run again. Snapshots were sent with the
transactions, and each member's log has the order of its commits. What is not recorded is read as
in ``paraply/models/recorded/whole_groups.py``; no garbage is collected.

Sessions of a server may take two snapshots and send them in the other order, so the later message
has the older one. Its session is read as begun before the first commit that the snapshot lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from paraply.models.recorded.following import Recorded
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.group_trace import (
    ExecutedSetDelivered,
    GroupTrace,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, Gtid
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.timestamps import LogicalTime, LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

WRITERS_MAX = 4
"""Last writers of a transaction's rows."""
BEFORE = 3
"""Deliveries directly before it."""
_FIRST = 2
"""The number that a member gives to its first remote transaction, which it logs as 0."""


@dataclass(frozen=True, slots=True)
class _View:
    """A view after ``delivered`` transactions."""

    delivered: int
    members: tuple[str, ...]
    joined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Commit:
    """An engine commit, after ``delivered`` transactions and ``views`` views.

    It may stand for a session that begins instead.
    """

    transaction: int
    delivered: int
    views: int
    kind: EventKind = EventKind.ENGINE_COMMITTED


@dataclass(slots=True)
class Run:
    """A run by the numbers of its deliveries, from 1.

    Attributes:
        certified: the decisions of the members.
        commits: of each member, in the order of its log.
        before: of each transaction the last certified writers of its rows.
        late: those with an older snapshot than a message of their member before.
        left_out: those of them that lack what their member had when it joined.
    """

    names: tuple[str, ...]
    delivered: Sequence[TransactionDelivered]
    origins: list[str]
    gtids: list[Gtid | None]
    views: list[_View] = field(default_factory=list)
    certified: dict[int, list[Event]] = field(default_factory=dict)
    commits: dict[str, list[_Commit]] = field(default_factory=dict)
    before: dict[int, dict[str, int]] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)
    left_out: set[int] = field(default_factory=set)

    def is_barrier(self, one: int) -> bool:
        """Return whether a transaction has no write set."""
        step = self.delivered[one - 1]
        return step.is_create_select or not (step.items or step.is_empty)

    def rows_of(self, one: int) -> frozenset[str]:
        """Return the items of its rows."""
        return frozenset() if self.is_barrier(one) else frozenset(self.delivered[one - 1].items)

    def has_seen(self, one: int, other: int) -> bool:
        """Return whether its snapshot has another transaction."""
        return self.gtids[other - 1] in self.delivered[one - 1].snapshot

    def committed(self, member: str) -> list[int]:
        """Return the transactions of a member's log."""
        return [one.transaction for one in _commits_of(self, member)]

    def is_refused(self, one: int) -> bool:
        """Return whether no member certified it."""
        return self.gtids[one - 1] is None

    def epoch(self, member: str, one: int) -> int:
        """Return how often a member had joined when a transaction was delivered."""
        return sum(member in view.joined for view in self.views if view.delivered < one)


@dataclass(frozen=True, slots=True)
class GroupSegment:
    """A transaction after those that it depends on; it is read when it is followed."""

    name: str
    run: Run
    chosen: frozenset[int]
    read: Callable[[History], Recorded]

    @property
    def recorded(self) -> Recorded:
        """Return the steps of all members."""
        return self.read(self.history)

    @property
    def history(self) -> History:
        """Return the events of the chosen transactions."""
        return _told(self.run, sorted(self.chosen))


def segments(run: Run, read: Callable[[History], Recorded]) -> Iterator[GroupSegment]:
    """Yield each transaction with the last writers of its rows, and each barrier."""
    for number, writers in run.before.items():
        if not (writers or run.is_barrier(number)):
            continue
        last = sorted(set(writers.values()))[-WRITERS_MAX:]
        near = range(max(1, number - BEFORE), number)
        chosen = _possible(run, {*last, *near, number})
        if number in chosen and len(chosen) > 1:
            yield GroupSegment(f"T{number}", run, frozenset(chosen), read)


def disorder(run: Run) -> str:
    """Return two commits of a member against the group's order, or empty."""
    for member in run.commits:
        for before, after in pairwise(_commits_of(run, member)):
            if after.transaction < before.transaction:
                return f"{member} commits T{before.transaction} before T{after.transaction}"
    return ""


def run_of(history: History, trace: GroupTrace) -> Run:
    """Return a run from its messages and the events of its members."""
    names = dict(zip(trace.members, history.header.members, strict=True))
    delivered = trace.transactions
    gtids = [next((one.gtid for one in step.decided.values()), None) for step in delivered]
    run = Run(history.header.members, delivered, [names[one.origin] for one in delivered], gtids)
    count, shown = 0, dict.fromkeys(trace.members, EMPTY_GTID_SET)
    for step in trace.steps:
        if isinstance(step, ExecutedSetDelivered) and step.sender in shown:
            shown[step.sender] |= step.executed
        if isinstance(step, TransactionDelivered):
            count += 1
            if not shown[step.origin] <= step.snapshot:
                run.late.add(count)
            shown[step.origin] |= step.snapshot
        elif isinstance(step, ViewInstalled):
            there, joined = ([names[one] for one in those if one in names]
                             for those in (step.members, step.joined))  # fmt: skip
            run.views.append(_View(count, tuple(there), tuple(joined)))
    writers: dict[str, int] = {}
    for number in range(1, count + 1):
        rows = run.rows_of(number)
        run.before[number] = {row: writers[row] for row in rows if row in writers}
        if not run.is_refused(number):
            writers.update(dict.fromkeys(rows, number))
    last = views = 0
    for event in history.events:
        views = max(views, event.view or 0)
        if event.transaction is None or event.transaction > len(delivered):
            continue
        if event.kind is EventKind.CERTIFIED:
            last = event.transaction
            run.certified.setdefault(last, []).append(event)
        elif event.kind is EventKind.ENGINE_COMMITTED:
            known = run.commits.setdefault(event.member, [])
            known.append(_Commit(event.transaction, last, views))
    for one in sorted(run.late):
        _begin_earlier(run, one)
    return run


def _commits_of(run: Run, member: str) -> list[_Commit]:
    known = run.commits.get(member, ())
    return [one for one in known if one.kind is EventKind.ENGINE_COMMITTED]


def _begin_earlier(run: Run, one: int) -> None:
    """Let a session begin before the first commit that its snapshot lacks."""
    home = run.origins[one - 1]
    known = run.commits.get(home, [])
    lacks = [
        commit.kind is EventKind.ENGINE_COMMITTED
        and commit.delivered < one and not run.has_seen(one, commit.transaction)
        for commit in known
    ]  # fmt: skip
    if True not in lacks:
        return
    at = lacks.index(True)
    first = known[at]
    if any(home in view.joined and first.delivered <= view.delivered < one for view in run.views):
        run.left_out.add(one)
        return
    end = next(
        (n for n, other in enumerate(known) if other.delivered > first.delivered), len(known)
    )
    batch = [other.transaction for other in known[at:end] if other.kind is first.kind]
    # Where no log gives their order, commits between two messages have that of the group.
    place = at + (lacks[at:end].count(False) if batch == sorted(batch) else 0)
    if batch == sorted(batch):
        known[at:end] = [known[n] for n in sorted(range(at, end), key=lacks.__getitem__)]
    known.insert(place, replace(first, transaction=one, kind=EventKind.BEGUN))


def _possible(run: Run, chosen: set[int]) -> set[int]:
    """Return the chosen transactions without those that the models do not have."""
    last, chosen = max(chosen), chosen - run.left_out
    inside = [view for view in run.views if min(chosen, default=last) <= view.delivered < last]
    for view in inside:
        if view.joined:
            chosen = _with_joiners(run, view, chosen, last)
    chosen = {one for one in chosen if _is_numbered(run, one)}
    return {one for one in chosen if not run.is_refused(one) or _is_met(run, one, chosen)}


def _with_joiners(run: Run, view: _View, chosen: set[int], last: int) -> set[int]:
    """Keep what one donor had committed, and add what a joiner numbers first."""
    had = [
        {one.transaction for one in _commits_of(run, donor) if one.delivered <= view.delivered}
        for donor in view.members if donor not in view.joined
    ]  # fmt: skip
    given = max((those & chosen for those in had), key=len, default=set())
    kept = {one for one in chosen if one > view.delivered or run.is_refused(one) or one in given}
    if min(kept, default=last) > view.delivered:
        return kept
    for joiner in view.joined:
        later = range(view.delivered + 1, last)
        kept.update([one for one in later if _is_first(run, joiner, one)][:1])
    return kept


def _is_first(run: Run, member: str, one: int) -> bool:
    return any(
        event.member == member and event.timestamp is not None
        and not event.timestamp.sequence_number for event in run.certified.get(one, ())
    )  # fmt: skip


def _is_numbered(run: Run, one: int) -> bool:
    return run.is_refused(one) or all(
        event.timestamp is not None
        for event in run.certified.get(one, ())
        if event.member != run.origins[one - 1]
    )


def _is_met(run: Run, one: int, chosen: set[int]) -> bool:
    """Return whether another member's writer refuses a transaction.

    Sessions of one member share locks of rows that foreign keys name, which the model has not.
    """
    newer = [
        run.origins[other - 1] for other in run.before[one].values()
        if other in chosen and not run.has_seen(one, other)
    ]  # fmt: skip
    return bool(newer) and run.origins[one - 1] not in newer


def _told(run: Run, chosen: Sequence[int]) -> History:
    # Writers with another one between them share no row: its own would have no number there.
    versions: dict[tuple[str, int], list[int]] = {}
    for one in chosen:
        for row in run.rows_of(one):
            there = versions.get((row, run.before[one].get(row, 0)), [])
            there.append(one)
            if not run.is_refused(one):
                versions[row, one] = there
    common = sorted({tuple(those) for those in versions.values() if len(those) > 1})
    transactions = tuple(
        Transaction(
            id=TransactionId(one),
            kind=TransactionKind.DDL if run.is_barrier(one) else TransactionKind.ROWS,
            origin=run.origins[one - 1],
            write_set=frozenset(f"row{n}" for n, those in enumerate(common) if one in those),
        )
        for one in chosen
    )
    return History(
        header=HistoryHeader(members=run.names),
        transactions=transactions,
        events=tuple(
            event._replace(time=LogicalTime(now)) for now, event in enumerate(_events(run, chosen))
        ),
    )


def _events(run: Run, chosen: Sequence[int]) -> Iterator[Event]:
    first, last = chosen[0], chosen[-1]
    numbers = _numbers(run, chosen)
    views = [(n, view) for n, view in enumerate(run.views, start=1) if view.delivered < last]
    started = max(n for n, view in views if view.delivered < first)
    commits = {
        member: [one for one in run.commits.get(member, ())
                 if one.transaction in chosen and one.views < _leaves(run, member, last)]
        for member in run.names
    }  # fmt: skip
    for delivered, following in pairwise((first - 1, *chosen)):
        for number, view in views[started - 1 :]:
            is_first = number == started and delivered < first
            if is_first or delivered <= view.delivered < following:
                yield from _commits_until(run, chosen, commits, view.delivered)
                for member in view.members:
                    yield Event(kind=EventKind.VIEW_INSTALLED, time=LogicalTime(0), member=member,
                                view=number, members=view.members)  # fmt: skip
        yield from _commits_until(run, chosen, commits, following - 1)
        yield _of_session(EventKind.SUBMITTED, run, chosen, following)
        for event in run.certified.get(following, ()):
            yield event._replace(timestamp=numbers.get((event.member, following)))
    yield from _commits_until(run, chosen, commits, len(run.delivered))


def _of_session(kind: EventKind, run: Run, chosen: Sequence[int], one: int) -> Event:
    """Return an event of a session with its snapshot."""
    seen = tuple(TransactionId(other) for other in chosen if other < one)
    return Event(
        kind=kind, time=LogicalTime(0), member=run.origins[one - 1], transaction=TransactionId(one),
        transactions=tuple(other for other in seen if run.has_seen(one, other)),
    )  # fmt: skip


def _leaves(run: Run, member: str, last: int) -> int:
    """Return the number of the view in which a member leaves after a delivery."""
    for number, view in enumerate(run.views, start=1):
        if view.delivered >= last and member not in view.members:
            return number
    return len(run.views) + 1


def _commits_until(
    run: Run, chosen: Sequence[int], commits: dict[str, list[_Commit]], delivered: int
) -> Iterator[Event]:
    for member, those in commits.items():
        while those and those[0].delivered <= delivered:
            one = those.pop(0)
            if one.kind is EventKind.BEGUN:
                yield _of_session(one.kind, run, chosen, one.transaction)
            else:
                yield Event(kind=one.kind, time=LogicalTime(0), member=member,
                            transaction=TransactionId(one.transaction))  # fmt: skip


def _numbers(run: Run, chosen: Sequence[int]) -> dict[tuple[str, int], LogicalTimestamp]:
    """Number the chosen transactions anew at each member, since it joined."""
    found: dict[tuple[str, int], LogicalTimestamp] = {}
    before: dict[tuple[str, int], list[int]] = {}
    for one in chosen:
        for event in run.certified.get(one, ()):
            if event.timestamp is None:
                continue
            stamp = event.timestamp
            stamps = before.setdefault((event.member, run.epoch(event.member, one)), [])
            bound = 1 + sum(other <= stamp.last_committed for other in stamps)
            number = len(stamps) + _FIRST
            stamps.append(stamp.sequence_number or _FIRST)
            is_first = not stamp.sequence_number
            found[event.member, one] = LogicalTimestamp.as_recorded(
                0 if is_first else bound, 0 if is_first else number
            )
    return found
