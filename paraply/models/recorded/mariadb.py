"""Runs of a MariaDB replica as steps of its specifications: batches, and crash points."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.naming import BY_RECOVERY, Rows, places_of, scope_of
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History

_CHANGES = {Outcome.OK, Outcome.MISSING_BEFORE_IMAGE, Outcome.DUPLICATE_KEY, Outcome.MISSING_PARENT}
"""Ends of a row change that had the row's lock; what it found there is another matter."""

POSITION_TABLE = "rpl_slave_state"


def _step(action: str, **known: Value) -> RecordedStep:
    return RecordedStep(actions=(action,), parameters=known)


@dataclass(slots=True)
class _Waits:
    """Who waits for whom."""

    now: dict[int, int] = field(default_factory=dict)
    given_up: dict[tuple[int, int], int] = field(default_factory=dict)
    """Who was rolled back, and for whom it waited then -> the number of steps before that."""

    freed: set[int] = field(default_factory=set)
    """Who has given up its rows without saying so: whoever waited for them has gone on."""

    def go_on(self, place: int, steps: list[RecordedStep]) -> int | None:
        """Note that somebody changes a row; return for whom it waited that is still under way."""
        holder = self.now.pop(place, None)
        if holder is not None:
            steps += [_step("wait", w=place, p=holder), _step("roll_back", p=holder)]
            self.freed.add(holder)
            self.end(holder)
        return holder

    def end(self, place: int) -> None:
        """Forget a transaction that is done with, and whoever waited for it."""
        self.now = {w: p for w, p in self.now.items() if place not in (w, p)}

    def roll_back(self, place: int, killer: int | None, steps: list[RecordedStep]) -> None:
        """Add what a rollback stands for: a wait with its kill, or an error, before it.

        The kill counts from when it is noticed, unless the killer had begun again by then: it was
        sent when it waited. Whoever queues for a row behind another waits for the holder unseen.
        """
        waiters = [w for w, p in self.now.items() if p == place][:1] if killer is None else [killer]
        cause = [_step("wait", w=w, p=place) for w in waiters] or [_step("fail", p=place)]
        at = self.given_up.get((waiters[0], place)) if waiters else None
        if at is None or self.now.get(waiters[0]) == place:
            at = len(steps)
        steps[at:at] = cause
        self.given_up = {
            (w, p): step + (step >= at) for (w, p), step in self.given_up.items() if p != place
        }
        if place in self.now:
            self.given_up[place, self.now[place]] = len(steps)
        steps.append(_step("roll_back", p=place))
        self.end(place)


def batches(history: History) -> Recorded:
    """Read a run of one domain for ``paraply/models/systems/batches.py``: attempts, row changes,
    waits, retries.

    A batch is a stretch of the log with one commit id. A commit start that is taken back is not
    observed, nor is a temporary error until it rolls back. A transaction runs again when its new
    attempt comes past the locks for which the last one waited.
    """
    places, rows = places_of(history), Rows()
    written: Table = {}
    first: Table = {}
    before: int | None = None
    for one in history.transactions:
        place = places[one.id]
        for item in sorted(one.write_set):
            written[place, rows.name(item)] = True
        same = before is not None and one.commit_id is not None and one.commit_id == before
        first[place,] = first[place - 1,] if same else place
        before = one.commit_id
    first.update({(place,): place for place in range(len(places), len(places) + 2)})
    steps: list[RecordedStep] = []
    applied: set[tuple[int, str]] = set()
    waits = _Waits()
    begun_again: set[int] = set()
    for event in history.events:
        if event.transaction is None:
            continue
        place = places[event.transaction]
        holder = None if event.other is None else places[event.other]
        still_waits = event.outcome is Outcome.LOCK_WAIT and (place, holder) in waits.given_up
        if place in begun_again and not still_waits:
            begun_again.remove(place)
            steps.append(_step("retry", p=place))
        match event.kind:
            case EventKind.BEGUN if event.attempt > 1:
                begun_again.add(place)
            case EventKind.BEGUN:
                steps.append(_step("start", p=place))
            case EventKind.ROW_APPLIED if event.outcome in _CHANGES:
                freed = waits.go_on(place, steps)
                applied = {(one, row) for one, row in applied if one != freed}
                for row in map(rows.name, sorted(event.items)):
                    if (place, row) in written and (place, row) not in applied:
                        applied.add((place, row))
                        steps.append(_step("apply", p=place, r=row))
            case EventKind.ROW_APPLIED if holder is not None and place not in begun_again:
                if holder > place:
                    waits.now[place] = holder
            case EventKind.PREPARED:
                steps.append(_step("start_commit", p=place))
            case EventKind.ROLLED_BACK if place in waits.freed:
                waits.freed.remove(place)
            case EventKind.ROLLED_BACK:
                waits.roll_back(place, holder, steps)
                applied = {(one, row) for one, row in applied if one != place}
            case EventKind.ENGINE_COMMITTED:
                steps.append(_step("engine_commit", p=place))
                waits.end(place)
    steps += [_step("wait", w=w, p=p) for w, p in waits.now.items()]
    scope = scope_of(places, rows)
    start: dict[str, Table] = {
        "ws": written, "first": first,
        "waits_for": {(place,): -1 for place in range(-1, len(places) + 1)},
    }  # fmt: skip
    return Recorded(
        scope=scope, start=start, steps=tuple(steps), hidden=frozenset({"revoke_commit_start"})
    )


def crash_points(history: History) -> Recorded:
    """Read a run of one domain for ``paraply/models/systems/crash_points.py``: what is prepared,
    logged, committed.

    The position is prepared when the attempt writes its row of the position table, the data when
    all is prepared. Where the replica begins again is the position that recovery finds.
    """
    places = places_of(history)
    after = {one.gtid: places[one.id] + 1 for one in history.transactions}
    steps: list[RecordedStep] = []
    saved: set[int] = set()
    logged: set[int] = set()
    for event in history.events:
        if event.kind is EventKind.RECOVERED:
            saved.clear()
            found = (("cursor", (), after.get(event.gtid_set, 0)),)
            steps.append(RecordedStep(actions=("crash_and_recover",), seen=found))
        elif event.transaction is not None:
            place = places[event.transaction]
            if event.note == BY_RECOVERY:
                # A crash in the sync of a group: recovery finds what of it had reached the disk.
                steps += [_step("log", p=place)] if place not in logged else []
                continue
            if event.kind is EventKind.SYNCED:
                logged.add(place)
            steps += _of_attempt(event, place, saved)
    return Recorded(scope=Scope(high=len(places) + 1), start={}, steps=tuple(steps))


def _of_attempt(event: Event, place: int, saved: set[int]) -> list[RecordedStep]:
    """Return the steps that an event of an attempt stands for."""
    match event.kind:
        case EventKind.BEGUN if event.attempt == 1:
            begun = RecordedStep(actions=("begin",), seen=(("cursor", (), place + 1),))
            return [begun]
        case EventKind.ROW_APPLIED if any(POSITION_TABLE in str(item) for item in event.items):
            saved.add(place)
            return [_step("prepare_position", p=place)]
        case EventKind.PREPARED:
            return [_step("prepare_data", p=place)]
        case EventKind.SYNCED:
            return [_step("log", p=place)]
        case EventKind.ENGINE_COMMITTED:
            position = [_step("commit_position", p=place)] if place in saved else []
            return [_step("commit_data", p=place), *position]
        case EventKind.ROLLED_BACK:
            saved.discard(place)
            return [_step("retry", p=place)]
        case _:
            pass
    return []
