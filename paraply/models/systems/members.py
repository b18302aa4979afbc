"""Two members decide alike despite independent garbage collection.

Both receive one order of transactions; each purges stable items at any time. Source:
``Certifier::certify``; a third party reported divergence when collection bypassed the order of
delivery.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    TRUE,
    Function,
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
    """Each switch off is a dropped assumption."""

    name: str = "members"
    stable_is_seen: bool = True
    """Assumption A2: future snapshots include stable writers of their transactions' rows."""
    snapshots_are_closed: bool = True
    """Assumption A4: snapshots are closed under their members' snapshots."""
    purge_stable_only: bool = True
    joins: str = ""
    """Member b joins later: with the donor's certification info (``imports``), a copy of it that
    may be old (``old_copy``), or none (``empty``). Without, both are there from the beginning."""


def members(rules: Rules = Rules()) -> System:
    """Return the product of two members."""
    system = System(rules.name, "one order of delivery, two certification infos, two collections")
    snap = system.rigid("snap", TXN, TXN, BOOL)
    ws = system.rigid("ws", TXN, ROW, BOOL)
    delivered = system.state("delivered", TXN, BOOL)
    certified = system.state("certified", TXN, BOOL)
    written = system.state("written", ROW, BOOL)
    writer = system.state("writer", ROW, TXN)
    stable = system.state("stable", TXN, BOOL)
    infos = (system.state("has_a", ROW, BOOL), system.state("has_b", ROW, BOOL))
    purged = system.state("purged", ROW, BOOL)
    grown = system.state("grown", TXN, BOOL)
    # An item of the joiner may be of an older writer than the donor's, if its copy was old.
    joined = system.state("joined", BOOL) if rules.joins else None
    copied = system.state("copied", ROW, BOOL) if rules.joins == "old_copy" else None
    sent = system.state("sent", BOOL) if copied else None
    decides: Term = joined() if joined else TRUE

    system.starts_with("nothing_delivered", (T,), conj(~delivered(T), ~certified(T), ~stable(T)))
    system.starts_with("nothing_written", (R,), conj(~written(R), ~infos[0](R), ~infos[1](R)))

    if rules.snapshots_are_closed:
        system.assume("snapshots_are_closed", (T, U, W),
            implies(conj(snap(T, U), snap(U, W)), snap(T, W)),
            "members execute in an order that keeps causes before effects")  # fmt: skip

    def in_version(row: Term, txn: Term) -> Term:
        return disj(snap(writer(row), txn), eq(txn, writer(row)))

    def refused_on(has: Function, txn: Term, row: Term, missing: Term) -> Term:
        return conj(ws(txn, row), has(row), in_version(row, missing), ~snap(txn, missing))

    arrives = conj(~delivered(T), ~snap(T, T), forall(U, implies(snap(T, U), certified(U))))
    wrote = conj(stable(U), ws(T, Q), ws(U, Q))
    sees_stable = forall(U, forall(Q, implies(wrote, snap(T, U))))
    if rules.stable_is_seen:
        arrives = conj(arrives, sees_stable)
    passes_at_a = forall(R, forall(U, ~refused_on(infos[0], T, R, U)))
    system.action(
        "certify", (T,), guard=conj(arrives, passes_at_a),
        updates={
            delivered: lambda t: disj(delivered(t), eq(t, T)),
            certified: lambda t: disj(certified(t), eq(t, T)),
            written: lambda r: disj(written(r), ws(T, r)),
            writer: lambda r: ite(ws(T, r), T, writer(r)),
            infos[0]: lambda r: disj(infos[0](r), ws(T, r)),
            infos[1]: lambda r: disj(infos[1](r), conj(decides, ws(T, r))),
        },
        meaning="both accept, or the statement is broken before they can differ",
    )  # fmt: skip
    system.action(
        "refuse", (T,), guard=arrives,
        updates={delivered: lambda t: disj(delivered(t), eq(t, T))},
        meaning="a refused transaction changes nothing",
    )  # fmt: skip
    system.action(
        "grow_stable_set", (), guard=forall(T, implies(grown(T), certified(T))),
        updates={stable: lambda t: disj(stable(t), grown(t))}, havoc=(grown,),
        meaning="every member reported these transactions as executed",
    )  # fmt: skip
    is_stable = forall(R, forall(U, implies(conj(purged(R), in_version(R, U)), stable(U))))
    for name, has in zip("ab", infos, strict=True):
        kept: Updates = {has: lambda r, has=has: conj(has(r), ~purged(r))}
        system.action(
            f"collect_at_{name}", (), guard=is_stable if rules.purge_stable_only else conj(),
            updates=kept, havoc=(purged,), meaning="one member purges stable items",
        )  # fmt: skip

    if joined:
        system.starts_with("b_is_elsewhere", (), ~joined())
        taken = {"imports": infos[0], "old_copy": copied}.get(rules.joins)
        system.action(
            "join", (), guard=conj(~joined(), sent() if sent else TRUE),
            updates={joined: lambda: TRUE, infos[1]: lambda r: taken(r) if taken else FALSE},
            meaning="the joiner gets the certification info, at the view change in the order",
        )  # fmt: skip
    if copied and sent:
        system.starts_with("nothing_sent", (), ~sent())
        system.action("copy", (), updates={copied: lambda r: infos[0](r), sent: lambda: TRUE},
            meaning="the donor sends its certification info, before the view change")  # fmt: skip

    undecided = conj(decides, ~delivered(T), sees_stable if rules.stable_is_seen else TRUE)
    for first, second, name in (
        (0, 1, "what_a_refuses_b_refuses"),
        (1, 0, "what_b_refuses_a_refuses"),
    ):
        system.safe(
            name, (T, R, U),
            implies(conj(undecided, refused_on(infos[first], T, R, U)), infos[second](R)),
            "the item because of which one member refuses is there at the other as well, "
            "or was stable, and then no refusal is due to it",
        )  # fmt: skip
    system.invariant("last_writer_wrote_the_row", (R,), implies(written(R), ws(writer(R), R)),
        "an item is of a transaction that wrote the row")  # fmt: skip
    for has, name in zip(infos, "ab", strict=True):
        system.invariant(
            f"item_lacks_at_{name}_only_if_stable", (R, U),
            implies(conj(decides if name == "b" else TRUE, written(R), ~has(R), in_version(R, U)),
                    stable(U)),
            "an item that was purged is of a version that is stable",
        )  # fmt: skip
        system.invariant(f"item_at_{name}_was_written", (R,), implies(has(R), written(R)),
            "there is no item without a writer")  # fmt: skip
    if joined:
        system.invariant("joiner_waits_with_nothing", (R,), disj(decides, ~infos[1](R)),
            "before the view change the joiner has no certification info")  # fmt: skip
    system.cover("one_has_purged", (R,), conj(decides, infos[0](R), ~infos[1](R)))
    return system
