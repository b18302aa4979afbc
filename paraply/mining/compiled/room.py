"""The arrays of a run, made once for many runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraply.mining.compiled import columns as C

Ints = NDArray[np.int64]


class Room(NamedTuple):
    """What a run is made of and leaves, then what its parts work with."""

    dice: Ints
    program: Ints
    log: Ints
    """Rows C.L_..., from number 1."""
    images: Ints
    """Values before and after; 0 is no row."""
    entries: Ints
    """Transaction numbers; 0 starts a source file."""
    events: Ints
    rows: Ints
    """Committed value and last writer."""
    last: Ints
    """Last writer per row at the source."""
    outcome: Ints
    """Verdict bits, events, choices, transactions."""

    writers: Ints
    values: Ints
    stored: Ints
    heads: Ints
    options: Ints
    window: Ints
    """Global, next number, marked, clock."""
    left: Ints
    """Rotations of the relay log and of the source's, and collections."""

    replica: Ints
    jobs: Ints
    workers: Ints
    holders: Ints
    tickets: Ints
    steps: Ints

    committed: Ints
    begun: Ints
    touched: Ints
    names: Ints


def new_room() -> Room:
    """Return room for runs of any settings."""
    transactions = C.TRANSACTIONS_MAX + 1
    sizes: dict[str, int | tuple[int, ...]] = {
        "dice": C.D_SIZE,
        "program": (C.CHOICES_MAX, C.G_SIZE),
        "log": (C.TRANSACTIONS_MAX, C.L_SIZE),
        "images": (C.TRANSACTIONS_MAX, C.ROWS_MAX, 2),
        "entries": C.ENTRIES_MAX,
        "events": (C.EVENTS_MAX, C.E_SIZE),
        "rows": (C.ROWS_MAX, 2),
        "last": C.ROWS_MAX,
        "outcome": 4,
        "writers": C.ROWS_MAX,
        "values": C.ROWS_MAX,
        "stored": C.ROWS_MAX,
        "heads": 2 * C.OPTIONS_MAX,
        "options": 2 * C.OPTIONS_MAX,
        "window": 4,
        "left": 3,
        "replica": C.R_SIZE,
        "jobs": (C.ENTRIES_MAX, C.J_SIZE),
        "workers": (C.WORKERS_MAX, C.W_SIZE),
        "holders": C.ROWS_MAX,
        "tickets": transactions,
        "steps": C.WORKERS_MAX + 2,
        "committed": transactions,
        "begun": transactions,
        "touched": (transactions, C.ROWS_MAX),
        "names": C.ROWS_MAX,
    }
    return Room(**{name: np.zeros(size, np.int64) for name, size in sizes.items()})
