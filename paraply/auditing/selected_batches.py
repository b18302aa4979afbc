"""Which transactions of a batch a selection judges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from paraply.adapters.binlog.compiled.batch import Batch
from paraply.auditing.selection import Selector


def stretches(selector: Selector, batch: Batch) -> Iterator[tuple[int, int, bool]]:
    """Yield in order where a stretch begins and ends, and whether to judge it.

    After each the selector is as after its last transaction.
    """
    at = 0
    for end in batch.with_gtids(selector.ends()):
        yield from _between(selector, batch, at, end)
        (txn,) = batch.headers((end,))
        yield end, end + 1, selector.takes(txn)
        at = end + 1
    yield from _between(selector, batch, at, len(batch))


def _between(
    selector: Selector, batch: Batch, first: int, end: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield stretches in which no stream begins or ends."""
    domains = batch.domain[first:end].tolist()
    members: dict[int, list[int]] = {}
    for index, domain in enumerate(domains, start=first):
        members.setdefault(domain, []).append(index)
    taken = {
        domain: selector.takes_all(
            None if domain < 0 else domain, batch.file, *batch.gtids(mine), len(mine)
        )
        for domain, mine in members.items()
    }
    chosen = [index for index, domain in enumerate(domains, start=first) if taken[domain]]
    selector.note_taken(*batch.gtids(chosen))
    at = first
    for is_taken, run in groupby(map(taken.__getitem__, domains)):
        before, at = at, at + sum(1 for _ in run)
        yield before, at, is_taken
