"""The compiled judges' memory: bounded arrays.

Rings index a running number modulo length, a power of two. They grow up to the horizon.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.probing import empty_table, lengthened, probed_places

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Times = NDArray[np.int64]

LANES_MAX = 64
"""Replication domains; beyond, the readable judge runs."""
FINDINGS_MAX = 1 << 16
"""Pairs of one transaction; beyond, the readable judge runs."""
KEYS_OF_ONE = 1 << 14
"""Initial room per transaction."""
KEYS_MIN = 1 << 16
"""Initial room for the keys of all transactions."""
SPARSE = 4
"""Slots of an index per touch: neighbours in it cost a look at the key of each."""
LEVELS = 1 << 16
"""More than ``worker_timeline.LEVELS_MAX``."""


class Touches(NamedTuple):
    """Touches by key: a ring and its index."""

    keys: Words
    owner: NDArray[np.int32]
    distance: NDArray[np.int32]
    """Touches back to the key's previous, or 0."""
    marks: NDArray[np.uint8]
    newest: NDArray[np.int32]
    """Open addressing: ring slot plus one."""


class Timeline(NamedTuple):
    """List scheduling; first index is the model."""

    workers: Ints
    first_worker: Ints
    """Ring start per worker count."""
    free: Times
    """Adjacent sorted rings of free times: most new times are among the latest."""
    least: Ints
    """Per worker count: where in its ring the first free time is."""
    end: Times
    """Time vector of the end so far."""
    levels: NDArray[np.int32]
    """Transactions per round, modulo LEVELS."""
    width_max: Ints
    totals: Ints
    """Work, transactions."""


class State(NamedTuple):
    """All arrays; ``columns`` names their columns."""

    scalars: Ints
    limits: Ints
    evidence: Ints
    order: Ints
    """Requested order of rules."""
    stretch_starts: Ints
    stretch_counts: Ints
    lanes: Ints
    """Known, group clock, group id, rank, floor."""
    ranks: Ints
    past: Ints
    finish: NDArray[np.int32]
    """(transaction, row conflicts, primary keys or with keys, time)."""
    touches: Touches
    """Keys written; the next are those read, those locked, and tables without a key."""
    readers: Touches
    lockers: Touches
    unkeyed: Touches
    line: Timeline
    forgotten: Ints
    """(chain, rule, lane): known, run, rank of last forgotten."""
    barriers: Ints
    """(rule, lane, statement/rows/ddl): known, run, rank."""
    clock_begin: Times
    prefix_ranks: Ints
    prefix_times: Times
    lane_floor: Ints
    lane_ready: Times
    lane_end: Times
    barrier_finish: Times
    """(model, time vector) of the last barrier."""
    table_schema: Ints
    part_times: Times
    """(table or schema, number, time)."""
    part_epoch: Ints
    definitions: Ints
    """(rule, lane): last DDL's known, run, rank."""
    apart: Ints
    slices: Ints
    ready: Times
    """Scratch: time vectors."""
    places: Ints
    """Scratch: ``columns.P_*`` by rule."""
    findings: Ints
    """``columns.F_*`` of the last transaction."""
    finding_keys: Words
    ties: Words
    """Ring of keys that bind path links."""
    past_tables: Ints
    """Ring of the tables that transactions changed."""
    order_epoch: Ints
    """Per name: the barriers before ``order_*`` (one line per name)."""
    order_last: Ints
    """(name, ``columns.O_*``): the last transaction, or 0."""
    order_finish: Times
    """(name, ``columns.O_*``, model as in ``finish``, time)."""


def new_state(
    *,
    workers: tuple[int, ...],
    order: tuple[int, ...],
    limits: tuple[int, ...],
    small: int = 1 << 12,
) -> State:
    """Return the initial state with ``small`` arrays or the next power of two."""
    small = power_for(small)
    width = 2 + len(workers)
    scalars = np.zeros(C.SCALARS, np.int64)
    scalars[C.S_CLOCK] = -1
    scalars[C.S_MODEL_RUN] = -1
    scalars[C.S_SLICE_SIZE] = 1
    scalars[C.S_CHAINS + C.OLDEST :: 3] = 1

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    return State(
        scalars=scalars,
        limits=np.array(limits, np.int64),
        evidence=zeros(2, C.EVIDENCE_COLUMNS),
        order=np.array(order, np.int64),
        stretch_starts=zeros(limits[C.L_STRETCHES] + 1),
        stretch_counts=zeros(limits[C.L_STRETCHES] + 1),
        lanes=zeros(LANES_MAX, 5),
        ranks=zeros(small, C.RANK_COLUMNS),
        past=zeros(small, C.HISTORY_COLUMNS),
        finish=np.zeros((small, 3, width), np.int32),
        touches=_no_touches(limits[C.L_KEYS]),
        readers=_no_touches(limits[C.L_KEYS]),
        lockers=_no_touches(limits[C.L_KEYS]),
        unkeyed=_no_touches(limits[C.L_KEYS]),
        line=_no_time(workers),
        forgotten=zeros(C.CHAINS, 2, LANES_MAX, 3),
        barriers=zeros(2, LANES_MAX, 3, 3),
        clock_begin=zeros(width),
        prefix_ranks=zeros(small),
        prefix_times=zeros(small, width),
        lane_floor=np.full(LANES_MAX, -1, np.int64),
        lane_ready=zeros(LANES_MAX, width),
        lane_end=zeros(LANES_MAX, width),
        barrier_finish=zeros(C.MODELS, width),
        table_schema=zeros(64),
        part_times=zeros(2, 64, width),
        part_epoch=np.full((2, 64), -1, np.int64),
        definitions=zeros(2, LANES_MAX, 3),
        apart=zeros(C.MODELS),
        slices=zeros(limits[C.L_SLICES]),
        ready=zeros(8, width),
        places=zeros(2, C.PLACE_COLUMNS),
        findings=zeros(FINDINGS_MAX, C.FINDING_COLUMNS),
        finding_keys=np.zeros(FINDINGS_MAX, np.uint64),
        ties=np.zeros(small, np.uint64),
        past_tables=zeros(small),
        order_epoch=zeros(0),
        order_last=zeros(0, 4),
        order_finish=zeros(0, 4, 3, width),
    )


def _no_touches(keys_max: int) -> Touches:
    ring = power_for(min(KEYS_MIN, keys_max) + KEYS_OF_ONE)
    return Touches(
        keys=np.zeros(ring, np.uint64),
        owner=np.zeros(ring, np.int32),
        distance=np.zeros(ring, np.int32),
        marks=np.zeros(ring, np.uint8),
        newest=empty_table(SPARSE * ring),
    )


def power_for(entries: int) -> int:
    """Return the least power of two from ``entries`` on."""
    return 1 << int(entries - 1).bit_length()


def _no_time(workers: tuple[int, ...]) -> Timeline:
    starts = np.concatenate([[0], np.cumsum(workers)]).astype(np.int64)
    width = 2 + len(workers)
    return Timeline(
        workers=np.array(workers, np.int64),
        first_worker=starts,
        free=np.zeros((C.MODELS, max(1, int(starts[-1]))), np.int64),
        least=np.zeros((C.MODELS, len(workers)), np.int64),
        end=np.zeros((C.MODELS, width), np.int64),
        levels=np.zeros((C.MODELS, LEVELS), np.int32),
        width_max=np.zeros(C.MODELS, np.int64),
        totals=np.zeros((C.MODELS, 2), np.int64),
    )


def _regrown_ring(
    ring: NDArray[np.generic], first: int, next_: int, size: int
) -> NDArray[np.generic]:
    longer = np.zeros((size, *ring.shape[1:]), ring.dtype)
    while first < next_:  # Both rings in pieces without their ends.
        here, there = first % len(ring), first % size
        count = min(next_ - first, len(ring) - here, size - there)
        longer[there : there + count] = ring[here : here + count]
        first += count
    return longer


def grown(state: State, status: int, needed: int) -> State:
    """Return the state with room for ``status``."""
    scalars, limits = state.scalars, state.limits.tolist()
    ordinal = int(scalars[C.S_ORDINAL])
    if status == C.GROW_TOUCHES:
        chains = scalars[C.S_CHAINS :].reshape(C.CHAINS, 3).tolist()
        ring, ring_max = len(state.touches.keys), limits[C.L_KEYS] + KEYS_OF_ONE
        size = power_for(max(ring + needed, min(2 * ring, ring_max)))
        longer = [
            _more_touches(touches, next_, size)
            for touches, (_, next_, _) in zip(
                (state.touches, state.readers, state.lockers, state.unkeyed), chains, strict=True
            )
        ]
        return state._replace(
            touches=longer[0], readers=longer[1], lockers=longer[2], unkeyed=longer[3]
        )
    if status == C.GROW_PAST:
        # At once to the last length: pages are only taken when they are first written.
        links = limits[C.L_LINKS] + state.scalars[C.S_SKIPPED]
        most = max(limits[C.L_TRANSACTIONS], links) + 3
        size = power_for(max(len(state.past) + 1, most))
        first = max(1, ordinal + 1 - len(state.past))
        return state._replace(
            ranks=_regrown_ring(state.ranks, first, ordinal + 1, size),
            past=_regrown_ring(state.past, first, ordinal + 1, size),
            finish=_regrown_ring(state.finish, first, ordinal + 1, size),
        )
    if status == C.GROW_TIES:
        next_ = int(scalars[C.S_TIE_NEXT])
        size = power_for(len(state.ties) + needed)
        first = max(0, next_ - len(state.ties))
        return state._replace(ties=_regrown_ring(state.ties, first, next_, size))
    if status == C.GROW_TABLES:
        next_ = int(scalars[C.S_TABLE_NEXT])
        size = power_for(len(state.past_tables) + needed)
        first = max(0, next_ - len(state.past_tables))
        return state._replace(past_tables=_regrown_ring(state.past_tables, first, next_, size))
    assert status == C.GROW_PREFIXES, status
    size = max(len(state.prefix_ranks) * 2, 2 * limits[C.L_WINDOW] + 3)
    return state._replace(
        prefix_ranks=lengthened(state.prefix_ranks, size),
        prefix_times=lengthened(state.prefix_times, size),
    )


def _more_touches(touches: Touches, next_: int, size: int) -> Touches:
    old = len(touches.keys)
    first = max(0, next_ - old)
    # From a slot to the running number of its touch, and on to the slot in the longer ring.
    entries = touches.newest[touches.newest != 0].astype(np.int64) - 1
    slots = (next_ - 1 - (next_ - 1 - entries) % old) % size
    newest = empty_table(SPARSE * size)
    newest[probed_places(touches.keys[entries], len(newest))] = slots + 1
    return Touches(
        keys=_regrown_ring(touches.keys, first, next_, size),
        owner=_regrown_ring(touches.owner, first, next_, size),
        distance=_regrown_ring(touches.distance, first, next_, size),
        marks=_regrown_ring(touches.marks, first, next_, size),
        newest=newest,
    )


def with_names(state: State, names: int) -> State:
    """Return the state with room for named tables and aspects."""
    known = len(state.order_epoch)
    if names <= known:
        return state
    room = max(names, 2 * known)
    epochs = np.full(room, -1, np.int64)
    epochs[:known] = state.order_epoch
    return state._replace(
        order_epoch=epochs,
        order_last=lengthened(state.order_last, room),
        order_finish=lengthened(state.order_finish, room),
    )


def with_tables(state: State, schema_of_table: list[int]) -> State:
    """Return the state with room for tables."""
    room = len(state.table_schema)
    while room < len(schema_of_table):
        room *= 2
    if room > len(state.table_schema):
        times = np.zeros((2, room, state.part_times.shape[2]), np.int64)
        epochs = np.full((2, room), -1, np.int64)
        times[:, : state.part_times.shape[1]] = state.part_times
        epochs[:, : state.part_epoch.shape[1]] = state.part_epoch
        state = state._replace(
            part_times=times,
            part_epoch=epochs,
            table_schema=lengthened(state.table_schema, room),
        )
    state.table_schema[: len(schema_of_table)] = schema_of_table
    return state


def drop_counts(state: State) -> None:
    """Reset the counts, not the memory."""
    for array in (state.evidence, state.apart, state.slices, state.line.width_max):
        array[:] = 0
    scalars = state.scalars
    for counted in (C.S_CLOCK_SEEN, C.S_GROUPS_SEEN, C.S_PAIRS, C.S_ROUNDS, C.S_LISTED):
        scalars[counted] = 0
    scalars[C.S_SLICE_SIZE] = 1
