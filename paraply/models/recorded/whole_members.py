"""Abstraction of a group member from certification to storage."""

from __future__ import annotations

from paraply.models.language.concrete import Scope, Table
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.joining import joining_of
from paraply.models.recorded.naming import WITHOUT_WRITE_SET, Rows, decisions_of
from paraply.models.systems.end_to_end import ROW, TABLE
from paraply.vocabulary.events import DEFAULT_MEMBER, Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionKind

_ONLY_TABLE = "tab0"


def end_to_end(history: History, member: str = DEFAULT_MEMBER) -> Recorded:
    """Read a member's run for ``paraply/models/systems/end_to_end.py``.

    A position is any transaction certified here, or by others before a joiner's view. All rows are
    of one table, which every DDL alters. Worker starts, locks and collection windows are
    unobservable; missing numbers count as skipped by collections.
    """
    of: dict[int, Transaction] = {one.id: one for one in history.transactions}
    certified = [
        (event.transaction, event.timestamp)
        for event in decisions_of(history, member)
        if event.transaction is not None and event.outcome is Outcome.POSITIVE
    ]
    joining, rows = joining_of(history, member), Rows()
    known = [*joining.before, *(one for one, _ in certified)]
    places = {one: place for place, one in enumerate(known)}
    start: dict[str, Table] = {name: {} for name in ("ws", "empty", "vc", "local", "alters")}
    for number, place in places.items():
        one = of[number]
        start["vc"][place,] = one.kind is TransactionKind.VIEW_CHANGE
        start["local"][place,] = one.origin == member
        start["empty"][place,] = one.kind in WITHOUT_WRITE_SET
        start["alters"][place, _ONLY_TABLE] = one.kind is TransactionKind.DDL
        for item in () if start["empty"][place,] else sorted(one.write_set):
            start["ws"][place, rows.name(item)] = True
    numbers = [stamp.sequence_number for _, stamp in certified if stamp is not None]
    steps = joining.certified_before(of)
    delivered, next_number, collected_at = len(steps), 2, len(steps)
    for event in history.events:
        if event.member != member:
            continue
        if event.kind is EventKind.GARBAGE_COLLECTED:
            purged: Table = {(rows.name(item),): True for item in sorted(event.items)}
            collected_at = len(steps)
            steps.append(RecordedStep(actions=("collect_garbage",), chosen={"purged": purged}))
        elif event.transaction not in places:
            continue
        elif event.transaction == joining.view and event.kind is EventKind.CERTIFIED:
            delivered += 1
            steps.append(joining.join(of, rows))
        elif event.kind is EventKind.CERTIFIED:
            delivered += 1
            if event.timestamp is not None and event.timestamp.sequence_number:
                # The last collection used the missing numbers.
                left_out = event.timestamp.sequence_number - next_number
                skipped = [RecordedStep(actions=("leave_out_number",))] * left_out
                steps[collected_at:collected_at] = skipped
                next_number = event.timestamp.sequence_number + 1
            steps.append(_certified(event, places[event.transaction], of[event.transaction]))
        elif joining.has_taken_place(event, places[event.transaction], delivered):
            done = {"p": places[event.transaction]}
            steps.append(RecordedStep(actions=("engine_commit",), parameters=done))
    scope = Scope(high=max([len(places), *numbers]) + 1, size=max(1, len(rows.all)))
    nobody: Table = {(row,): -1 for row in scope.values(ROW)}
    locks = dict.fromkeys(("stored", "last", "row_lock"), nobody)
    tables: Table = {(table,): -1 for table in scope.values(TABLE)}
    whole: Table = {(row,): _ONLY_TABLE for row in scope.values(ROW)}
    start |= {"next_sn": {(): 2}, "lc_global": {(): 1}, "table": whole, **locks}
    start |= dict.fromkeys(("defined", "last_ddl", "meta_lock"), tables)
    return Recorded(
        scope=scope, start=start, steps=tuple(steps),
        hidden=frozenset({"start", "change_row", "alter"}),
    )  # fmt: skip


def _certified(event: Event, place: int, transaction: Transaction) -> RecordedStep:
    if transaction.kind is TransactionKind.VIEW_CHANGE:
        return RecordedStep(actions=("change_view",))
    if transaction.origin == event.member:
        return RecordedStep(actions=("certify_local",))
    assert event.timestamp is not None
    sn, lc = event.timestamp.sequence_number, event.timestamp.last_committed
    seen = (("sn", (place,), sn), ("lc", (place,), lc))
    return RecordedStep(actions=("certify",), parameters={"new_lc": lc}, seen=seen)
