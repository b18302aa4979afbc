"""The commit-order queue with row locks: order, prefixes for readers, and progress.

Positions 0, 1, 2, … are the relay log. A transaction waits for its dependencies, locks rows one at
a time, and commits in order. Dependencies are arbitrary but include conflicts, as proved in
``paraply/models/systems/applier.py``.

Source: WL#4648 C1 and C3, ``Commit_order_manager`` of MySQL, ``wait_for_prior_commit`` of MariaDB.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    Equal,
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
M, P, Q = Variable("m", INT), Variable("p", INT), Variable("q", INT)
R = Variable("r", ROW)
FREE = -1
"""No lock owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Queue switches; off is a configuration or fault."""

    name: str = "commit_order"
    preserve_commit_order: bool = True
    conflicts_wait: bool = True
    """A transaction waits for earlier conflicting commits."""
    locks_are_writes: bool = True
    """A worker locks the rows of its write set only; off, others too (no primary key, gaps)."""


def commit_order(rules: Rules = Rules()) -> System:
    """Return the queue's system."""
    system = System(rules.name, "workers, row locks, and engine commits in the order of the log")
    ws = system.rigid("ws", INT, ROW, BOOL)
    n = system.state("n", INT)
    started = system.state("started", INT, BOOL)
    committed = system.state("committed", INT, BOOL)
    holder = system.state("holder", ROW, INT)
    locks = ws
    if not rules.locks_are_writes:
        locks = system.rigid("locks", INT, ROW, BOOL)
        system.assume("writes_are_locked", (P, R), implies(ws(P, R), locks(P, R)),
            "a worker locks at least what it writes")  # fmt: skip
    read = system.state("read", INT, BOOL)

    queued = conj(P >= 0, P < n())
    system.starts_with("empty", (), eq(n(), 0))
    if rules.preserve_commit_order:
        head = system.state("head", INT)
        system.starts_with("the_first_has_its_turn", (), eq(head(), 0))
    system.starts_with("idle", (P,), conj(~started(P), ~committed(P), ~read(P)))
    system.starts_with("unlocked", (R,), eq(holder(R), FREE))

    system.action("queue", (), updates={n: lambda: n() + 1}, meaning="the receiver writes")
    waits = forall(Q, implies(conj(Q >= 0, Q < P), started(Q)))
    if rules.conflicts_wait:
        waits = conj(waits, forall(Q, forall(R, implies(
            conj(Q >= 0, Q < P, ws(P, R), ws(Q, R)), committed(Q)))))  # fmt: skip
    system.action(
        "start", (P,), guard=conj(queued, ~started(P), waits),
        updates={started: lambda p: disj(started(p), eq(p, P))},
        meaning="a worker takes the next transaction of the log",
    )  # fmt: skip
    system.action(
        "lock_row", (P, R),
        guard=conj(started(P), ~committed(P), locks(P, R), eq(holder(R), FREE)),
        updates={holder: lambda r: ite(eq(r, R), P, holder(r))},
        meaning="the worker applies a change to the row and so locks it",
    )  # fmt: skip
    turn = conj(started(P), ~committed(P), forall(R, implies(locks(P, R), eq(holder(R), P))))
    commits: Updates = {
        committed: lambda p: disj(committed(p), eq(p, P)),
        holder: lambda r: ite(eq(holder(r), P), FREE, holder(r)),
    }
    if rules.preserve_commit_order:
        turn = conj(turn, eq(P, head()))
        commits[head] = lambda: head() + 1
    system.action("engine_commit", (P,), guard=turn, updates=commits,
        meaning="all rows applied, and it has its turn; frees its rows, and the next has its turn",
    )  # fmt: skip
    system.action(
        "take_snapshot", (), updates={read: lambda p: committed(p)},
        meaning="a reader's snapshot is what has committed",
    )  # fmt: skip

    ordered = implies(conj(P >= 0, P < Q, committed(Q)), committed(P))
    prefix = implies(conj(P >= 0, P < Q, read(Q)), read(P))
    system.safe("commit_order_preserved", (P, Q), ordered, "what has committed is a prefix")
    system.safe("readers_see_prefixes", (P, Q), prefix,
        "a reader sees everything before whatever it sees")  # fmt: skip
    if rules.preserve_commit_order:
        system.invariant("committed_had_its_turn", (P,), implies(P >= 0,
            Equal(committed(P), P < head())), "turns follow the log")  # fmt: skip
        system.invariant("turns_count_from_0", (), head() >= 0, "the first turn is that of 0")
    system.invariant("commit_order_preserved", (P, Q), ordered, "only the head of the queue goes")
    system.invariant("readers_see_prefixes", (P, Q), prefix, "a snapshot is taken of a prefix")

    # Progress: the least uncommitted transaction m can always start, lock a row or commit, since
    # no other transaction has locked a row that m writes.
    least = conj(M >= 0, M < n(), ~committed(M),
                 forall(Q, implies(conj(Q >= 0, Q < M), committed(Q))))  # fmt: skip
    system.safe(
        "the_head_is_never_blocked", (M, R),
        implies(conj(least, started(M), locks(M, R)), disj(eq(holder(R), FREE), eq(holder(R), M))),
        "so it can lock what it lacks, and then commit: no deadlock",
    )  # fmt: skip
    system.safe(
        "the_head_may_start", (M, Q),
        implies(conj(least, ~started(M), Q >= 0, Q < M), conj(started(Q), committed(Q))),
        "all that its start waits for has happened",
    )  # fmt: skip
    system.invariant(
        "holder_is_running", (R,),
        disj(eq(holder(R), FREE), conj(holder(R) >= 0, holder(R) < n(), started(holder(R)),
             ~committed(holder(R)), locks(holder(R), R))),
        "a row is held by a running transaction that writes it",
    )  # fmt: skip
    system.invariant(
        "running_transactions_do_not_conflict", (P, Q, R),
        implies(conj(P >= 0, P < Q, started(Q), ws(P, R), ws(Q, R)), committed(P)),
        "no conflicting parallel apply",
    )  # fmt: skip
    system.invariant("finished_was_started", (P,), implies(committed(P), started(P)),
        "nothing commits that did not start")  # fmt: skip
    system.invariant("started_was_queued", (P,), implies(started(P), queued),
        "nothing starts that is not in the log")  # fmt: skip
    system.invariant("log_has_no_negative_length", (), n() >= 0, "positions count from 0")
    system.cover("two_run_at_once", (P, Q), conj(P >= 0, P < Q, started(P), started(Q),
        ~committed(P), ~committed(Q)))  # fmt: skip
    system.cover("reader_saw_something", (P,), read(P))
    return system
