"""One group: messages in a total order, snapshots, certification, collection, joiners, crashes.

A session executes at its home member under row locks, takes a snapshot of what the member has
applied, and sends both later: perhaps after a session with a later snapshot, or after a report of
more. Messages of one member are delivered in the order of their sending, all messages in one order.
Certification looks at what was not purged. Reports of applied
positions are messages, too; what all members have reported is stable, and items below it may be
purged. A crash is a view change: nothing that its member sent is delivered after it. A member joins
with a donor's state. Nothing is assumed of snapshots or of the stable set.

Source: WL#8440; Certifier::certify, Certifier::garbage_collect, Certifier_broadcast_thread; XCom
and virtual synchrony; View_change_log_event.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
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
    negate,
)

TXN, ROW, MEMBER = Sort("Txn"), Sort("Row"), Sort("Member")
T, U = Variable("t", TXN), Variable("u", TXN)
R = Variable("r", ROW)
M, DONOR = Variable("m", MEMBER), Variable("donor", MEMBER)
P, Q, LEVEL = (Variable(name, INT) for name in ("p", "q", "level"))
NOBODY = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault."""

    name: str = "group"
    reports_in_order: bool = True
    """A report is delivered after what its member sent before."""
    views_flush: bool = True
    """After the view change, nothing of a member that left is delivered."""
    joins_with_state: bool = True
    """A joiner begins with what its donor has applied."""
    workers_wait: bool = True
    """A worker waits for, or kills, a session that holds one of its rows."""
    claims_whole_snapshots: bool = False
    """Claims of whole snapshots what is true of the rows that their transactions write."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The position ``here`` that ``M`` may commit."""

    what: str
    chosen: tuple[Variable, ...]
    here: Term
    guard: Term
    updates: Updates


class Group:
    """The group's functions, and the formulas that actions and statements share."""

    each: tuple[Variable, ...] = ()
    """Variables of statements about positions."""
    refused: str = "an item is newer"

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.system = system = System(
            rules.name, "sessions, one order of messages, certification, collection, members"
        )
        self.ws = system.rigid("ws", TXN, ROW, BOOL)
        self.n = system.state("n", INT)
        self.in_group = system.state("in_group", MEMBER, BOOL)
        self.upto = self.positions("upto", MEMBER)
        self.value = system.state("value", MEMBER, ROW, INT)
        self.begun = system.state("begun", TXN, BOOL)
        self.live = system.state("live", TXN, BOOL)
        self.home = system.state("home", TXN, MEMBER)
        self.saw = system.state("saw", TXN, ROW, INT)
        self.sent = system.state("sent", TXN, BOOL)
        self.snap = self.positions("snap", TXN)
        self.number = system.state("number", TXN, INT)
        self.delivered = system.state("delivered", TXN, BOOL)
        self.certified = system.state("certified", TXN, BOOL)
        self.place = system.state("place", TXN, INT)
        self.txn_at = system.state("txn_at", INT, TXN)
        self.has = system.state("has", ROW, BOOL)
        self.out = system.state("out", MEMBER, INT)
        self.arrived = system.state("arrived", MEMBER, INT)
        self.reports = system.state("reports", MEMBER, BOOL)
        self.report_number = system.state("report_number", MEMBER, INT)
        self.report_value = self.positions("report_value", MEMBER)
        self.reported = self.positions("reported", MEMBER)
        self.stable = self.positions("stable")
        # Ghost: the last certified writer below each position.
        self.version = system.state("version", INT, ROW, INT)

    def positions(self, name: str, *sorts: Sort) -> Function:
        """Declare what holds positions: the length of a prefix."""
        return self.system.state(name, *sorts, INT)

    def none(self, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` has none."""
        return eq(positions(*of), 0)

    def natural(self, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` begins at 0."""
        return positions(*of) >= 0

    def below(self, bound: Term, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` ends before ``bound``."""
        return positions(*of) <= bound

    def within(self, inner: Term, outer: Term) -> Term:
        """Return that ``outer`` has what ``inner`` has."""
        return inner <= outer

    def lacks(self, m: Term, p: Term) -> Term:
        """Return that ``m`` has not committed ``p``."""
        return self.upto(m) <= p

    def contains(self, p: Term, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` has ``p``, or that it is nobody."""
        return p < positions(*of)

    def sees(self, t: Term, p: Term) -> Term:
        """Return that ``p`` is in the snapshot of ``t``, or is nobody."""
        return self.contains(p, self.snap, t)

    def unseen(self, t: Term, p: Term) -> Term:
        """Return that ``p`` is not in the snapshot of ``t``."""
        return self.snap(t) <= p

    def is_refused(self, t: Term, r: Term) -> Term:
        """Return that ``t`` may be refused for the item of its row ``r``."""
        return self.unseen(t, self.version(self.n(), r))

    def is_stable(self, p: Term) -> Term:
        """Return that all members have reported ``p``."""
        return self.contains(p, self.stable)

    def settle(self) -> None:
        """Add the step to a new stable set."""
        all_reported = forall(M, implies(self.in_group(M), self.reported(M) >= LEVEL))
        self.system.action(
            "settle", (LEVEL,), guard=conj(all_reported, LEVEL <= self.n(), LEVEL >= self.stable()),
            updates={self.stable: lambda: LEVEL},
            meaning="what all members have reported is stable",
        )  # fmt: skip

    def commit(self) -> Commit:
        """Return what a member may commit."""
        here = self.upto(M)
        return Commit("the next position", (), here, here < self.n(), {
            self.upto: lambda m: ite(eq(m, M), here + 1, self.upto(m))})  # fmt: skip

    def state_what_is_shown(self) -> None:
        """State what members and snapshots show."""
        system = self.system
        shows = eq(self.value(M, R), self.version(self.upto(M), R))
        system.safe("members_show_prefixes", (M, R), shows,
            "each member shows the certified order up to some position")  # fmt: skip
        system.invariant("reads_are_of_the_snapshot", (T, R), implies(
            conj(self.begun(T), self.ws(T, R)), eq(self.saw(T, R), self.version(self.snap(T), R))),
            "so what it read is what the snapshot shows")  # fmt: skip
        system.invariant("members_show_prefixes", (M, R), shows, "it is inductive")

    def in_flight(self, t: Term) -> Term:
        """Return that ``t`` is sent and may still be delivered."""
        home = self.home(t)
        waits = conj(self.sent(t), ~self.delivered(t), self.arrived(home) <= self.number(t))
        return conj(waits, self.in_group(home)) if self.rules.views_flush else waits

    def writes(self, p: Term, r: Term) -> Term:
        """Return that the transaction at ``p`` is certified and writes ``r``."""
        return conj(self.certified(self.txn_at(p)), self.ws(self.txn_at(p), r))

    def holds(self, t: Term, m: Term) -> Term:
        """Return that ``t`` is a session of ``m`` that was not certified so far."""
        return conj(self.live(t), eq(self.home(t), m), ~self.delivered(t))


def group(rules: Rules = Rules()) -> System:
    """Return the system of one group."""
    made = Group(rules)
    fill(made)
    return made.system


def fill(made: Group) -> None:
    """Add the steps and statements of a group, which layers extend."""
    _beginning(made)
    _sessions(made)
    _deliveries(made)
    _collection(made)
    _members(made)
    _statements(made)


def _beginning(g: Group) -> None:
    system = g.system
    system.starts_with("empty", (), conj(eq(g.n(), 0), g.none(g.stable)))
    system.starts_with("nothing_begun", (T,), conj(~g.begun(T), ~g.live(T), ~g.sent(T),
        ~g.delivered(T), ~g.certified(T)))  # fmt: skip
    system.starts_with("nothing_applied", (M,), conj(g.none(g.upto, M), g.none(g.reported, M),
        ~g.reports(M), eq(g.out(M), 0), eq(g.arrived(M), 0)))  # fmt: skip
    system.starts_with("nothing_written", (R,), conj(eq(g.version(0, R), NOBODY), ~g.has(R)))
    system.starts_with("nothing_stored", (M, R), eq(g.value(M, R), NOBODY))


def _sessions(g: Group) -> None:
    home = g.home(T)
    unlocked = forall(U, forall(R, negate(conj(g.live(U), eq(g.home(U), M), g.ws(U, R),
                                               g.ws(T, R)))))  # fmt: skip
    g.system.action(
        "execute", (T, M), guard=conj(~g.begun(T), g.in_group(M), unlocked),
        updates={
            g.begun: lambda t: disj(g.begun(t), eq(t, T)),
            g.live: lambda t: disj(g.live(t), eq(t, T)),
            g.home: lambda t: ite(eq(t, T), M, g.home(t)),
            g.saw: lambda t, r: ite(eq(t, T), g.value(M, r), g.saw(t, r)),
            g.snap: lambda t, *p: ite(eq(t, T), g.upto(M, *p), g.snap(t, *p)),
        },
        meaning="a session reads and changes its rows, and holds their locks",
    )  # fmt: skip
    executes = conj(g.live(T), ~g.sent(T))
    g.system.action(
        "take_snapshot", (T,), guard=executes,
        updates={g.snap: lambda t, *p: ite(eq(t, T), g.upto(home, *p), g.snap(t, *p))},
        meaning="its snapshot is of what its member has applied by now",
    )  # fmt: skip
    g.system.action(
        "send", (T,), guard=executes,
        updates={
            g.sent: lambda t: disj(g.sent(t), eq(t, T)),
            g.number: lambda t: ite(eq(t, T), g.out(home), g.number(t)),
            g.out: lambda m: ite(eq(m, home), g.out(m) + 1, g.out(m)),
        },
        meaning="it commits: write set and snapshot go to the group",
    )  # fmt: skip
    g.system.action(
        "roll_back", (T,), guard=conj(g.live(T), ~g.delivered(T)),
        updates={g.live: lambda t: conj(g.live(t), ~eq(t, T))},
        meaning="the client, or a worker that wants one of its rows, ends the session",
    )  # fmt: skip


def _deliveries(g: Group) -> None:
    newer = conj(g.ws(T, R), g.has(R), g.unseen(T, g.version(g.n(), R)))
    passes = forall(R, negate(newer))
    next_of_home = conj(g.in_flight(T), eq(g.arrived(g.home(T)), g.number(T)))
    common: Updates = {
        g.n: lambda: g.n() + 1,
        g.delivered: lambda t: disj(g.delivered(t), eq(t, T)),
        g.place: lambda t: ite(eq(t, T), g.n(), g.place(t)),
        g.txn_at: lambda p: ite(eq(p, g.n()), T, g.txn_at(p)),
        g.arrived: lambda m: ite(eq(m, g.home(T)), g.arrived(m) + 1, g.arrived(m)),
    }
    g.system.action(
        "certify", (T,), guard=conj(next_of_home, passes),
        updates={
            **common,
            g.certified: lambda t: disj(g.certified(t), eq(t, T)),
            g.has: lambda r: disj(g.has(r), g.ws(T, r)),
            g.version: lambda p, r: ite(eq(p, g.n() + 1),
                ite(g.ws(T, r), g.n(), g.version(g.n(), r)), g.version(p, r)),
        },
        meaning="delivered; no item of its rows is newer than its snapshot",
    )  # fmt: skip
    g.system.action(
        "refuse", (T, R), guard=conj(next_of_home, g.ws(T, R), g.has(R), g.is_refused(T, R)),
        updates={
            **common,
            g.live: lambda t: conj(g.live(t), ~eq(t, T)),
            g.version: lambda p, r: ite(eq(p, g.n() + 1), g.version(g.n(), r), g.version(p, r)),
        },
        meaning=f"delivered; {g.refused}, and the session rolls back",
    )  # fmt: skip


def _collection(g: Group) -> None:
    g.system.action(
        "report", (M,), guard=conj(g.in_group(M), ~g.reports(M)),
        updates={
            g.reports: lambda m: disj(g.reports(m), eq(m, M)),
            g.report_value: lambda m, *p: ite(eq(m, M), g.upto(M, *p), g.report_value(m, *p)),
            g.report_number: lambda m: ite(eq(m, M), g.out(M), g.report_number(m)),
            g.out: lambda m: ite(eq(m, M), g.out(m) + 1, g.out(m)),
        },
        meaning="a member sends what it has applied",
    )  # fmt: skip
    in_order = eq(g.arrived(M), g.report_number(M)) if g.rules.reports_in_order else TRUE
    g.system.action(
        "receive_report", (M,), guard=conj(g.reports(M), g.in_group(M), in_order),
        updates={
            g.reports: lambda m: conj(g.reports(m), ~eq(m, M)),
            g.reported: lambda m, *p: ite(eq(m, M), g.report_value(m, *p), g.reported(m, *p)),
            g.arrived: lambda m: ite(conj(eq(m, M), eq(g.arrived(M), g.report_number(M))),
                                     g.arrived(m) + 1, g.arrived(m)),
        },
        meaning="the report is delivered in its place of the order",
    )  # fmt: skip
    g.settle()
    g.system.action(
        "collect", (R,), guard=g.is_stable(g.version(g.n(), R)),
        updates={g.has: lambda r: conj(g.has(r), ~eq(r, R))},
        meaning="an item whose version is stable is purged",
    )  # fmt: skip


def _members(g: Group) -> None:
    commit = g.commit()
    txn = g.txn_at(commit.here)
    free = forall(T, forall(R, negate(conj(g.holds(T, M), g.ws(T, R), g.certified(txn),
                                           g.ws(txn, R)))))  # fmt: skip
    g.system.action(
        "apply", (M, *commit.chosen),
        guard=conj(g.in_group(M), commit.guard, free if g.rules.workers_wait else TRUE),
        updates={
            **commit.updates,
            g.value: lambda m, r: ite(conj(eq(m, M), g.certified(txn), g.ws(txn, r)), commit.here,
                                      g.value(m, r)),
            g.live: lambda t: conj(g.live(t), ~conj(eq(t, txn), eq(g.home(t), M))),
        },
        meaning=f"{commit.what} commits in the engine, and its session, if any, ends",
    )  # fmt: skip
    g.system.action(
        "crash", (M,), guard=g.in_group(M),
        updates={
            g.in_group: lambda m: conj(g.in_group(m), ~eq(m, M)),
            g.live: lambda t: conj(g.live(t), ~eq(g.home(t), M)),
            g.reports: lambda m: conj(g.reports(m), ~eq(m, M)),
        },
        meaning="a member crashes or is expelled, and a view change says so",
    )  # fmt: skip
    copied: Updates = {
        g.upto: lambda m, *p: ite(eq(m, M), g.upto(DONOR, *p), g.upto(m, *p)),
        g.value: lambda m, r: ite(eq(m, M), g.value(DONOR, r), g.value(m, r)),
    } if g.rules.joins_with_state else {}  # fmt: skip
    g.system.action(
        "join", (M, DONOR), guard=conj(~g.in_group(M), g.in_group(DONOR)),
        updates={
            g.in_group: lambda m: disj(g.in_group(m), eq(m, M)),
            g.reported: lambda m, *p: ite(eq(m, M), g.reported(DONOR, *p), g.reported(m, *p)),
            g.arrived: lambda m: ite(eq(m, M), g.out(M), g.arrived(m)),
            **copied,
        },
        meaning="a member comes, or comes back, with its donor's state, and a view change says so",
    )  # fmt: skip


def _statements(g: Group) -> None:
    system, version, home = g.system, g.version, g.home(T)
    on_the_last = implies(conj(g.certified(T), g.ws(T, R)), eq(g.saw(T, R), version(g.place(T), R)))
    each = g.each
    executes = conj(g.live(T), ~g.sent(T))
    applied, reported = g.upto(M, *each), g.reported(M, *each)
    on_its_way = g.report_value(M, *each)
    rows_meet = conj(g.writes(P, R), g.ws(T, R))
    a2 = implies(conj(g.in_flight(T), rows_meet, g.is_stable(P)), g.sees(T, P))
    a11 = implies(g.in_group(M), g.within(g.stable(*each), applied))
    system.safe("changes_are_made_on_the_last_version", (T, R), on_the_last,
        "whatever was certified changed, at its member, the version that the certified writer "
        "before it had left: no update is lost")  # fmt: skip
    system.safe("stable_writers_are_in_snapshots", (T, P, R), a2,
        "A2: what is stable and writes a row of a transaction to be certified is in its "
        "snapshot")  # fmt: skip
    if g.rules.claims_whole_snapshots:
        system.safe("stable_is_in_every_snapshot", (T, *each), implies(g.in_flight(T),
            g.within(g.stable(*each), g.snap(T, *each))),
            "what is stable is in the snapshot of every transaction to be certified")  # fmt: skip
    system.safe("stable_is_applied_at_every_member", (M, *each), a11,
        "A11: only what this member has applied is purged")  # fmt: skip
    system.invariant("changes_are_made_on_the_last_version", (T, R), on_the_last, "it is inductive")
    system.invariant("snapshots_have_applied_writers", (T, P, R), implies(
        conj(executes, rows_meet, g.contains(P, g.upto, home)), g.sees(T, P)),
        "while its rows are locked, no writer of them is applied after a session's "
        "snapshot")  # fmt: skip
    system.invariant("snapshots_have_reported_writers", (T, P, R), implies(
        conj(g.in_flight(T), rows_meet, g.contains(P, g.reported, home)), g.sees(T, P)),
        "what is in flight was sent after the last report of its member")  # fmt: skip
    system.invariant("snapshots_have_writers_reported_before", (T, P, R), implies(
        conj(g.in_flight(T), rows_meet, g.reports(home), g.report_number(home) < g.number(T),
             g.contains(P, g.report_value, home)), g.sees(T, P)),
        "and after a report that is in flight before it")  # fmt: skip
    system.invariant("reports_rise", (M, *each), implies(g.in_group(M), conj(
        g.within(g.stable(*each), reported), g.within(reported, applied),
        implies(g.reports(M), conj(g.within(reported, on_its_way),
                                   g.within(on_its_way, applied))))),
        "nobody reports what it did not apply, and later reports are higher")  # fmt: skip
    system.invariant("reports_are_in_flight", (M,), implies(g.reports(M), conj(g.in_group(M),
        g.arrived(M) <= g.report_number(M), g.report_number(M) < g.out(M))),
        "a report is delivered after it is sent")  # fmt: skip
    system.invariant("numbers_were_given", (T,), implies(g.sent(T), g.number(T) < g.out(home)),
        "a member numbers what it sends")  # fmt: skip
    system.invariant("numbers_differ_from_reports", (T,), implies(
        conj(g.sent(T), g.reports(home)), negate(eq(g.number(T), g.report_number(home)))),
        "no two messages of a member have one number")  # fmt: skip
    system.invariant("arrivals_were_sent", (M,), g.arrived(M) <= g.out(M),
        "nothing is delivered that was not sent")  # fmt: skip
    system.invariant("what_was_purged_is_stable", (R,), disj(g.has(R),
        g.is_stable(version(g.n(), R))), "an item that is missing was of a stable version, or "
        "there is none")  # fmt: skip
    system.invariant("stable_is_delivered", each, conj(g.natural(g.stable),
        g.below(g.n(), g.stable)), "only what was delivered is stable")  # fmt: skip
    system.invariant("executing_reads_are_current", (T, R), implies(
        conj(executes, g.ws(T, R)), eq(g.saw(T, R), g.value(home, R))),
        "a session's rows are locked, so nobody changes them before it is sent")  # fmt: skip
    g.state_what_is_shown()
    system.invariant("members_are_in_the_order", (M, *each), conj(g.natural(g.upto, M),
        g.below(g.n(), g.upto, M)),
        "nobody applies what was not delivered")  # fmt: skip
    system.invariant("snapshots_are_prefixes", (T, *each), implies(g.begun(T), conj(
        g.natural(g.snap, T), g.below(g.n(), g.snap, T),
        implies(g.delivered(T), g.below(g.place(T), g.snap, T)))),
        "a snapshot is what a member had applied")  # fmt: skip
    system.invariant("places_are_positions", (T,), conj(
        implies(g.delivered(T), conj(g.sent(T), g.place(T) >= 0, g.place(T) < g.n())),
        implies(g.certified(T), g.delivered(T)), implies(g.sent(T), g.begun(T)),
        implies(g.live(T), conj(g.begun(T), g.in_group(home)))),
        "a transaction is executed, sent, delivered, certified, in this order")  # fmt: skip
    system.invariant("versions_are_earlier", (P, R), implies(conj(P >= 0, P <= g.n()),
        conj(version(P, R) >= NOBODY, version(P, R) < P)),
        "a version was written before")  # fmt: skip
    system.invariant("versions_are_certified_writers", (P, R), implies(
        conj(P >= 0, P <= g.n(), version(P, R) >= 0), g.writes(version(P, R), R)),
        "a version is a certified writer, or none")  # fmt: skip
    system.invariant("no_later_writer_is_missed", (P, Q, R), implies(
        conj(P >= 0, P < Q, Q <= g.n(), g.writes(P, R)), P <= version(Q, R)),
        "no certified writer before a position is later than its version")  # fmt: skip
    system.invariant("positions_are_of_delivered", (P,), implies(conj(P >= 0, P < g.n()),
        g.delivered(g.txn_at(P))), "each position is of a delivered transaction")  # fmt: skip
    system.cover("two_members_apart", (T, U), conj(g.certified(T), g.certified(U),
        g.unseen(U, g.place(T)), negate(eq(g.home(T), g.home(U))),
        g.place(T) < g.place(U)))  # fmt: skip
    system.cover("a_snapshot_lacks_what_was_reported", (T, *each), conj(g.in_flight(T),
        negate(g.within(g.reported(home, *each), g.snap(T, *each)))))  # fmt: skip
    system.cover("a_stable_item_is_purged", (R,), conj(~g.has(R), version(g.n(), R) >= 0))
    system.cover("what_a_crashed_member_sent_stays", (T,), conj(g.certified(T),
        ~g.in_group(home)))  # fmt: skip
