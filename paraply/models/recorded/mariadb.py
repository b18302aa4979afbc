"""Abstraction of MariaDB runs: batches and crash points."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.naming import BY_RECOVERY, Rows, first_of_batches, places_of, scope_of
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History

_CHANGES = {Outcome.OK, Outcome.MISSING_BEFORE_IMAGE, Outcome.DUPLICATE_KEY, Outcome.MISSING_PARENT}
"""Row changes that had the lock."""

POSITION_TABLE = "rpl_slave_state"


def _step(action: str, **known: Value) -> RecordedStep:
    return RecordedStep(actions=(action,), parameters=known)


@dataclass(slots=True)
class _Waits:
    now: dict[int, int] = field(default_factory=dict)
    given_up: dict[tuple[int, int], int] = field(default_factory=dict)
    """(victim, killer) -> steps before the rollback."""

    freed: set[int] = field(default_factory=set)
    """Transactions with unobserved rollbacks."""

    def go_on(self, place: int, steps: list[RecordedStep]) -> int | None:
        holder = self.now.pop(place, None)
        if holder is not None:
            steps += [_step("wait", w=place, p=holder), _step("roll_back", p=holder)]
            self.freed.add(holder)
            self.end(holder)
        return holder

    def end(self, place: int) -> None:
        self.now = {w: p for w, p in self.now.items() if place not in (w, p)}

    def roll_back(self, place: int, killer: int | None, steps: list[RecordedStep]) -> None:
        # A kill counts from its notice, but from the wait if the killer runs again before that.
        # Queued transactions wait for the lock owner, unobserved.
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
    """Read one domain's run for ``paraply/models/systems/batches.py``.

    Revoked commit starts, and temporary errors
    before rollbacks, are unobservable. A retry counts after it passes the last attempt's locks.
    """
    places, rows = places_of(history), Rows()
    written: Table = {}
    for one in history.transactions:
        place = places[one.id]
        for item in sorted(one.write_set):
            written[place, rows.name(item)] = True
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
        "ws": written, "first": first_of_batches(history.transactions),
        "waits_for": {(place,): -1 for place in range(-1, len(places) + 1)},
    }  # fmt: skip
    return Recorded(
        scope=scope, start=start, steps=tuple(steps), hidden=frozenset({"revoke_commit_start"})
    )


def crash_points(history: History) -> Recorded:
    """Read one domain's run for ``paraply/models/systems/crash_points.py``.

    The position is prepared at the write of its row. The recovered position is the restart point.
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
                # After a crash during a sync, recovery finds the durable part of the group.
                steps += [_step("log", p=place)] if place not in logged else []
                continue
            if event.kind is EventKind.SYNCED:
                logged.add(place)
            steps += _of_attempt(event, place, saved)
    return Recorded(scope=Scope(high=len(places) + 1), start={}, steps=tuple(steps))


def _of_attempt(event: Event, place: int, saved: set[int]) -> list[RecordedStep]:
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
