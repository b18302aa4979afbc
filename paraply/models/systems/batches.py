"""MariaDB's conservative batches: commit-start opens the next batch, a retry revokes it.

Positions 0, 1, 2, … are one domain's event groups in relay-log order; a batch has one commit id. It
begins after the commit starts of all before it; row locks last until the commit. If an earlier
transaction waits for a later one, the later one is killed, revokes its commit start, rolls back and
retries.

Source: ``rpl_parallel.cc`` (``mark_start_commit``, ``unmark_start_commit``, ``retry_event_group``),
MDEV-7458, MDEV-8302; WL#4648 C2.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
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
)

ROW = Sort("Row")
M, P, Q, W = (Variable(name, INT) for name in "mpqw")
R = Variable("r", ROW)
FREE = -1
"""No wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Scheduler switches; off is a fault or dropped assumption."""

    name: str = "conservative_batches"
    revokes: str = "first"
    """``first``, before the rollback frees rows, ``after`` it, or ``never``."""
    batches_wait: bool = True
    """A batch waits for all earlier commit starts."""
    batches_share_no_row: bool = True
    """Assumption A7: source commit groups share no row."""
    committing_survives_errors: bool = True
    """Assumption A8: after its commit start, only an earlier waiter forces a rollback."""
    kills_are_noticed: bool = True
    """Assumption A9: a kill takes effect before its killer continues."""
    waits_are_reported: bool = True
    """The engine reports waits to kill later transactions."""


def batches(rules: Rules = Rules()) -> System:
    """Return the system of one domain's workers."""
    system = System(rules.name, "batches of equal commit id, row locks, kills and retries")
    ws = system.rigid("ws", INT, ROW, BOOL)
    first = system.rigid("first", INT, INT)
    system.assume("batches_follow_each_other", (P, Q), implies(conj(P >= 0, P <= Q), conj(
        first(P) >= 0, first(P) <= P, disj(eq(first(P), first(Q)), P < first(Q)))),
        "a batch is an interval of the relay log; each knows its first")  # fmt: skip
    if rules.batches_share_no_row:
        system.assume("A7", (P, Q, R), implies(conj(P >= 0, P < Q, eq(first(P), first(Q))),
            ~conj(ws(P, R), ws(Q, R))), "a batch is free of conflicts")  # fmt: skip
    running = system.state("running", INT, BOOL)
    applied = system.state("applied", INT, ROW, BOOL)
    started = system.state("commit_started", INT, BOOL)
    committed = system.state("committed", INT, BOOL)
    waits_for = system.state("waits_for", INT, INT)
    killed = system.state("killed", INT, BOOL)
    undone = system.state("undone", INT, BOOL)
    # Ghost: the killer of a transaction.
    sent_by = system.state("sent_by", INT, INT)

    system.starts_with("idle", (P,), conj(~running(P), ~started(P), ~committed(P), ~killed(P),
        ~undone(P), eq(waits_for(P), FREE)))  # fmt: skip
    system.starts_with("nothing_applied", (P, R), ~applied(P, R))

    before_batch = forall(Q, implies(conj(Q >= 0, Q < first(P)), started(Q)))
    system.action(
        "start", (P,),
        guard=conj(P >= 0, ~running(P), ~committed(P), ~undone(P),
                   before_batch if rules.batches_wait else TRUE),
        updates={running: lambda p: disj(running(p), eq(p, P))},
        meaning="a worker begins: everything before the batch has started to commit",
    )  # fmt: skip
    row_is_free = forall(Q, implies(applied(Q, R), disj(committed(Q), eq(Q, P))))
    system.action(
        "apply", (P, R),
        guard=conj(running(P), ~started(P), eq(waits_for(P), FREE), ws(P, R), row_is_free),
        updates={applied: lambda p, r: disj(applied(p, r), conj(eq(p, P), eq(r, R)))},
        meaning="the worker changes a row, and holds its lock until it commits or rolls back",
    )  # fmt: skip
    system.action(
        "start_commit", (P,),
        guard=conj(running(P), ~started(P), ~killed(P), eq(waits_for(P), FREE),
                   forall(R, implies(ws(P, R), applied(P, R)))),
        updates={started: lambda p: disj(started(p), eq(p, P))},
        meaning="all rows applied, no kill pending: counted among those that commit",
    )  # fmt: skip
    waited: Updates = {waits_for: lambda w: ite(eq(w, W), P, waits_for(w))}
    if rules.waits_are_reported:
        waited[killed] = lambda p: disj(killed(p), eq(p, P))
        waited[sent_by] = lambda p: ite(eq(p, P), W, sent_by(p))
    system.action(
        "wait", (W, P), updates=waited,
        guard=conj(running(W), ~started(W), eq(waits_for(W), FREE), W >= 0, W < P, running(P)),
        meaning="an earlier one waits for a lock of a later one (a gap, say), which is killed",
    )  # fmt: skip
    system.action(
        "fail", (P,),
        guard=conj(running(P), ~started(P) if rules.committing_survives_errors else TRUE),
        updates={killed: lambda p: disj(killed(p), eq(p, P))},
        meaning="a temporary error",
    )  # fmt: skip
    revocable = conj(killed(P), started(P), running(P))
    undoing: Updates = {
        running: lambda p: conj(running(p), ~eq(p, P)),
        undone: lambda p: disj(undone(p), eq(p, P)),
        applied: lambda p, r: conj(applied(p, r), ~eq(p, P)),
        killed: lambda p: conj(killed(p), ~eq(p, P)),
        waits_for: lambda w: ite(disj(eq(w, P), eq(waits_for(w), P)), FREE, waits_for(w)),
    }
    if rules.revokes == "after":
        revocable = conj(started(P), undone(P))
    if rules.revokes != "never":
        system.action("revoke_commit_start", (P,), guard=revocable,
            updates={started: lambda p: conj(started(p), ~eq(p, P))},
            meaning="the next batch must wait again")  # fmt: skip
    system.action(
        "roll_back", (P,), updates=undoing,
        guard=conj(killed(P), running(P), ~started(P) if rules.revokes == "first" else TRUE),
        meaning="its rows are free; who waited for it goes on",
    )  # fmt: skip
    all_before = forall(Q, implies(conj(Q >= 0, Q < P), committed(Q)))
    noticed = forall(Q, ~conj(killed(Q), eq(sent_by(Q), P)))
    system.action(
        "retry", (P,),
        guard=conj(P >= 0, undone(P), all_before, noticed if rules.kills_are_noticed else TRUE),
        updates={
            running: lambda p: disj(running(p), eq(p, P)),
            undone: lambda p: conj(undone(p), ~eq(p, P)),
        },
        meaning="it begins again, once everything before it has committed",
    )  # fmt: skip
    system.action(
        "engine_commit", (P,), guard=conj(running(P), started(P), ~killed(P), all_before),
        updates={
            committed: lambda p: disj(committed(p), eq(p, P)),
            running: lambda p: conj(running(p), ~eq(p, P)),
        },
        meaning="in relay-log order; its rows are free",
    )  # fmt: skip

    ordered = implies(conj(P >= 0, P < Q, ws(P, R), applied(Q, R)), committed(P))
    system.safe("conflicting_rows_are_ordered", (P, Q, R), ordered,
        "no attempt, surviving or not, changes a row before all its earlier writers have "
        "committed")  # fmt: skip
    least = conj(M >= 0, ~committed(M), forall(Q, implies(conj(Q >= 0, Q < M), committed(Q))))
    system.safe("the_head_may_start", (M, P), implies(conj(least, P >= 0, P < M),
        conj(started(P), committed(P))),
        "all that its start or retry waits for has happened")  # fmt: skip
    system.safe("the_head_is_never_blocked", (M, P, R), implies(
        conj(least, ws(M, R), applied(P, R), ~eq(P, M)), committed(P)),
        "no row that it lacks is locked")  # fmt: skip
    system.safe("whoever_the_head_waits_for_is_killed", (M,), implies(
        conj(least, waits_for(M) >= 0), conj(running(waits_for(M)), killed(waits_for(M)))),
        "so its wait ends")  # fmt: skip

    system.invariant("conflicting_rows_are_ordered", (P, Q, R), ordered, "it is inductive")
    system.invariant("earlier_batches_have_started_to_commit", (P, Q), implies(
        conj(running(Q), P >= 0, P < first(Q)), started(P)),
        "no transaction runs beside a batch before its own, unless that is committing")  # fmt: skip
    system.invariant("committing_has_applied_all", (P, R), implies(conj(started(P), ws(P, R)),
        applied(P, R)), "a committing transaction holds all its rows")  # fmt: skip
    system.invariant("applied_is_running_or_committed", (P, R), implies(applied(P, R),
        conj(P >= 0, ws(P, R), disj(running(P), committed(P)))),
        "a rollback leaves nothing behind")  # fmt: skip
    system.invariant("killed_in_commit_was_for_an_earlier", (P,), implies(
        conj(killed(P), started(P)), conj(sent_by(P) >= 0, sent_by(P) < P, ~started(sent_by(P)),
        disj(eq(waits_for(sent_by(P)), P), undone(sent_by(P))))),
        "one that waits for it has not started to commit, so no later batch has begun")  # fmt: skip
    system.invariant("waits_end_with_a_kill", (W,), disj(eq(waits_for(W), FREE), conj(
        waits_for(W) > W, running(waits_for(W)), killed(waits_for(W)), running(W), ~started(W))),
        "a waiting transaction is applying; its blocker is killed")  # fmt: skip
    system.invariant("phases", (P,), conj(
        implies(killed(P), running(P)), implies(running(P), conj(P >= 0, ~undone(P))),
        implies(started(P), disj(running(P), committed(P))),
        implies(committed(P), conj(P >= 0, started(P), ~running(P))),
        implies(undone(P), conj(~started(P), ~committed(P)))),
        "a transaction runs, or is undone, or has committed")  # fmt: skip
    system.invariant("commit_order_preserved", (P, Q), implies(conj(P >= 0, P < Q, committed(Q)),
        committed(P)), "engine commits follow the relay log")  # fmt: skip
    system.cover("batches_overlap", (P, Q), conj(P >= 0, P < first(Q), running(P), started(P),
        running(Q)))  # fmt: skip
    system.cover("commit_start_is_taken_back", (P,), conj(started(P), killed(P), running(P)))
    system.cover("retry_is_due", (P, R), conj(undone(P), P > 0, ws(P, R), all_before))
    return system
