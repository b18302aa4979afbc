"""Exactly once in a group whose members crash and come back with their own data.

A layer over ``paraply/models/systems/parallel_group.py``, without commit order. A member that has
crashed keeps its rows and its set of executed GTIDs, with any gaps. It connects to a donor with
auto-position: it names positions that it has, and the donor sends the others of its binary log. The
relay log of recovery may lose any end in a further crash, and the donor may crash. The member joins
when it has applied what its donor had. After that, workers take what the group delivers.

Source: distributed recovery of Group Replication; MySQL manual, GTID auto-positioning;
``relay_log_recovery``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
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
from paraply.models.systems import parallel_group
from paraply.models.systems.group import DONOR, MEMBER, M, P, Q, R

E, LEFT, BEGIN = (Variable(name, INT) for name in ("e", "left", "begin"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault."""

    name: str = "returning_group"
    skips_executed: bool = True
    """Recovery skips what has committed before (GTID auto-skip)."""
    tells_what_it_has: bool = True
    """Off, a member also names what a crash took from its relay log."""
    recovers_first: bool = True
    """A member joins when it has applied what its donor had."""
    gtid_with_data: bool = True
    """Off, a crash may take a GTID from the executed set, and leave its data."""


class Returning:
    """The functions of recovery, over a layer ``x`` and its group ``g``."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.x = parallel_group.Layer(
            parallel_group.Rules(name=rules.name, commits_in_order=False, copies_state=False)
        )
        parallel_group.fill(self.x)
        self.g, self.system = self.x.g, self.x.system
        system = self.system
        system.meaning = "a group whose members come back with their own data"
        self.running = system.state("running", MEMBER, INT, BOOL)
        self.connected = system.state("connected", MEMBER, BOOL)
        self.feeds = system.state("feeds", MEMBER, MEMBER)
        self.named = system.state("named", INT, BOOL)
        self.told = system.state("told", MEMBER, INT, BOOL)
        self.passed = system.state("passed", MEMBER, INT, BOOL)
        self.length = system.state("length", MEMBER, INT)
        self.gtid_at = system.state("gtid_at", MEMBER, INT, INT)
        self.cursor = system.state("cursor", MEMBER, INT)
        # Ghosts: the first entry of each position, and how often a member has committed it.
        self.place = system.state("entry_of", MEMBER, INT, INT)
        self.times = system.state("times", MEMBER, INT, INT)

    def in_relay(self, m: Term, p: Term) -> Term:
        """Return that the relay log of ``m`` has the position ``p``."""
        place = self.place(m, p)
        return conj(place >= 0, place < self.length(m), eq(self.gtid_at(m, place), p))

    def has(self, m: Term, p: Term) -> Term:
        """Return that ``m`` has executed ``p``, or has it in the relay log of recovery."""
        return disj(self.g.upto(m, p), self.in_relay(m, p))

    def meet(self, p: Term, q: Term) -> Term:
        """Return that ``q`` is an earlier writer of the row ``R`` of ``p``."""
        return conj(q >= 0, q < p, self.g.writes(q, R), self.g.writes(p, R))


def returning_group(rules: Rules = Rules()) -> System:
    """Return the system of a group whose members come back with their own data."""
    made = Returning(rules)
    _beginning(made)
    _connection(made)
    _recovery(made)
    _in_the_group(made)
    _statements(made)
    return made.system


def _beginning(a: Returning) -> None:
    a.system.starts_with("nothing_recovered", (M,), conj(~a.connected(M), eq(a.length(M), 0),
        eq(a.cursor(M), 0)))  # fmt: skip
    a.system.starts_with("nothing_counted", (M, P), conj(~a.running(M, P),
        eq(a.times(M, P), 0)))  # fmt: skip


def _connection(a: Returning) -> None:
    system, g, rules = a.system, a.g, a.rules
    known = a.has(M, P)
    if not rules.tells_what_it_has:
        retrieved = system.state("retrieved", MEMBER, INT, BOOL)
        system.starts_with("nothing_retrieved", (M, P), ~retrieved(M, P))
        known = disj(g.upto(M, P), retrieved(M, P))
    system.action(
        "connect", (M, DONOR),
        guard=conj(~g.in_group(M), g.in_group(DONOR), forall(P, implies(a.named(P), known))),
        updates={
            a.connected: lambda m: disj(a.connected(m), eq(m, M)),
            a.feeds: lambda m: ite(eq(m, M), DONOR, a.feeds(m)),
            a.told: lambda m, p: ite(eq(m, M), a.named(p), a.told(m, p)),
            a.passed: lambda m, p: conj(a.passed(m, p), ~eq(m, M)),
        },
        havoc=(a.named,),
        meaning="a member outside names to a donor positions that it has",
    )  # fmt: skip
    donor = a.feeds(M)
    in_order = forall(Q, forall(R, implies(a.meet(P, Q), a.passed(M, Q))))
    # Writers of a row are in the donor's binary log in the order of the group (P55).
    next_of_donor = conj(a.connected(M), g.upto(donor, P), ~a.passed(M, P), in_order)
    passes: Updates = {a.passed: lambda m, p: disj(a.passed(m, p), conj(eq(m, M), eq(p, P)))}
    sent: Updates = {
        **passes,
        a.length: lambda m: ite(eq(m, M), a.length(M) + 1, a.length(m)),
        a.gtid_at: lambda m, e: ite(conj(eq(m, M), eq(e, a.length(M))), P, a.gtid_at(m, e)),
        a.place: lambda m, p: ite(conj(eq(m, M), eq(p, P), negate(a.in_relay(M, P))),
                                  a.length(M), a.place(m, p)),
    }  # fmt: skip
    if not rules.tells_what_it_has:
        sent[retrieved] = lambda m, p: disj(retrieved(m, p), conj(eq(m, M), eq(p, P)))
    system.action("fetch", (M, P), guard=conj(next_of_donor, ~a.told(M, P)), updates=sent,
        meaning="the donor sends the next position of its log that was not named")  # fmt: skip
    system.action("leave_out", (M, P), guard=conj(next_of_donor, a.told(M, P)), updates=passes,
        meaning="the donor does not send what was named")  # fmt: skip
    system.action("disconnect", (M,),
        updates={a.connected: lambda m: conj(a.connected(m), ~eq(m, M))},
        meaning="the connection breaks")  # fmt: skip


def _recovery(a: Returning) -> None:
    system, g, rules = a.system, a.g, a.rules
    here = a.gtid_at(M, a.cursor(M))
    unread = conj(~g.in_group(M), a.cursor(M) < a.length(M))
    is_new = g.lacks(M, here)
    goes_on: Updates = {a.cursor: lambda m: ite(eq(m, M), a.cursor(M) + 1, a.cursor(m))}
    system.action(
        "recover", (M,), guard=conj(unread, is_new if rules.skips_executed else TRUE),
        updates={
            **goes_on,
            g.upto: lambda m, p: disj(g.upto(m, p), conj(eq(m, M), eq(p, here))),
            g.value: lambda m, r: ite(conj(eq(m, M), g.writes(here, r)), here, g.value(m, r)),
            a.times: lambda m, p: ite(conj(eq(m, M), eq(p, here)), a.times(m, p) + 1,
                                      a.times(m, p)),
        },
        meaning="outside the group, a member commits the next entry of recovery",
    )  # fmt: skip
    system.action("skip", (M,), guard=conj(unread, negate(is_new)), updates=goes_on,
        meaning="GTID auto-skip: it has committed before")  # fmt: skip
    if not rules.gtid_with_data:
        system.action("forget", (M, P), guard=~g.in_group(M),
            updates={g.upto: lambda m, p: conj(g.upto(m, p), ~conj(eq(m, M), eq(p, P)))},
            meaning="the GTID was not recorded with its data")  # fmt: skip
    before = forall(E, implies(conj(E >= 0, E < BEGIN), g.upto(M, a.gtid_at(M, E))))
    system.action(
        "restart", (M, LEFT, BEGIN),
        guard=conj(~g.in_group(M), BEGIN >= 0, BEGIN <= LEFT, LEFT <= a.length(M), before),
        updates={
            a.connected: lambda m: conj(a.connected(m), ~eq(m, M)),
            a.length: lambda m: ite(eq(m, M), LEFT, a.length(m)),
            a.cursor: lambda m: ite(eq(m, M), BEGIN, a.cursor(m)),
        },
        meaning="a crash in recovery takes any end of the relay log",
    )  # fmt: skip


def _in_the_group(a: Returning) -> None:
    g, x, rules = a.g, a.x, a.rules
    stops: Updates = {
        a.running: lambda m, p: conj(a.running(m, p), ~eq(m, M)),
        a.connected: lambda m: conj(a.connected(m), ~eq(m, M), ~eq(a.feeds(m), M)),
    }
    x.extend("crash", updates=stops)
    all_passed = forall(P, implies(g.upto(DONOR, P), a.passed(M, P)))
    recovered = conj(a.connected(M), eq(a.feeds(M), DONOR), all_passed,
                     a.cursor(M) >= a.length(M))  # fmt: skip
    x.extend("join", recovered if rules.recovers_first else TRUE,
        {a.connected: lambda m: conj(a.connected(m), ~eq(m, M))})  # fmt: skip
    x.extend("start", updates={
        a.running: lambda m, p: disj(a.running(m, p), conj(eq(m, M), eq(p, Q)))})  # fmt: skip
    here = g.commit().here
    worker = implies(x.is_remote(M, here), a.running(M, here))
    x.extend("apply", worker, {
        a.running: lambda m, p: conj(a.running(m, p), ~conj(eq(m, M), eq(p, here))),
        a.times: lambda m, p: ite(conj(eq(m, M), eq(p, here)), a.times(m, p) + 1, a.times(m, p)),
    })  # fmt: skip


def _statements(a: Returning) -> None:
    system, g, x = a.system, a.g, a.x
    inside = conj(P >= 0, P < x.received(M))
    idle = conj(g.in_group(M), negate(x.waits(M, P)), negate(x.is_own(M, P)))
    fetched = implies(conj(a.connected(M), a.passed(M, P)), a.has(M, P))
    system.safe("nothing_commits_twice", (M, P), a.times(M, P) <= 1,
        "no member commits a transaction again, across its crashes")  # fmt: skip
    system.safe("nothing_is_passed_over", (M, P), fetched,
        "whatever a donor has passed is executed or in the relay log")  # fmt: skip
    system.safe("what_has_no_wait_committed_once", (M, P), implies(
        conj(idle, inside, g.certified(g.txn_at(P))), eq(a.times(M, P), 1)),
        "in the group, what was received and does not wait has committed exactly once")  # fmt: skip
    system.safe("what_runs_has_not_committed", (M, P), implies(
        conj(g.in_group(M), disj(a.running(M, P), conj(inside, x.is_own(M, P)))), g.lacks(M, P)),
        "an engine commit needs no guard against a second one")  # fmt: skip
    system.invariant("times_are_of_executed", (M, P), eq(a.times(M, P), ite(g.upto(M, P), 1, 0)),
        "a commit adds data and GTID at once")  # fmt: skip
    system.invariant("running_has_not_committed", (M, P), implies(a.running(M, P), conj(
        g.in_group(M), g.lacks(M, P), x.started(M, P))),
        "a worker takes what has not committed, and ends with its commit")  # fmt: skip
    system.invariant("sessions_have_not_committed", (M, P), implies(conj(inside, x.is_own(M, P)),
        g.lacks(M, P)), "a session ends with its commit")  # fmt: skip
    system.invariant("nothing_is_passed_over", (M, P), fetched, "it is inductive")
    system.invariant("told_is_there", (M, P), implies(conj(a.connected(M), a.told(M, P)),
        a.has(M, P)), "while a connection stands, the member keeps what it named")  # fmt: skip
    entry = conj(E >= 0, E < a.length(M))
    there, place = a.gtid_at(M, E), a.place(M, Q)
    system.invariant("entries_are_of_the_order", (M, E), implies(entry, conj(there >= 0,
        there < g.n())), "a donor sends what was delivered")  # fmt: skip
    system.invariant("earlier_writers_come_first", (M, E, Q, R), implies(
        conj(entry, a.meet(there, Q)), disj(g.upto(M, Q), conj(a.in_relay(M, Q), place < E))),
        "an earlier writer of its rows is executed, or comes before")  # fmt: skip
    system.invariant("read_is_executed", (M, E), implies(conj(E >= 0, E < a.cursor(M)),
        g.upto(M, there)), "recovery has executed what it has read")  # fmt: skip
    system.invariant("cursor_is_inside", (M,), conj(a.cursor(M) >= 0,
        a.cursor(M) <= a.length(M)), "it reads inside its relay log")  # fmt: skip
    system.invariant("connected_are_outside", (M,), implies(a.connected(M), conj(
        ~g.in_group(M), g.in_group(a.feeds(M)))),
        "a member outside recovers from one inside")  # fmt: skip
    system.cover("an_entry_comes_twice", (M, E, P), conj(E >= 0, E < P, P < a.length(M),
        eq(a.gtid_at(M, E), a.gtid_at(M, P))))  # fmt: skip
    system.cover("recovered_and_joined", (M,), conj(g.in_group(M), a.length(M) > 0))
