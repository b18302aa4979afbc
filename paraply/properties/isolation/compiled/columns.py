"""Columns of a client history for kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.vocabulary.client_history import ClientHistory, Ending


def session_numbers(history: ClientHistory) -> NDArray[np.int64]:
    """Return session numbers of committed transactions, otherwise -1."""
    numbers: dict[str, int] = {}
    committed = Ending.COMMITTED
    return np.array(
        [
            numbers.setdefault(one.session, len(numbers))
            if one.session and one.ending is committed
            else -1
            for one in history.transactions
        ],
        np.int64,
    )
