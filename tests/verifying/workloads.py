"""Transactions of the small shop, and appliers of our own with and without faults."""

from __future__ import annotations

from random import Random

from tests.verifying.small_logs import Row, Txn

ACCOUNTS = 10
START: dict[tuple[str, int], Row] = {
    ("account", number): (number, "ann", 1000 * number) for number in range(1, ACCOUNTS + 1)
}


def transfers(count: int, seed: int, *, width: int = 2) -> list[Txn]:
    """Transactions that each give ``width`` accounts a balance that never was before."""
    chance = Random(seed)
    found = []
    for number in range(1, count + 1):
        accounts = chance.sample(range(1, ACCOUNTS + 1), width)
        found.append(Txn({
            ("account", a): (a, "ann", 100_000 * number + a) for a in accounts
        }, name=number))  # fmt: skip
    return found


def merged(txns: list[Txn]) -> Txn:
    writes: dict[tuple[str, int], Row | None] = {}
    for txn in txns:
        writes |= txn.writes
    return Txn(writes, tuple(note for txn in txns for note in txn.notes))


def batches(txns: list[Txn], size: int) -> list[Txn]:
    return [merged(txns[at : at + size]) for at in range(0, len(txns), size)]


def conflict(one: Txn, other: Txn) -> bool:
    return bool(one.writes.keys() & other.writes.keys())


def dependency_order(txns: list[Txn], threads: int, seed: int) -> list[Txn]:
    """A parallel applier that waits for transactions with common rows, and commits as it likes."""
    chance = Random(seed)
    waiting, done = list(txns), []
    while waiting:
        window = waiting[:threads]
        free = [
            txn for at, txn in enumerate(window)
            if not any(conflict(txn, earlier) for earlier in window[:at])
        ]  # fmt: skip
        chosen = chance.choice(free)
        waiting.remove(chosen)
        done.append(chosen)
    return done


def by_key(txns: list[Txn], workers: int, seed: int) -> list[Txn]:
    """Each worker takes the rows of its accounts and commits row by row."""
    chance = Random(seed)
    queues: list[list[Txn]] = [[] for _ in range(workers)]
    for txn in txns:
        for key, row in txn.writes.items():
            queues[key[1] % workers].append(Txn({key: row}))
    done = []
    while any(queues):
        queue = chance.choice([queue for queue in queues if queue])
        done.append(queue.pop(0))
    return done


def split(txns: list[Txn]) -> list[Txn]:
    return [Txn({key: row}) for txn in txns for key, row in txn.writes.items()]


def inverted(txns: list[Txn], seed: int) -> list[Txn]:
    """One pair of transactions with a common row in the wrong order."""
    chance = Random(seed)
    pairs = [
        (at, later) for at, txn in enumerate(txns) for later in range(at + 1, len(txns))
        if conflict(txn, txns[later])
        and not any(conflict(between, txns[later]) for between in txns[at + 1 : later])
    ]  # fmt: skip
    at, later = chance.choice(pairs)
    return [*txns[:at], txns[later], *txns[at:later], *txns[later + 1 :]]


def still_written_later(txns: list[Txn], at: int) -> bool:
    """Whether all rows of a transaction are written again after it."""
    later = {key for txn in txns[at + 1 :] for key in txn.writes}
    return txns[at].writes.keys() <= later
