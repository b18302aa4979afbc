"""Dependency tracking at the source: MySQL's WRITESET, and Galera's depends_seqno.

The source sends a bound from the last writers of rows. The replica starts a transaction after
everything up to the bound. A reset of the history must raise the bound for forgotten rows.

Source: ``Writeset_trx_dependency_tracker`` (history, capacity, history_start, the minimum with the
commit-order parent); Galera's certification index and apply monitor.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
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

ROW, SLOT = Sort("Row"), Sort("Slot")
P, Q = Variable("p", INT), Variable("q", INT)
R = Variable("r", ROW)
LOW, PARENT = Variable("low", INT), Variable("parent", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a known fault."""

    name: str = "writeset_tracker"
    lowers_to_commit_order: bool = True
    """WRITESET, unlike Galera, takes the minimum with the commit-order parent."""
    reset_raises_start: bool = True
    """After a reset, everything waits for the resetting transaction."""
    locks_until_commit: bool = True
    """Assumption A6: row locks last until the engine commit.

    So a commit-order parent covers earlier writers of common rows.
    """
    hashes: str = ""
    """The history has hashes of rows: ``all`` of a write set, or ``some``. Others may collide."""
    contiguous_mark: bool = True
    """Everything up to the mark has left."""


def tracker(rules: Rules = Rules()) -> System:
    """Return source tracker and replica."""
    system = System(rules.name, "dependencies from the last writer of each row, and a replica")
    ws = system.rigid("ws", INT, ROW, BOOL)
    n = system.state("n", INT)
    # The history's entries: rows, or hashes of rows; ``noted`` are the entries of a write set.
    entry = SLOT if rules.hashes else ROW
    noted = system.rigid("noted", INT, SLOT, BOOL) if rules.hashes else ws
    known = system.state("known", entry, BOOL)
    writer = system.state("writer", entry, INT)
    start = system.state("start", INT)
    depends = system.state("depends", INT, INT)
    started = system.state("started", INT, BOOL)
    left = system.state("left", INT, BOOL)
    mark = system.state("mark", INT)

    if rules.hashes:
        slot = system.rigid("slot", ROW, SLOT)
        if rules.hashes == "all":
            system.assume("rows_are_hashed", (P, R), implies(ws(P, R), noted(P, slot(R))),
                "a write set has the hash of each of its rows")  # fmt: skip

    def entry_of(row: Term) -> Term:
        return slot(row) if rules.hashes else row

    # Positions count from 0; a bound of -1 means no wait.
    system.starts_with("empty", (), conj(eq(n(), 0), eq(start(), -1), eq(mark(), -1)))
    of = Variable("e" if rules.hashes else "r", entry)
    system.starts_with("nothing_known", (of,), ~known(of))
    system.starts_with("nothing_runs", (P,), conj(~started(P), ~left(P)))

    last_writer = conj(
        LOW >= start(), LOW < n(),
        forall(of, implies(conj(noted(n(), of), known(of)), writer(of) <= LOW)),
    )  # fmt: skip
    covers = forall(P, forall(R, implies(
        conj(P >= 0, P < n(), ws(P, R), ws(n(), R)), P <= PARENT)))  # fmt: skip
    parent_is_sound = covers if rules.locks_until_commit else eq(PARENT, PARENT)
    bound: Term = LOW
    if rules.lowers_to_commit_order:
        bound = ite(LOW <= PARENT, LOW, PARENT)
    system.action(
        "log", (LOW, PARENT),
        guard=conj(last_writer, PARENT < n(), parent_is_sound),
        updates={
            n: lambda: n() + 1,
            depends: lambda p: ite(eq(p, n()), bound, depends(p)),
            known: lambda e: disj(known(e), noted(n(), e)),
            writer: lambda e: ite(noted(n(), e), n(), writer(e)),
        },
        meaning="the next transaction is logged with its bound",
    )  # fmt: skip
    emptied: Updates = {known: lambda r: False}
    if rules.reset_raises_start:
        emptied[start] = lambda: n() - 1
    system.action("forget", (), updates=emptied, meaning="the history is full, or was emptied")
    waits = depends(Q) <= mark()
    if not rules.contiguous_mark:
        waits = disj(waits, left(depends(Q)))
    system.action(
        "start", (Q,), guard=conj(Q >= 0, Q < n(), ~started(Q), waits),
        updates={started: lambda p: disj(started(p), eq(p, Q))},
        meaning="the replica starts it when its bound has been reached",
    )  # fmt: skip
    system.action(
        "leave", (P,), guard=conj(started(P), ~left(P)),
        updates={left: lambda p: disj(left(p), eq(p, P))}, meaning="it has been applied",
    )  # fmt: skip
    system.action(
        "advance", (), guard=left(mark() + 1), updates={mark: lambda: mark() + 1},
        meaning="the mark moves over the next one that has left",
    )  # fmt: skip

    conflict = conj(P >= 0, P < Q, Q < n(), ws(P, R), ws(Q, R))
    system.safe("conflicting_rows_are_ordered", (P, Q, R), implies(conj(conflict, started(Q)),
        left(P)), "the later writer of a row starts after the earlier has left")  # fmt: skip
    system.invariant("bound_reaches_the_writer", (P, Q, R), implies(conflict, depends(Q) >= P),
        "the bound reaches every earlier writer of a common row")  # fmt: skip
    system.invariant("writer_is_remembered", (P, R), implies(conj(P >= 0, P < n(), ws(P, R)),
        disj(conj(known(entry_of(R)), writer(entry_of(R)) >= P), start() >= P)),
        "a writer is in the history, or the bound for all forgotten covers it")  # fmt: skip
    system.invariant("mark_is_a_prefix", (P,), implies(conj(P >= 0, P <= mark()), left(P)),
        "everything up to the mark has left")  # fmt: skip
    system.invariant("start_respects_its_bound", (P, Q), implies(
        conj(started(Q), P >= 0, P <= depends(Q)), left(P)),
        "each started transaction had everything up to its bound gone")  # fmt: skip
    system.invariant("only_logged_ones_start", (P,), implies(disj(started(P), left(P)),
        conj(P >= 0, P < n())), "nothing starts that was not logged")  # fmt: skip
    system.invariant("counters", (), conj(n() >= 0, start() < n(), mark() >= -1),
        "the bound for all forgotten lies in the log")  # fmt: skip
    system.cover("two_run_at_once", (P, Q), conj(started(P), started(Q), ~left(P), ~left(Q), P < Q))
    system.cover("parallel_after_forgetting", (P, Q), conj(started(P), started(Q), ~left(P),
        ~left(Q), P < Q, start() >= 0))  # fmt: skip
    return system
