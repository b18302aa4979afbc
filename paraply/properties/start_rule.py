"""The judges' start rule of LOGICAL_CLOCK; the compiled judges restate it.

The vocabulary has its own (:func:`paraply.vocabulary.timestamps.waits_for`), which the reference
and the reports use, so a fault in one does not hide in both.
"""

from __future__ import annotations


def must_wait(last_committed: int, sequence_number: int) -> bool:
    """Return whether the transaction with ``sequence_number`` must commit before the other starts.

    Both belong to one clock run.
    """
    return sequence_number <= last_committed
