"""Certification order, LC/SN assignment and the LOGICAL_CLOCK applier of one member.

Positions 0, 1, 2, … are the delivered remote transactions and view changes. Write sets are
arbitrary, so the proofs cover any workload, size and interleaving.

Source: WL#8440 (AL1, garbage collection, view change); mysql.md section 2 for the servers' windows;
``Mts_submode_logical_clock::schedule_next_event``.
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
from paraply.models.systems.logical_clock import reaches, restarted

ROW = Sort("Row")

P, Q, V = Variable("p", INT), Variable("q", INT), Variable("v", INT)
R = Variable("r", ROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Points on which text and servers differ."""

    name: str
    fence_without_write_set: bool = True
    """LC without write set is SN-1 (EX4), not the window (AL1 step 1)."""
    window: str = "last"
    """LC_global after garbage collection.

    ``last``: SN-1 (EX6, MySQL 8.4); ``burn``: SN, then SN+1 (MySQL 8.0); ``literal``: SN; ``none``.
    """
    prefix: bool = True
    """LC covers every earlier transaction."""
    barrier: bool = True
    """A view change runs alone."""
    minimal: bool = True
    """LC is the highest necessary number."""
    logs_view_change: bool = True
    """The view change is logged with (0, 0) (MySQL to 8.2).

    Otherwise the first remote transaction after a start has (0, 0).
    """
    local_sees_earlier: bool = True
    """Assumption A1: certified local transactions follow earlier writers of their rows."""


WL8440 = Dialect(name="wl8440")
MYSQL_8_0 = Dialect(name="mysql_8_0", window="burn")
MYSQL_8_3 = Dialect(name="mysql_8_3", window="burn", logs_view_change=False)
MYSQL_8_4 = Dialect(name="mysql_8_4", logs_view_change=False)
"""Also 9.7, where empty transactions are no barrier."""


def parallel_applier(dialect: Dialect = WL8440) -> System:
    """Return one member's certifier and applier."""
    system = System(
        f"parallel_applier[{dialect.name}]",
        "delivery, LC/SN assignment, garbage collection, view changes, LOGICAL_CLOCK scheduling",
    )
    # The workload: what each position is and which rows it writes.
    ws = system.rigid("ws", INT, ROW, BOOL)
    empty = system.rigid("empty", INT, BOOL)
    vc = system.rigid("vc", INT, BOOL)
    system.assume(
        "empty_writes_nothing", (P, R), implies(empty(P), ~ws(P, R)),
        "a transaction without write set names no row",
    )  # fmt: skip
    # The certifier.
    n = system.state("n", INT)
    next_sn = system.state("next_sn", INT)
    lc_global = system.state("lc_global", INT)
    has = system.state("has", ROW, BOOL)
    item_sn = system.state("item_sn", ROW, INT)
    # The relay log: timestamps as written, and the epoch (position of the last joiner reset).
    sn = system.state("sn", INT, INT)
    lc = system.state("lc", INT, INT)
    epoch = system.state("epoch", INT, INT)
    # Ghosts: the window when it was certified, and the writer and row that its LC comes from.
    window = system.state("window", INT, INT)
    parent = system.state("parent", INT, INT)
    shared = system.state("shared", INT, ROW)
    item_position = system.state("item_position", ROW, INT)
    base = system.state("base", INT)
    # The applier.
    started = system.state("started", INT, BOOL)
    committed = system.state("committed", INT, BOOL)
    # Chosen by the environment.
    purged = system.state("purged", ROW, BOOL)
    imported = system.state("imported", ROW, BOOL)
    local_ws = system.state("local_ws", ROW, BOOL)

    def delivered(p: Term) -> Term:
        return conj(p >= 0, p < n())

    def numbered(p: Term) -> Term:
        return conj(delivered(p), ~vc(p))

    system.starts_with("nothing_delivered", (), eq(n(), 0) & eq(base(), 0))
    system.starts_with("counters", (), eq(next_sn(), 2) & eq(lc_global(), 1))
    system.starts_with("certification_info_is_empty", (R,), ~has(R))
    system.starts_with("nothing_started", (P,), conj(~started(P), ~committed(P)))

    new_lc = Variable("new_lc", INT)
    witness = Variable("witness", ROW)
    latest_writer = conj(
        new_lc >= lc_global(),
        forall(R, implies(conj(ws(n(), R), has(R)), item_sn(R) <= new_lc)),
        disj(
            eq(new_lc, lc_global()),
            conj(ws(n(), witness), has(witness), eq(item_sn(witness), new_lc)),
        ),
    )
    fence = (
        eq(new_lc, next_sn() - 1) if dialect.fence_without_write_set else eq(new_lc, lc_global())
    )
    chosen = latest_writer if dialect.minimal else eq(new_lc, next_sn() - 1)
    system.action(
        "certify", (new_lc, witness),
        guard=conj(~vc(n()), ite(empty(n()), fence, chosen)),
        updates={
            n: lambda: n() + 1,
            next_sn: lambda: next_sn() + 1,
            lc_global: lambda: ite(empty(n()), next_sn(), lc_global()),
            has: lambda r: disj(has(r), ws(n(), r)),
            item_sn: lambda r: ite(ws(n(), r), next_sn(), item_sn(r)),
            sn: lambda p: ite(eq(p, n()), next_sn(), sn(p)),
            lc: lambda p: ite(eq(p, n()), new_lc, lc(p)),
            epoch: lambda p: ite(eq(p, n()), base(), epoch(p)),
            window: lambda p: ite(eq(p, n()), lc_global(), window(p)),
            parent: lambda p: ite(eq(p, n()), item_position(witness), parent(p)),
            shared: lambda p: ite(eq(p, n()), witness, shared(p)),
            item_position: lambda r: ite(ws(n(), r), n(), item_position(r)),
        },
        meaning="AL1 for a remote transaction",
    )  # fmt: skip
    no_sn = 0
    sees = (
        forall(P, forall(R, implies(conj(delivered(P), ws(P, R), local_ws(R)), committed(P))))
        if dialect.local_sees_earlier
        else eq(next_sn(), next_sn())
    )
    system.action(
        "certify_local", (),
        guard=sees,
        updates={
            has: lambda r: disj(has(r), local_ws(r)),
            item_sn: lambda r: ite(local_ws(r), no_sn, item_sn(r)),
        },
        havoc=(local_ws,),
        meaning="a local transaction's items carry no sequence number",
    )  # fmt: skip
    windows: dict[str, Updates] = {
        "last": {lc_global: lambda: next_sn() - 1},
        "burn": {lc_global: lambda: next_sn(), next_sn: lambda: next_sn() + 1},
        "literal": {lc_global: lambda: next_sn()},
        "none": {},
    }
    system.action(
        "collect_garbage", (),
        updates={has: lambda r: conj(has(r), ~purged(r)), **windows[dialect.window]},
        havoc=(purged,),
        meaning="purge any items at any time and open a new window",
    )  # fmt: skip
    stamp: Updates = {
        n: lambda: n() + 1,
        sn: lambda p: ite(eq(p, n()), 0, sn(p)),
        lc: lambda p: ite(eq(p, n()), 0, lc(p)),
    }
    begins: Updates = {
        **stamp,
        epoch: lambda p: ite(eq(p, n()), n(), epoch(p)),
        base: lambda: n(),
    }
    if dialect.logs_view_change:
        system.action(
            "change_view", (),
            guard=vc(n()),
            updates={**stamp, epoch: lambda p: ite(eq(p, n()), base(), epoch(p))},
            meaning="logged with (0, 0) on an existing member; the counters continue",
        )  # fmt: skip
        system.action(
            "join", (),
            guard=vc(n()),
            updates={**begins, **restarted(system)},
            havoc=(imported,),
            meaning="logged with (0, 0) on a joiner; counters start again, imported items have "
            "no SN",
        )  # fmt: skip
    else:
        # Collections since the start may have opened any window.
        number, opened = Variable("number", INT), Variable("opened", INT)
        system.action(
            "certify_first", (number, opened),
            guard=conj(vc(n()), number >= 2, opened >= 1, opened <= number),
            updates={
                **begins,
                next_sn: lambda: number + 1,
                lc_global: lambda: ite(empty(n()), number, opened),
                has: lambda r: disj(imported(r), ws(n(), r)),
                item_sn: lambda r: ite(ws(n(), r), number, no_sn),
                item_position: lambda r: ite(ws(n(), r), n(), item_position(r)),
            },
            havoc=(imported,),
            meaning="the first remote transaction after a start is logged with (0, 0); its items "
            "have the number that it would have had",
        )  # fmt: skip

    def waits_for(q: Term, p: Term) -> Term:
        same_clock = conj(~vc(p), eq(epoch(p), epoch(q)))
        bound = reaches(lc(q), sn(p)) if dialect.prefix else eq(sn(p), lc(q))
        return conj(same_clock, bound)

    fenced = conj(vc(P), ~vc(Q)) if dialect.barrier else conj(vc(P), ~vc(Q), P < 0)
    alone = vc(Q) if dialect.barrier else conj(vc(Q), P < 0)
    system.action(
        "start", (Q,),
        guard=conj(
            delivered(Q), ~started(Q),
            forall(P, implies(conj(P >= 0, P < Q), started(P))),
            forall(P, implies(
                conj(P >= 0, P < Q, disj(alone, fenced, conj(~vc(Q), waits_for(Q, P)))),
                committed(P))),
        ),
        updates={started: lambda p: disj(started(p), eq(p, Q))},
        meaning="the coordinator dispatches in relay-log order, once every SN <= LC has committed",
    )  # fmt: skip
    system.action(
        "finish", (P,),
        guard=conj(started(P), ~committed(P)),
        updates={committed: lambda p: disj(committed(p), eq(p, P))},
        meaning="a worker's engine commit, in any order",
    )  # fmt: skip

    # Safety: no conflicting parallel apply.
    both = conj(delivered(P), delivered(Q), P < Q)
    running = conj(both, started(Q))
    system.safe(
        "conflicting_rows_are_ordered", (P, Q, R),
        implies(conj(running, ws(P, R), ws(Q, R), ~vc(P), ~vc(Q)), committed(P)),
        "two transactions that write one row never run at the same time",
    )  # fmt: skip
    system.safe(
        "without_write_set_is_alone", (P, Q),
        implies(conj(running, disj(empty(P), empty(Q)), ~vc(P), ~vc(Q)), committed(P)),
        "a transaction without write set runs beside nothing",
    )  # fmt: skip
    system.safe(
        "view_change_is_a_barrier", (P, Q),
        implies(conj(running, disj(vc(P), vc(Q))), committed(P)),
        "a view change runs beside nothing",
    )  # fmt: skip
    below = implies(numbered(P), conj(lc(P) >= 1, lc(P) < sn(P)))
    system.safe("last_committed_is_below", (P,), below,
        "LC < SN, so that no transaction waits for itself")  # fmt: skip

    def bore(p: Term, number: Term) -> Term:
        bears = eq(sn(p), number)
        return bears if dialect.logs_view_change else disj(bears, vc(p))

    from_parent = conj(parent(Q) >= 0, parent(Q) < Q, ws(parent(Q), shared(Q)), ws(Q, shared(Q)),
        bore(parent(Q), lc(Q)))  # fmt: skip
    tight = implies(conj(numbered(Q), ~empty(Q)), disj(eq(lc(Q), window(Q)), from_parent))
    system.safe("last_committed_is_minimal", (Q,), tight,
        "LC is the window, or the number of an earlier writer of a common row")  # fmt: skip

    # Invariants.
    current = conj(numbered(P), eq(epoch(P), base()))
    same_epoch = conj(both, ~vc(P), ~vc(Q), eq(epoch(P), epoch(Q)))
    system.invariant("counters", (), conj(n() >= 0, base() >= 0, base() <= n(), lc_global() >= 1,
        lc_global() < next_sn()), "the window lies below the next number")  # fmt: skip
    system.invariant("numbers_lie_below_the_counter", (P,), implies(current, sn(P) < next_sn()),
        "what was numbered in this epoch is below the next number")  # fmt: skip
    system.invariant("last_committed_is_below", (P,), below, "LC is taken below the next number")
    system.invariant("items_lie_below_the_counter", (R,), implies(has(R), item_sn(R) < next_sn()),
        "an item's number was assigned before, or is none")  # fmt: skip
    system.invariant("last_committed_is_minimal", (Q,), tight, "the statement is inductive")
    system.invariant("item_names_its_writer", (R,), implies(conj(has(R), item_sn(R) >= 1),
        conj(item_position(R) >= 0, item_position(R) < n(), ws(item_position(R), R),
             bore(item_position(R), item_sn(R)))),
        "an item's number is that of a writer of the row")  # fmt: skip
    system.invariant("item_is_covered", (P, R), implies(conj(current, ws(P, R)), disj(committed(P),
        conj(has(R), item_sn(R) >= sn(P)), lc_global() >= sn(P))),
        "an uncommitted writer is remembered by the row's item or by the window")  # fmt: skip
    system.invariant("fence_is_covered", (P,), implies(conj(current, empty(P)),
        lc_global() >= sn(P)), "one without write set is remembered by the window")  # fmt: skip
    system.invariant("row_dependency_is_stamped", (P, Q, R), implies(
        conj(same_epoch, ws(P, R), ws(Q, R)), disj(reaches(lc(Q), sn(P)), committed(P))),
        "the later writer's LC reaches the earlier one's SN")  # fmt: skip
    system.invariant("fence_is_stamped", (P, Q), implies(
        conj(same_epoch, disj(empty(P), empty(Q))), reaches(lc(Q), sn(P))),
        "LC reaches across a transaction without write set")  # fmt: skip
    system.invariant("start_respects_last_committed", (P, Q), implies(
        conj(same_epoch, started(Q), reaches(lc(Q), sn(P))), committed(P)),
        "each started transaction had everything up to its LC committed")  # fmt: skip
    system.invariant("view_change_waited", (P, V), implies(
        conj(delivered(V), vc(V), started(V), P >= 0, P < V), committed(P)),
        "a view change started after everything before it had committed")  # fmt: skip
    system.invariant("view_change_is_waited_for", (V, Q), implies(
        conj(V >= 0, V < Q, delivered(Q), vc(V), ~vc(Q), started(Q)), committed(V)),
        "whatever follows a view change started after it")  # fmt: skip
    system.invariant("finished_was_started", (P,), implies(committed(P), started(P)),
        "nothing commits that did not start")  # fmt: skip
    system.invariant("started_was_delivered", (P,), implies(started(P), delivered(P)),
        "nothing starts that was not delivered")  # fmt: skip
    system.invariant("epoch_begins_with_a_view_change", (P, Q), implies(
        conj(both, ~eq(epoch(P), epoch(Q))),
        conj(P < epoch(Q), epoch(Q) <= Q, vc(epoch(Q)))),
        "between two epochs lies the view change that reset the counters")  # fmt: skip
    system.invariant("old_epoch_lies_before_the_base", (P,), implies(delivered(P), conj(
        epoch(P) <= base(), disj(eq(epoch(P), base()), P < base()))),
        "an earlier epoch lies before the view change that began this one")  # fmt: skip
    system.invariant("base_is_a_view_change", (), disj(eq(base(), 0),
        conj(vc(base()), base() < n())),
        "an epoch begins at a view change, or at the beginning")  # fmt: skip

    system.cover("two_run_at_once", (P, Q), conj(both, started(P), started(Q), ~committed(P),
        ~committed(Q), ~vc(P), ~vc(Q)))  # fmt: skip
    system.cover("conflicting_pair_meets", (P, Q, R), conj(both, ws(P, R), ws(Q, R), ~vc(P),
        ~vc(Q), committed(P), started(Q)))  # fmt: skip
    system.cover("parallel_after_a_window", (P, Q), conj(both, started(P), started(Q),
        ~committed(P), ~committed(Q), lc(P) > 1, ~vc(P), ~vc(Q)))  # fmt: skip
    return system
