"""An OLTP mix as arrays.

It imitates sysbench's ``oltp_read_write``, transfers between accounts, range updates of ten rows,
and changes of a unique e-mail address. Each before-image is the row's last after-image. A seeded
generator makes blocks of transactions without loops per row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

SBTEST_TABLES = 4
SBTEST_ROWS = 10_000
ACCOUNTS = 20_000
TEXTS = 4_096
"""More random text is expensive."""
RANGE_ROWS = 10
HISTORY_SIZE = 25_000
"""``binlog_transaction_dependency_history_size``."""
GROUP_MAX = 16


class Kind(IntEnum):
    """The transaction templates of the mix."""

    OLTP = 0
    TRANSFER = 1
    RANGE = 2
    EMAIL = 3


SHARES = (0.60, 0.25, 0.10, 0.05)
SBTEST_OPERATIONS = {Kind.OLTP: 4, Kind.RANGE: RANGE_ROWS}
ACCOUNT_OPERATIONS = {Kind.TRANSFER: 2, Kind.EMAIL: 1}


@dataclass(slots=True)
class State:
    """The rows between two blocks."""

    k: Ints
    c: Ints
    pad: Ints
    balance: Ints
    """In hundredths."""
    email: Ints
    updated: Ints
    """In microseconds since 1970."""
    row_writer: Ints
    """Last writer's number; sbtest rows, then accounts."""
    email_next: int
    ledger_next: int = 1
    keys_written: int = 0
    history_floor: int = 0
    history_block: int = 0

    @classmethod
    def initial(cls, rng: np.random.Generator, now_us: int) -> State:
        """Return the log's first rows."""
        rows = SBTEST_TABLES * SBTEST_ROWS
        return cls(
            k=rng.integers(1, SBTEST_ROWS, rows),
            c=rng.integers(0, TEXTS, rows),
            pad=rng.integers(0, TEXTS, rows),
            balance=np.full(ACCOUNTS, 500_000_00, np.int64),
            email=np.arange(ACCOUNTS, dtype=np.int64),
            updated=np.full(ACCOUNTS, now_us, np.int64),
            row_writer=np.zeros(rows + ACCOUNTS, np.int64),
            email_next=ACCOUNTS,
        )


@dataclass(slots=True)
class Block:
    """Transactions in log order; matrices per kind."""

    kinds: Ints
    tables: Ints
    """0 without an sbtest table."""
    committed_us: Ints
    last_committed: Ints
    grouped: NDArray[np.bool_]
    commit_ids: Ints
    fields: dict[Kind, dict[str, Ints]] = field(default_factory=dict)


def _spread(rng: np.random.Generator, size: tuple[int, ...], rows: int) -> Ints:
    uniform = rng.integers(0, rows, size)
    hot = rng.integers(0, max(1, rows // 100), size)
    return np.where(rng.random(size) < 0.1, hot, uniform)


def _fill_forward(values: Ints, is_set: NDArray[np.bool_], first: NDArray[np.bool_]) -> Ints:
    source = np.where(is_set | first, np.arange(len(values)), 0)
    return values[np.maximum.accumulate(source)]


@dataclass(slots=True)
class _Chain:
    order: Ints
    """After ``prepend``."""
    first: NDArray[np.bool_]
    rows: Ints
    """Distinct and ascending."""
    count: int

    @classmethod
    def of(cls, row_of_operation: Ints) -> _Chain:
        rows = np.unique(row_of_operation)
        joined = np.concatenate([rows, row_of_operation])
        order = np.argsort(joined, kind="stable")
        sorted_rows = joined[order]
        first = np.ones(len(joined), np.bool_)
        first[1:] = sorted_rows[1:] != sorted_rows[:-1]
        return cls(order, first, rows, len(row_of_operation))

    def _lead(self, state: Ints, values: Ints) -> Ints:
        return np.concatenate([state[self.rows], values])[self.order]

    def _split(self, after: Ints, state: Ints) -> tuple[Ints, Ints]:
        before_sorted = np.concatenate([after[:1], after[:-1]])
        before = np.empty_like(after)
        before[self.order] = before_sorted
        unsorted_after = np.empty_like(after)
        unsorted_after[self.order] = after
        last = np.append(self.first[1:], True)
        state[self.rows] = after[last]
        skip = len(self.rows)
        return before[skip:], unsorted_after[skip:]

    def assign(self, state: Ints, values: Ints, is_set: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        led = self._lead(state, values)
        set_sorted = np.concatenate([np.ones(len(self.rows), np.bool_), is_set])[self.order]
        return self._split(_fill_forward(led, set_sorted, self.first), state)

    def add(self, state: Ints, deltas: Ints) -> tuple[Ints, Ints]:
        led = self._lead(state, deltas)
        total = np.cumsum(led)
        base = np.where(self.first, np.concatenate([[0], total[:-1]]), 0)
        starts = np.maximum.accumulate(np.where(self.first, np.arange(len(led)), 0))
        return self._split(total - base[starts], state)


def _depend(state: State, rows: Ints, transactions: Ints, count: int, first_number: int) -> Ints:
    chain = _Chain.of(rows)
    numbers = transactions + first_number
    previous, _ = chain.assign(state.row_writer, numbers, np.ones(len(rows), np.bool_))
    previous = np.where(previous == numbers, 0, previous)
    result = np.zeros(count, np.int64)
    np.maximum.at(result, transactions, previous)
    return result


def _forget(state: State, keys_of: Ints, depends_on: Ints, first_number: int) -> Ints:
    written = state.keys_written + np.cumsum(keys_of)
    block_of = np.concatenate([[state.history_block], written // HISTORY_SIZE])
    numbers = first_number + np.arange(len(keys_of))
    # The next history begins with the transaction that overflows this one.
    floors = np.where(block_of[1:] != block_of[:-1], numbers - 1, state.history_floor)
    floors = np.maximum.accumulate(floors)
    state.keys_written = int(written[-1])
    state.history_block = int(block_of[-1])
    state.history_floor = int(floors[-1])
    return np.maximum(depends_on, floors)


def _group(
    rng: np.random.Generator, depends_on: Ints, first_number: int
) -> tuple[NDArray[np.bool_], Ints]:
    limits = rng.geometric(0.25, len(depends_on)).clip(1, GROUP_MAX).tolist()
    starts: list[int] = []
    start, limit = 0, limits[0]
    for index, waits_for in enumerate((depends_on - first_number).tolist()):
        if waits_for >= start or index - start >= limit:
            start, limit = index, limits[index]
        starts.append(start)
    start_of = np.array(starts, np.int64)
    sizes = np.bincount(start_of, minlength=len(starts))
    return sizes[start_of] > 1, start_of + first_number


Fields = dict[Kind, dict[str, Ints]]


def _in_log_order(owner: Ints, *arrays: Ints, slot: Ints | None = None) -> tuple[Ints, ...]:
    order = np.lexsort((np.zeros_like(owner) if slot is None else slot, owner))
    return owner[order], *(array[order] for array in arrays)


def _change_sbtest(
    rng: np.random.Generator, state: State, of_kind: dict[Kind, Ints], tables: Ints, fields: Fields
) -> tuple[Ints, Ints]:
    oltp, wide = of_kind[Kind.OLTP], of_kind[Kind.RANGE]
    picked = _spread(rng, (len(oltp), 3), SBTEST_ROWS)
    begin = rng.integers(0, SBTEST_ROWS - RANGE_ROWS, len(wide))
    # Updates of k and of c, then a row is deleted and inserted again.
    single = picked[:, [0, 1, 2, 2]] + (tables[oltp] * SBTEST_ROWS)[:, None]
    ranges = (begin + tables[wide] * SBTEST_ROWS)[:, None] + np.arange(RANGE_ROWS)
    slots = np.concatenate(
        [np.tile(np.arange(4), len(oltp)), np.tile(np.arange(RANGE_ROWS), len(wide))]
    )
    owner, rows, slot, of_range = _in_log_order(
        np.concatenate([np.repeat(oltp, 4), np.repeat(wide, RANGE_ROWS)]),
        np.concatenate([single.ravel(), ranges.ravel()]),
        slots,
        (np.arange(single.size + ranges.size) >= single.size).astype(np.int64),
        slot=slots,
    )
    is_oltp = of_range == 0
    inserts = is_oltp & (slot == 3)
    chain = _Chain.of(rows)
    new_k = rng.integers(1, SBTEST_ROWS, len(rows))
    new_c, new_pad = rng.integers(0, TEXTS, (2, len(rows)))
    images = {
        "k": chain.assign(state.k, new_k, ~is_oltp | (slot == 0) | inserts),
        "c": chain.assign(state.c, new_c, (is_oltp & (slot == 1)) | inserts),
        "pad": chain.assign(state.pad, new_pad, inserts),
    }
    for kind, width in SBTEST_OPERATIONS.items():
        mine = is_oltp if kind is Kind.OLTP else ~is_oltp
        fields[kind]["id"] = (rows[mine] % SBTEST_ROWS + 1).reshape(-1, width)
        _keep(fields[kind], images, mine, width)
    return rows, owner


def _change_accounts(
    rng: np.random.Generator,
    state: State,
    of_kind: dict[Kind, Ints],
    committed_us: Ints,
    fields: Fields,
) -> tuple[Ints, Ints]:
    transfer, email = of_kind[Kind.TRANSFER], of_kind[Kind.EMAIL]
    payer = _spread(rng, (len(transfer),), ACCOUNTS)
    payee = (payer + 1 + rng.integers(0, ACCOUNTS - 1, len(transfer))) % ACCOUNTS
    amount = rng.integers(1, 10_00, len(transfer))
    of_email = np.repeat([0, 1], [2 * len(transfer), len(email)])
    owner, accounts, deltas, renames = _in_log_order(
        np.concatenate([np.repeat(transfer, 2), email]),
        np.concatenate(
            [np.stack([payer, payee], axis=1).ravel(), _spread(rng, (len(email),), ACCOUNTS)]
        ),
        np.concatenate(
            [np.stack([-amount, amount], axis=1).ravel(), np.zeros(len(email), np.int64)]
        ),
        of_email,
    )
    is_email = renames == 1
    emails = np.where(is_email, state.email_next + np.cumsum(is_email) - 1, 0)
    state.email_next += len(email)
    every = np.ones(len(accounts), np.bool_)
    chain = _Chain.of(accounts)
    images = {
        "balance": chain.add(state.balance, deltas),
        "email": chain.assign(state.email, emails, is_email),
        "updated": chain.assign(state.updated, committed_us[owner], every),
    }
    for kind, width in ACCOUNT_OPERATIONS.items():
        mine = is_email if kind is Kind.EMAIL else ~is_email
        fields[kind]["account"] = (accounts[mine] + 1).reshape(-1, width)
        _keep(fields[kind], images, mine, width)
    ledger = state.ledger_next + np.arange(2 * len(transfer))
    state.ledger_next += 2 * len(transfer)
    fields[Kind.TRANSFER]["ledger"] = ledger.reshape(-1, 2)
    fields[Kind.TRANSFER]["amount"] = np.stack([amount, amount], axis=1)
    return accounts + SBTEST_TABLES * SBTEST_ROWS, owner


def _keep(
    fields: dict[str, Ints],
    images: dict[str, tuple[Ints, Ints]],
    mine: NDArray[np.bool_],
    width: int,
) -> None:
    for name, (before, after) in images.items():
        fields[f"{name}_before"] = before[mine].reshape(-1, width)
        fields[f"{name}_after"] = after[mine].reshape(-1, width)


def make_block(
    rng: np.random.Generator, state: State, count: int, first_number: int, start_us: int
) -> Block:
    """Return ``count`` transactions, and advance ``state``.

    Dependencies are exact within the tracker's history. A commit group has one writer per row, as
    with row locks.
    """
    kinds = rng.choice(len(SHARES), count, p=SHARES).astype(np.int64)
    tables = rng.integers(0, SBTEST_TABLES, count)
    committed_us = start_us + np.cumsum(rng.integers(100, 900, count))
    of_kind = {kind: np.flatnonzero(kinds == kind) for kind in Kind}
    fields: Fields = {kind: {} for kind in Kind}
    sbtest_rows, sbtest_owner = _change_sbtest(rng, state, of_kind, tables, fields)
    account_rows, account_owner = _change_accounts(rng, state, of_kind, committed_us, fields)
    owner, rows = _in_log_order(
        np.concatenate([sbtest_owner, account_owner]),
        np.concatenate([sbtest_rows, account_rows]),
    )
    depends_on = _depend(state, rows, owner, count, first_number)
    grouped, commit_ids = _group(rng, depends_on, first_number)
    keys_of = np.bincount(owner, minlength=count)
    return Block(
        kinds=kinds,
        tables=tables,
        committed_us=committed_us,
        last_committed=_forget(state, keys_of, depends_on, first_number),
        grouped=grouped,
        commit_ids=commit_ids,
        fields=fields,
    )
