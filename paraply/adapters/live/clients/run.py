"""Run clients on a target's servers and collect what they and the log recorded."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paraply.adapters.elle.histories import BankHistory
from paraply.adapters.elle.operations import OperationType
from paraply.adapters.live.clients.load import ClientLoad
from paraply.adapters.live.clients.options import ClientOptions
from paraply.adapters.live.clients.recorder import Recorder
from paraply.adapters.live.clients.site import Site, wait_named
from paraply.adapters.live.clients.sites import open_site
from paraply.adapters.live.clients.workloads import workload_of
from paraply.adapters.live.nemeses.choosing import plan_of
from paraply.adapters.live.nemeses.field import Field
from paraply.adapters.live.nemeses.running import Deed, carry_out
from paraply.adapters.live.target import LiveRequest
from paraply.vocabulary.client_history import AccessKind, ClientHistory, Ending
from paraply.vocabulary.log import LoggedTransaction, RowChange

_AFTERWARDS_S = 3.0
"""Of load after the nemeses, at least."""
_JOURNAL = ".journal"
_BANK, _COUNTERS = ".bank", ".counters"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPlace:
    """Where the log has a client transaction."""

    gtid: str
    position: str
    """File and byte offset."""
    total_change: int = 0
    """By how much it changed the sum of a bank's accounts."""
    counted: tuple[tuple[int, int, int], ...] = ()
    """Counters that it changed: key, value before and value after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRound:
    """One round's recording."""

    number: int
    seed: int
    recorder: Recorder
    history: ClientHistory | BankHistory
    places: Mapping[int, LoggedPlace]
    """By transaction number, in the order of the log."""
    confirmed: frozenset[int]
    """Writing transactions that clients saw committed."""
    missing: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Confirmed transactions absent at the end, by server."""
    evidence: Mapping[str, int | str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    deeds: tuple[Deed, ...] = ()
    """What the nemeses did."""


def client_rounds(
    target: str, request: LiveRequest, options: ClientOptions
) -> Generator[ClientRound, None, None]:
    """Yield rounds, each on its own servers."""
    for number in range(1, request.rounds + 1):
        request.say(f"round {number} of {request.rounds}")
        one = replace(request, seed=request.seed + number - 1)
        with open_site(target, request, options) as site:
            done = _round(target, one, options, site, number)
        # The servers are gone before the judges work.
        yield done


def _round(
    target: str, request: LiveRequest, options: ClientOptions, site: Site, number: int
) -> ClientRound:
    load = ClientLoad(
        site,
        workload_of(options, site.schema),
        wait_named(target, options.wait),
        options=options,
        clients=request.clients,
        seed=request.seed,
        transactions=request.transactions,
    )
    notes: Sequence[str] = ()
    deeds: Sequence[Deed] = ()
    began = time.monotonic()
    try:
        load.start()
        if site.field is not None:
            deeds, notes = _strike(target, request, site.field, load)
        elif site.midway is not None:
            load.wait_for(request.transactions // 2, request.duration_s / 2)
            with load.going_on(more=request.transactions // 2):
                notes = site.midway()
        least = _AFTERWARDS_S if deeds else 0.0
        load.wait(max(least, request.duration_s - (time.monotonic() - began)))
    finally:
        recorder = load.stop()
    seconds = time.monotonic() - began
    site.at_rest()
    load.read_finally()
    places = places_in(site.log())
    confirmed = confirmed_writers(recorder)
    return ClientRound(
        number=number,
        seed=request.seed,
        recorder=recorder,
        history=with_log_order(recorder.history(), places),
        places=places,
        confirmed=confirmed,
        missing=_missing(site, confirmed),
        evidence={
            "server": site.version_text,
            "transactions": recorder.count(OperationType.INVOKE),
            "committed": recorder.count(OperationType.OK),
            "aborted": recorder.count(OperationType.FAIL),
            "of unknown outcome": recorder.count(OperationType.INFO),
            "in the log": len(places),
            "committed per second": round(recorder.count(OperationType.OK) / max(seconds, 0.001)),
        },
        notes=tuple(notes),
        deeds=tuple(deeds),
    )


def _strike(
    target: str, request: LiveRequest, field: Field, load: ClientLoad
) -> tuple[Sequence[Deed], Sequence[str]]:
    """Carry the plan out under load, and bring the members back."""
    plan = plan_of(target, request)
    share = request.transactions // 4
    load.wait_for(share, request.duration_s / 4)
    with load.going_on(more=share):
        deeds = carry_out(plan, field, load.recorder.elapsed_ns, request.say)
        load.recorder.add_nemeses(deeds)
        notes = field.recover()
    return deeds, (*(one.sentence() for one in deeds), *notes)


def places_in(logged: Sequence[LoggedTransaction]) -> dict[int, LoggedPlace]:
    """Return the places of client transactions by their number, in log order."""
    places: dict[int, LoggedPlace] = {}
    for one in logged:
        for row in one.rows:
            tag = row.after[0] if row.table.endswith(_JOURNAL) and row.after else None
            if isinstance(tag, int):
                places[tag] = LoggedPlace(
                    gtid=one.gtid,
                    position=str(one.start).rpartition("/")[2],
                    total_change=sum(map(_change, one.rows)),
                    counted=tuple(filter(None, map(_counted, one.rows))),
                )
    return places


def _change(row: RowChange) -> int:
    if not row.table.endswith(_BANK) or row.before is None or row.after is None:
        return 0
    before, after = row.before[1], row.after[1]
    return after - before if isinstance(before, int) and isinstance(after, int) else 0


def _counted(row: RowChange) -> tuple[int, int, int] | None:
    if not row.table.endswith(_COUNTERS) or row.before is None or row.after is None:
        return None
    key, before, after = row.before[0], row.before[1], row.after[1]
    if isinstance(key, int) and isinstance(before, int) and isinstance(after, int):
        return key, before, after
    return None


def confirmed_writers(recorder: Recorder) -> frozenset[int]:
    """Return the numbers of confirmed transactions that write."""
    running: dict[int, int] = {}
    number = 0
    found = set()
    for one in recorder.operations:
        if one.type is OperationType.INVOKE:
            number += 1
            running[one.process] = number
        elif one.type is OperationType.OK and _writes(one.function, one.value):
            found.add(running[one.process])
    return frozenset(found)


def _writes(function: str, value: object) -> bool:
    if function != "txn":
        return function == "transfer"
    assert isinstance(value, tuple)
    return any(micro[0] != AccessKind.READ.value for micro in value)


def with_log_order(
    history: ClientHistory | BankHistory, places: Mapping[int, LoggedPlace]
) -> ClientHistory | BankHistory:
    """Return the history with the log's order, where the log has all that committed."""
    if isinstance(history, BankHistory):
        return history
    writers = {one.number: one.ending for one in history.transactions if one.writes}
    order = tuple(number for number in places if number in writers)
    listed = set(order)
    is_whole = all(
        number in listed for number, ending in writers.items() if ending is Ending.COMMITTED
    ) and all(writers[number] is not Ending.ABORTED for number in order)
    return replace(history, log=order) if is_whole else history


def _missing(site: Site, confirmed: frozenset[int]) -> dict[str, Sequence[int]]:
    missing: dict[str, Sequence[int]] = {}
    for server in site.servers:
        rows = server.query(f"SELECT w FROM {site.schema}.journal")
        absent = confirmed - {int(tag) for (tag,) in rows}
        if absent:
            missing[server.name] = sorted(absent)
    return missing
