"""Each replica's attempts to apply its log, shared by the applier checks.

Only SCHEDULED or SKIPPED transactions count; other rules order a group member's own commits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item

APPLIER_EVENTS = (EventKind.SCHEDULED, EventKind.SKIPPED, EventKind.BEGUN)
ENDS = frozenset({EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK, EventKind.FAILED})
"""Of an attempt, which then has no locks."""
RESTARTS = frozenset({EventKind.CRASHED, EventKind.STARTED, EventKind.RECOVERED})
"""After them no worker has work."""
LOST = "lost"
"""Note prefix of a permanent crash."""
FROM_OUTSIDE = "from outside"
"""Note of an external FAILED cause (a full disk)."""
LOCK_WAIT_TIMEOUT = "lock wait timeout"
"""Note of an external lock timeout."""
OUT_OF_ORDER = "1950"
"""Note prefix: gtid_strict_mode rejected a number."""


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One attempt to apply a transaction; times are event indexes.

    ``touched`` maps items to first changes. ``committed_at`` is None without a commit. ``job``
    lists the transactions of a merged commit.
    """

    transaction: Transaction
    begun_at: int
    touched: dict[Item, int] = field(default_factory=dict)
    committed_at: int | None = None
    job: frozenset[TransactionId] = frozenset()


@dataclass(slots=True, kw_only=True)
class ApplyStream:
    """One applier's attempts and events."""

    member: str
    attempts: list[Attempt] = field(default_factory=list)
    engine_commits: list[tuple[int, TransactionId]] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    first_commit: dict[TransactionId, int] = field(default_factory=dict)

    @property
    def surviving(self) -> list[Attempt]:
        """Return committed attempts in begin order."""
        return [attempt for attempt in self.attempts if attempt.committed_at is not None]

    def had_committed(self, transaction: TransactionId, moment: int) -> bool:
        """Return whether a commit precedes the event ``moment``."""
        committed = self.first_commit.get(transaction)
        return committed is not None and committed < moment

    @property
    def has_rows(self) -> bool:
        """Return whether row changes are recorded."""
        return any(event.kind is EventKind.ROW_APPLIED for _, event in self.events)

    @property
    def is_lost(self) -> bool:
        """Return whether the last crash is permanent."""
        crashes = [event for _, event in self.events if event.kind is EventKind.CRASHED]
        return bool(crashes) and crashes[-1].note.startswith(LOST)

    @property
    def has_stopped(self) -> bool:
        """Return whether the applier stopped normally, and was not started again."""
        kinds = [event.kind for _, event in self.events]
        ends = [kind for kind in kinds if kind in (EventKind.STARTED, EventKind.STOPPED)]
        return ends[-1:] == [EventKind.STOPPED]


def commits_without_begin(history: History) -> Iterator[str]:
    """Yield remote commits without a begin."""
    for stream in apply_streams(history):
        begun = {attempt.transaction.id for attempt in stream.attempts}
        for one in stream.first_commit:
            if one not in begun and history.transaction(one).origin != stream.member:
                yield f"no begun of T{one} at {stream.member}"


def own_failures(history: History) -> Iterator[tuple[Event, TransactionId]]:
    """Yield each FAILED event that the applier caused.

    Excludes external causes, lock wait timeouts and waits between domains (they may use up the
    stated retries) and rejected numbers (see ``only_smaller_numbers_are_refused``).
    """
    retries_max = history.header.options.get("retries_max")
    domain = {one.id: one.domain for one in history.transactions}
    timed_out: set[tuple[str, TransactionId]] = set()
    beyond: set[tuple[str, TransactionId]] = set()
    """Met another domain's transaction at a row: no commit order says which comes first."""
    for event in history.events:
        if event.transaction is None:
            continue
        key = (event.member, event.transaction)
        if event.note == LOCK_WAIT_TIMEOUT:
            timed_out.add(key)
        if event.outcome is Outcome.LOCK_WAIT and event.other is not None:
            if domain[event.transaction] != domain.get(event.other):
                beyond |= {key, (event.member, event.other)}
        elif event.kind is EventKind.BEGUN:
            beyond.discard(key)
        is_used_up = isinstance(retries_max, int) and event.attempt > retries_max
        is_from_outside = (
            event.note == FROM_OUTSIDE
            or event.note.startswith(OUT_OF_ORDER)
            or (key in timed_out | beyond and is_used_up)
        )
        if event.kind is EventKind.FAILED and not is_from_outside:
            yield event, event.transaction


_LAST: list[tuple[History, tuple[ApplyStream, ...]]] = []


def apply_streams(history: History) -> tuple[ApplyStream, ...]:
    """Return one stream per applier."""
    if not _LAST or _LAST[0][0] is not history:
        _LAST[:] = [(history, _streams_of(history))]
    return _LAST[0][1]


def _streams_of(history: History) -> tuple[ApplyStream, ...]:
    streams: dict[str, ApplyStream] = {}
    for index, event in enumerate(history.events):
        stream = streams.setdefault(event.member, ApplyStream(member=event.member))
        stream.events.append((index, event))
    source = history.members[0] if len(history.members) > 1 else ""
    has_only_commits = history.header.tier is EvidenceTier.COMMIT_ORDER
    at_work = [
        stream
        for stream in streams.values()
        if any(event.kind in APPLIER_EVENTS for _, event in stream.events)
        or (has_only_commits and stream.member != source)
        or (len(streams) == 1 and _is_idle(stream, history))
    ]
    for stream in at_work:
        _follow(stream, history)
    return tuple(at_work)


def _is_idle(stream: ApplyStream, history: History) -> bool:
    """Return whether a lone applier has a log and does nothing."""
    kinds = {event.kind for _, event in stream.events}
    has_only_started = EventKind.STARTED in kinds <= {EventKind.STARTED, EventKind.DELIVERED}
    return bool(history.transactions) and has_only_started


def _follow(stream: ApplyStream, history: History) -> None:
    running: dict[TransactionId, Attempt] = {}
    for index, event in stream.events:
        match event.kind:
            case EventKind.CRASHED:
                running.clear()
            case EventKind.BEGUN if event.transaction is not None:
                attempt = Attempt(
                    transaction=history.transaction(event.transaction),
                    begun_at=index,
                    job=frozenset(event.transactions),
                )
                running[event.transaction] = attempt
                stream.attempts.append(attempt)
            case EventKind.ROW_APPLIED if event.outcome is Outcome.OK:
                if event.transaction in running:
                    for item in event.items:
                        running[event.transaction].touched.setdefault(item, index)
            case EventKind.ROLLED_BACK | EventKind.FAILED if event.transaction in running:
                del running[event.transaction]
            case EventKind.ENGINE_COMMITTED if event.transaction is not None:
                stream.engine_commits.append((index, event.transaction))
                stream.first_commit.setdefault(event.transaction, index)
                if event.transaction in running:
                    running.pop(event.transaction).committed_at = index
            case _:
                pass


def overlapping_pairs(stream: ApplyStream) -> Iterator[tuple[Attempt, Attempt]]:
    """Yield overlapping surviving attempts of different jobs."""
    running: list[Attempt] = []
    for attempt in sorted(stream.surviving, key=lambda one: one.begun_at):
        running = [one for one in running if (one.committed_at or 0) > attempt.begun_at]
        for other in running:
            if other.transaction.id not in attempt.job:
                yield other, attempt
        running.append(attempt)
