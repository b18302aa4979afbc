"""First certified wins, with garbage collection.

Transactions have an arbitrary total order, a snapshot (a set of transactions) and a write set. A
row's item is its last certified writer; the stored version adds the writer's snapshot.

Source: WL#8440 (conflict rule, garbage collection), ``Certifier::certify`` and
``Certifier::garbage_collect``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
)

TXN, ROW = Sort("Txn"), Sort("Row")
T, U, W = Variable("t", TXN), Variable("u", TXN), Variable("w", TXN)
R, Q = Variable("r", ROW), Variable("q", ROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Certifier switches; off is a fault or weaker assumption."""

    name: str = "certification"
    collect: bool = True
    stable_is_seen: bool = True
    """Assumption A2: future snapshots include stable writers of their transactions' rows."""
    own_gtid_in_version: bool = True
    purge_stable_only: bool = True
    """A purge requires a stable version."""
    snapshots_are_closed: bool = True
    """Assumption A4: snapshots are closed under their members' snapshots."""
    speaks_of_refusals: bool = True
    """Off, refusals are not judged, and A4 is not needed."""
    speaks_of_winners: bool = True
    """Off, what was certified is not judged, and A2 is not needed."""
    snapshots_are_fixed: bool = True
    """Off, a transaction takes its snapshot during the run, before its delivery."""


def certification(rules: Rules = Rules()) -> System:
    """Return the certifier's system."""
    system = System(rules.name, "delivery in total order, first certified wins, garbage collection")
    declared = system.rigid if rules.snapshots_are_fixed else system.state
    snap = declared("snap", TXN, TXN, BOOL)
    ws = system.rigid("ws", TXN, ROW, BOOL)
    delivered = system.state("delivered", TXN, BOOL)
    certified = system.state("certified", TXN, BOOL)
    before = system.state("before", TXN, TXN, BOOL)
    stable = system.state("stable", TXN, BOOL)
    has = system.state("has", ROW, BOOL)
    writer = system.state("writer", ROW, TXN)
    grown = system.state("grown", TXN, BOOL)
    purged = system.state("purged", ROW, BOOL)
    # Ghosts: why a transaction was refused.
    refuser = system.state("refuser", TXN, TXN)
    refused_row = system.state("refused_row", TXN, ROW)

    system.starts_with("nothing_delivered", (T,), conj(~delivered(T), ~certified(T), ~stable(T)))
    system.starts_with("nothing_is_ordered", (T, U), ~before(T, U))
    system.starts_with("certification_info_is_empty", (R,), ~has(R))

    if not rules.snapshots_are_fixed:
        chosen = system.state("chosen", TXN, BOOL)
        system.starts_with("nothing_seen", (T, U), ~snap(T, U))
        system.action(
            "take_snapshot", (T,), guard=~delivered(T), havoc=(chosen,),
            updates={snap: lambda t, u: ite(eq(t, T), chosen(u), snap(t, u))},
            meaning="a transaction that is not delivered takes a snapshot",
        )  # fmt: skip
    if rules.snapshots_are_closed:
        system.assume(
            "snapshots_are_closed", (T, U, W),
            implies(conj(snap(T, U), snap(U, W)), snap(T, W)),
            "members execute in an order that keeps causes before effects",
        )  # fmt: skip

    def in_version(row: Term, txn: Term) -> Term:
        own = eq(txn, writer(row)) if rules.own_gtid_in_version else disj()
        return disj(snap(writer(row), txn), own)

    seen = forall(U, implies(in_version(R, U), snap(T, U)))
    passes = forall(R, implies(conj(ws(T, R), has(R)), seen))
    arrives = conj(~delivered(T), ~snap(T, T), forall(U, implies(snap(T, U), certified(U))))
    if rules.stable_is_seen:
        wrote = conj(stable(U), ws(T, Q), ws(U, Q))
        arrives = conj(arrives, forall(U, forall(Q, implies(wrote, snap(T, U)))))
    ordered: Updates = {
        delivered: lambda t: disj(delivered(t), eq(t, T)),
        before: lambda t, u: disj(before(t, u), conj(delivered(t), eq(u, T))),
    }
    system.action(
        "certify_positively", (T,),
        guard=conj(arrives, passes),
        updates={
            **ordered,
            certified: lambda t: disj(certified(t), eq(t, T)),
            has: lambda r: disj(has(r), ws(T, r)),
            writer: lambda r: ite(ws(T, r), T, writer(r)),
        },
        meaning="no item of the write set has a writer outside the snapshot",
    )  # fmt: skip
    system.action(
        "certify_negatively", (T, R, W),
        guard=conj(arrives, ws(T, R), has(R), in_version(R, W), ~snap(T, W)),
        updates={
            **ordered,
            refuser: lambda t: ite(eq(t, T), writer(R), refuser(t)),
            refused_row: lambda t: ite(eq(t, T), R, refused_row(t)),
        },
        meaning="refused; nothing but the order changes",
    )  # fmt: skip
    if rules.collect:
        only_stable = forall(R, forall(U, implies(
            conj(purged(R), has(R), in_version(R, U)), stable(U))))  # fmt: skip
        system.action(
            "grow_stable_set", (),
            guard=forall(T, implies(grown(T), certified(T))),
            updates={stable: lambda t: disj(stable(t), grown(t))},
            havoc=(grown,),
            meaning="every member reported these transactions as executed",
        )  # fmt: skip
        system.action(
            "collect_garbage", (),
            guard=only_stable if rules.purge_stable_only else conj(),
            updates={has: lambda r: conj(has(r), ~purged(r))},
            havoc=(purged,),
            meaning="purge items whose version is stable, at any time",
        )  # fmt: skip

    wins = implies(conj(certified(T), certified(U), before(T, U), ws(T, R), ws(U, R)), snap(U, T))
    if rules.speaks_of_winners:
        system.safe("first_certified_wins", (T, U, R), wins,
            "of two certified writers of one row, the later one had seen the earlier one",
        )  # fmt: skip
        system.invariant("later_writers_saw_earlier_ones", (T, U, R), wins,
            "the safety statement itself is inductive")  # fmt: skip
        system.invariant(
            "writer_is_remembered", (T, R),
            implies(conj(certified(T), ws(T, R)), disj(
                conj(has(R), certified(writer(R)), ws(writer(R), R),
                     disj(eq(writer(R), T), before(T, writer(R)))),
                stable(T))),
            "a certified writer, or a later one, is in the row's item, unless it is stable",
        )  # fmt: skip
    rival, contested = refuser(T), refused_row(T)
    deserved = implies(conj(delivered(T), ~certified(T)), conj(
        certified(rival), before(rival, T), ~snap(T, rival), ws(T, contested),
        ws(rival, contested)))  # fmt: skip
    meaning = "each refused transaction shares a row with a certified transaction it had not seen"
    if rules.speaks_of_refusals:
        system.safe("refusals_are_deserved", (T,), deserved, meaning)
        system.invariant("refusals_are_deserved", (T,), deserved, meaning)
    system.invariant(
        "item_names_a_writer", (R,),
        implies(has(R), conj(certified(writer(R)), ws(writer(R), R))),
        "an item's writer is certified and wrote the row",
    )  # fmt: skip
    system.invariant(
        "certified_was_delivered", (T,), implies(certified(T), delivered(T)),
        "nothing is certified that was not delivered")  # fmt: skip
    system.invariant(
        "order_is_of_the_delivered", (T, U),
        implies(before(T, U), conj(delivered(T), delivered(U))),
        "the order relates delivered transactions only",
    )  # fmt: skip
    system.cover("refused", (T,), conj(delivered(T), ~certified(T)))
    rewritten = conj(certified(T), certified(U), before(T, U), ws(T, R), ws(U, R))
    system.cover("rewritten", (T, U, R), rewritten)
    if rules.collect:
        system.cover("rewritten_then_purged", (T, U, R), conj(rewritten, ~has(R)))
    system.invariant(
        "order_is_transitive", (T, U, W),
        implies(conj(before(T, U), before(U, W)), before(T, W)), "the total order is transitive",
    )  # fmt: skip
    if rules.collect:
        system.invariant(
            "stable_is_certified", (T,), implies(stable(T), certified(T)),
            "only certified transactions become stable")  # fmt: skip
    return system
