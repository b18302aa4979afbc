"""Which transactions of a batch a selection judges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled.batch import Batch
from paraply.auditing.selection import Selector


def stretches(selector: Selector, batch: Batch) -> Iterator[tuple[int, int, bool]]:
    """Yield in order where a stretch begins and ends, and whether to judge it.

    After each the selector is as after its last transaction.
    """
    at = 0
    for end in _ends_in(selector, batch):
        yield from _between(selector, batch, at, end)
        (txn,) = batch.headers((end,))
        yield end, end + 1, selector.takes(txn)
        at = end + 1
    yield from _between(selector, batch, at, len(batch))


def _ends_in(selector: Selector, batch: Batch) -> list[int]:
    """Return the transactions with which streams may begin or end."""
    numbers, found = batch.origins[:, -1], set[int]()
    for gtid in selector.ends():
        number = int(gtid.replace("-", ":").rpartition(":")[2])
        if number < 1 << 63:
            same = np.flatnonzero(numbers == number).tolist()
            found.update(index for index in same if batch.gtid(index) == gtid)
    return sorted(found)


def _between(
    selector: Selector, batch: Batch, first: int, end: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield stretches without such a transaction."""
    if first == end:
        return
    domains = batch.domain[first:end]
    named = batch.is_named[first:end]
    taken = np.zeros(end - first, np.bool_)
    for domain in np.unique(domains).tolist():
        mine = domains == domain
        taken[mine] = selector.takes_all(
            None if domain < 0 else domain, batch.file, *_gtids(batch, first, mine & named),
            int(mine.sum()),
        )  # fmt: skip
    selector.note_taken(*_gtids(batch, first, taken & named))
    borders = [0, *(np.flatnonzero(np.diff(taken)) + 1).tolist(), end - first]
    for begin, stop in pairwise(borders):
        yield first + begin, first + stop, bool(taken[begin])


def _gtids(batch: Batch, first: int, chosen: NDArray[np.bool_]) -> tuple[str, str]:
    """Return the first and the last GTID of chosen transactions."""
    at = first + np.flatnonzero(chosen)
    return (batch.gtid(int(at[0])), batch.gtid(int(at[-1]))) if len(at) else ("", "")
