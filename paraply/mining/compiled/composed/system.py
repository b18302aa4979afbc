"""Python interface of the composed kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.applier import (
    COLLECTION_RULES,
    broken_names,
    collected,
    set_choices,
)
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.campaign_kernel import run_once, run_seeds
from paraply.mining.compiled.composed.room import Room, new_room
from paraply.mining.compiled.room import Ints
from paraply.mining.systems import System
from paraply.reference_impl.certification.dialects import DIALECTS, wait_for_the_window
from paraply.reference_impl.composed.rows import item_of_row

_OFF = ("joins", "departures")


def settings_of(system: System) -> Ints | None:
    """Return kernel settings; None for unsupported systems."""
    workload = system.workload
    if (
        system.subject != "composed"
        or system.draws is not None
        or system.mutant not in C.FAULTS
        or not 1 <= workload.transactions <= C.TRANSACTIONS_MAX
        or workload.rows > A.ROWS_MAX
    ):
        return None
    options = system.options_at(0)
    members = max(1, workload.members - int(options["absent"]))
    block_size = int(options["block_size"])
    # The first free numbers, and a block more than there are members.
    gtids = workload.transactions + (members + 1) * block_size if block_size > 1 else 0
    if (
        members > C.MEMBERS_MAX
        or gtids > C.GTIDS_MAX
        or any(options[name] for name in _OFF)
        or int(options["workers"]) > A.WORKERS_MAX
        or int(options["broadcasts"]) > C.BROADCASTS_MAX
    ):
        return None
    p = np.zeros(C.P_SIZE, np.int64)
    p[A.P_TRANSACTIONS], p[A.P_ROWS] = workload.transactions, workload.rows
    p[C.P_MEMBERS] = members
    for place, name in (
        (A.P_WORKERS, "workers"),
        (A.P_BARRIERS, "barriers"),
        (A.P_SESSIONS, "sessions"),
        (A.P_READS, "reads"),
        (C.P_ACKNOWLEDGEMENTS, "acknowledgements"),
        (C.P_AFTER_COMMIT, "after_commit"),
        (C.P_ONE_ORDER, "one_commit_order"),
        (C.P_DELETES, "deletes"),
        (C.P_BROADCASTS, "broadcasts"),
        (C.P_ALTERATIONS, "alterations"),
        (C.P_SINGLE_PRIMARY, "single_primary"),
        (C.P_BLOCK_SIZE, "block_size"),
    ):
        p[place] = int(options[name])
    dialect = DIALECTS[workload.dialect or next(iter(DIALECTS))]
    p[A.P_COLLECTION_RULE] = COLLECTION_RULES[dialect.window_after_collection]
    p[A.P_BARRIER_RULE] = dialect.last_committed_of_barrier is wait_for_the_window
    p[A.P_MARKS_FIRST] = dialect.marks_first_remote
    p[C.P_CTAS_IS_BARRIER] = dialect.orders_create_select
    p[C.P_COLLECTS_IF_GROWN] = dialect.collects_only_if_stable_grew
    p[C.P_FAULT] = C.FAULTS.index(system.mutant)
    p[A.P_JUDGED] = _judged(system, p)
    p[C.P_ROW_OF_PLACE : C.P_ROW_OF_PLACE + workload.rows] = _rows_by_item(workload.row_names)
    return p


@cache
def _rows_by_item(names: tuple[str, ...]) -> list[int]:
    """Return the rows in the order of their items."""
    items = [item_of_row(name) for name in names]
    return [items.index(item) for item in sorted(items, key=int)]


def _judged(system: System, p: Ints) -> int:
    """Return the bits of what is promised with these options, and of a mutant's own breach."""
    is_promised = {
        "members_commit_in_one_order": p[C.P_ONE_ORDER],
        "members_show_prefixes_of_one_order": p[C.P_ONE_ORDER],
        "own_commits_wait_for_other_members": p[C.P_ACKNOWLEDGEMENTS] and not p[C.P_AFTER_COMMIT],
        "members_answer_when_others_have_it": p[C.P_ACKNOWLEDGEMENTS],
    }
    return sum(
        1 << bit
        for bit, name in enumerate(C.JUDGED)
        if is_promised.get(name, True) or (system.mutant and name in system.goals)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FastRun:
    """One run in full.

    Attributes:
        choices: program for replay.
        events: events (``columns.E_...``).
        verdict: bits of broken ``columns.JUDGED``, or OVERFLOWN.
        room: all arrays of the run, as kernels take them.
    """

    choices: tuple[int, ...]
    events: Ints
    verdict: int
    room: Room

    @property
    def broken(self) -> frozenset[str]:
        """Return the broken properties."""
        return broken_names(self.verdict, C.JUDGED)


def run_fast(p: Ints, *, seed: int = 0, program: Sequence[int] | None = None) -> FastRun:
    """Run once, by seed or program."""
    room = new_room()
    set_choices(room.dice, room.program, seed, program)
    run_once(p, room)
    verdict, events, choices, _ = room.outcome.tolist()
    return FastRun(
        choices=tuple(room.program[:choices, A.G_TAKEN].tolist()),
        events=room.events[: max(0, events)],
        verdict=verdict,
        room=room,
    )


def run_many(p: Ints, first_seed: int, count: int) -> tuple[Ints, Ints, int]:
    """Run ``count`` seeds; return verdicts, events and choices, and the sketch of courses."""
    return collected(partial(run_seeds, p, new_room(), first_seed), count)
