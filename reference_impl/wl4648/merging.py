"""C4: small transactions are combined into one job as they are read."""

from __future__ import annotations

from collections.abc import Sequence

SMALL_ROWS = 4
"""A transaction of more row events than this is no small one, and stays a job of its own."""


def is_full(sizes: Sequence[int], size: int, *, is_alone: bool, merged: int) -> bool:
    """Return whether a job takes no further transaction.

    Args:
        sizes: row events of each transaction in the job.
        size: row events of the next transaction of the log.
        is_alone: whether one of the two must not be merged, whatever its size.
        merged: transactions of a job, at most.
    """
    return is_alone or len(sizes) >= merged or max(*sizes, size) > SMALL_ROWS
