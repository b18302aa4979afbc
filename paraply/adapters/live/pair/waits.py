"""Collect the waits on a stalled replica.

It queries session lists, because the replica's status may block on the applier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paraply.adapters.servers.replication import executed_position
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_set import GtidSet
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set

if TYPE_CHECKING:
    from paraply.adapters.servers.reachable import Reachable

_APPLIER = "system user"
_HAS_NOTHING = (
    "Replica has read all relay log; waiting for more updates",
    "Slave has read all relay log; waiting for more updates",
    "Waiting for an event from Coordinator",
    "Waiting for master to send event",
    "Waiting for source to send event",
    "Waiting for work from SQL thread",
)
_TURN = "Waiting for preceding transaction to commit"
_GTIDS = (
    "SELECT t.processlist_id, e.gtid FROM performance_schema.threads t"
    " JOIN performance_schema.events_transactions_current e USING (thread_id)"
    " WHERE t.processlist_id IS NOT NULL AND e.gtid LIKE '%-%:%'"
)
_ROWS = (
    "SELECT r.processlist_id, b.processlist_id FROM performance_schema.data_lock_waits w"
    " JOIN performance_schema.threads r ON r.thread_id = w.requesting_thread_id"
    " JOIN performance_schema.threads b ON b.thread_id = w.blocking_thread_id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """A session of the applier."""

    session: int
    state: str
    gtid: str = ""
    """Empty if unreported."""
    rows_of: tuple[int, ...] = ()
    """Sessions that lock rows it requires."""


def waits_on(replica: Reachable) -> str:
    """Return an applier's waits, or why they are unavailable."""
    try:
        sessions = {
            # Columns: id, user, host, database, command, seconds, state, statement.
            int(row[0]): str(row[6] or "")
            for row in replica.query("SHOW PROCESSLIST")
            if row[1] == _APPLIER and row[6] not in _HAS_NOTHING
        }
        gtids: dict[int, str] = {}
        rows: dict[int, list[int]] = {}
        if not replica.is_mariadb:
            gtids = {int(session): str(gtid) for session, gtid in replica.query(_GTIDS)}
            for session, other in replica.query(_ROWS):
                rows.setdefault(int(session), []).append(int(other))
        # Queried last, so that it includes concurrent commits.
        executed = executed_position(replica)
    except ParaplyError as reason:
        return f"what it waits for could not be asked ({reason.text})"
    return told_waits(
        [
            Waiter(
                session=session,
                state=state,
                gtid=gtids.get(session, ""),
                rows_of=tuple(sorted(set(rows.get(session, ())))),
            )
            for session, state in sessions.items()
        ],
        executed,
    )


def told_waits(waiters: Sequence[Waiter], executed: str) -> str:
    """Return the waits as text, the earliest transaction first.

    >>> told_waits([Waiter(session=7, state="Waiting for prior transaction to commit")], "0-1-5")
    "session 7 is at 'Waiting for prior transaction to commit'"
    """
    lines = []
    orphans = _had_by_none(waiters, executed)
    if orphans:
        lines.append(f"no worker has {orphans.format(', ')}, which others wait for")
    together: dict[tuple[str, tuple[int, ...]], list[Waiter]] = {}
    for one in sorted(waiters, key=_place):
        together.setdefault((one.state, one.rows_of), []).append(one)
    for (state, rows_of), own in together.items():
        who = ", ".join(f"{one.session} ({one.gtid})" if one.gtid else str(one.session)
                        for one in own)  # fmt: skip
        are = "session {} is" if len(own) == 1 else "sessions {} are"
        behind = f", for a row of {' and '.join(map(str, rows_of))}" if rows_of else ""
        lines.append(f"{are.format(who)} at '{state}'{behind}")
    text = "; ".join(lines) or "no session of its applier has anything to do"
    for uuid in {parse_gtid(one.gtid).source.uuid for one in waiters if one.gtid}:
        head, first, tail = text.partition(uuid)
        text = head + first + tail.replace(f"{uuid}:", ":")
    return text


def _place(one: Waiter) -> tuple[bool, int, int]:
    return (not one.gtid, parse_gtid(one.gtid).number if one.gtid else 0, one.session)


def _had_by_none(waiters: Sequence[Waiter], executed: str) -> GtidSet:
    """Awaited transactions that no session has: endless waits."""
    held = GtidSet.of(parse_gtid(one.gtid) for one in waiters if one.gtid)
    turns = [parse_gtid(one.gtid) for one in waiters if one.gtid and one.state == _TURN]
    first = min(turns, key=lambda gtid: gtid.number, default=None)
    if first is None or first.number == 1:
        return GtidSet()
    *source, _ = str(first).split(":")
    before = parse_gtid_set(":".join([*source, f"1-{first.number - 1}"]))
    return before - parse_gtid_set(executed) - held
