"""The commit-order queue with locks taken one by one, for progress.

Positions 0, 1, 2, … are the relay log. A transaction starts after its predecessors have started and
its conflicting predecessors have committed (LOGICAL_CLOCK). It locks ``size`` rows in the order of
its statements: ``row_at(p, 0)``, ``row_at(p, 1)``, …. The lock set contains the write set, and may
be wider: full scans without a primary key, gap locks, foreign keys. It commits at its turn, when
``head`` transactions have committed.

Source: WL#4648 C1 and C3; ``Commit_order_manager::check_and_report_deadlock`` of MySQL;
``thd_rpl_deadlock_check`` of MariaDB; InnoDB's deadlock detection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product
from typing import Literal as Choice

from paraply.models.language.concrete import Scope, Table
from paraply.models.language.response import Case, Measure, Response
from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    FALSE,
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
    negate,
)

ROW = Sort("Row")
P, Q, INDEX, T = (Variable(name, INT) for name in "pqit")
R = Variable("r", ROW)
FREE, SESSION = -1, -2
"""No lock owner; a client's session, which is no position of the log."""


OF_OTHERS = ("queue", "session_locks", "session_ends")
"""Actions that nobody need take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Queue switches; off is a configuration or fault."""

    name: str = "lock_queue"
    locks_are_writes: bool = False
    """Workers lock exactly the rows of their write sets."""
    calls_back: Choice["waiting_for_turn", "any_holder", "nobody"] = "any_holder"
    """Which later holder of a row gives way to an earlier transaction that wants the row."""
    starts_after: Choice["conflicts", "nothing", "batches"] = "conflicts"
    """LOGICAL_CLOCK waits for conflicting transactions to commit; MariaDB's optimistic mode for
    nothing; its conservative mode for the commit starts of all earlier batches."""
    sessions: Choice["", "give_way", "stay"] = ""
    """Clients' sessions lock rows, too; what they hold when a worker wants it."""
    hands_over: bool = True
    """The row goes to the transaction that wanted it, not to the first to ask."""


class Queue:
    """The queue's functions, and the formulas that actions and statements share."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.system = system = System(
            rules.name, "workers lock rows one by one and commit in the order of the log"
        )
        self.ws = system.rigid("ws", INT, ROW, BOOL)
        self.size = system.rigid("size", INT, INT)
        self.row_at = system.rigid("row_at", INT, INT, ROW)
        self.place = system.rigid("place", INT, ROW, INT)
        if rules.starts_after == "batches":
            self.first = system.rigid("first", INT, INT)
        self.n = system.state("n", INT)
        self.head = system.state("head", INT)
        self.started = system.state("started", INT, BOOL)
        self.got = system.state("got", INT, INT)
        self.holder = system.state("holder", ROW, INT)

    def locks(self, p: Term, r: Term) -> Term:
        """Return that ``r`` is in the lock set of ``p``."""
        at = self.place(p, r)
        return conj(at >= 0, at < self.size(p), eq(self.row_at(p, at), r))

    def wanted(self, p: Term) -> Term:
        """Return the row of the next statement of ``p``."""
        return self.row_at(p, self.got(p))

    def running(self, p: Term) -> Term:
        """Return that ``p`` has started and not committed."""
        return conj(self.started(p), self.head() <= p)

    def wants(self, q: Term, p: Term) -> Term:
        """Return that ``q`` waits for a row that ``p`` has locked."""
        waits = conj(self.running(q), self.got(q) < self.size(q))
        return conj(waits, eq(self.holder(self.wanted(q)), p))


def lock_queue(rules: Rules = Rules()) -> System:
    """Return the queue's system."""
    queue = Queue(rules)
    _assumptions(queue)
    _actions(queue)
    if rules.sessions:
        _sessions(queue)
    if not rules.locks_are_writes:
        # With exact locks no transaction waits for a row, so no worker would ever give way.
        _ways_to_give_way(queue)
    _invariants(queue)
    _progress(queue)
    return queue.system


def _assumptions(queue: Queue) -> None:
    system, size, ws = queue.system, queue.size, queue.ws
    in_order = conj(INDEX >= 0, INDEX < size(P))
    system.assume("sizes", (P,), size(P) >= 0, "no lock set has a negative size")
    system.assume(
        "places", (P, INDEX), implies(in_order, eq(queue.place(P, queue.row_at(P, INDEX)), INDEX)),
        "no transaction locks a row twice",
    )  # fmt: skip
    system.assume("writes_are_locked", (P, R), implies(ws(P, R), queue.locks(P, R)),
        "a written row is locked")  # fmt: skip
    if queue.rules.locks_are_writes:
        system.assume("locks_are_writes", (P, R), implies(queue.locks(P, R), ws(P, R)),
            "no other row is locked")  # fmt: skip
    if queue.rules.starts_after == "batches":
        system.assume("batches_hold_their_own", (P,), queue.first(P) <= P,
            "a transaction is of its batch")  # fmt: skip
    system.starts_with("empty", (), conj(eq(queue.n(), 0), eq(queue.head(), 0)))
    system.starts_with("idle", (P,), conj(~queue.started(P), eq(queue.got(P), 0)))
    system.starts_with("unlocked", (R,), eq(queue.holder(R), FREE))


def _actions(queue: Queue) -> None:
    system, ws, started = queue.system, queue.ws, queue.started
    n, head, got, holder = queue.n, queue.head, queue.got, queue.holder
    system.action("queue", (), updates={n: lambda: n() + 1}, meaning="the receiver writes")
    in_order = forall(Q, implies(conj(Q >= 0, Q < P), started(Q)))
    waits: Term = TRUE
    if queue.rules.starts_after == "conflicts":
        conflict = conj(Q >= 0, Q < P, ws(P, R), ws(Q, R))
        waits = forall(Q, forall(R, implies(conflict, Q < head())))
    elif queue.rules.starts_after == "batches":
        # Commit starts with the last row, and a retry takes it back.
        commits = disj(Q < head(), conj(started(Q), eq(got(Q), queue.size(Q))))
        waits = forall(Q, implies(conj(Q >= 0, Q < queue.first(P)), commits))
    system.action(
        "start", (P,), guard=conj(P >= 0, P < n(), ~started(P), in_order, waits),
        updates={started: lambda p: disj(started(p), eq(p, P))},
        meaning="a worker takes the next transaction of the log",
    )  # fmt: skip
    free = eq(holder(queue.wanted(P)), FREE)
    system.action(
        "lock_row", (P,), guard=conj(queue.running(P), got(P) < queue.size(P), free),
        updates={
            holder: lambda r: ite(eq(r, queue.wanted(P)), P, holder(r)),
            got: lambda p: ite(eq(p, P), got(P) + 1, got(p)),
        },
        meaning="the worker executes its next statement and so locks a row",
    )  # fmt: skip
    system.action(
        "engine_commit", (P,),
        guard=conj(queue.running(P), eq(got(P), queue.size(P)), eq(P, head())),
        updates={
            head: lambda: head() + 1,
            holder: lambda r: ite(eq(holder(r), P), FREE, holder(r)),
        },
        meaning="all rows are locked and all earlier transactions have committed; frees its rows",
    )  # fmt: skip


def _sessions(queue: Queue) -> None:
    system, got, holder = queue.system, queue.got, queue.holder
    # A lock that a worker waits for is given to the earliest worker, in the order of the queue.
    at_row = conj(queue.running(Q), got(Q) < queue.size(Q), eq(queue.wanted(Q), R))
    unwanted = forall(Q, implies(Q >= 0, negate(at_row)))
    system.action(
        "session_locks", (R,), guard=conj(eq(holder(R), FREE), unwanted),
        updates={holder: lambda r: ite(eq(r, R), SESSION, holder(r))},
        meaning="a client's session changes a row",
    )  # fmt: skip
    system.action(
        "session_ends", (R,), guard=conj(eq(holder(R), SESSION), unwanted),
        updates={holder: lambda r: ite(eq(r, R), FREE, holder(r))},
        meaning="the session commits or rolls back, and nobody waits for its row",
    )  # fmt: skip
    earlier = conj(queue.running(INDEX), got(INDEX) < queue.size(INDEX),
                   eq(queue.wanted(INDEX), queue.wanted(Q)))  # fmt: skip
    earliest = forall(INDEX, implies(conj(INDEX >= 0, INDEX < Q), negate(earlier)))
    system.action(
        "session_gives_way", (Q,),
        guard=conj(queue.running(Q), Q >= 0, got(Q) < queue.size(Q), earliest,
                   eq(holder(queue.wanted(Q)), SESSION),
                   TRUE if queue.rules.sessions == "give_way" else FALSE),
        updates={
            holder: lambda r: ite(eq(r, queue.wanted(Q)), Q, holder(r)),
            got: lambda p: ite(eq(p, Q), got(p) + 1, got(p)),
        },
        meaning="the session ends or is killed, and its row goes to the earliest that waits",
    )  # fmt: skip


def _ways_to_give_way(queue: Queue) -> None:
    if queue.rules.calls_back == "any_holder":
        _gives_way(
            queue, "call_back", TRUE,
            "a holder of a row that an earlier transaction wants rolls back and begins again",
        )  # fmt: skip
        return
    if queue.rules.calls_back == "nobody":
        _gives_way(
            queue, "call_back", queue.wants(P, Q),
            "only a circle of two rows is noticed: InnoDB rolls back the later",
        )  # fmt: skip
        return
    _gives_way(
        queue, "call_back", eq(queue.got(P), queue.size(P)),
        "a worker that waits for its turn, with a row that an earlier transaction wants, rolls "
        "back and begins again",
    )  # fmt: skip
    _gives_way(
        queue, "detect_deadlock", queue.wants(P, Q),
        "of two transactions that wait for each other's rows, InnoDB rolls back the later",
    )  # fmt: skip


def _gives_way(queue: Queue, name: str, only_if: Term, meaning: str) -> None:
    got, holder, rules = queue.got, queue.holder, queue.rules
    guard = conj(queue.running(P), Q >= 0, Q < P, queue.wants(Q, P), only_if)
    # A holder gives way to the earliest transaction that wants one of its rows.
    earlier = conj(INDEX >= 0, INDEX < Q)
    guard = conj(guard, forall(INDEX, implies(earlier, negate(queue.wants(INDEX, P)))))

    def freed(r: Term) -> Term:
        return ite(eq(holder(r), P), FREE, holder(r))

    def rows(r: Term) -> Term:
        return ite(eq(r, queue.wanted(Q)), Q, freed(r)) if rules.hands_over else freed(r)

    def counts(p: Term) -> Term:
        others = ite(eq(p, Q), got(Q) + 1, got(p)) if rules.hands_over else got(p)
        return ite(eq(p, P), 0, others)

    queue.system.action(name, (P, Q), guard, {holder: rows, got: counts}, meaning=meaning)


def _invariants(queue: Queue) -> None:
    system, ws, started, size = queue.system, queue.ws, queue.started, queue.size
    n, head, got, holder = queue.n, queue.head, queue.got, queue.holder
    system.invariant("head_is_in_the_log", (), conj(head() >= 0, head() <= n()),
        "only logged transactions commit")  # fmt: skip
    system.invariant("started_was_queued", (P,), implies(started(P), conj(P >= 0, P < n())),
        "no transaction starts before it is logged")  # fmt: skip
    system.invariant("committed_was_started", (P,),
        implies(conj(P >= 0, P < head()), started(P)),
        "no transaction commits before it starts")  # fmt: skip
    waits_for_conflicts = queue.rules.starts_after == "conflicts"
    if waits_for_conflicts:
        system.invariant(
            "running_transactions_do_not_conflict", (P, Q, R),
            implies(conj(P >= 0, P < Q, started(Q), ws(P, R), ws(Q, R)), P < head()),
            "no conflicting parallel apply",
        )  # fmt: skip
    system.invariant("counts_are_in_range", (P,), conj(got(P) >= 0, got(P) <= size(P)),
        "no transaction locks more rows than it has statements")  # fmt: skip
    system.invariant("only_started_ones_lock", (P,), implies(got(P) > 0, started(P)),
        "a lock needs a worker")  # fmt: skip
    owner = holder(R)
    is_session = eq(owner, SESSION) if queue.rules.sessions else FALSE
    system.invariant(
        "holder_is_running", (R,),
        disj(eq(owner, FREE), is_session, conj(queue.running(owner), queue.locks(owner, R),
             queue.place(owner, R) < got(owner))),
        "a row is held by a running transaction that has come to it",
    )  # fmt: skip
    system.invariant(
        "rows_are_kept", (P, INDEX),
        implies(conj(queue.running(P), INDEX >= 0, INDEX < got(P)),
                eq(holder(queue.row_at(P, INDEX)), P)),
        "a running transaction keeps the rows that it has locked",
    )  # fmt: skip
    if waits_for_conflicts:
        system.safe(
            "conflicts_do_not_overlap", (P, Q, R),
            implies(conj(P >= 0, P < Q, started(Q), ws(P, R), ws(Q, R)), P < head()),
            "of two transactions that write one row, the later starts after the earlier has "
            "committed",
        )  # fmt: skip
    else:
        first = head()
        system.safe(
            "the_head_commits_with_its_rows", (P, R),
            implies(conj(queue.started(first), got(first) >= size(first), ws(first, R), ws(P, R),
                         P > first, P >= 0), negate(eq(holder(R), P))),
            "when a transaction can commit, no later one has changed a row that it writes",
        )  # fmt: skip
    if queue.rules.locks_are_writes:
        system.safe("no_row_is_waited_for", (P, Q), negate(queue.wants(Q, P)) | eq(P, FREE),
            "no transaction waits for a row")  # fmt: skip
    system.cover("two_run_at_once", (P, Q), conj(P < Q, queue.running(P), queue.running(Q)))
    if queue.rules.sessions:
        system.cover("a_session_holds_what_the_first_wants", (), conj(queue.running(head()),
            got(head()) < size(head()), eq(holder(queue.wanted(head())), SESSION)))  # fmt: skip
    if not queue.rules.locks_are_writes:
        first = conj(queue.wants(head(), P), head() < P, eq(got(head()), 0))
        system.cover("the_first_waits_for_a_later", (P,), first)


def _progress(queue: Queue) -> None:
    head, got, size = queue.head, queue.got, queue.size
    first = head()
    runs, row = queue.started(first), queue.holder(queue.wanted(first))
    left = conj(runs, got(first) < size(first))
    rank = [Measure(T, first), Measure(ite(runs, 0, 1)), Measure(size(first), got(first))]
    cases = [
        Case(name="to_start", condition=~runs, action="start", arguments=(first,),
             meaning="the first uncommitted transaction has no worker yet"),
        Case(name="to_lock", condition=conj(left, eq(row, FREE)), action="lock_row",
             arguments=(first,), meaning="it has a worker, and its next row is free"),
        Case(name="to_commit", condition=conj(runs, size(first) <= got(first)),
             action="engine_commit", arguments=(first,), meaning="it has locked all its rows"),
    ]  # fmt: skip
    if not queue.rules.locks_are_writes:
        waits = conj(left, negate(eq(row, FREE)))
        rank.append(Measure(ite(waits, 0, 1)))
        if queue.rules.sessions:
            is_session = eq(row, SESSION)
            cases.append(Case(
                name="waits_for_a_session", condition=conj(waits, is_session),
                action="session_gives_way", arguments=(first,),
                meaning="a client's session has locked its next row",
            ))  # fmt: skip
            waits = conj(waits, negate(is_session))
        cases.append(Case(
            name="waits", condition=waits, action="call_back", arguments=(row, first),
            meaning="a later transaction has locked its next row",
        ))  # fmt: skip
    queue.system.responds(Response(
        name="the_log_is_finished", variables=(T,), pending=conj(T >= 0, T < queue.n()),
        goal=T < first, rank=tuple(rank), cases=tuple(cases),
        fair=tuple(action.name for action in queue.system.actions if action.name not in OF_OTHERS),
        meaning="every transaction in the relay log is committed eventually",
    ))  # fmt: skip


def workloads(transactions: int, scope: Scope) -> Iterator[dict[str, Table]]:
    """Yield every choice of lock sets in every order, with the initial state; no writes conflict.

    Up to the names of rows: the first row locked is the first of the scope, and so on.
    """
    rows = scope.values(ROW)
    orders = [order for count in range(len(rows) + 1) for order in permutations(rows, count)]
    for chosen in product(orders, repeat=transactions):
        if list(dict.fromkeys(r for order in chosen for r in order)) != rows:
            continue
        yield {
            "holder": {(r,): FREE for r in rows},
            "size": {(p,): len(order) for p, order in enumerate(chosen)},
            "row_at": {(p, i): r for p, order in enumerate(chosen) for i, r in enumerate(order)},
            "place": {(p, r): order.index(r) if r in order else -1
                      for p, order in enumerate(chosen) for r in rows},
        }  # fmt: skip
