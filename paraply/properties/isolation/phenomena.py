"""The phenomena, and the levels that forbid them.

Sources: Adya, Liskov and O'Neil, "Generalized Isolation Level Definitions" (2000); Adya, "Weak
Consistency" (1999); Berenson et al., "A Critique of ANSI SQL Isolation Levels" (1995) for P4;
Cerone and Gotsman, "Analysing Snapshot Isolation" (2018); Terry et al. (1994) for sessions.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.properties.isolation.breaches import (
    AbortedValueRead,
    AppendsReordered,
    CycleFormed,
    IntermediateValueRead,
    OrdersContradicted,
    OwnWriteForeseen,
    OwnWriteMissed,
    PrefixImpossible,
    PrefixWentBack,
    ReadChanged,
    RepeatedElementRead,
    SessionGuaranteeBroken,
    UnwrittenValueRead,
    UpdateLost,
)
from paraply.properties.isolation.cycles import CyclePhenomenon, Shape
from paraply.properties.isolation.sessions import Guarantee
from paraply.properties.isolation.versions import Kind

DATA = Kind.WW | Kind.WR | Kind.RW


@dataclass(frozen=True, slots=True, kw_only=True)
class Phenomenon:
    """An anomaly."""

    label: str
    fact: str
    """Its absence, in the present tense."""
    meaning: str
    breach: type | tuple[type, ...]
    cycle: Shape | None = None
    needs: str = ""
    """The dependency required for the cycle."""
    orders: int = 0
    """Mask of further orders in the cycle."""
    guarantee: Guarantee | None = None
    of_lists_only: bool = False
    """Whether registers cannot show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """An isolation level."""

    name: str
    forbids: tuple[str, ...]
    main: str
    """The phenomenon whose situation HOLDS requires."""


def _cycle(which: CyclePhenomenon, fact: str, meaning: str, needs: str) -> Phenomenon:
    return Phenomenon(
        label=which.value, fact=fact, meaning=meaning, breach=CycleFormed, cycle=which.shape,
        needs=needs,
    )  # fmt: skip


def _ordered_cycle(label: str, fact: str, meaning: str, orders: int, *, is_si: bool) -> Phenomenon:
    return Phenomenon(
        label=label, fact=fact, meaning=meaning, breach=CycleFormed, orders=orders,
        cycle=Shape(DATA, DATA | orders, may_repeat_rw=not is_si),
        needs="dependency between two transactions",
    )  # fmt: skip


PHENOMENA = (
    _cycle(
        CyclePhenomenon.G0, "writes_form_no_cycle",
        "two transactions' writes are interleaved: each overwrites the other somewhere",
        "overwriting of one transaction by another",
    ),
    Phenomenon(
        label="orders", fact="lists_have_one_order",
        breach=(OrdersContradicted, RepeatedElementRead, AppendsReordered),
        meaning="two reads of a list cannot both be prefixes of one order of appends",
        of_lists_only=True,
    ),
    Phenomenon(
        label="G1a", fact="aborted_values_are_not_read", breach=AbortedValueRead,
        meaning="a committed transaction read what an aborted one had written",
    ),
    Phenomenon(
        label="G1b", fact="intermediate_values_are_not_read", breach=IntermediateValueRead,
        meaning="a transaction read what its writer overwrote itself before it committed",
    ),
    _cycle(
        CyclePhenomenon.G1C, "information_forms_no_cycle",
        "two transactions each saw, or wrote over, what the other did",
        "read of another transaction's write",
    ),
    Phenomenon(
        label="garbage", fact="values_read_were_written", breach=UnwrittenValueRead,
        meaning="a transaction read a value that nobody ever wrote",
    ),
    Phenomenon(
        label="internal", fact="transactions_read_their_own_writes",
        breach=(OwnWriteMissed, OwnWriteForeseen, ReadChanged),
        meaning="a transaction did not see what it had written itself, saw it beforehand, or read "
        "a key twice with different results",
    ),
    Phenomenon(
        label="P4", fact="updates_are_not_lost", breach=UpdateLost,
        meaning="two transactions read one version and both replaced it: one update is lost",
    ),
    _cycle(
        CyclePhenomenon.G_SINGLE, "reads_are_not_skewed",
        "a transaction saw part of what another did and missed part of it (read skew)",
        "read of a version that was overwritten",
    ),
    _cycle(
        CyclePhenomenon.G_NONADJACENT, "snapshots_are_of_one_order",
        "snapshots cannot be put into one order: read skew, or two readers who each saw one "
        "write and missed the other (long fork)",
        "read of a version that was overwritten",
    ),
    _cycle(
        CyclePhenomenon.G2_ITEM, "anti_dependencies_form_no_cycle",
        "transactions missed each other's writes in a circle: all of the above, and write skew",
        "read of a version that was overwritten",
    ),
    Phenomenon(
        label="prefix", fact="reads_show_prefixes_of_the_log", breach=PrefixImpossible,
        meaning="a reader saw a transaction of the log and missed one before it: a gap",
    ),
    Phenomenon(
        label="monotonic prefix", fact="prefixes_only_grow_in_a_session", breach=PrefixWentBack,
        meaning="a session saw less of the log than before",
    ),
    Phenomenon(
        label="read your writes", fact="sessions_read_their_writes",
        breach=SessionGuaranteeBroken, guarantee=Guarantee.READ_YOUR_WRITES,
        meaning="a session did not see what it had written",
    ),
    Phenomenon(
        label="monotonic reads", fact="session_reads_only_go_forward",
        breach=SessionGuaranteeBroken, guarantee=Guarantee.MONOTONIC_READS,
        meaning="a session read an older version than before",
    ),
    Phenomenon(
        label="monotonic writes", fact="session_writes_keep_their_order",
        breach=SessionGuaranteeBroken, guarantee=Guarantee.MONOTONIC_WRITES,
        meaning="a session's later write stands before its earlier one",
    ),
    Phenomenon(
        label="writes follow reads", fact="session_writes_follow_its_reads",
        breach=SessionGuaranteeBroken, guarantee=Guarantee.WRITES_FOLLOW_READS,
        meaning="a session's write stands before a version that it had read",
    ),
    _ordered_cycle(
        "SI-session", "snapshots_keep_session_order",
        "with the order of sessions, snapshots cannot be put into one order",
        Kind.SESSION, is_si=True,
    ),
    _ordered_cycle(
        "cycle-session", "sessions_keep_one_order",
        "with the order of sessions, transactions come before each other in a circle",
        Kind.SESSION, is_si=False,
    ),
    _ordered_cycle(
        "SI-realtime", "snapshots_keep_real_time",
        "with what was over before what began, snapshots cannot be put into one order",
        Kind.SESSION | Kind.REALTIME, is_si=True,
    ),
    _ordered_cycle(
        "cycle-realtime", "transactions_keep_real_time",
        "with what was over before what began, transactions come before each other in a circle",
        Kind.SESSION | Kind.REALTIME, is_si=False,
    ),
)  # fmt: skip

_COMMITTED = ("G0", "orders", "G1a", "G1b", "G1c", "garbage")
_ATOMIC = (*_COMMITTED, "internal", "P4", "G-single")
_SNAPSHOT = (*_ATOMIC, "G-nonadjacent")
_SERIAL = (*_SNAPSHOT, "G2-item")
_PREFIX = ("orders", "G1a", "G1b", "garbage", "internal", "prefix")
_SESSIONS = ("read your writes", "monotonic reads", "monotonic writes", "writes follow reads")

LEVELS = (
    # Reads without one order show only that one of them is of an aborted transaction (Elle, 4.2).
    Level(name="read-uncommitted", forbids=("G0",), main="G0"),
    Level(name="read-committed", forbids=_COMMITTED, main="G1c"),
    Level(name="consistent-view", forbids=_ATOMIC, main="G-single"),
    Level(name="snapshot-isolation", forbids=_SNAPSHOT, main="G-nonadjacent"),
    # Without predicate reads, repeatable read (PL-2.99) and serializability (PL-3) are equal.
    Level(name="serializable", forbids=_SERIAL, main="G2-item"),
    Level(
        name="strong-session-snapshot-isolation", forbids=(*_SNAPSHOT, "SI-session"),
        main="SI-session",
    ),
    Level(
        name="strong-session-serializable", forbids=(*_SERIAL, "SI-session", "cycle-session"),
        main="cycle-session",
    ),
    Level(
        name="strong-snapshot-isolation",
        forbids=(*_SNAPSHOT, "SI-session", "SI-realtime"), main="SI-realtime",
    ),
    Level(
        name="strict-serializable",
        forbids=(*_SERIAL, "SI-session", "cycle-session", "SI-realtime", "cycle-realtime"),
        main="cycle-realtime",
    ),
    Level(name="prefix", forbids=_PREFIX, main="prefix"),
    Level(
        name="monotonic-prefix", forbids=(*_PREFIX, "monotonic prefix"), main="monotonic prefix"
    ),
    *(Level(name=name.replace(" ", "-"), forbids=(name,), main=name) for name in _SESSIONS),
)  # fmt: skip
"""From weakest up; then replicas, then sessions."""


def phenomenon_named(label: str) -> Phenomenon:
    """Return the phenomenon of a label."""
    return next(one for one in PHENOMENA if one.label == label)


def level_named(name: str) -> Level | None:
    """Return a level, otherwise None."""
    return next((level for level in LEVELS if level.name == name), None)
