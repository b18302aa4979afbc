"""A client history without the reads of transactions that write.

InnoDB promises one snapshot to plain reads. Writing statements see the latest rows.
"""

from __future__ import annotations

from dataclasses import replace

from paraply.vocabulary.client_history import ClientHistory


def readers_alone(history: ClientHistory) -> ClientHistory:
    """Return the history with the reads of read-only transactions alone."""
    return replace(
        history,
        transactions=tuple(
            one._replace(accesses=one.writes) if one.writes else one for one in history.transactions
        ),
    )
