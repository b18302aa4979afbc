"""Translate observations into a history: one sound order per member.

The binary log orders commits, and the server places snapshots in it. A touch (a change under a row
lock) precedes its commit. Commit times are unobservable: a commit stands as early as touches and
log allow. So no conclusion is false, but an overlap may be missed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from paraply.adapters.live.observed import Final, Member, Restart, Snapshot, Tag
from paraply.adapters.live.pair.attempts import AttemptSeen, attempts_of
from paraply.adapters.live.source_log import JOURNAL, Keys, SourceLog
from paraply.vocabulary.events import Event, EventKind, Observation, Outcome
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from paraply.vocabulary.history import Clock, EvidenceTier, History, HistoryHeader, OptionValue
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import INITIAL_STATE, Transaction, TransactionId
from paraply.vocabulary.write_set import Item, sorted_items

SOURCE = "source"
IsThere = Callable[[TransactionId], bool]
_UNTIMED = LogicalTime(0)
_GTID = re.compile(r"[\w-]+(?::\w+)*")
"""What may be a GTID in an applier's error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The header of a live history."""

    subject: str
    dialect: str
    seed: int
    options: Mapping[str, OptionValue]
    recorded_by: str = "paraply live"

    def history(
        self,
        members: Iterable[str],
        transactions: Iterable[Transaction],
        events: Iterable[Event],
        *,
        tier: EvidenceTier,
        is_complete: bool = True,
    ) -> History:
        """Return the history with numbered events.

        Without a common clock, members' stories follow one another.
        """
        return History(
            header=HistoryHeader(
                subject=self.subject,
                dialect=self.dialect,
                seed=self.seed,
                options=dict(self.options),
                members=tuple(members),
                clock=Clock.ORDER,
                tier=tier,
                recorded_by=self.recorded_by,
            ),
            transactions=tuple(transactions),
            events=tuple(
                event._replace(time=LogicalTime(at)) for at, event in enumerate(events, start=1)
            ),
            is_complete=is_complete,
        )


def history_of(
    run: Run, log: SourceLog, members: Sequence[Member], keys: Keys, *, is_complete: bool = True
) -> History:
    """Return the history of source and replicas."""
    events = list(source_events(log))
    for member in members:
        events += MemberStory(log, member, keys).events()
    has_attempts = any(member.touches for member in members)
    return run.history(
        (SOURCE, *(member.name for member in members)),
        log.transactions,
        events,
        tier=EvidenceTier.ROW_OUTCOMES if has_attempts else EvidenceTier.COMMIT_ORDER,
        is_complete=is_complete,
    )


def source_events(log: SourceLog) -> Iterator[Event]:
    """Yield the source's log and commits."""
    for one in log.transactions:
        yield Event(
            kind=EventKind.FLUSHED, time=_UNTIMED, member=SOURCE, transaction=one.id, gtid=one.gtid
        )
    yield Event(
        kind=EventKind.STOPPED,
        time=_UNTIMED,
        member=SOURCE,
        transactions=tuple(one.id for one in log.transactions),
    )


class MemberStory:
    """One member's events in its own order."""

    def __init__(self, log: SourceLog, member: Member, keys: Keys) -> None:
        self.log = log
        self.member = member
        self.keys = keys
        found = [(identity(log, one), one) for one in member.log]
        self.order = [transaction for transaction, _ in found if transaction is not None]
        self._places = {transaction: place for place, transaction in enumerate(self.order)}
        self.unknown = [one.gtid for transaction, one in found if transaction is None]
        """GTIDs that the source lacks, with untagged rows."""
        known = [one for transaction, one in found if transaction is not None]
        self._gtids = [one.gtid for one in known]
        self._ends = [(base_name(one.start.file), one.end_offset) for one in known]
        self._starts = [(base_name(one.start.file), one.start.offset) for one in known]
        self._groups = commit_groups([one.commit_id for one in known])

    def events(self) -> Iterator[Event]:
        """Yield the member's events."""
        attempts = attempts_of(self.log, self.member.touches)
        by_place = self._by_place()
        waiting = list(attempts.steps)
        committed = 0
        yield from by_place.get(0, ())
        while committed < len(self.order):
            # All touches up to the last one of the next transaction to commit.
            last = attempts.last_touch.get(self.order[committed], 0)
            while waiting and waiting[0].index <= last:
                yield from self._step(waiting.pop(0))
            yield from self._engine_commit(committed, attempts.count)
            committed += 1
            yield from by_place.get(committed, ())
        for step in waiting:
            yield from self._step(step)
        yield from self._ending()

    def _by_place(self) -> dict[int, list[Event]]:
        places: dict[int, list[Event]] = {}
        reached = 0
        for restart in self.member.restarts:
            place = sum(position < (restart.file, restart.offset) for position in self._starts)
            places.setdefault(place, []).extend(self._restarted(restart, place))
        reads: dict[int, list[Event]] = {}
        for snapshot in self.member.snapshots:
            # Reads keep their time order, whatever their places.
            reached = max(reached, self._place_of_snapshot(snapshot))
            reads.setdefault(reached, []).append(self.read(snapshot, self._commits_by(reached)))
        for place, made in reads.items():
            # A read at a restart's place has the same data before and after it.
            places[place] = made + places.get(place, [])
        return places

    def _commits_by(self, place: int) -> IsThere:
        return lambda one: self._places.get(one, place) < place

    def _place_of_snapshot(self, snapshot: Snapshot) -> int:
        """Return the place behind its last journalled and later untagged transactions."""
        if snapshot.tags is None:
            return self.place_of(snapshot.file, snapshot.offset)
        shown = {self.log.tags[tag] for tag in snapshot.tags if tag in self.log.tags}
        place = max((place for place, one in enumerate(self.order, 1) if one in shown), default=0)
        executed = parse_gtid_set(snapshot.gtid_position)
        for one, gtid in zip(self.order[place:], self._gtids[place:], strict=True):
            if one in self.log.tag_of or not parse_gtid_set(gtid) <= executed:
                break
            place += 1
        return place

    @cached_property
    def _tagged(self) -> list[TransactionId]:
        return sorted(self.log.tag_of)

    def _journal_ends(self, snapshot: Snapshot) -> tuple[Observation, ...]:
        if snapshot.tags is None:
            return ()
        there = [one for one in self._tagged if self.log.tag_of[one] in snapshot.tags]
        absent = (one for one in self._tagged if self.log.tag_of[one] not in snapshot.tags)
        ends = [(one, one) for one in there[-1:]]
        ends += [(one, INITIAL_STATE) for one in islice(absent, 1)]
        return tuple(Observation(self._journal_row(one), seen) for one, seen in ends)

    def _journal_row(self, one: TransactionId) -> Item:
        ((item,),) = [items for table, _, items in self.log.touched[one] if table.endswith(JOURNAL)]
        return item

    def place_of(self, file: str, offset: int) -> int:
        """Return how many logged transactions precede a place."""
        position = (base_name(file), offset)
        return sum(end <= position for end in self._ends)

    def _event(self, kind: EventKind, **fields: Any) -> Event:
        return Event(kind=kind, time=_UNTIMED, member=self.member.name, **fields)

    def _step(self, step: AttemptSeen) -> Iterator[Event]:
        common = {
            "transaction": step.transaction, "attempt": step.attempt, "worker": step.worker
        }  # fmt: skip
        if step.begins:
            yield self._event(EventKind.BEGUN, **common)
        yield self._event(
            EventKind.ROW_APPLIED, outcome=Outcome.OK, items=step.items, row=None, **common
        )
        if step.is_undone:
            yield self._event(EventKind.ROLLED_BACK, **common)

    def _engine_commit(self, place: int, attempts: Mapping[TransactionId, int]) -> Iterator[Event]:
        one = self.order[place]
        group = self._groups[place]
        attempt = attempts.get(one, 1)
        yield self._event(EventKind.FLUSHED, transaction=one, group=group, gtid=self._gtids[place])
        yield self._event(EventKind.ENGINE_COMMITTED, transaction=one, group=group, attempt=attempt)

    def read(self, snapshot: Snapshot, is_there: IsThere) -> Event:
        """Return the writers of a snapshot's rows.

        ``is_there`` selects the required transactions.
        """
        return self._event(
            EventKind.READ,
            session=snapshot.session,
            observed=(
                *observations(self.log, self.keys, snapshot, is_there),
                *self._journal_ends(snapshot),
            ),
            gtid_set=snapshot.gtid_position,
            position=f"{snapshot.file}:{snapshot.offset}" if snapshot.file else "",
        )

    def having(self, tags: frozenset[Tag], place: int) -> tuple[TransactionId, ...]:
        """Return the transactions by journal, untagged ones by log."""
        known = self.order[:place] if self.member.has_log else self.log.ids.values()
        logged = set(known)
        return tuple(
            one.id
            for one in self.log.transactions
            if (self.log.tag_of[one.id] in tags if one.id in self.log.tag_of else one.id in logged)
        )

    def _restarted(self, restart: Restart, place: int) -> Iterator[Event]:
        having = self.having(restart.tags, place)
        if restart.is_crash:
            yield self._event(EventKind.CRASHED)
            yield self._event(
                EventKind.RECOVERED, transactions=having, gtid_set=restart.gtid_position
            )
        else:
            yield self._event(
                EventKind.STOPPED, transactions=having, gtid_set=restart.gtid_position
            )
        yield self._event(
            EventKind.STARTED, gtid_set=restart.position_before or restart.gtid_position
        )

    def _ending(self) -> Iterator[Event]:
        failed = self.member.applier_error
        if failed:
            stopped_at = self._stopped_at(failed)
            if stopped_at is not None:
                yield self._event(EventKind.FAILED, transaction=stopped_at, note=failed)
        final = self.member.final
        if final is None or failed:
            # A failed applier has not finished: skip the comparison with the source.
            return
        yield from self._compared(final)
        yield self.read(final.snapshot, lambda _: True)
        yield self._event(
            EventKind.STOPPED,
            transactions=self.having(final.tags, len(self.order)),
            gtid_set=final.gtid_position,
            members=(SOURCE,),
        )

    def _stopped_at(self, error: str) -> TransactionId | None:
        """Return the transaction whose GTID an error names, else the first that is not applied."""
        for gtid in _GTID.findall(error):
            if gtid in self.log.ids:
                return self.log.ids[gtid]
        done = set(self.order)
        return next((one.id for one in self.log.transactions if one.id not in done), None)

    def _compared(self, final: Final) -> Iterator[Event]:
        for table in final.compared:
            outcome = Outcome.DIFFERENT if table in final.differing else Outcome.OK
            yield self._event(EventKind.COMPARED, outcome=outcome, note=table)


def identity(log: SourceLog, logged: LoggedTransaction) -> TransactionId | None:
    """Return the transaction's id: by tag, else GTID."""
    for change in logged.rows:
        if change.table.endswith(JOURNAL) and change.after is not None:
            tag = change.after[0]
            return log.tags.get(tag) if isinstance(tag, int) else None
    return log.ids.get(logged.gtid)


def observations(
    log: SourceLog, keys: Keys, snapshot: Snapshot, is_there: IsThere
) -> tuple[Observation, ...]:
    """Return the writer of each row that this round wrote, as the snapshot shows it.

    For an absent row it is the last deleter that the snapshot requires.
    """
    seen: dict[Item, TransactionId] = {}
    tables = set()
    for table, rows in snapshot.rows.items():
        tables.add(f"{table}.")
        for row in rows:
            item = keys.primary(table, row)
            tag = row[-1]
            if item is not None and isinstance(tag, int):
                seen[item] = log.tags.get(tag, INITIAL_STATE)
    for item, versions in log.writers.items():
        if item in seen or not str(item).startswith(tuple(tables)):
            continue
        absent = [writer for writer, was_left in versions if not was_left]
        if item in log.inserted_first:
            absent.insert(0, INITIAL_STATE)
        explained = [writer for writer in absent if writer == INITIAL_STATE or is_there(writer)]
        seen[item] = explained[-1] if explained else absent[0] if absent else INITIAL_STATE
    return tuple(
        Observation(item, seen[item])
        for item in sorted_items(frozenset(seen))
        if item in log.writers
    )


def base_name(file: str) -> str:
    """Return the file name, by which logs sort."""
    return file.rpartition("/")[2]


def commit_groups(commit_ids: Sequence[int | None]) -> list[int]:
    """Return commit groups, from 1: equal neighbours share one."""
    groups: list[int] = []
    for place, commit_id in enumerate(commit_ids):
        is_same = place > 0 and commit_id is not None and commit_id == commit_ids[place - 1]
        groups.append(groups[-1] if is_same else (groups[-1] + 1 if groups else 1))
    return groups
