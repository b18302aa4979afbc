"""The members of a group with LC and SN, relay logs, parallel workers and row locks.

A layer over ``paraply/models/systems/group.py``: each step is a step of the group, or changes only
what the layer adds. Each member numbers what it receives by certification info of its own; it
purges stable items when it likes and opens any window. The first remote transaction after a start
has (0, 0), as in MySQL from 8.3 on. Workers start what LC allows, in any order, and lock rows one
by one. What a joiner gets in recovery has numbers of another clock and runs alone. Engine commits
are in the order of the group.

Source: WL#8440 AL1, EX4, EX7; Certifier::certify; Mts_submode_logical_clock::schedule_next_event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from paraply.models.language.system import System, Updates, arguments
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Term,
    Variable,
    conj,
    disj,
    eq,
    exists,
    forall,
    implies,
    ite,
    negate,
    term,
)
from paraply.models.systems import group
from paraply.models.systems.group import MEMBER, ROW, TXN, Group, M, P, Q, R, T, U
from paraply.models.systems.logical_clock import reaches
from paraply.models.systems.unordered_group import UnorderedGroup

LC, WINDOW = Variable("new_lc", INT), Variable("window", INT)
NONE = -1
"""A free row lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault, if nothing else is said."""

    name: str = "parallel_group"
    waits_for_lc: bool = True
    """A worker starts when everything up to its LC has committed."""
    covers_items: bool = True
    """LC is at least the number of each of its rows' items."""
    fences: bool = True
    """LC of a transaction without write set is SN-1."""
    marks_first: bool = True
    """The first remote transaction after a start has (0, 0), so it runs alone."""
    purges_stable_only: bool = True
    """A member purges items of stable versions only."""
    workers_wait: bool = True
    """A worker waits for, or kills, a session that has locked one of its rows."""
    sessions_wait: bool = True
    """A session waits for a worker that has locked one of its rows."""
    commits_in_order: bool = True
    """Transactions commit in the order of the group. Off, a mode and no fault."""
    copies_state: bool = True
    """A joiner begins with its donor's state. Off, with its own: a further layer recovers it."""
    claims_prefixes: bool = False
    """Claims of a group without commit order that each member shows a prefix."""


class Layer:
    """The group's functions as ``g``, and what each member adds to them."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        # The layer's row locks make commits wait for sessions.
        of = group.Rules(name=rules.name, workers_wait=False, joins_with_state=rules.copies_state)
        self.g = Group(of) if rules.commits_in_order else UnorderedGroup(of)
        group.fill(self.g)
        self.system = system = self.g.system
        system.meaning = "a group whose members number transactions and apply them in parallel"
        self.empty = system.rigid("empty", TXN, BOOL)
        self.received = system.state("received", MEMBER, INT)
        # The position of the transaction with (0, 0). Until there is one, it is the next position.
        self.first = system.state("first", MEMBER, INT)
        self.next_sn = system.state("next_sn", MEMBER, INT)
        self.lc_global = system.state("lc_global", MEMBER, INT)
        self.known = system.state("known", MEMBER, ROW, BOOL)
        self.item_sn = system.state("item_sn", MEMBER, ROW, INT)
        self.sn = system.state("sn", MEMBER, INT, INT)
        self.lc = system.state("lc", MEMBER, INT, INT)
        self.started = system.state("started", MEMBER, INT, BOOL)
        self.row_lock = system.state("row_lock", MEMBER, ROW, INT)
        self.purged = system.state("purged", ROW, BOOL)

    def is_empty(self, p: Term) -> Term:
        """Return that the transaction at ``p`` has no write set."""
        return self.empty(self.g.txn_at(p))

    def is_own(self, m: Term, p: Term) -> Term:
        """Return that a session of ``m`` waits for its commit at ``p``."""
        return conj(self.g.live(self.g.txn_at(p)), eq(self.g.home(self.g.txn_at(p)), m))

    def is_remote(self, m: Term, p: Term) -> Term:
        """Return that ``p`` is for the workers of ``m``."""
        return conj(self.g.certified(self.g.txn_at(p)), negate(self.is_own(m, p)))

    def waits(self, m: Term, p: Term) -> Term:
        """Return that ``p`` is in the relay log of ``m`` and has not committed."""
        inside = conj(self.g.lacks(m, p), p < self.received(m))
        return conj(self.g.in_group(m), inside, self.is_remote(m, p))

    def holds_back(self, m: Term, p: Term, q: Term) -> Term:
        """Return that ``q`` may not start before ``p`` has committed."""
        by_clock = reaches(self.lc(m, q), self.sn(m, p)) if self.rules.waits_for_lc else FALSE
        return disj(q < self.first(m), eq(self.sn(m, q), 0), by_clock)

    def is_done(self, m: Term, p: Term) -> Term:
        """Return that ``p`` may commit: ``m`` received it, and a worker has changed its rows."""
        changed = forall(R, implies(self.g.writes(p, R), eq(self.row_lock(m, R), p)))
        worked = implies(self.is_remote(m, p), conj(self.started(m, p), changed))
        return conj(p < self.received(m), worked)

    def extend(self, name: str, guard: Term = TRUE, updates: Updates | None = None) -> None:
        """Add a condition and changes of the layer to a step of the group."""
        added = {f: (arguments(f), term(value(*arguments(f))))
                 for f, value in (updates or {}).items()}  # fmt: skip
        self.system.actions = [
            action if action.name != name
            else replace(action, guard=conj(action.guard, guard),
                         updates={**action.updates, **added})
            for action in self.system.actions
        ]  # fmt: skip


def parallel_group(rules: Rules = Rules()) -> System:
    """Return the system of a group whose members apply in parallel."""
    layer = Layer(rules)
    fill(layer)
    return layer.system


def fill(layer: Layer) -> None:
    """Add the steps and statements, which a further layer extends."""
    _beginning(layer)
    _numbers(layer)
    _workers(layer)
    _statements(layer)
    _invariants(layer)


def _beginning(x: Layer) -> None:
    system, g = x.system, x.g
    system.assume("empty_writes_nothing", (T, R), implies(x.empty(T), ~g.ws(T, R)),
        "a transaction without write set names no row")  # fmt: skip
    # A founder may mark its first remote transaction, too.
    system.starts_with("nothing_received", (M,), conj(eq(x.received(M), 0), x.first(M) <= 0,
        eq(x.next_sn(M), 2), eq(x.lc_global(M), 1)))  # fmt: skip
    system.starts_with("nothing_known_or_locked", (M, R), conj(~x.known(M, R),
        eq(x.row_lock(M, R), NONE)))  # fmt: skip
    system.starts_with("nothing_started", (M, P), ~x.started(M, P))
    x.extend("join", updates={
        x.received: lambda m: ite(eq(m, M), g.n(), x.received(m)),
        x.first: lambda m: ite(eq(m, M), g.n(), x.first(m)),
        x.next_sn: lambda m: ite(eq(m, M), 2, x.next_sn(m)),
        x.lc_global: lambda m: ite(eq(m, M), 1, x.lc_global(m)),
        x.known: lambda m, r: ite(eq(m, M), g.has(r), x.known(m, r)),
        x.item_sn: lambda m, r: ite(eq(m, M), 0, x.item_sn(m, r)),
        x.started: lambda m, p: conj(x.started(m, p), ~eq(m, M)),
        x.row_lock: lambda m, r: ite(eq(m, M), NONE, x.row_lock(m, r)),
    })  # fmt: skip


def _numbers(x: Layer) -> None:
    system, g, rules = x.system, x.g, x.rules
    here, number = x.received(M), x.next_sn(M)
    items = forall(R, implies(conj(g.writes(here, R), x.known(M, R)), x.item_sn(M, R) <= LC))
    covers = conj(LC >= x.lc_global(M), LC < number, items if rules.covers_items else TRUE)
    numbered = ite(x.is_empty(here), eq(LC, number - 1), covers) if rules.fences else covers
    is_first = eq(here, x.first(M)) if rules.marks_first else FALSE
    arrives = conj(g.in_group(M), here < g.n())

    def common(item_sn: Term | int) -> Updates:
        return {
            x.received: lambda m: ite(eq(m, M), here + 1, x.received(m)),
            x.known: lambda m, r: disj(x.known(m, r), conj(eq(m, M), g.writes(here, r))),
            x.item_sn: lambda m, r: ite(conj(eq(m, M), g.writes(here, r)), item_sn,
                                        x.item_sn(m, r)),
        }  # fmt: skip

    system.action(
        "receive", (M, LC),
        guard=conj(arrives, x.is_remote(M, here), ite(is_first, eq(LC, 0), numbered)),
        updates={
            **common(number),
            x.next_sn: lambda m: ite(eq(m, M), number + 1, x.next_sn(m)),
            x.lc_global: lambda m: ite(conj(eq(m, M), x.is_empty(here)), number, x.lc_global(m)),
            x.sn: lambda m, p: ite(conj(eq(m, M), eq(p, here)), ite(is_first, 0, number),
                                   x.sn(m, p)),
            x.lc: lambda m, p: ite(conj(eq(m, M), eq(p, here)), LC, x.lc(m, p)),
        },
        meaning="a remote transaction is numbered: the first (0, 0), others with an LC of at least "
        "the window and their rows' items",
    )  # fmt: skip
    system.action(
        "pass_over", (M,), guard=conj(arrives, negate(x.is_remote(M, here))),
        updates={
            **common(0),
            x.first: lambda m: ite(conj(eq(m, M), eq(x.first(M), here)), here + 1, x.first(m)),
        },
        meaning="an own transaction, whose items have no number, or a refused one",
    )  # fmt: skip
    stable = forall(R, implies(x.purged(R), g.is_stable(g.version(here, R))))
    system.action(
        "collect_at", (M, WINDOW),
        guard=conj(g.in_group(M), WINDOW >= x.lc_global(M), WINDOW < number,
                   stable if rules.purges_stable_only else TRUE),
        updates={
            x.known: lambda m, r: conj(x.known(m, r), ~conj(eq(m, M), x.purged(r))),
            x.lc_global: lambda m: ite(eq(m, M), WINDOW, x.lc_global(m)),
        },
        havoc=(x.purged,), meaning="a member purges stable items, and opens any window",
    )  # fmt: skip
    system.action(
        "leave_out_number", (M,), guard=g.in_group(M),
        updates={x.next_sn: lambda m: ite(eq(m, M), number + 1, x.next_sn(m))},
        meaning="an unused number: up to 8.3, collection uses one up",
    )  # fmt: skip


def _workers(x: Layer) -> None:
    system, g, rules = x.system, x.g, x.rules
    held_back = conj(P < Q, x.waits(M, P), x.holds_back(M, P, Q))
    system.action(
        "start", (M, Q),
        guard=conj(x.waits(M, Q), ~x.started(M, Q), forall(P, negate(held_back))),
        updates={x.started: lambda m, p: disj(x.started(m, p), conj(eq(m, M), eq(p, Q)))},
        meaning="a worker gets it once everything up to its LC has committed",
    )  # fmt: skip
    unlocked = forall(T, negate(conj(g.live(T), eq(g.home(T), M), g.ws(T, R))))
    system.action(
        "change_row", (M, Q, R),
        guard=conj(x.waits(M, Q), x.started(M, Q), g.ws(g.txn_at(Q), R),
                   eq(x.row_lock(M, R), NONE), unlocked if rules.workers_wait else TRUE),
        updates={x.row_lock: lambda m, r: ite(conj(eq(m, M), eq(r, R)), Q, x.row_lock(m, r))},
        meaning="a worker changes a row, and holds its lock until the engine commit",
    )  # fmt: skip
    if rules.sessions_wait:
        x.extend("execute", forall(R, implies(g.ws(T, R), eq(x.row_lock(M, R), NONE))))
    commit = g.commit()
    x.extend("apply", x.is_done(M, commit.here), {
        x.row_lock: lambda m, r: ite(conj(eq(m, M), eq(x.row_lock(m, r), commit.here)), NONE,
                                     x.row_lock(m, r)),
    })  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Formulas:
    """What statements and invariants share: positions ``P`` and ``Q`` of one member."""

    both: Term
    rows_meet: Term
    one_is_empty: Term
    numbered: Term
    locked: Term


def _formulas(x: Layer) -> _Formulas:
    return _Formulas(
        both=conj(P < Q, x.waits(M, P), x.waits(M, Q)),
        rows_meet=conj(x.g.writes(P, R), x.g.writes(Q, R)),
        one_is_empty=disj(x.is_empty(P), x.is_empty(Q)),
        numbered=conj(x.waits(M, P), x.first(M) < P),
        locked=conj(x.g.in_group(M), negate(eq(x.row_lock(M, R), NONE))),
    )


def _statements(x: Layer) -> None:
    system, g, f = x.system, x.g, _formulas(x)
    holder, commit = x.row_lock(M, R), g.commit()
    ordered = negate(conj(f.both, f.rows_meet, x.started(M, Q)))
    below = implies(f.numbered, conj(x.lc(M, P) >= 1, x.lc(M, P) < x.sn(M, P)))
    apart = implies(conj(g.live(T), g.ws(T, R)), eq(x.row_lock(g.home(T), R), NONE))
    system.safe(
        "conflicting_rows_are_ordered",
        (M, P, Q, R),
        ordered,
        "no member starts a transaction before every earlier writer of its rows has committed",
    )
    system.safe(
        "without_write_set_is_alone",
        (M, P, Q),
        negate(conj(f.both, f.one_is_empty, x.started(M, Q))),
        "no worker runs a transaction without write set beside another worker",
    )
    system.safe(
        "last_committed_is_below", (M, P), below, "LC < SN, so that no transaction waits for itself"
    )
    system.safe(
        "last_committed_covers_conflicts",
        (M, P, Q, R),
        implies(conj(f.both, f.rows_meet, x.first(M) <= P), reaches(x.lc(M, Q), x.sn(M, P))),
        "LC reaches every earlier writer of a common row that has not committed",
    )
    system.safe("sessions_follow_earlier_writers", (M, P, Q, R), negate(conj(
        P < Q, Q < g.n(), x.waits(M, P), x.is_own(M, Q), f.rows_meet)),
        "A1: when a session's transaction is certified, every earlier writer of its rows has "
        "committed at its member")  # fmt: skip
    system.safe(
        "changes_land_as_certified",
        (M, R),
        implies(f.locked, eq(g.value(M, R), g.version(holder, R))),
        "a worker's change of a row finds the version of the certified writer before it",
    )
    system.safe(
        "rows_of_a_session_are_its_own",
        (T, R),
        apart,
        "no worker has changed a row that a session has locked",
    )
    system.safe("commits_are_steps_of_the_group", (M, *commit.chosen, T, R), implies(
        conj(g.in_group(M), commit.guard, x.is_done(M, commit.here), g.holds(T, M), g.ws(T, R)),
        negate(g.writes(commit.here, R))),
        "an engine commit needs no guard of the group beyond those of the layer: no session has "
        "locked a row of it")  # fmt: skip
    system.invariant("conflicting_rows_are_ordered", (M, P, Q, R), ordered, "it is inductive")
    system.invariant("last_committed_is_below", (M, P), below, "LC is taken below the next number")
    system.invariant("rows_of_a_session_are_its_own", (T, R), apart, "it is inductive")


def _invariants(x: Layer) -> None:
    system, g, f = x.system, x.g, _formulas(x)
    home, holder = g.home(T), x.row_lock(M, R)
    stamped = reaches(x.lc(M, Q), x.sn(M, P))
    system.invariant("received_is_in_the_order", (M, *g.each), implies(g.in_group(M), conj(
        g.below(x.received(M), g.upto, M), x.received(M) <= g.n(), x.first(M) <= x.received(M))),
        "what is applied was received, and what is received was delivered")  # fmt: skip
    if not x.rules.commits_in_order:
        system.invariant("received_are_positions", (M,), implies(g.in_group(M), conj(
            x.received(M) >= 0, x.received(M) <= g.n(), x.first(M) <= x.received(M))),
            "a member receives from 0 on")  # fmt: skip
        system.invariant("earlier_writers_have_committed", (M, P, R), implies(
            conj(f.locked, P >= 0, P < holder, g.writes(P, R)), g.upto(M, P)),
            "a worker that has changed a row follows all earlier writers of it")  # fmt: skip
        system.invariant("recovery_is_before_the_first", (M, P), implies(conj(x.waits(M, P),
            P < x.first(M)), g.lacks(M, x.first(M))),
            "the one with (0, 0) commits after all that a joiner gets in recovery")  # fmt: skip
        if x.rules.claims_prefixes:
            shown = forall(R, eq(g.value(M, R), g.version(P, R)))
            system.safe("members_show_prefixes", (M,), exists(P, conj(P >= 0, P <= g.n(), shown)),
                "each member shows the certified order up to some position")  # fmt: skip
    system.invariant("counters", (M,), conj(x.lc_global(M) >= 1, x.lc_global(M) < x.next_sn(M)),
        "the window lies below the next number")  # fmt: skip
    system.invariant("numbers_lie_below_the_counter", (M, P), implies(f.numbered,
        x.sn(M, P) < x.next_sn(M)), "what was numbered is below the next number")  # fmt: skip
    system.invariant("first_is_marked", (M,), implies(
        conj(g.in_group(M), x.first(M) >= 0, x.first(M) < x.received(M)),
        conj(x.is_remote(M, x.first(M)), eq(x.sn(M, x.first(M)), 0))),
        "the first remote transaction after a start has (0, 0)")  # fmt: skip
    system.invariant("item_is_covered", (M, P, R), implies(conj(f.numbered, g.writes(P, R)), disj(
        conj(x.known(M, R), x.item_sn(M, R) >= x.sn(M, P)), x.lc_global(M) >= x.sn(M, P))),
        "a writer that waits is remembered by the row's item or by the window")  # fmt: skip
    system.invariant("fence_is_covered", (M, P), implies(conj(f.numbered, x.is_empty(P)),
        x.lc_global(M) >= x.sn(M, P)),
        "one without write set is remembered by the window")  # fmt: skip
    system.invariant("row_dependency_is_stamped", (M, P, Q, R), implies(
        conj(f.both, f.rows_meet, x.first(M) <= P), stamped),
        "the later writer's LC reaches the earlier one's SN")  # fmt: skip
    system.invariant("fence_is_stamped", (M, P, Q), implies(
        conj(f.both, f.one_is_empty, x.first(M) <= P), stamped),
        "LC reaches across a transaction without write set")  # fmt: skip
    system.invariant("start_respects_last_committed", (M, P, Q), negate(
        conj(f.both, x.started(M, Q), x.holds_back(M, P, Q))),
        "each started transaction had everything up to its LC committed")  # fmt: skip
    system.invariant("started_was_received", (M, P), implies(
        conj(g.in_group(M), x.started(M, P)), conj(P < x.received(M), x.is_remote(M, P))),
        "a worker runs what its member received")  # fmt: skip
    system.invariant("row_lock_is_a_workers", (M, R), implies(f.locked, conj(
        g.lacks(M, holder), x.started(M, holder), g.writes(holder, R))),
        "a row is locked by a worker that has changed it and has not committed")  # fmt: skip
    system.invariant("sessions_lock_apart", (T, U, R), implies(conj(g.live(T), g.live(U),
        eq(home, g.home(U)), g.ws(T, R), g.ws(U, R)), eq(T, U)),
        "no two sessions of a member have locked one row")  # fmt: skip
    system.invariant("snapshots_were_applied", (T, *g.each), implies(g.live(T),
        g.within(g.snap(T, *g.each), g.upto(home, *g.each))),
        "a session's snapshot is applied at its member")  # fmt: skip
    system.invariant("what_is_written_is_current", (T, R), implies(conj(g.certified(T),
        g.ws(T, R)), g.sees(T, g.version(g.place(T), R))),
        "at its position, no row that it writes is newer than its snapshot")  # fmt: skip
    system.invariant("positions_are_places", (P,), implies(conj(P >= 0, P < g.n()),
        eq(g.place(g.txn_at(P)), P)), "each position is its transaction's place")  # fmt: skip

    system.cover("two_run_at_once", (M, P, Q), conj(f.both, x.started(M, P), x.started(M, Q)))
    system.cover("worker_beside_a_session", (M, P, Q), conj(x.waits(M, Q), x.started(M, Q),
        x.is_own(M, P), P < g.n(), P < Q))  # fmt: skip
    system.cover("worker_has_committed", (M, P, R), conj(P >= 0, x.started(M, P), g.writes(P, R),
        g.in_group(M), negate(g.lacks(M, P))))  # fmt: skip
    system.cover("first_waits_for_recovery", (M, P), conj(x.waits(M, P), P < x.first(M),
        x.waits(M, x.first(M))))  # fmt: skip
    system.cover("member_has_purged_an_item", (M, R), conj(g.in_group(M), g.has(R),
        g.version(x.received(M), R) >= 0, ~x.known(M, R)))  # fmt: skip
