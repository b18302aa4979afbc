"""Abstraction of group members: certification, AL1, two members."""

from __future__ import annotations

from paraply.models.language.concrete import Scope, Table
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.joining import joining_of
from paraply.models.recorded.naming import AL1_GHOSTS, WITHOUT_WRITE_SET, Rows, decisions_of
from paraply.vocabulary.events import DEFAULT_MEMBER, Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind


def timestamps(history: History, member: str = DEFAULT_MEMBER) -> Recorded:
    """Read a member's certifier for ``paraply/models/systems/applier.py``.

    A position is a remote transaction or view change, of a joiner also before its view. Worker
    starts are unobservable; they precede commits.
    """
    of: dict[int, Transaction] = {one.id: one for one in history.transactions}
    joining, rows = joining_of(history, member), Rows()
    places = _relay_places(history, member, of, joining.before)
    written: Table = {}
    empty: Table = {}
    views: Table = {}
    for number, place in places.items():
        one = of[number]
        views[place,] = one.kind is TransactionKind.VIEW_CHANGE
        empty[place,] = one.kind in WITHOUT_WRITE_SET
        for item in () if empty[place,] else sorted(one.write_set):
            written[place, rows.name(item)] = True
    steps = joining.certified_before(of)
    delivered = len(steps)
    for event in history.events:
        if event.member != member:
            continue
        if event.kind is EventKind.GARBAGE_COLLECTED:
            purged: Table = {(rows.name(item),): True for item in sorted(event.items)}
            steps.append(RecordedStep(actions=("collect_garbage",), chosen={"purged": purged}))
        elif event.transaction is None:
            continue
        elif event.kind is EventKind.CERTIFIED and event.transaction == joining.view:
            delivered += 1
            steps.append(joining.join(of, rows))
        elif event.kind is EventKind.CERTIFIED and event.outcome is Outcome.POSITIVE:
            if event.transaction not in places:
                local: Table = {
                    (rows.name(item),): True for item in sorted(of[event.transaction].write_set)
                }
                steps.append(RecordedStep(actions=("certify_local",), chosen={"local_ws": local}))
                continue
            assert event.timestamp is not None
            place = places[event.transaction]
            delivered = place + 1
            sn, lc = event.timestamp.sequence_number, event.timestamp.last_committed
            seen = (("sn", (place,), sn), ("lc", (place,), lc))
            action = "change_view" if views[place,] else "certify"
            steps.append(RecordedStep(actions=(action,), parameters={"new_lc": lc}, seen=seen))
        elif event.transaction in places:
            place = places[event.transaction]
            if joining.has_taken_place(event, place, delivered):
                steps.append(RecordedStep(actions=("finish",), parameters={"p": place}))
    start: dict[str, Table] = {
        "ws": written, "empty": empty, "vc": views, "next_sn": {(): 2}, "lc_global": {(): 1},
    }  # fmt: skip
    return Recorded(
        scope=Scope(high=len(places), size=max(1, len(rows.all))), start=start,
        steps=tuple(steps), hidden=frozenset({"start"}), possible_afterwards=frozenset({"finish"}),
        ghosts=AL1_GHOSTS,
    )  # fmt: skip


def _relay_places(
    history: History, member: str, of: dict[int, Transaction], before: tuple[TransactionId, ...]
) -> dict[int, int]:
    certified = [
        event.transaction
        for event in decisions_of(history, member)
        if event.transaction is not None and event.outcome is Outcome.POSITIVE
    ]
    remote = [*before, *(one for one in certified if of[one].origin != member)]
    return {one: place for place, one in enumerate(remote)}


def certification(history: History, member: str = DEFAULT_MEMBER) -> Recorded:
    """Read a member's certifier for ``paraply/models/systems/certification.py``.

    A view change has an empty write set and a full snapshot.
    """
    names, rows = _names(history), Rows()
    start = _workload(history, names, rows, member)
    stable: set[int] = set()
    steps = []
    for event in history.events:
        if event.member != member:
            continue
        if event.kind is EventKind.GARBAGE_COLLECTED:
            grown: Table = {(names[one],): True for one in event.transactions if one not in stable}
            stable.update(event.transactions)
            steps.append(RecordedStep(actions=("grow_stable_set",), chosen={"grown": grown}))
            purged: Table = {(rows.name(item),): True for item in sorted(event.items)}
            steps.append(RecordedStep(actions=("collect_garbage",), chosen={"purged": purged}))
        elif event.kind is EventKind.CERTIFIED and event.transaction is not None:
            name = {"t": names[event.transaction]}
            refused = event.outcome is Outcome.NEGATIVE
            action = "certify_negatively" if refused else "certify_positively"
            steps.append(RecordedStep(actions=(action,), parameters=name))
    scope = Scope(low=0, high=0, size=max(len(names), len(rows.all), 1))
    return Recorded(scope=scope, start=start, steps=tuple(steps))


def two_members(history: History, first: str = "r1", second: str = "r2") -> Recorded:
    """Read two members for ``paraply/models/systems/members.py``.

    The model delivers to both at once, so collections after a member's k-th decision follow the
    k-th of all. The first decision of a transaction counts.
    """
    names, rows = _names(history), Rows()
    start = _workload(history, names, rows, first)
    decisions: dict[int, Event] = {}
    passed = {first: 0, second: 0}
    collections: list[tuple[int, Event]] = []
    for event in history.events:
        if event.member not in passed:
            continue
        if event.kind is EventKind.CERTIFIED and event.transaction is not None:
            passed[event.member] += 1
            decisions.setdefault(event.transaction, event)
        elif event.kind is EventKind.GARBAGE_COLLECTED:
            collections.append((passed[event.member], event))
    steps: list[RecordedStep] = []
    stable: set[int] = set()
    delivered: list[tuple[int, Event | None]] = [*decisions.items(), (0, None)]
    for number, (transaction, decided) in enumerate(delivered):
        for one in (one for after, one in collections if after == number):
            grown: Table = {(names[t],): True for t in one.transactions if t not in stable}
            stable.update(one.transactions)
            steps.append(RecordedStep(actions=("grow_stable_set",), chosen={"grown": grown}))
            purged: Table = {(rows.name(item),): True for item in sorted(one.items)}
            action = "collect_at_a" if one.member == first else "collect_at_b"
            steps.append(RecordedStep(actions=(action,), chosen={"purged": purged}))
        if decided is not None:
            action = "refuse" if decided.outcome is Outcome.NEGATIVE else "certify"
            name = {"t": names[transaction]}
            steps.append(RecordedStep(actions=(action,), parameters=name))
    scope = Scope(low=0, high=0, size=max(len(names), len(rows.all), 1))
    return Recorded(scope=scope, start=start, steps=tuple(steps))


def _names(history: History) -> dict[int, str]:
    return {one.id: f"txn{number}" for number, one in enumerate(history.transactions)}


def _workload(history: History, names: dict[int, str], rows: Rows, member: str) -> dict[str, Table]:
    written: Table = {
        (names[one.id], rows.name(item)): True
        for one in history.transactions
        for item in sorted(one.write_set)
    }
    seen: Table = {}
    for event in history.events:
        if event.kind is EventKind.SUBMITTED and event.transaction is not None:
            seen.update(
                {(names[event.transaction], names[one]): True for one in event.transactions}
            )
    before: list[int] = []
    of = {one.id: one for one in history.transactions}
    for event in decisions_of(history, member):
        if event.transaction is None or event.outcome is not Outcome.POSITIVE:
            continue
        if of[event.transaction].kind is TransactionKind.VIEW_CHANGE:
            seen.update({(names[event.transaction], names[one]): True for one in before})
        before.append(event.transaction)
    return {"ws": written, "snap": seen}
