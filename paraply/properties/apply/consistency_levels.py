"""The consistency levels of WL#4648, over states instead of reads.

A state maps each row to its last writer. *Any-time*: every state existed on the source. *Most of
the time*: the states are equal after any committed prefix. *Eventual*: they are equal at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.stream import ApplyStream, apply_streams
from paraply.properties.readers.replica_reads import (
    StateNeverExisted,
    prefixes_that_explain,
    writers_of,
)
from paraply.properties.registry import Violation, always, fields, sometimes, write_sets
from paraply.properties.vocabularies import BETWEEN_DOMAINS, crash_of_a_replica, relay_log
from paraply.vocabulary.events import Event, EventKind, Observation, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import EMPTY_WRITE_SET, Item, WriteSet, sorted_items


@dataclass(frozen=True, slots=True, kw_only=True)
class GapFreeStateDiverged(Violation):
    """A row differs after a committed prefix."""

    member: str
    prefix: TransactionId
    item: Item
    expected: TransactionId
    found: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: all up to T{self.prefix} had committed, and {self.item} was of "
            f"T{self.found}; the source then had it of T{self.expected}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndStateDiverged(Violation):
    """A row's final value differs from the source's."""

    member: str
    ending: str
    """``stopped`` in good order, ``failed``, or ``stalled``."""
    item: Item
    expected: TransactionId
    found: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: {self.ending} with {self.item} of T{self.found}; "
            f"the source left T{self.expected}"
        )


@dataclass(slots=True)
class ReplicaState:
    """Each row's last writer, and the commits."""

    rows: dict[Item, TransactionId]
    committed: set[TransactionId] = field(default_factory=set)
    to_be_repeated: set[TransactionId] = field(default_factory=set)
    """Committed before a crash, past the position."""
    partly: set[TransactionId] = field(default_factory=set)
    """Transactions with only some parts committed."""

    @property
    def gap_free_prefix(self) -> TransactionId | None:
        """Return the committed prefix's end; None with a gap."""
        length = TransactionId(len(self.committed))
        if self.to_be_repeated or self.partly or max(self.committed, default=length) != length:
            return None
        return length

    def observations(self) -> tuple[Observation, ...]:
        """Return what a reader of every row sees."""
        return tuple(
            Observation(item, self.rows[item]) for item in sorted_items(frozenset(self.rows))
        )


def states_of(history: History, stream: ApplyStream) -> Iterator[ReplicaState]:
    """Yield one mutable state after each change."""
    items = {item for transaction in history.transactions for item in transaction.write_set}
    state = ReplicaState(dict.fromkeys(items, INITIAL_STATE))
    applied: dict[TransactionId, set[Item]] = {}
    for _, event in stream.events:
        one = event.transaction
        if event.kind in (EventKind.CRASHED, EventKind.RECOVERED):
            applied.clear()
        if event.kind is EventKind.RECOVERED:
            state.to_be_repeated |= state.committed - set(event.transactions)
            state.committed = set(event.transactions)
        if one is None:
            continue
        if event.kind is EventKind.ROW_APPLIED:
            rows = applied.setdefault(one, set())
            # Exclude the replica's own tables, such as the table of positions.
            rows |= event.items & items if event.outcome is Outcome.OK else EMPTY_WRITE_SET
        elif event.kind is EventKind.ROLLED_BACK:
            applied.pop(one, None)
        elif event.kind is EventKind.VISIBLE:
            state.partly.add(one)
            state.rows.update(dict.fromkeys(applied.get(one, set()) & event.items, one))
            applied.get(one, set()).difference_update(event.items)
            yield state
        elif event.kind is EventKind.ENGINE_COMMITTED:
            # Without recorded row changes, use the write set.
            changed: Iterable[Item] = applied.pop(one, _write_set(history, one))
            state.rows.update(dict.fromkeys(changed, one))
            state.committed.add(one)
            state.partly.discard(one)
            state.to_be_repeated.discard(one)
            yield state


def _write_set(history: History, transaction: TransactionId) -> WriteSet:
    return history.transaction(transaction).write_set


def _is_made(event: Event) -> bool:
    return event.outcome is Outcome.OK


@sometimes(of=relay_log, source="WL#4648: C0 and its gaps")
def replica_has_a_gap(history: History) -> bool:
    """A transaction had committed on the replica, wholly or in part, before an earlier one."""
    return any(
        state.gap_free_prefix is None
        for stream in apply_streams(history)
        for state in states_of(history, stream)
    )


def _something_commits(history: History) -> bool:
    return any(stream.engine_commits for stream in apply_streams(history))


def _two_commit(history: History) -> bool:
    return any(len(stream.first_commit) > 1 for stream in apply_streams(history))


@always(
    gaps=(
        fields(EventKind.ROW_APPLIED, "items", where=_is_made),
        write_sets,
    ),
    exemptions=(BETWEEN_DOMAINS,),
    of=relay_log,
    source="WL#4648, features: any-time consistency",
    witness=_two_commit,
)
def replica_states_existed_on_the_source(history: History) -> tuple[StateNeverExisted, ...]:
    """Every state of the replica is one that the source was in (any-time)."""
    writers = writers_of(history)
    return tuple(
        StateNeverExisted(
            member=stream.member,
            seen=found.least,
            seen_item=found.least_item,
            missed=found.limit,
            missed_item=found.limit_item,
        )
        for stream in apply_streams(history)
        for state in states_of(history, stream)
        if (found := prefixes_that_explain(state.observations(), writers)).limit is not None
        and found.limit <= found.least
    )


@always(
    gaps=(
        fields(EventKind.ROW_APPLIED, "items", where=_is_made),
        write_sets,
    ),
    of=relay_log,
    source="WL#4648, features: most-of-the-time consistency",
    witness=replica_has_a_gap,
)
def gap_free_states_are_the_sources(history: History) -> tuple[GapFreeStateDiverged, ...]:
    """While what has committed is a prefix of the log, the state is the source's after it."""
    return tuple(
        GapFreeStateDiverged(
            member=stream.member, prefix=prefix, item=item, expected=expected, found=found
        )
        for stream in apply_streams(history)
        for state in states_of(history, stream)
        if (prefix := state.gap_free_prefix) is not None
        for item, expected, found in _differences(history, state, prefix)
    )


def _differences(
    history: History, state: ReplicaState, prefix: TransactionId
) -> Iterator[tuple[Item, TransactionId, TransactionId]]:
    expected = dict.fromkeys(state.rows, INITIAL_STATE)
    for transaction in history.transactions:
        if transaction.id <= prefix:
            expected.update(dict.fromkeys(transaction.write_set, transaction.id))
    for item, found in state.observations():
        if expected[item] != found:
            yield item, expected[item], found


@always(
    gaps=(
        fields(EventKind.ROW_APPLIED, "items", where=_is_made),
        write_sets,
    ),
    of=relay_log,
    source="WL#4648, features: eventual consistency",
    witness=_something_commits,
)
def replica_ends_in_the_sources_state(history: History) -> tuple[EndStateDiverged, ...]:
    """When a run is over, the replica is in the source's state at the end of the log (eventual)."""
    return tuple(_end_differences(history))


def _end_differences(history: History) -> Iterator[EndStateDiverged]:
    if not history.is_complete or not history.transactions:
        return
    end = history.transactions[-1].id
    for stream in apply_streams(history):
        last = ReplicaState(dict.fromkeys(writers_of(history), INITIAL_STATE))
        for state in states_of(history, stream):
            last = state
        for item, expected, found in _differences(history, last, end):
            yield EndStateDiverged(
                member=stream.member,
                ending=_ending(stream.events),
                item=item,
                expected=expected,
                found=found,
            )


def _ending(events: Iterable[tuple[int, Event]]) -> str:
    kinds = {event.kind for _, event in events}
    if EventKind.STOPPED in kinds:
        return "stopped"
    return "failed" if EventKind.FAILED in kinds else "stalled"


@sometimes(
    of=crash_of_a_replica,
    source="WL#4648: a piece of the relay log is executed in the re-entrant mode",
)
def restart_repeats_a_transaction(history: History) -> bool:
    """A transaction that had committed before a crash committed again after it."""
    return any(
        len(stream.engine_commits) > len(stream.first_commit) for stream in apply_streams(history)
    )


@always(
    gaps=(
        fields(EventKind.ROW_APPLIED, "items", where=_is_made),
        write_sets,
    ),
    of=crash_of_a_replica,
    source="WL#4648, P1: at recovery",
    witness=restart_repeats_a_transaction,
)
def restart_reaches_the_sources_state(history: History) -> tuple[EndStateDiverged, ...]:
    """A run with a crash, too, ends in the source's state at the end of the log."""
    if not any(history.events_of(EventKind.CRASHED)):
        return ()
    return tuple(_end_differences(history))
