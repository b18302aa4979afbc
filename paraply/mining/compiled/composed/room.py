"""The arrays of a run, made once for many runs."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.room import Ints
from paraply.mining.compiled.room import Room as ApplierRoom


class Room(Protocol):
    """What a run is made of and leaves, then what its parts work with.

    The first index of what members have is the member's. It is one record, which a call passes as
    a pointer, so kernels need not be compiled into those that call them.
    """

    base: NDArray[Any]
    """The array whose only record this is."""

    dice: Ints
    program: Ints
    log: Ints
    """Transactions from number 1, as sent."""
    images: Ints
    """Values before and after; 0 is no row."""
    events: Ints
    outcome: Ints
    """Verdict bits, events, choices, transactions."""

    left: Ints
    order: Ints
    """The total order's messages."""
    actions: Ints
    writers: Ints
    free: Ints
    """The writers of rows that a client can lock; A.NONE of others."""
    heads: Ints
    options: Ints

    members: Ints
    gtids: Ints
    """GTID number of a transaction, as certified by the member."""
    blocks: Ints
    """Bits of the GTIDs that a member reserves for an origin."""
    versions: Ints
    """Certification info, by row."""
    reports: Ints
    heard: Ints
    """Bits of members that acknowledged a transaction."""
    executing: Ints
    queue: Ints
    """Commit order."""
    flushed: Ints
    unanswered: Ints

    rows: Ints
    """Committed value and last writer."""
    holders: Ints
    """Transaction, or client as a negative number; 0 is none."""
    applied: Ints
    """Bits of a transaction's uncommitted row changes."""
    entries: Ints
    """Transactions of the relay log, in order."""
    stamps: Ints
    """A transaction's LC and SN, as in the relay log."""
    replicas: Ints
    jobs: Ints
    workers: Ints

    judged: Ints
    """What the judge knows of members: C.K_..."""
    snapshots: Ints
    """Bits of transactions that the origin had executed, by transaction."""
    acknowledged: Ints
    given: Ints
    """LC and SN, as certified."""
    held: Ints
    names: Ints


AnyRoom = ApplierRoom | Room
PassedRoom = ApplierRoom | NDArray[Any]
"""As it is passed to kernels: numba passes an array of one record faster than the record."""


def new_room() -> Room:
    """Return room for runs of any settings."""
    members, transactions = C.MEMBERS_MAX, C.TRANSACTIONS_MAX + 1
    sizes: dict[str, int | tuple[int, ...]] = {
        "dice": A.D_SIZE,
        "program": (C.CHOICES_MAX, A.G_SIZE),
        "log": (transactions, C.T_SIZE),
        "images": (transactions, A.ROWS_MAX, 2),
        "events": (C.EVENTS_MAX, C.E_SIZE),
        "outcome": 4,
        "left": C.G_SIZE,
        "order": (C.MESSAGES_MAX, C.M_SIZE),
        "actions": (C.ACTIONS_MAX, C.S_SIZE),
        "writers": A.ROWS_MAX,
        "free": A.ROWS_MAX,
        "heads": 2 * A.OPTIONS_MAX,
        "options": 2 * A.OPTIONS_MAX,
        "members": (members, C.N_SIZE),
        "gtids": (members, transactions),
        "blocks": (members, members),
        "versions": (members, A.ROWS_MAX, C.V_SIZE),
        "reports": (members, members),
        "heard": (members, transactions),
        "executing": (members, transactions, C.X_SIZE),
        "queue": (members, transactions),
        "flushed": (members, transactions),
        "unanswered": (members, transactions),
        "rows": (members, A.ROWS_MAX, 2),
        "holders": (members, A.ROWS_MAX),
        "applied": (members, transactions),
        "entries": (members, transactions),
        "stamps": (members, transactions, A.L_SIZE),
        "replicas": (members, A.R_SIZE),
        "jobs": (members, transactions, A.J_SIZE),
        "workers": (members, A.WORKERS_MAX, C.W_SIZE),
        "judged": (members, C.K_SIZE),
        "snapshots": transactions,
        "acknowledged": transactions,
        "given": (members, transactions, 2),
        "held": (members, A.ROWS_MAX),
        "names": A.ROWS_MAX,
    }
    kinds = np.dtype([(name, np.int64, size) for name, size in sizes.items()])
    return cast("Room", np.zeros(1, kinds).view(np.recarray)[0])
