"""From certification to storage: every change applies to its certified version.

One group member with remote and local transactions, garbage collection, view changes, joining, row
locks and metadata locks. The model stores each row's last writer and each table's last DDL. So the
final state depends only on the certification order. LC may be any sufficient number, and collection
may open any window. So the proofs cover dialects without (0, 0) for first transactions, as in
servers from 8.3 on.

Source: WL#8440 (EX1 to EX7, local transactions, DDL); metadata and row locks of the server.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
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

ROW, TABLE = Sort("Row"), Sort("Tab")
P, Q, V, ANY = (Variable(name, INT) for name in ("p", "q", "v", "any"))
R, T = Variable("r", ROW), Variable("t", TABLE)
LC, WINDOW = Variable("new_lc", INT), Variable("window", INT)
NONE = -1
"""An initial version, or a free lock."""

_OF_TABLES = {
    "definitions_are_as_certified", "alterations_are_as_certified", "members_converge",
    "users_follow_ddl", "ddl_follows_users", "ddl_follows_ddl", "meta_lock_is_a_ddls",
    "session_keeps_its_tables", "defined_is_committed", "defined_is_the_latest", "last_ddl_is_one",
    "last_ddl_is_the_latest", "ddl_before_is_one", "ddl_before_is_the_latest",
}  # fmt: skip
"""Statements about definitions; some fail without A12."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a dropped assumption or fault."""

    name: str = "end_to_end"
    purges_executed_only: bool = True
    """Assumption A11: purged transactions are executed here, too."""
    ddl_is_apart: bool = True
    """Assumption A12: no DDL runs beside its table's users elsewhere."""
    snapshot_is_executed: bool = True
    """Certified local snapshots include all certified versions of their rows."""
    row_locks: bool = True
    """Certified local transactions keep row locks until the engine commit."""
    metadata_locks: bool = True
    """Local DDL keeps its table lock until the engine commit."""
    waits_for_lc: bool = True
    """Remote transactions wait for everything up to LC."""
    barrier: bool = True
    """A view change runs alone."""
    speaks_of_tables: bool = True
    """Statements cover definitions, which needs A12."""


def end_to_end(rules: Rules = Rules()) -> System:
    """Return the system of one member."""
    system = System(rules.name, "certification, applier, sessions, and what is stored")
    ws = system.rigid("ws", INT, ROW, BOOL)
    empty = system.rigid("empty", INT, BOOL)
    alters = system.rigid("alters", INT, TABLE, BOOL)
    vc = system.rigid("vc", INT, BOOL)
    local = system.rigid("local", INT, BOOL)
    table = system.rigid("table", ROW, TABLE)
    system.assume("empty_writes_nothing", (P, R), implies(disj(empty(P), vc(P)), ~ws(P, R)),
        "a transaction without write set names no row")  # fmt: skip
    system.assume("ddl_has_no_write_set", (P, T), implies(alters(P, T), conj(empty(P), ~vc(P))),
        "DDL has no write set")  # fmt: skip
    system.assume("view_changes_are_nobodys", (P,), implies(vc(P), ~local(P)),
        "a view change has no session")  # fmt: skip
    n = system.state("n", INT)
    next_sn = system.state("next_sn", INT)
    lc_global = system.state("lc_global", INT)
    has = system.state("has", ROW, BOOL)
    item_sn = system.state("item_sn", ROW, INT)
    sn = system.state("sn", INT, INT)
    lc = system.state("lc", INT, INT)
    epoch = system.state("epoch", INT, INT)
    base = system.state("base", INT)
    started = system.state("started", INT, BOOL)
    committed = system.state("committed", INT, BOOL)
    # Storage: writers of row versions and table definitions, and lock owners.
    stored = system.state("stored", ROW, INT)
    defined = system.state("defined", TABLE, INT)
    row_lock = system.state("row_lock", ROW, INT)
    meta_lock = system.state("meta_lock", TABLE, INT)
    # Ghosts: the certified predecessor of each change, and the version that it found.
    last = system.state("last", ROW, INT)
    last_ddl = system.state("last_ddl", TABLE, INT)
    before = system.state("before", INT, ROW, INT)
    ddl_before = system.state("ddl_before", INT, TABLE, INT)
    found = system.state("found", INT, ROW, INT)
    found_ddl = system.state("found_ddl", INT, TABLE, INT)
    purged = system.state("purged", ROW, BOOL)
    imported = system.state("imported", ROW, BOOL)

    system.starts_with("nothing_delivered", (), conj(eq(n(), 0), eq(base(), 0), eq(next_sn(), 2),
        eq(lc_global(), 1)))  # fmt: skip
    system.starts_with("nothing_started", (P,), conj(~started(P), ~committed(P)))
    system.starts_with("rows_as_they_were", (R,), conj(~has(R), eq(stored(R), NONE),
        eq(last(R), NONE), eq(row_lock(R), NONE)))  # fmt: skip
    system.starts_with("tables_as_they_were", (T,), conj(eq(defined(T), NONE),
        eq(last_ddl(T), NONE), eq(meta_lock(T), NONE)))  # fmt: skip

    def delivered(p: Term) -> Term:
        return conj(p >= 0, p < n())

    def remote(p: Term) -> Term:
        return conj(~vc(p), ~local(p))

    here: Updates = {
        n: lambda: n() + 1,
        epoch: lambda p: ite(eq(p, n()), base(), epoch(p)),
    }
    certified: Updates = {
        **here,
        has: lambda r: disj(has(r), ws(n(), r)),
        last: lambda r: ite(ws(n(), r), n(), last(r)),
        last_ddl: lambda t: ite(alters(n(), t), n(), last_ddl(t)),
        before: lambda p, r: ite(eq(p, n()), last(r), before(p, r)),
        ddl_before: lambda p, t: ite(eq(p, n()), last_ddl(t), ddl_before(p, t)),
    }
    covers = conj(LC >= lc_global(), LC < next_sn(),
        forall(R, implies(conj(ws(n(), R), has(R)), item_sn(R) <= LC)))  # fmt: skip
    system.action(
        "certify", (LC,),
        guard=conj(remote(n()), ite(empty(n()), eq(LC, next_sn() - 1), covers)),
        updates={
            **certified,
            next_sn: lambda: next_sn() + 1,
            lc_global: lambda: ite(empty(n()), next_sn(), lc_global()),
            item_sn: lambda r: ite(ws(n(), r), next_sn(), item_sn(r)),
            sn: lambda p: ite(eq(p, n()), next_sn(), sn(p)),
            lc: lambda p: ite(eq(p, n()), LC, lc(p)),
        },
        meaning="a remote transaction: LC is at least the window and its rows' items",
    )  # fmt: skip
    is_online = disj(eq(base(), 0), committed(base()))
    had_seen = forall(R, implies(conj(ws(n(), R), has(R), last(R) >= 0), committed(last(R))))
    ddl_of_user = forall(R, implies(conj(ws(n(), R), last_ddl(table(R)) >= 0),
        committed(last_ddl(table(R)))))  # fmt: skip
    users_of_ddl = forall(P, forall(R, implies(conj(P >= 0, P < n(), ws(P, R),
        alters(n(), table(R))), committed(P))))  # fmt: skip
    ddl_of_ddl = forall(T, implies(conj(alters(n(), T), last_ddl(T) >= 0), committed(last_ddl(T))))
    apart = conj(ddl_of_user, users_of_ddl, ddl_of_ddl)
    rows_are_its_own = forall(R, implies(disj(ws(n(), R), alters(n(), table(R))),
        eq(row_lock(R), NONE)))  # fmt: skip
    tables_are_its_own = conj(
        forall(T, implies(alters(n(), T), eq(meta_lock(T), NONE))),
        forall(R, implies(ws(n(), R), eq(meta_lock(table(R)), NONE))),
    )
    changed: Updates = {
        found: lambda p, r: ite(conj(eq(p, n()), ws(n(), r)), stored(r), found(p, r)),
        found_ddl: lambda p, t: ite(eq(p, n()), defined(t), found_ddl(p, t)),
    }
    if rules.row_locks:
        changed[row_lock] = lambda r: ite(ws(n(), r), n(), row_lock(r))
    if rules.metadata_locks:
        changed[meta_lock] = lambda t: ite(alters(n(), t), n(), meta_lock(t))
    system.action(
        "certify_local", (),
        guard=conj(local(n()), ~vc(n()), is_online, rows_are_its_own, tables_are_its_own,
                   had_seen if rules.snapshot_is_executed else TRUE,
                   apart if rules.ddl_is_apart else TRUE),
        updates={
            **certified, **changed,
            item_sn: lambda r: ite(ws(n(), r), 0, item_sn(r)),
            started: lambda p: disj(started(p), eq(p, n())),
        },
        meaning="a local transaction: it has changed its rows, and holds their locks",
    )  # fmt: skip
    executed = forall(R, implies(conj(purged(R), has(R), last(R) >= 0), committed(last(R))))
    system.action(
        "collect_garbage", (WINDOW,),
        guard=conj(WINDOW >= lc_global(), WINDOW < next_sn(),
                   executed if rules.purges_executed_only else TRUE),
        updates={has: lambda r: conj(has(r), ~purged(r)), lc_global: lambda: WINDOW},
        havoc=(purged,), meaning="purge stable items, and open any window",
    )  # fmt: skip
    system.action("leave_out_number", (), updates={next_sn: lambda: next_sn() + 1},
        meaning="an unused number: up to 8.3, collection uses one up")  # fmt: skip
    system.action("change_view", (), guard=vc(n()), updates=here,
        meaning="a view change on an existing member: the counters continue")  # fmt: skip
    no_sessions = forall(P, implies(conj(P >= 0, P < n(), local(P)), committed(P)))
    system.action(
        "join", (), guard=conj(vc(n()), no_sessions),
        updates={
            n: lambda: n() + 1, base: lambda: n(),
            epoch: lambda p: ite(eq(p, n()), n(), epoch(p)),
            **restarted(system),
        },
        havoc=(imported,),
        meaning="a view change on a joiner: counters start again, imported items have no SN",
    )  # fmt: skip

    same_clock = conj(remote(P), remote(Q), eq(epoch(P), epoch(Q)), reaches(lc(Q), sn(P)))
    barred = conj(~local(P), disj(vc(P), vc(Q)))
    held_back = disj(
        same_clock if rules.waits_for_lc else ~TRUE, barred if rules.barrier else ~TRUE
    )
    system.action(
        "start", (Q,),
        guard=conj(delivered(Q), ~local(Q), ~started(Q),
                   forall(P, implies(conj(P >= 0, P < Q), started(P))),
                   forall(P, implies(conj(P >= 0, P < Q, held_back), committed(P)))),
        updates={started: lambda p: disj(started(p), eq(p, Q))},
        meaning="the coordinator gives it to a worker once everything up to its LC has committed",
    )  # fmt: skip
    at_work = conj(started(Q), ~committed(Q), ~local(Q))
    system.action(
        "change_row", (Q, R),
        guard=conj(at_work, ws(Q, R), eq(row_lock(R), NONE), eq(meta_lock(table(R)), NONE)),
        updates={
            row_lock: lambda r: ite(eq(r, R), Q, row_lock(r)),
            found: lambda p, r: ite(conj(eq(p, Q), eq(r, R)), stored(r), found(p, r)),
            found_ddl: lambda p, t: ite(conj(eq(p, Q), eq(t, table(R))), defined(t),
                                        found_ddl(p, t)),
        },
        meaning="a worker changes a row, under its lock and a shared lock of the table",
    )  # fmt: skip
    unused = forall(R, implies(eq(table(R), T), eq(row_lock(R), NONE)))
    system.action(
        "alter", (Q, T), guard=conj(at_work, alters(Q, T), eq(meta_lock(T), NONE), unused),
        updates={
            meta_lock: lambda t: ite(eq(t, T), Q, meta_lock(t)),
            found_ddl: lambda p, t: ite(conj(eq(p, Q), eq(t, T)), defined(t), found_ddl(p, t)),
        },
        meaning="a worker changes a table's definition, under its exclusive lock",
    )  # fmt: skip
    mine = conj(forall(R, implies(ws(P, R), eq(row_lock(R), P))),
                forall(T, implies(alters(P, T), eq(meta_lock(T), P))))  # fmt: skip
    system.action(
        "engine_commit", (P,),
        guard=conj(delivered(P), started(P), ~committed(P), disj(mine, local(P))),
        updates={
            committed: lambda p: disj(committed(p), eq(p, P)),
            stored: lambda r: ite(ws(P, r), P, stored(r)),
            defined: lambda t: ite(alters(P, t), P, defined(t)),
            row_lock: lambda r: ite(eq(row_lock(r), P), NONE, row_lock(r)),
            meta_lock: lambda t: ite(eq(meta_lock(t), P), NONE, meta_lock(t)),
        },
        meaning="its changes are stored and its locks released",
    )  # fmt: skip

    # Safety.
    holds_row = disj(eq(row_lock(R), Q), committed(Q))
    holds_table = disj(eq(meta_lock(T), Q), committed(Q))
    as_certified = implies(conj(delivered(Q), ws(Q, R), holds_row), eq(found(Q, R), before(Q, R)))
    system.safe("changes_land_as_certified", (Q, R), as_certified,
        "a change of a row finds the version of the certified writer before it")  # fmt: skip
    definition = implies(conj(delivered(Q), ws(Q, R), holds_row),
        eq(found_ddl(Q, table(R)), ddl_before(Q, table(R))))  # fmt: skip
    system.safe("definitions_are_as_certified", (Q, R), definition,
        "a change of a row finds the table as the certified DDL before it left it")  # fmt: skip
    altered = implies(conj(delivered(Q), alters(Q, T), holds_table),
        eq(found_ddl(Q, T), ddl_before(Q, T)))  # fmt: skip
    system.safe("alterations_are_as_certified", (Q, T), altered,
        "an ALTER finds the table as the certified DDL before it left it")  # fmt: skip
    all_done = forall(ANY, implies(conj(ANY >= 0, ANY < n()), committed(ANY)))
    system.safe("members_converge", (R,), implies(all_done, conj(eq(stored(R), last(R)),
        eq(defined(table(R)), last_ddl(table(R))))),
        "when all has committed, each row and table is as the last certified left it")  # fmt: skip

    # Invariants.
    both = conj(delivered(P), delivered(Q), P < Q)
    current = conj(delivered(P), remote(P), eq(epoch(P), base()))
    same_epoch = conj(both, remote(P), remote(Q), eq(epoch(P), epoch(Q)))
    system.invariant("counters", (), conj(n() >= 0, base() >= 0, base() <= n(), lc_global() >= 1,
        lc_global() < next_sn()), "the window lies below the next number")  # fmt: skip
    system.invariant("numbers_lie_below_the_counter", (P,), implies(current, sn(P) < next_sn()),
        "what was numbered in this epoch is below the next number")  # fmt: skip
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
    system.invariant("view_change_waited", (P, V), implies(
        conj(delivered(V), vc(V), started(V), P >= 0, P < V, ~local(P)), committed(P)),
        "a view change started after everything in the relay log before it")  # fmt: skip
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
    after = conj(both, remote(P), remote(Q), started(Q))
    system.invariant("row_writers_start_in_turn", (P, Q, R), implies(conj(after, ws(P, R),
        ws(Q, R)), committed(P)), "no conflicting parallel apply, across view changes")  # fmt: skip
    system.invariant("fence_is_alone", (P, Q), implies(conj(after, disj(empty(P), empty(Q))),
        committed(P)), "nor beside one without write set")  # fmt: skip
    system.invariant("phases", (P,), conj(implies(committed(P), started(P)),
        implies(started(P), delivered(P))), "delivered, then started, then committed")  # fmt: skip
    system.invariant("missing_item_was_executed", (R,), implies(conj(~has(R), last(R) >= 0),
        disj(committed(last(R)), last(R) < base())),
        "an item is missing because it was stable, or not imported")  # fmt: skip
    system.invariant("row_lock_is_a_writers", (R,), disj(eq(row_lock(R), NONE), conj(
        delivered(row_lock(R)), started(row_lock(R)), ~committed(row_lock(R)),
        ws(row_lock(R), R))), "a row is locked by a running writer of it")  # fmt: skip
    system.invariant("meta_lock_is_a_ddls", (T,), disj(eq(meta_lock(T), NONE), conj(
        delivered(meta_lock(T)), started(meta_lock(T)), ~committed(meta_lock(T)),
        alters(meta_lock(T), T))), "a table is locked by a running DDL of it")  # fmt: skip
    waiting_local = conj(delivered(P), local(P), ~committed(P))
    system.invariant("session_keeps_its_rows", (P, R), implies(conj(waiting_local, ws(P, R)),
        eq(row_lock(R), P)), "a session's rows are locked until its engine commit")  # fmt: skip
    system.invariant("session_keeps_its_tables", (P, T), implies(conj(waiting_local,
        alters(P, T)), eq(meta_lock(T), P)), "and so are the tables it alters")  # fmt: skip
    system.invariant("writers_follow_each_other", (P, Q, R), implies(conj(both, ws(P, R),
        ws(Q, R), holds_row), committed(P)),
        "a transaction that changed a row came after every earlier writer's commit")  # fmt: skip
    system.invariant("users_follow_ddl", (P, Q, R), implies(conj(both, alters(P, table(R)),
        ws(Q, R), holds_row), committed(P)),
        "a transaction that changed a row came after every earlier DDL of its table")  # fmt: skip
    holds_its_table = disj(eq(meta_lock(table(R)), Q), committed(Q))
    system.invariant("ddl_follows_users", (P, Q, R), implies(conj(both, ws(P, R),
        alters(Q, table(R)), holds_its_table), committed(P)),
        "a DDL came after every earlier change of a row of its table")  # fmt: skip
    system.invariant("ddl_follows_ddl", (P, Q, T), implies(conj(both, alters(P, T), alters(Q, T),
        holds_table), committed(P)), "and after every earlier DDL of it")  # fmt: skip
    system.invariant("stored_is_committed", (R,), disj(eq(stored(R), NONE), conj(stored(R) >= 0,
        committed(stored(R)), ws(stored(R), R))), "what is stored was committed")  # fmt: skip
    system.invariant("stored_is_the_latest", (P, R), implies(conj(committed(P), ws(P, R)),
        P <= stored(R)), "and nothing later was")  # fmt: skip
    system.invariant("defined_is_committed", (T,), disj(eq(defined(T), NONE), conj(
        defined(T) >= 0, committed(defined(T)), alters(defined(T), T))),
        "a table is as a committed DDL left it")  # fmt: skip
    system.invariant("defined_is_the_latest", (P, T), implies(conj(committed(P), alters(P, T)),
        P <= defined(T)), "and none later has committed")  # fmt: skip
    system.invariant("last_is_a_writer", (R,), disj(eq(last(R), NONE), conj(delivered(last(R)),
        ws(last(R), R))), "the last certified writer of a row writes it")  # fmt: skip
    system.invariant("last_is_the_latest", (P, R), implies(conj(delivered(P), ws(P, R)),
        P <= last(R)), "and none is later")  # fmt: skip
    system.invariant("last_ddl_is_one", (T,), disj(eq(last_ddl(T), NONE), conj(
        delivered(last_ddl(T)), alters(last_ddl(T), T))),
        "the last certified DDL of a table alters it")  # fmt: skip
    system.invariant("last_ddl_is_the_latest", (P, T), implies(conj(delivered(P), alters(P, T)),
        P <= last_ddl(T)), "and none is later")  # fmt: skip
    own = conj(delivered(Q), ws(Q, R))
    system.invariant("before_is_a_writer", (Q, R), implies(own, disj(eq(before(Q, R), NONE),
        conj(before(Q, R) >= 0, before(Q, R) < Q, ws(before(Q, R), R)))),
        "the certified writer before is an earlier one")  # fmt: skip
    system.invariant("before_is_the_latest", (P, Q, R), implies(conj(own, P >= 0, P < Q,
        ws(P, R)), P <= before(Q, R)), "and none lies between")  # fmt: skip
    of_group = conj(delivered(Q), ~vc(Q))
    system.invariant("ddl_before_is_one", (Q, T), implies(of_group, disj(
        eq(ddl_before(Q, T), NONE), conj(ddl_before(Q, T) >= 0, ddl_before(Q, T) < Q,
        alters(ddl_before(Q, T), T)))), "the DDL certified before is an earlier one")  # fmt: skip
    system.invariant("ddl_before_is_the_latest", (P, Q, T), implies(conj(of_group, P >= 0, P < Q,
        alters(P, T)), P <= ddl_before(Q, T)), "and none lies between")  # fmt: skip
    for statement in system.safety[:3]:
        system.invariant(statement.name, statement.variables, statement.body, "it is inductive")
    if not rules.speaks_of_tables:
        system.safety = [one for one in system.safety if one.name not in _OF_TABLES]
        system.invariants = [one for one in system.invariants if one.name not in _OF_TABLES]
    system.cover("session_and_worker_at_once", (P, Q), conj(both, started(P), started(Q),
        ~committed(P), ~committed(Q), local(P), remote(Q)))  # fmt: skip
    system.cover("change_after_a_local_one", (P, Q, R), conj(both, local(P), remote(Q),
        eq(before(Q, R), P), eq(row_lock(R), Q)))  # fmt: skip
    system.cover("change_after_joining", (Q, R), conj(base() > 0, delivered(Q), Q > base(),
        eq(row_lock(R), Q), before(Q, R) >= 0))  # fmt: skip
    system.cover("row_changed_after_ddl", (Q, R), conj(delivered(Q), eq(row_lock(R), Q),
        ddl_before(Q, table(R)) >= 0))  # fmt: skip
    return system
