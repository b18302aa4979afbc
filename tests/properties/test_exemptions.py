"""Each exemption hides breaches where its cause is, and none where something like it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from paraply.properties.apply.stream import LOST
from paraply.properties.gtid.failover import ELECTED, PURGED, REFUSED
from paraply.properties.gtid.replication_state import PURGE
from paraply.properties.registry import Exemption, Property, registered_properties
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction
from tests.properties.histories import history_of
from tests.properties.smallest_examples import stored

Change = Callable[[History], History]
OTHER = "another"
"""A member that no example names."""


def option(name: str, value: str | int | bool) -> Change:
    def changed(run: History) -> History:
        options = {**run.header.options, name: value}
        return replace(run, header=replace(run.header, options=options))

    return changed


def recorded_by(program: str) -> Change:
    return lambda run: replace(run, header=replace(run.header, recorded_by=program))


def transactions(*named: Mapping[str, object]) -> Change:
    """Return a change that adds transactions at the end of the log."""

    def changed(run: History) -> History:
        first = max((one.id for one in run.transactions), default=0) + 1
        more = (Transaction(id=first + at, **one) for at, one in enumerate(named))  # type: ignore[arg-type]
        return replace(run, transactions=(*run.transactions, *more))

    return changed


def event(kind: EventKind, **fields: object) -> Change:
    """Return a change that adds an event of another member at the end."""

    def changed(run: History) -> History:
        time = run.events[-1].time + 1 if run.events else 0
        one = Event(kind, time, **{"member": OTHER, **fields})  # type: ignore[arg-type]
        return replace(run, events=(*run.events, one))

    return changed


def both(*changes: Change) -> Change:
    def changed(run: History) -> History:
        for one in changes:
            run = one(run)
        return run

    return changed


def logged(*gtids: str) -> Change:
    def changed(run: History) -> History:
        for gtid in gtids:
            run = transactions({"domain": 7, "gtid": gtid})(run)
            run = event(EventKind.FLUSHED, gtid=gtid, transaction=run.transactions[-1].id)(run)
        return run

    return changed


def job(size: int) -> Change:
    def changed(run: History) -> History:
        run = transactions(*[{}] * size)(run)
        ids = tuple(one.id for one in run.transactions[-size:])
        return event(EventKind.BEGUN, worker=1, transaction=ids[0], transactions=ids)(run)

    return changed


def replicated(*gtids: str) -> Change:
    return transactions(*({"domain": 7, "gtid": gtid} for gtid in gtids))


def started(*sources: str) -> Change:
    named = transactions({"domain": 7, "gtid": "7-1-1"})
    return both(named, event(EventKind.STARTED, members=sources))


def refused(run: History) -> History:
    return event(EventKind.STARTED, note=f"{REFUSED} {PURGED}")(run)


lost, unknown = event(EventKind.CRASHED, note=LOST), event(EventKind.STARTED, note=REFUSED)
FALLS = logged("7-1-2", "7-1-1"), logged("7-1-1", "7-1-2")
CAUSES: dict[str, tuple[Change, Change]] = {
    "between replication domains": (
        transactions({"domain": 7}, {"domain": 8}),
        lambda run: transactions({"domain": next(iter(domains(run)), 7)})(run),
    ),
    "lacks what is purged": (
        both(event(EventKind.RELAY_ROTATED, note=PURGE), refused),
        refused,
    ),
    "another does not know": (
        both(lost, unknown),
        both(lost, unknown, event(EventKind.STARTED, note=ELECTED)),
    ),
    "may wait for ever": tuple(both(option("transactions", 99), one) for one in FALLS),
    "takes no more to be missing": FALLS,
    "does not order": FALLS,
    "numbers, which fall": FALLS,
    "fall with the numbers": FALLS,
    "one GTID twice": FALLS,
    "the numbers that its source's log has": (
        replicated("7-1-2", "7-1-1"),
        replicated("7-1-1", "7-1-2"),
    ),
    "an applier under test": (recorded_by("paraply conform"), recorded_by("paraply explore")),
    "IDEMPOTENT": (option("exec_mode", "idempotent"), option("exec_mode", "strict")),
    "a merged job": (
        job(2),
        job(1),
    ),
    "counts jobs": (
        job(2),
        both(job(2), option("watermark", "exact")),
    ),
    "a joiner recovers": (
        event(EventKind.VIEW_INSTALLED, view=1, members=(OTHER,)),
        event(EventKind.VIEW_INSTALLED, view=1),
    ),
    "restored from a backup": (started("source"), started()),
    "AFTER_COMMIT": (option("after_commit", True), option("after_commit", False)),
    "members without sessions": (option("sessions", 0), option("sessions", 1)),
    "what a client has not yet sent": (
        both(option("acknowledgements", 1), event(EventKind.CRASHED)),
        event(EventKind.CRASHED),
    ),
    "transactions that fail": (option("failures", 1), option("crashes", 1)),
}
"""By words of the reason: what makes the exemption apply, and what is like it and does not."""


def domains(run: History) -> set[int]:
    return {one.domain for one in run.transactions if one.domain is not None}


EXEMPTIONS = [(prop, one) for prop in registered_properties() for one in prop.exemptions]
SAVED_LATE = history_of("| T1{a} | T2{a} | T3{a} | " + " ; ".join(
    f"scheduled T{one}@w1 ; begun T{one}@w1 ; engine_committed T{one}@w1" for one in (1, 2, 3)
) + " ; position_saved")  # fmt: skip
EXAMPLES = [
    *((one.prop, one.history) for one in stored()),
    ("saved_positions_keep_up", SAVED_LATE),
]


def breaks(run: History, prop: Property) -> bool:
    return not any(run.faults()) and bool(prop.violations(run))


@pytest.mark.parametrize(
    ("prop", "exemption"), EXEMPTIONS, ids=[f"{one.name}-{two.because}" for one, two in EXEMPTIONS]
)
def test_breach_is_hidden_by_the_cause_and_by_nothing_like_it(
    prop: Property, exemption: Exemption
) -> None:
    ((cause, like),) = (pair for words, pair in CAUSES.items() if words in exemption.because)
    lifted = replace(prop, exemptions=tuple(one for one in prop.exemptions if one != exemption))
    broken = [run for name, run in EXAMPLES if name == prop.name]
    broken = [run for run in broken if breaks(run, prop) and breaks(cause(run), lifted)]
    broken = [run for run in broken if exemption.applies(cause(run))]
    assert broken
    for run in broken:
        assert not prop.violations(cause(run))
        assert not prop.evidence(cause(run)).decided
        assert breaks(like(run), prop)


def test_every_cause_is_one_of_an_exemption():
    reasons = " ".join(exemption.because for _, exemption in EXEMPTIONS)
    assert all(words in reasons for words in CAUSES)
