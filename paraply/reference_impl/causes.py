"""Events that precede expected breaches of properties."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.reference_impl.applier.replica import RETRIES_MAX
from paraply.reference_impl.recorder import LOCK_WAIT_TIMEOUT
from paraply.reference_impl.subject import Cause
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import may_overlap
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

PLAIN, BLOCKING, USED = "plain", "blocking", "was used"
"""Notes of logged transactions, with a complete write set or unlocked early, and of refusals."""


def _crashes(history: History) -> bool:
    return EventKind.CRASHED in history.kinds


def _restarts(history: History) -> bool:
    starts = [event.member for event in history.events_of(EventKind.STARTED)]
    return bool({EventKind.CRASHED, EventKind.FAILED} & history.kinds) or len(set(starts)) < len(
        starts
    )


def _has_hole(history: History) -> bool:
    done: dict[str, set[int]] = {}
    for event in history.events_of(EventKind.ENGINE_COMMITTED, EventKind.VISIBLE):
        mine = done.setdefault(event.member, set())
        mine.add(event.transaction or 0)
        if len(mine) < max(mine) or event.kind is EventKind.VISIBLE:
            return True
    return False


def _loses_order(history: History) -> bool:
    """Return whether a server logs or refuses a number that is not above its domain's last.

    Or it begins a transaction before an earlier received one of the domain, or writes one of its
    own without all that others have written to the domain.
    """
    last: dict[tuple[str, str], int] = {}
    logged: dict[str, set[str]] = {}
    logged_here: dict[tuple[str, str], set[str]] = {}
    received: dict[tuple[str, str], dict[int | None, bool]] = {}
    # Each with whether it waits. What a second source sends again waits no more.
    sources: dict[str, set[str]] = {}
    for event in history.events:
        if event.kind is EventKind.STARTED:
            sources.setdefault(event.member, set()).update(event.members)
        # A start from one of several sources keeps what the others sent.
        has_several = event.kind is EventKind.STARTED and len(sources[event.member]) > 1
        if event.kind in (EventKind.CRASHED, EventKind.STARTED) and not has_several:
            received = {key: mine for key, mine in received.items() if key[0] != event.member}
        if event.gtid.count("-") != 2:
            continue
        domain, _, sequence = event.gtid.split("-")
        key = event.member, domain
        if event.kind is EventKind.DELIVERED:
            received.setdefault(key, {}).setdefault(event.transaction, True)
        elif event.kind in (EventKind.BEGUN, EventKind.SKIPPED):
            mine = received.setdefault(key, {})
            waiting = [one for one, waits in mine.items() if waits]
            if event.transaction in waiting[1:]:
                return True
            mine[event.transaction] = False
        elif event.kind in (EventKind.FLUSHED, EventKind.FAILED):
            if int(sequence) <= last.get(key, -1):
                return True
            last[key] = int(sequence)
        if event.kind is EventKind.FLUSHED:
            everywhere, here = logged.setdefault(domain, set()), logged_here.setdefault(key, set())
            if event.gtid not in everywhere and everywhere > here:
                return True
            everywhere.add(event.gtid)
            here.add(event.gtid)
    return False


def _has_barrier(history: History) -> bool:
    return any(one.is_barrier for one in history.transactions)


def _has_ddl(history: History) -> bool:
    return any(one.kind is TransactionKind.DDL for one in history.transactions)


def _has_wrong_stamp(history: History) -> bool:
    for event in history.events_of(EventKind.CERTIFIED):
        stamp = event.timestamp
        if stamp is None or event.transaction is None or not stamp.sequence_number:
            continue
        least = (
            stamp.sequence_number - 1 if history.transaction(event.transaction).is_barrier else 0
        )
        if not least <= stamp.last_committed < stamp.sequence_number:
            return True
    return False


def _has_used_up_retries(history: History) -> bool:
    undone: dict[tuple[str, int], int] = {}
    for event in history.events_of(EventKind.ROLLED_BACK, EventKind.FAILED):
        key = event.member, event.transaction or 0
        if event.kind is EventKind.FAILED and undone.get(key, 0) > RETRIES_MAX:
            return True
        undone[key] = undone.get(key, 0) + 1
    return False


def _has_failed_between_domains(history: History) -> bool:
    """Return whether a retry failed, beside which only another domain's transactions run."""
    retries_max = history.header.options.get("retries_max")
    return len({one.domain for one in history.transactions}) > 1 and any(
        isinstance(retries_max, int) and event.attempt > max(1, retries_max)
        for event in history.events_of(EventKind.FAILED)
    )


def _is_undone(event: Event) -> bool:
    return event.kind in (EventKind.ROLLED_BACK, EventKind.FAILED)


_UNDER_WAY = frozenset({EventKind.SCHEDULED, EventKind.BEGUN})
_RESTARTS = frozenset({EventKind.STARTED, EventKind.CRASHED})
_ONE_ORDER = "minimal"
"""Prefix of MariaDB's parallel modes in which all domains have one order."""
TRANSACTIONAL = "transactional"
"""Flag of a MariaDB GTID event: the group can be rolled back."""


def _with_under_way(history: History) -> Iterator[tuple[Event, set[TransactionId]]]:
    """Yield each event, and what its member has given to workers or begun and not committed."""
    under_way: dict[str, set[TransactionId]] = {}
    for event in history.events:
        mine = under_way.setdefault(event.member, set())
        if event.kind in _RESTARTS:
            mine.clear()
        yield event, mine
        if event.transaction is None:
            continue
        if event.kind in _UNDER_WAY:
            mine.add(event.transaction)
        elif event.kind is EventKind.ENGINE_COMMITTED:
            mine.discard(event.transaction)


def _beside(history: History) -> Iterator[tuple[Transaction, Transaction]]:
    """Yield each transaction under way when a later one of the log begins, and that.

    Those of one merged job are not beside each other.
    """
    for event, under_way in _with_under_way(history):
        one = event.transaction
        if event.kind is EventKind.BEGUN and one is not None:
            for earlier in sorted(under_way - set(event.transactions)):
                if earlier < one:
                    yield history.transaction(earlier), history.transaction(one)


def _overlaps_with_commit(history: History) -> bool:
    """Return whether all that is under way when the last transaction begins commits already."""
    committing: set[tuple[str, TransactionId | None]] = set()
    found = False
    for event, under_way in _with_under_way(history):
        if event.kind is EventKind.PREPARED:
            committing.add((event.member, event.transaction))
        elif event.kind in (EventKind.ROLLED_BACK, EventKind.STARTED):
            committing.discard((event.member, event.transaction))
        elif event.kind is EventKind.BEGUN and event.transaction is not None:
            domain = history.transaction(event.transaction).domain
            earlier = {one for one in under_way if one < event.transaction}
            if not history.header.dialect.startswith(_ONE_ORDER):
                earlier = {one for one in earlier if history.transaction(one).domain == domain}
            found = bool(earlier) and all((event.member, one) in committing for one in earlier)
    return found


def _begins_irreversibly(history: History) -> bool:
    return any(
        event.transaction is not None
        and TRANSACTIONAL not in history.transaction(event.transaction).flags
        and history.transaction(event.transaction).kind is TransactionKind.ROWS
        for event in history.events_of(EventKind.BEGUN)
    )


def _saves_amid(history: History) -> bool:
    return any(
        event.kind is EventKind.POSITION_SAVED and not under_way.isdisjoint(event.transactions)
        for event, under_way in _with_under_way(history)
    )


def _overlaps(history: History) -> bool:
    return next(_beside(history), None) is not None


def _overlaps_in_conflict(history: History) -> bool:
    return any(earlier.conflicts_with(later) for earlier, later in _beside(history))


def _overlaps_in_session(history: History) -> bool:
    return any(earlier.session == later.session for earlier, later in _beside(history))


def _collects(history: History) -> bool:
    return EventKind.GARBAGE_COLLECTED in history.kinds


def _finds_own_gtid(history: History) -> bool:
    """Return whether the GTID of a transaction that is tried again passes for used."""
    return any(
        event.attempt > 1 and event.outcome is Outcome.NEGATIVE and event.note.endswith(USED)
        for event in history.events_of(EventKind.CERTIFIED)
    )


def _certifies_gtid_twice(history: History) -> bool:
    seen: dict[tuple[str, str], TransactionId | None] = {}
    for event in history.events_of(EventKind.CERTIFIED):
        if event.outcome is Outcome.POSITIVE and event.gtid:
            first = seen.setdefault((event.member, event.gtid), event.transaction)
            if first != event.transaction:
                return True
    return False


def _logged_pairs(history: History) -> Iterator[tuple[Transaction, Transaction, bool]]:
    """Yield each two transactions of a source's file without common rows, in their order.

    And whether the earlier had committed when the later was logged.
    """
    logged: dict[str, list[TransactionId]] = {}
    committed: set[tuple[str, TransactionId | None]] = set()
    kinds = (EventKind.FLUSHED, EventKind.ENGINE_COMMITTED, EventKind.RELAY_ROTATED)
    for event in history.events_of(*kinds):
        mine = logged.setdefault(event.member, [])
        if event.kind is EventKind.RELAY_ROTATED:
            mine.clear()
        elif event.kind is EventKind.ENGINE_COMMITTED:
            committed.add((event.member, event.transaction))
        elif event.transaction is not None:
            later = history.transaction(event.transaction)
            for earlier in map(history.transaction, mine):
                if not earlier.conflicts_with(later):
                    yield earlier, later, (event.member, earlier.id) in committed
            mine.append(later.id)


def _commits_between(history: History) -> bool:
    is_blocking = any(event.note == BLOCKING for event in history.events_of(EventKind.FLUSHED))
    return is_blocking or any(is_committed for _, _, is_committed in _logged_pairs(history))


def _session_logs_two(history: History) -> bool:
    return any(earlier.session == later.session for earlier, later, _ in _logged_pairs(history))


def _forgets_writers(history: History) -> bool:
    size = history.header.options.get("history_size")
    items: set[object] = set()
    for event in history.events_of(EventKind.FLUSHED, EventKind.RELAY_ROTATED):
        if event.kind is EventKind.RELAY_ROTATED or event.note != PLAIN:
            return True
        if event.transaction is not None:
            written = history.transaction(event.transaction).write_set
            # The server counts items of the history twice, too.
            if isinstance(size, int) and len(items) + len(written) > size:
                return True
            items |= written
    return False


def _logs_beside(history: History) -> bool:
    logged: dict[str, set[TransactionId | None]] = {}
    for event in history.events_of(EventKind.FLUSHED, EventKind.ENGINE_COMMITTED):
        mine = logged.setdefault(event.member, set())
        if event.kind is EventKind.ENGINE_COMMITTED:
            mine.discard(event.transaction)
        elif mine:
            return True
        else:
            mine.add(event.transaction)
    return False


def _changes_view(history: History) -> bool:
    members = [event.member for event in history.events_of(EventKind.VIEW_INSTALLED)]
    return len(set(members)) < len(members)


def _overtaken(history: History) -> Iterator[tuple[Event, Event]]:
    """Yield what a member certified and has not committed, and what it certified later and did."""
    certified: dict[str, dict[TransactionId, Event]] = {}
    for event in history.events_of(EventKind.CERTIFIED, EventKind.ENGINE_COMMITTED):
        left, one = certified.setdefault(event.member, {}), event.transaction
        if one is None:
            continue
        if event.kind is EventKind.CERTIFIED:
            if event.outcome is Outcome.POSITIVE:
                left[one] = event
        elif one in left:
            earlier = [*left.values()][: [*left].index(one)]
            later = left.pop(one)
            yield from ((each, later) for each in earlier)


def _commits_reordered(history: History) -> bool:
    return next(_overtaken(history), None) is not None


def _overtakes_as_stamped(history: History) -> bool:
    for earlier, later in _overtaken(history):
        first, second = earlier.timestamp, later.timestamp
        if first is not None and second is not None and may_overlap(first, second):
            return True
    return False


def _stores_no_items(history: History) -> bool:
    threshold = history.header.options.get("preemptive_rows_threshold")
    return isinstance(threshold, int) and any(
        event.transaction is not None
        and len(history.transaction(event.transaction).write_set) >= max(1, threshold)
        for event in history.events_of(EventKind.CERTIFIED)
    )


def _stamped_with_next(history: History) -> bool:
    return any(
        one.timestamp is not None
        and not one.timestamp.is_view_change
        and one.timestamp.last_committed == one.timestamp.sequence_number
        for one in history.transactions
    )


def _number(gtid: str) -> tuple[str, int]:
    source, _, number = gtid.rpartition(":")
    return source, int(number) if number.isdigit() else 0


def _skips_number(history: History) -> bool:
    last: dict[tuple[str, str], int] = {}
    for event in history.events_of(EventKind.FLUSHED):
        source, number = _number(event.gtid)
        if number != last.get((event.member, source), 0) + 1:
            return True
        last[event.member, source] = number
    return False


def _logs_of_two(history: History) -> bool:
    return len({_number(event.gtid)[0] for event in history.events_of(EventKind.FLUSHED)}) > 1


def _starts_after_filtering(history: History) -> bool:
    filtered: set[str] = set()
    for event in history.events_of(EventKind.SKIPPED, EventKind.STARTED):
        if event.kind is EventKind.STARTED and event.member in filtered:
            return True
        if event.kind is EventKind.SKIPPED:
            filtered.add(event.member)
    return False


def _has_parts(history: History) -> bool:
    return any(len(one.write_set) > 1 for one in history.transactions)


def _waits_too_long(history: History) -> bool:
    return any(
        event.outcome is Outcome.ERROR and event.note == LOCK_WAIT_TIMEOUT
        for event in history.events_of(EventKind.ROW_APPLIED)
    )


CRASH = Cause("a server crashes", _crashes)
RESTART = Cause("a server crashes, fails, or is stopped and started again", _restarts)
HOLE = Cause("a transaction commits before an earlier one", _has_hole)
ORDER_LOST = Cause(
    "a sequence number is not above the last of its domain, a replica reorders a domain, or two "
    "servers write to it at once",
    _loses_order,
)
HOLE_OR_RESTART = Cause(
    "a transaction commits before an earlier one, or a server starts again",
    lambda history: _restarts(history) or _has_hole(history),
)
HOLE_OR_CRASH = Cause(
    "a transaction commits before an earlier one, or a server crashes",
    lambda history: _crashes(history) or _has_hole(history),
)
BARRIER = Cause("a transaction has no usable write set", _has_barrier)
RETRIES_USED_UP = Cause(
    "a transaction is undone more often than it may be tried again", _has_used_up_retries
)
UNDONE_BETWEEN_DOMAINS = Cause(
    "a transaction of another domain undoes the last retry", _has_failed_between_domains
)
WRONG_STAMP = Cause(
    "last_committed is not below sequence_number, or lets a barrier overlap", _has_wrong_stamp
)
DDL = Cause("the definition of a table changes", _has_ddl)
UNDONE = Cause("an attempt is undone", lambda history: any(map(_is_undone, history.events)))
OVERLAP = Cause("a transaction begins beside an earlier one", _overlaps)
OVERLAP_IN_CONFLICT = Cause(
    "a transaction begins beside an earlier one that writes one of its rows", _overlaps_in_conflict
)
OVERLAP_IN_SESSION = Cause(
    "a transaction begins beside an earlier one of its session", _overlaps_in_session
)
LOCK_WAIT_TIMED_OUT = Cause("a wait for a row times out", _waits_too_long)
SEVERAL_ROWS = Cause("a transaction changes several rows", _has_parts)
SAVED_AMID = Cause(
    "a saved position has a transaction that is given to a worker and not committed", _saves_amid
)
OVERLAP_WITH_COMMIT = Cause(
    "a transaction begins when all before it in its domain have started to commit",
    _overlaps_with_commit,
)
IRREVERSIBLE = Cause("a transaction begins that cannot be rolled back", _begins_irreversibly)
COLLECTION = Cause("a member forgets the writers that all have applied", _collects)
OWN_GTID_USED = Cause("a transaction is tried again, and its own GTID was used", _finds_own_gtid)
GTID_TWICE = Cause("a member certifies two transactions with one GTID", _certifies_gtid_twice)
COMMITTED_BETWEEN = Cause(
    "a transaction commits before another one is logged that it does not conflict with, or unlocks "
    "its rows before its commit",
    _commits_between,
)
SESSION_LOGS_TWO = Cause(
    "a session logs two transactions in one file that do not conflict", _session_logs_two
)
WRITERS_FORGOTTEN = Cause(
    "the source logs an incomplete write set or begins a file, or its history is full",
    _forgets_writers,
)
FORGOTTEN_OR_SESSION = Cause(
    f"{WRITERS_FORGOTTEN.meaning}, or {SESSION_LOGS_TWO.meaning}",
    lambda history: _forgets_writers(history) or _session_logs_two(history),
)
LOGGED_BESIDE = Cause(
    "a transaction is logged when another one is logged and not committed", _logs_beside
)
VIEW_CHANGED = Cause("the members of the group change", _changes_view)
COMMITS_REORDERED = Cause(
    "a member commits a transaction before one that it certified earlier", _commits_reordered
)
OVERTAKEN_AS_STAMPED = Cause(
    f"{COMMITS_REORDERED.meaning}, and their last_committed lets them overlap",
    _overtakes_as_stamped,
)
TOO_LARGE_TO_STORE = Cause(
    "a write set has as many items as start a preemptive collection", _stores_no_items
)
STAMPED_WITH_NEXT = Cause(
    "a transaction's last_committed is its own sequence_number", _stamped_with_next
)
NUMBER_SKIPPED = Cause("a server logs a number that is not its source's next", _skips_number)
SKIPPED_OR_OF_TWO = Cause(
    f"{NUMBER_SKIPPED.meaning}, or numbers of two sources are logged",
    lambda history: _skips_number(history) or _logs_of_two(history),
)
STARTED_AFTER_FILTERING = Cause(
    "a replica starts again after it has left a transaction out", _starts_after_filtering
)
