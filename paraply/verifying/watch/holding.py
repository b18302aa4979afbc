"""Explains lag: what holds a replica back now.

Sources: the oldest transaction that has not come, those after it, ``performance_schema`` (MySQL)
and the process list (MariaDB) of the target, where the account may read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from paraply.adapters.binlog.live_events import SentTransaction
from paraply.adapters.servers.binlog_stream import EventStream
from paraply.verifying.watch.comparing import keys_of, unkeyed_tables
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.timestamps import waits_for

_TEXT_MAX = 100
_MYSQL_WORKERS = """\
SELECT w.APPLYING_TRANSACTION, t.PROCESSLIST_STATE, w.LAST_ERROR_MESSAGE
FROM performance_schema.replication_applier_status_by_worker w
LEFT JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID
WHERE w.APPLYING_TRANSACTION <> '' OR w.LAST_ERROR_MESSAGE <> ''"""
_MARIADB_WORKERS = """\
SELECT '', STATE, '' FROM information_schema.PROCESSLIST
WHERE COMMAND IN ('Slave_worker', 'Slave_SQL') AND STATE <> ''"""
_AT_REST = ("waiting for work", "has read all relay log", "waiting for an event")
_ORDER = ("prior transaction to commit", "preceding transaction", "commit ticket", "commit order")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """An applier thread at work."""

    gtid: str
    state: str
    error: str


def workers_of(target: EventStream) -> list[Worker]:
    """Return the applier threads at work; none where they cannot be read."""
    try:
        rows = target.query(_MARIADB_WORKERS if target.is_mariadb() else _MYSQL_WORKERS)
    except ParaplyError:
        return []
    found = [
        Worker(gtid=str(gtid or ""), state=str(state or ""), error=str(error or ""))
        for gtid, state, error in rows
    ]
    return [
        each
        for each in found
        if each.error or not any(word in each.state.lower() for word in _AT_REST)
    ]


def described(sent: SentTransaction) -> str:
    """Return what a transaction does, in a few words."""
    transaction = sent.transaction
    if transaction.rows:
        tables = Counter(row.table for row in transaction.rows).most_common(3)
        return ", ".join(f"{counted(rows, 'row')} of {table}" for table, rows in tables)
    if transaction.statements:
        text = " ".join(transaction.statements[0].split())
        return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"
    return transaction.kind.value


def behind_it(oldest: SentTransaction, following: Sequence[SentTransaction]) -> str:
    """Return how many of the next transactions have to wait for the oldest, and why."""
    fenced = common = 0
    is_exact = True
    first = ""
    mine, unkeyed = keys_of(oldest), unkeyed_tables(oldest)
    for sent in following:
        fenced += _is_fenced(oldest.transaction, sent.transaction)
        shared = mine & keys_of(sent)
        common += bool(shared)
        # Whole rows stand for unknown keys: a row that is changed twice is not always recognised.
        is_exact &= not (unkeyed & {row.table for row in sent.transaction.rows})
        if shared and not first:
            first = f" (first {sent.transaction.gtid}: {_row(min(shared, key=repr))})"
    if not fenced and not common:
        return ""
    text = f"of the next {len(following)}, {fenced} may not start before it by the source's "
    text += "commit groups" if oldest.transaction.domain is not None else "timestamps"
    if not common:
        return text + (", none shares a row" if is_exact else "")
    return f"{text}, {'' if is_exact else 'at least '}{common} share a row with it{first}"


def _is_fenced(earlier: LoggedTransaction, later: LoggedTransaction) -> bool:
    if earlier.domain is not None:
        is_group = earlier.commit_id is not None and earlier.commit_id == later.commit_id
        return earlier.domain == later.domain and not is_group
    if later.start.file != earlier.start.file:
        return True
    if later.last_committed is None or earlier.sequence_number is None:
        return False
    return waits_for(later.last_committed, earlier.sequence_number)


def _row(key: Hashable) -> str:
    assert isinstance(key, tuple)
    table, *values = key
    text = f"{table} ({', '.join(map(str, values))})"
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"


def held_by(
    oldest: SentTransaction | None, following: Sequence[SentTransaction], workers: list[Worker]
) -> str:
    """Return what holds the target back, or an empty text."""
    errors = [worker.error for worker in workers if worker.error]
    if errors:
        return f"the applier stopped: {errors[0][:_TEXT_MAX]}"
    if oldest is None:
        return ""
    text = f"{oldest.transaction.gtid}: {described(oldest)}"
    in_order = sum(any(word in w.state.lower() for word in _ORDER) for w in workers)
    if in_order:
        text += f"; {counted(in_order, 'worker waits', 'workers wait')} for their turn to commit"
    states = Counter(
        w.state for w in workers if w.state and not any(o in w.state.lower() for o in _ORDER)
    )
    if states:
        state, number = states.most_common(1)[0]
        text += f"; {counted(number, 'worker')}: {state}"
    after = behind_it(oldest, following)
    return f"{text}; {after}" if after else text
