"""A group of members: snapshots, certification in one order, and application in that order.

A transaction reads and executes at its home member, on what that member had applied when it began.
Delivery gives it the next position of the total order. It is certified if nothing in its write set
was certified after its snapshot. Members apply what was certified in that order, each at its own
pace. ``version(p, r)`` is the last certified writer of ``r`` before position ``p``.

Source: WL#8440 certification; Certifier::certify; Galera's certification; Berenson and others 1995,
snapshot isolation and write skew.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Sort,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
    negate,
)

TXN, ROW, MEMBER = Sort("Txn"), Sort("Row"), Sort("Member")
T, U = Variable("t", TXN), Variable("u", TXN)
R, W = Variable("r", ROW), Variable("w", ROW)
M = Variable("m", MEMBER)
P, Q = Variable("p", INT), Variable("q", INT)
NOBODY = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault, or a member that is no part of the claim."""

    name: str = "one_copy"
    certifies: bool = True
    own_in_order: bool = True
    """A member commits its own transactions in the order of the group, too."""
    certifies_reads: bool = False
    """Certification sees the rows that were read, not only those written."""
    speaks_of_reads: bool = False
    """State that there is no write skew."""


def one_copy(rules: Rules = Rules()) -> System:
    """Return the system of a group with any number of members."""
    system = System(rules.name, "one order of certification, and members that apply in it")
    ws = system.rigid("ws", TXN, ROW, BOOL)
    rs = system.rigid("rs", TXN, ROW, BOOL)
    n = system.state("n", INT)
    begun = system.state("begun", TXN, BOOL)
    home = system.state("home", TXN, MEMBER)
    snap = system.state("snap", TXN, INT)
    saw = system.state("saw", TXN, ROW, INT)
    delivered = system.state("delivered", TXN, BOOL)
    certified = system.state("certified", TXN, BOOL)
    place = system.state("place", TXN, INT)
    txn_at = system.state("txn_at", INT, TXN)
    upto = system.state("upto", MEMBER, INT)
    value = system.state("value", MEMBER, ROW, INT)
    # Ghost: the last certified writer below each position.
    version = system.state("version", INT, ROW, INT)

    system.starts_with("empty", (), eq(n(), 0))
    system.starts_with("nothing_begun", (T,), conj(~begun(T), ~delivered(T), ~certified(T)))
    system.starts_with("nothing_applied", (M,), eq(upto(M), 0))
    system.starts_with("nothing_stored", (M, R), eq(value(M, R), NOBODY))
    system.starts_with("nothing_written", (R,), eq(version(0, R), NOBODY))

    system.action(
        "begin", (T, M), guard=~begun(T),
        updates={
            begun: lambda t: disj(begun(t), eq(t, T)),
            home: lambda t: ite(eq(t, T), M, home(t)),
            snap: lambda t: ite(eq(t, T), upto(M), snap(t)),
            saw: lambda t, r: ite(eq(t, T), value(M, r), saw(t, r)),
        },
        meaning="a client's transaction begins and reads what its member has applied",
    )  # fmt: skip
    seen = disj(ws(T, R), rs(T, R)) if rules.certifies_reads else ws(T, R)
    passes = forall(R, implies(seen, version(n(), R) < snap(T)))
    arrives = conj(begun(T), ~delivered(T))

    def deliver(name: str, *, accepted: bool, meaning: str) -> None:
        newer = conj(seen, snap(T) <= version(n(), R))
        decision = passes if accepted else newer
        system.action(
            name, (T,) if accepted else (T, R), meaning=meaning,
            guard=conj(arrives, decision if rules.certifies else TRUE),
            updates={
                n: lambda: n() + 1,
                delivered: lambda t: disj(delivered(t), eq(t, T)),
                certified: lambda t: disj(certified(t), eq(t, T)) if accepted else certified(t),
                place: lambda t: ite(eq(t, T), n(), place(t)),
                txn_at: lambda p: ite(eq(p, n()), T, txn_at(p)),
                version: lambda p, r: ite(eq(p, n() + 1),
                    ite(ws(T, r), n(), version(n(), r)) if accepted else version(n(), r),
                    version(p, r)),
            },
        )  # fmt: skip

    deliver("certify", accepted=True, meaning="nothing in its write set is newer than its snapshot")
    deliver("refuse", accepted=False, meaning="a row was certified after its snapshot")
    here = upto(M)
    system.action(
        "apply", (M,), guard=here < n(),
        updates={
            upto: lambda m: ite(eq(m, M), here + 1, upto(m)),
            value: lambda m, r: ite(
                conj(eq(m, M), certified(txn_at(here)), ws(txn_at(here), r)), here, value(m, r)),
        },
        meaning="a member commits the next position, its own transactions as those of others",
    )  # fmt: skip
    if not rules.own_in_order:
        system.action(
            "commit_own", (T,), guard=conj(certified(T), upto(home(T)) <= place(T)),
            updates={value: lambda m, r: ite(conj(eq(m, home(T)), ws(T, r)), place(T),
                                             value(m, r))},
            meaning="a member commits its own transaction before earlier ones of others",
        )  # fmt: skip

    wins = implies(conj(certified(T), certified(U), ws(T, R), ws(U, R), place(T) < place(U)),
                   place(T) < snap(U))  # fmt: skip
    reads = implies(begun(T), eq(saw(T, R), version(snap(T), R)))
    shows = eq(value(M, R), version(upto(M), R))
    last = implies(conj(certified(T), ws(T, R), place(T) < P, P <= n()), place(T) <= version(P, R))
    is_writer = implies(conj(P >= 0, P <= n()), disj(eq(version(P, R), NOBODY), conj(
        version(P, R) >= 0, version(P, R) < P, certified(txn_at(version(P, R))),
        ws(txn_at(version(P, R)), R))))  # fmt: skip
    system.safe("first_committer_wins", (T, U, R), wins,
        "of two certified writers of a row, on whichever members, the later had seen the "
        "earlier: no update is lost")  # fmt: skip
    system.safe("reads_are_of_one_snapshot", (T, R), reads,
        "each read is of the last certified writer before the transaction's snapshot")  # fmt: skip
    system.safe("members_show_prefixes", (M, R), shows,
        "each member shows the certified order up to some position, so no two readers disagree "
        "about the order")  # fmt: skip
    system.safe("versions_are_of_the_last_writer", (T, P, R), conj(last, is_writer),
        "`version` is the last certified writer before the position")  # fmt: skip
    if rules.speaks_of_reads:
        unseen = conj(snap(T) <= place(U), snap(U) <= place(T))
        system.safe("there_is_no_write_skew", (T, U, R, W), negate(conj(
            certified(T), certified(U), negate(eq(T, U)), rs(T, R), ws(U, R), rs(U, W), ws(T, W),
            unseen)),
            "of two certified transactions that each read what the other wrote, one had seen the "
            "other")  # fmt: skip
        system.invariant("what_is_read_is_current", (T, R), implies(
            conj(certified(T), disj(rs(T, R), ws(T, R))), version(place(T), R) < snap(T)),
            "at its position, nothing it read or wrote is newer than its snapshot")  # fmt: skip
    else:
        system.invariant("what_is_written_is_current", (T, R), implies(
            conj(certified(T), ws(T, R)), version(place(T), R) < snap(T)),
            "at its position, no row that it writes is newer than its snapshot")  # fmt: skip
    system.invariant("reads_are_of_one_snapshot", (T, R), reads, "it is inductive")
    system.invariant("members_show_prefixes", (M, R), shows, "it is inductive")
    system.invariant("no_later_writer_is_missed", (T, P, R), last,
        "no certified writer before a position is later than its version")  # fmt: skip
    system.invariant("versions_are_certified_writers", (P, R), is_writer,
        "a version is a certified writer before the position, or none")  # fmt: skip
    system.invariant("places_are_positions", (T,), conj(
        implies(delivered(T), conj(begun(T), place(T) >= 0, place(T) < n(),
                                   eq(txn_at(place(T)), T))),
        implies(certified(T), delivered(T))), "each delivered transaction has a position of its "
        "own")  # fmt: skip
    system.invariant("positions_are_places", (P,), implies(conj(P >= 0, P < n()), conj(
        delivered(txn_at(P)), eq(place(txn_at(P)), P))),
        "and each position a transaction")  # fmt: skip
    system.invariant("members_are_in_the_order", (M,), conj(upto(M) >= 0, upto(M) <= n()),
        "nobody applies what was not delivered")  # fmt: skip
    system.invariant("snapshots_are_prefixes", (T,), implies(begun(T), conj(
        snap(T) >= 0, snap(T) <= n(), implies(delivered(T), snap(T) <= place(T)))),
        "a snapshot is what a member had applied, perhaps long ago")  # fmt: skip
    system.cover("two_members_apart", (T, U), conj(certified(T), certified(U), snap(U) <= place(T),
        negate(eq(home(T), home(U))), place(T) < place(U)))  # fmt: skip
    system.cover("refused_for_an_old_snapshot", (T, R), conj(delivered(T), ~certified(T), ws(T, R)))
    return system
