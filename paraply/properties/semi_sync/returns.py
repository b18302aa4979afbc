"""Servers that come back: whether they do, and with what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, Vocabulary, always
from paraply.properties.semi_sync.watch import LOST, PROMOTED, REFUSED, REJOINS, Watch
from paraply.properties.vocabularies import commit_stages
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

KEEPS, REPLICAS, SOURCE = "keeps_relay_log", "replicas_return", "source_returns"
"""Options of sources and replicas."""
AT_REST = ("at rest", PROMOTED)
"""Notes of the last STOPPED of a run in which nothing more can happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayLogDiffers(Violation):
    """A replica restarts with another relay log than it should keep."""

    member: str
    having: tuple[TransactionId, ...]
    expected: tuple[TransactionId, ...]

    def __str__(self) -> str:
        return (
            f"{self.member} restarted with {_names(self.having)}; it should have "
            f"{_names(self.expected)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnDiffers(Violation):
    """A server stays away, or comes back, unlike stated."""

    member: str
    returns: bool

    def __str__(self) -> str:
        what = "came back, and should stay" if self.returns else "stayed away, and should come back"
        return f"{self.member} {what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSucceeded(Violation):
    """Replicas outlive their source, and none is promoted."""

    survivors: tuple[str, ...]

    def __str__(self) -> str:
        return f"the source is lost, and none of {', '.join(self.survivors)} was promoted"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotedBehind(Violation):
    """A replica is promoted although another has received more."""

    member: str
    other: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} was promoted; {self.other} has received T{self.transaction} too"


def _names(transactions: tuple[TransactionId, ...]) -> str:
    return " ".join(f"T{one}" for one in transactions) or "nothing"


def _stated(option: str, kind: EventKind, *, of_source: bool = False) -> Vocabulary:
    def states_it(history: History) -> bool:
        """A controlled run states what happens after crashes, and servers crash or return."""
        return (
            history.header.tier is EvidenceTier.CONTROLLED_RUN
            and option in history.header.options
            and commit_stages(history)
            and of_source
            in {event.member == Watch.of(history).source for event in history.events_of(kind)}
        )

    return states_it


def _restarts(history: History) -> Iterator[RelayLogDiffers]:
    """Yield what replicas have after a restart, and what they should have."""
    if KEEPS not in history.header.options:
        return
    received: dict[str, list[TransactionId]] = {name: [] for name in history.members[1:]}
    applied = dict.fromkeys(received, 0)
    for event in history.events:
        name = event.member
        if name not in received:
            continue
        if event.kind is EventKind.DELIVERED and event.transaction is not None:
            received[name].append(event.transaction)
        elif event.kind is EventKind.ENGINE_COMMITTED:
            applied[name] += 1
        elif event.kind is EventKind.RECOVERED:
            kept = None if history.header.options[KEEPS] else applied[name]
            expected = tuple(received[name][:kept])
            yield RelayLogDiffers(member=name, having=event.transactions, expected=expected)
            received[name] = list(event.transactions)


@always(
    of=_stated(KEEPS, EventKind.RECOVERED),
    source="MySQL manual, relay_log_recovery: unapplied relay logs are discarded; MDEV-4698",
    witness=lambda history: sum(1 for _ in _restarts(history)),
)
def restarted_replicas_have_what_is_kept(history: History) -> tuple[RelayLogDiffers, ...]:
    """A restarted replica has all that it had received, or, without relay logs, had applied."""
    return tuple(one for one in _restarts(history) if one.having != one.expected)


def _last_stop(history: History) -> Event | None:
    last = history.events[-1] if history.events else None
    is_rest = last is not None and last.kind is EventKind.STOPPED and last.note in AT_REST
    return last if is_rest else None


def replicas_return(history: History) -> bool:
    """Replicas of a controlled run crash, and return as stated."""
    is_stated = _stated(REPLICAS, EventKind.CRASHED)(history)
    return is_stated and bool(history.header.options[REPLICAS])


def _returns_of_replicas(history: History) -> Iterator[str]:
    """Yield replicas that are down when nothing more can happen, but may return."""
    down: dict[str, bool] = {}
    for event in history.events:
        if event.kind is EventKind.CRASHED:
            down[event.member] = event.note != LOST
        elif event.kind is EventKind.RECOVERED:
            down[event.member] = False
    replicas = history.members[1:] if history.header.options.get(REPLICAS) else ()
    for name in replicas if _last_stop(history) else ():
        if name in down:
            yield name if down[name] else ""


@always(
    of=replicas_return,
    source="MDEV-162: a replica that crashed restarts, and reconnects",
    witness=lambda history: sum(1 for _ in _returns_of_replicas(history)),
)
def crashed_replicas_come_back(history: History) -> tuple[ReturnDiffers, ...]:
    """When nothing more can happen, replicas that crashed run again, if they return as stated."""
    return tuple(
        ReturnDiffers(member=name, returns=False) for name in _returns_of_replicas(history) if name
    )


def _is_after_promotion(history: History) -> bool:
    last = _last_stop(history)
    return last is not None and last.note == PROMOTED


def lost_sources(history: History) -> bool:
    """A controlled run ends after a fail-over, and states whether the old source returns."""
    is_stated = _stated(SOURCE, EventKind.CRASHED, of_source=True)(history)
    return is_stated and _is_after_promotion(history)


@always(
    of=lost_sources,
    source="MDEV-21117; MySQL bug 99370: the old source comes back after the fail-over",
    witness=_is_after_promotion,
)
def lost_sources_come_back_as_stated(history: History) -> tuple[ReturnDiffers, ...]:
    """After a fail-over the old source rejoins or is refused if it returns, as stated."""
    if SOURCE not in history.header.options or not _is_after_promotion(history):
        return ()
    source = Watch.of(history).source
    ends = history.events_of(EventKind.RECOVERED, EventKind.STOPPED, member=source)
    returns = any(event.note in (REJOINS, REFUSED) for event in ends)
    is_stated = returns == bool(history.header.options[SOURCE])
    return () if is_stated else (ReturnDiffers(member=source, returns=returns),)


def fail_overs(history: History) -> bool:
    """The source of a controlled run of semi-synchronous replication is lost."""
    is_stated = _stated(SOURCE, EventKind.CRASHED, of_source=True)(history)
    return is_stated and any(event.note == LOST for event in history.events_of(EventKind.CRASHED))


def _survivors(history: History) -> tuple[tuple[str, ...], Event | None, Watch]:
    """Return replicas that outlive their source, and its successor's event and what is known then.

    There are none while the source is up.
    """
    watch = Watch.of(history)
    lost: set[str] = set()
    for event in history.events:
        if event.kind is EventKind.READ and event.session == PROMOTED:
            break
        for _ in watch.follow(event):
            pass
        if event.kind is EventKind.CRASHED and event.note == LOST:
            lost.add(event.member)
    else:
        event = None
    if watch.source not in lost:
        return (), None, watch
    return tuple(name for name in watch.replicas if name not in lost), event, watch


@always(
    of=fail_overs,
    source="MDEV-162, fail-over: the survivors are up, and one is promoted",
    witness=lambda history: bool(_survivors(history)[0]),
)
def lost_sources_are_succeeded(history: History) -> tuple[NotSucceeded, ...]:
    """When nothing more can happen after the loss of the source, a survivor is promoted."""
    survivors, promoted, _ = _survivors(history)
    is_open = not history.is_complete or promoted is not None or not survivors
    return () if is_open else (NotSucceeded(survivors=survivors),)


def _promotes_with_receipts(history: History) -> bool:
    """Return whether a replica is promoted where a receipt is recorded, thus may be compared."""
    return EventKind.DELIVERED in history.kinds and _survivors(history)[1] is not None


@always(
    of=fail_overs,
    source="MDEV-162, fail-over: the most advanced replica is promoted",
    witness=_promotes_with_receipts,
)
def promoted_replicas_are_most_advanced(history: History) -> tuple[PromotedBehind, ...]:
    """No survivor has received more than the replica that is promoted."""
    survivors, promoted, watch = _survivors(history)
    if promoted is None:
        return ()
    mine = watch.replica(promoted.member).having
    return tuple(
        PromotedBehind(member=promoted.member, other=name, transaction=max(more))
        for name in survivors
        if (more := watch.replicas[name].having - mine)
        and len(watch.replicas[name].having) > len(mine)
    )
