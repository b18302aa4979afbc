"""Hand-made observations: a source's log, and what one replica showed."""

from __future__ import annotations

from paraply.adapters.live.observed import Final, Member, Snapshot
from paraply.adapters.live.source_log import Keys, source_log
from paraply.adapters.live.translation import Run, history_of
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, LogPosition, Operation, RowChange

STATEMENTS = (
    "CREATE TABLE live0.account (id INT PRIMARY KEY, v BIGINT, w BIGINT)",
    "CREATE TABLE live0.chain (id INT PRIMARY KEY, v BIGINT, w BIGINT)",
    "CREATE TABLE live0.journal (w BIGINT PRIMARY KEY)",
)
RUN = Run(subject="hand-made", dialect="mariadb_10_11", seed=0, options={})
BYTES = 100
"""Every transaction takes so many bytes of a log."""


def change(table, before, after):
    operation = (
        Operation.INSERT if before is None else Operation.DELETE if after is None
        else Operation.UPDATE
    )  # fmt: skip
    return RowChange(
        table=f"live0.{table}",
        operation=operation,
        before=before,
        after=after,
        position=LogPosition(file="bin.000001", offset=4),
    )


def logged(number, *changes, place=None, domain=0, kind=LoggedKind.ROWS, gtid=""):
    """Return transaction ``number``, with tag 100 + number, at a place of a log (from 1)."""
    place = number if place is None else place
    rows = [*changes]
    if kind is LoggedKind.ROWS:
        rows.append(change("journal", None, (100 + number,)))
    return LoggedTransaction(
        ordinal=number,
        kind=kind,
        start=LogPosition(file="bin.000001", offset=place * BYTES),
        end_offset=(place + 1) * BYTES,
        gtid=gtid or f"{domain}-1-{number}",
        domain=domain,
        flags=frozenset({"transactional", "allow_parallel"}),
        rows=rows,
    )


def update(number, row, **fields):
    """Return a transaction that updates one row of ``account``."""
    return logged(number, change("account", (row, 0, 0), (row, 1, 100 + number)), **fields)


def snapshot(place, accounts, *, chain=(), session="reader", position=""):
    """Return what a reader saw after ``place`` transactions: row id and number of its writer."""
    return Snapshot(
        session=session,
        rows={
            "live0.account": [(row, 1, 100 + one if one else 0) for row, one in accounts.items()],
            "live0.chain": [(row, 0, 100 + one) for row, one in chain],
        },
        file="bin.000001",
        offset=(place + 1) * BYTES,
        gtid_position=position,
    )


def final(count, accounts, *, chain=(), differing=(), missing=()):
    """Return a replica at rest with all of ``count`` transactions but those missing."""
    return Final(
        snapshot=snapshot(count, accounts, chain=chain, session="final"),
        tags=frozenset(100 + one for one in range(1, count + 1) if one not in missing),
        gtid_position=f"0-1-{count}",
        differing=frozenset(differing),
        compared=("live0.account",),
    )


def told(source, replica, **member_fields):
    """Return the history of a source's log and a replica's."""
    keys = Keys(STATEMENTS)
    log = source_log(source, keys)
    member = Member(name="replica1", log=replica, **member_fields)
    return history_of(RUN, log, [member], keys).check()
