"""Reads of sets and counters: each shows a whole object, without an order of versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from paraply.vocabulary.client_history import (
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
    Key,
)


class WholeRead(NamedTuple):
    """A committed transaction's read of a set or counter."""

    reader: ClientTransaction
    key: Key
    value: Any
    """A tuple of elements, or a number."""
    own: tuple[Any, ...]
    """What the reader itself had written to the key before."""

    @property
    def where(self) -> str:
        """Return the reader, with its server if recorded."""
        node = self.reader.node
        return f"{self.reader.name} at {node}" if node else self.reader.name


def whole_reads(history: ClientHistory) -> Iterator[WholeRead]:
    """Yield the reads of committed transactions in order of invocation."""
    for one in history.transactions:
        if one.ending is not Ending.COMMITTED:
            continue
        own: dict[Key, tuple[Any, ...]] = {}
        for kind, key, value in one.accesses:
            if kind is AccessKind.READ:
                yield WholeRead(one, key, value, own.get(key, ()))
            else:
                own[key] = (*own.get(key, ()), value)


def final_reads(history: ClientHistory) -> dict[Key, dict[str, WholeRead]]:
    """Return, by key and server, the last read invoked after all confirmed writes had ended.

    A key without such a read has those after its own confirmed writes. So a server that was lost in
    between has no final read, if others have one.
    """
    if not history.has_times:
        return {}
    ended: dict[Key, int] = {}
    for one in history.transactions:
        if one.ending is Ending.COMMITTED:
            for _, key, _ in one.writes:
                ended[key] = max(ended.get(key, 0), one.completed)
    end = max(ended.values(), default=0)
    of_all: dict[Key, dict[str, WholeRead]] = {}
    of_key: dict[Key, dict[str, WholeRead]] = {}
    for read in whole_reads(history):
        if read.key not in ended:
            continue
        if read.reader.invoked > end:
            of_all.setdefault(read.key, {})[read.reader.node] = read
        elif read.reader.invoked > ended[read.key]:
            of_key.setdefault(read.key, {})[read.reader.node] = read
    return {**of_key, **of_all}


def content(history: ClientHistory, value: Any) -> Counter[Any]:
    """Return what a value contains: elements, or a count of increments."""
    if history.data_type is DataType.COUNTER:
        return Counter({"": value or 0})
    return Counter(value or ())
