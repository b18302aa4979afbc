"""Exactly once from a source's binary log to a replica's data, with auto-position and crashes.

A replica connects with the GTIDs that it has, in any order and with gaps. The source sends what
this set lacks. The coordinator gives entries of the relay log to workers, which commit in any
order, so the result holds for every scheduler. Both servers may crash at any step, and the
connection may break. A GTID is a position in the source's binary log.

Source: MySQL manual, GTID auto-positioning; ``COM_BINLOG_DUMP_GTID``; Gtid_set of what was
executed and retrieved; ``relay_log_recovery``; error 1236.
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
    negate,
)

TXN = Sort("Txn")
T = Variable("t", TXN)
P, Q, E, F = (Variable(name, INT) for name in ("p", "q", "e", "f"))
LEVEL, LEFT, BEGIN, LAST = (Variable(name, INT) for name in ("level", "left", "begin", "last"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault."""

    name: str = "auto_position"
    gtid_with_data: bool = True
    """The transaction itself records its GTID as executed; off, a later step does."""
    tells_what_it_has: bool = True
    """Off, the replica also names what a crash took from its relay log."""
    tells_a_set: bool = True
    """Off, the replica names all up to the last executed GTID."""
    sends_durable: bool = True
    """The source sends what a crash of it cannot lose."""
    purges_executed_only: bool = True
    checks_purged: bool = True
    """The source refuses a replica that lacks a purged GTID (error 1236)."""
    skips_executed: bool = True
    owns_gtids: bool = True
    """A worker waits while another one runs the same GTID."""
    speaks_of_purges: bool = True


class AutoPosition:
    """The functions, and the formulas that actions and statements share."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.system = system = System(
            rules.name, "a source's binary log, a connection, a relay log, workers, crashes"
        )
        self.written = system.state("written", INT)
        self.durable = system.state("durable", INT)
        self.purged = system.state("purged", INT)
        self.txn_at = system.state("txn_at", INT, TXN)
        self.connected = system.state("connected", BOOL)
        self.told = system.state("told", INT, BOOL)
        self.reads = system.state("reads", INT)
        self.n = system.state("n", INT)
        self.gtid_at = system.state("gtid_at", INT, INT)
        self.entry = system.state("entry", INT, TXN)
        # Ghost: the last entry with a GTID.
        self.place = system.state("place", INT, INT)
        self.cursor = system.state("cursor", INT)
        self.running = system.state("running", INT, BOOL)
        self.executed = system.state("executed", INT, BOOL)
        self.times = system.state("times", INT, INT)
        self.did = system.state("did", INT, TXN)

    def in_relay(self, p: Term) -> Term:
        """Return that the relay log has the GTID ``p``."""
        place = self.place(p)
        return conj(place >= 0, place < self.n(), eq(self.gtid_at(place), p))

    def has(self, p: Term) -> Term:
        """Return that the replica has executed or received the GTID ``p``."""
        return disj(self.executed(p), self.in_relay(p))


def auto_position(rules: Rules = Rules()) -> System:
    """Return a source and a replica."""
    made = AutoPosition(rules)
    system = made.system
    system.starts_with("empty", (), conj(eq(made.written(), 0), eq(made.durable(), 0),
        eq(made.purged(), 0), ~made.connected(), eq(made.n(), 0),
        eq(made.cursor(), 0)))  # fmt: skip
    system.starts_with("nothing_applied", (P,), conj(~made.running(P), ~made.executed(P),
        eq(made.times(P), 0)))  # fmt: skip
    _source(made)
    _connection(made)
    _replica(made)
    _statements(made)
    return system


def _source(a: AutoPosition) -> None:
    system = a.system
    system.action(
        "commit", (T,),
        updates={
            a.written: lambda: a.written() + 1,
            a.txn_at: lambda p: ite(eq(p, a.written()), T, a.txn_at(p)),
        },
        meaning="the source writes a transaction to its binary log under the next GTID",
    )  # fmt: skip
    system.action(
        "sync", (LEVEL,), guard=conj(LEVEL > a.durable(), LEVEL <= a.written()),
        updates={a.durable: lambda: LEVEL}, meaning="what it wrote so far is durable",
    )  # fmt: skip
    unneeded = forall(P, implies(conj(P >= 0, P < LEVEL), a.executed(P)))
    system.action(
        "purge", (LEVEL,),
        guard=conj(LEVEL > a.purged(), LEVEL <= a.durable(),
                   unneeded if a.rules.purges_executed_only else TRUE),
        updates={a.purged: lambda: LEVEL}, meaning="the beginning of the binary log is purged",
    )  # fmt: skip
    system.action(
        "source_crash", (LEFT,), guard=conj(LEFT >= a.durable(), LEFT <= a.written()),
        updates={a.written: lambda: LEFT, a.connected: lambda: False},
        meaning="the source loses what was not durable, and gives its GTIDs again",
    )  # fmt: skip


def _connection(a: AutoPosition) -> None:
    system, rules = a.system, a.rules
    known = a.has(P)
    if not rules.tells_what_it_has:
        received = system.state("received", INT, BOOL)
        system.starts_with("nothing_received", (P,), ~received(P))
        known = disj(a.executed(P), received(P))
    if not rules.tells_a_set:
        known = conj(a.executed(LAST), P <= LAST)
    served = forall(P, implies(conj(P >= 0, P < a.purged()), a.told(P)))
    system.action(
        "connect", () if rules.tells_a_set else (LAST,),
        guard=conj(forall(P, implies(a.told(P), known)), served if rules.checks_purged else TRUE),
        updates={a.connected: lambda: True, a.reads: lambda: a.purged()}, havoc=(a.told,),
        meaning="the replica names GTIDs that it has; without the purged ones it is refused",
    )  # fmt: skip
    system.action("disconnect", (), updates={a.connected: lambda: False},
        meaning="the connection breaks; the applier goes on")  # fmt: skip
    end = a.durable() if rules.sends_durable else a.written()
    can_read = conj(a.connected(), a.reads() >= a.purged(), a.reads() < end)
    sent: Updates = {
        a.n: lambda: a.n() + 1,
        a.gtid_at: lambda e: ite(eq(e, a.n()), a.reads(), a.gtid_at(e)),
        a.entry: lambda e: ite(eq(e, a.n()), a.txn_at(a.reads()), a.entry(e)),
        a.place: lambda p: ite(eq(p, a.reads()), a.n(), a.place(p)),
        a.reads: lambda: a.reads() + 1,
    }
    if not rules.tells_what_it_has:
        sent[received] = lambda p: disj(received(p), eq(p, a.reads()))
    system.action("send", (), guard=conj(can_read, ~a.told(a.reads())), updates=sent,
        meaning="the next transaction that the replica did not name goes to its relay log",
    )  # fmt: skip
    system.action("pass_over", (), guard=conj(can_read, a.told(a.reads())),
        updates={a.reads: lambda: a.reads() + 1},
        meaning="the source does not send what the replica named")  # fmt: skip


def _replica(a: AutoPosition) -> None:
    system, rules = a.system, a.rules
    unread = a.cursor() < a.n()
    gtid = a.gtid_at(a.cursor())
    unowned = forall(E, implies(a.running(E), negate(eq(a.gtid_at(E), gtid))))
    system.action(
        "give_out", (),
        guard=conj(unread, ~a.executed(gtid) if rules.skips_executed else TRUE,
                   unowned if rules.owns_gtids else TRUE),
        updates={
            a.running: lambda e: disj(a.running(e), eq(e, a.cursor())),
            a.cursor: lambda: a.cursor() + 1,
        },
        meaning="the coordinator gives the next entry to a worker, which owns its GTID",
    )  # fmt: skip
    if rules.skips_executed:
        system.action("skip", (), guard=conj(unread, a.executed(gtid)),
            updates={a.cursor: lambda: a.cursor() + 1},
            meaning="GTID auto-skip: it was executed before")  # fmt: skip
    done = a.gtid_at(E)
    committed: Updates = {
        a.times: lambda p: ite(eq(p, done), a.times(p) + 1, a.times(p)),
        a.did: lambda p: ite(eq(p, done), a.entry(E), a.did(p)),
        a.running: lambda e: conj(a.running(e), ~eq(e, E)),
    }
    if rules.gtid_with_data:
        committed[a.executed] = lambda p: disj(a.executed(p), eq(p, done))
    else:
        system.action("record_gtid", (P,), guard=a.times(P) > 0,
            updates={a.executed: lambda p: disj(a.executed(p), eq(p, P))},
            meaning="the GTID is recorded afterwards")  # fmt: skip
    system.action("engine_commit", (E,), guard=a.running(E), updates=committed,
        meaning="a worker commits data and GTID, in any order among workers")  # fmt: skip
    before = forall(E, implies(conj(E >= 0, E < BEGIN), a.executed(a.gtid_at(E))))
    system.action(
        "replica_crash", (LEFT, BEGIN),
        guard=conj(BEGIN >= 0, BEGIN <= LEFT, LEFT <= a.n(), before),
        updates={
            a.connected: lambda: False, a.running: lambda e: False,
            a.n: lambda: LEFT, a.cursor: lambda: BEGIN,
        },
        meaning="any end of the relay log is lost; the applier begins before the first missing",
    )  # fmt: skip


def _statements(a: AutoPosition) -> None:
    system = a.system
    once = a.times(P) <= 1
    sent = implies(conj(a.connected(), P >= 0, P < a.reads()), a.has(P))
    same = eq(a.did(P), a.txn_at(P))
    kept = implies(a.executed(P), conj(P >= 0, P < a.written(), same))
    idle = conj(a.connected(), a.reads() >= a.durable(), a.cursor() >= a.n(),
                forall(E, ~a.running(E)))  # fmt: skip
    logged = conj(P >= 0, P < a.durable())
    fetched = implies(logged, disj(a.executed(P), P >= a.purged()))
    system.safe("nothing_is_applied_twice", (P,), once, "no transaction commits again")
    system.safe("nothing_is_passed_over", (P,), sent,
        "whatever the source has passed is executed or in the relay log")  # fmt: skip
    system.safe("applied_is_what_the_source_has", (P,), kept,
        "what was applied under a GTID is what the source keeps under it")  # fmt: skip
    system.safe("caught_up_means_exactly_once", (P,), implies(conj(idle, logged), conj(
        eq(a.times(P), 1), same)),
        "a replica that has caught up has applied each transaction once")  # fmt: skip

    system.invariant("times_are_of_executed", (P,), eq(a.times(P), ite(a.executed(P), 1, 0)),
        "a commit adds data and GTID at once")  # fmt: skip
    system.invariant("applied_is_durable_at_the_source", (P,), implies(a.executed(P), conj(P >= 0,
        P < a.durable(), same)), "nothing is applied that the source may lose")  # fmt: skip
    system.invariant("entries_are_the_sources", (E,), implies(conj(E >= 0, E < a.n()), conj(
        a.gtid_at(E) >= 0, a.gtid_at(E) < a.durable(),
        eq(a.entry(E), a.txn_at(a.gtid_at(E))))),
        "the relay log has copies of what is durable at the source")  # fmt: skip
    system.invariant("running_is_not_executed", (E,), implies(a.running(E), conj(
        E >= 0, E < a.cursor(), ~a.executed(a.gtid_at(E)))),
        "what is in progress was read and has not committed")  # fmt: skip
    system.invariant("gtids_have_one_owner", (E, F), implies(conj(a.running(E), a.running(F),
        eq(a.gtid_at(E), a.gtid_at(F))), eq(E, F)), "two workers never run one GTID")  # fmt: skip
    system.invariant("read_is_executed_or_runs", (E,), implies(conj(E >= 0, E < a.cursor(),
        ~a.running(E)), a.executed(a.gtid_at(E))),
        "an entry that was read is executed, or a worker runs it")  # fmt: skip
    system.invariant("nothing_is_passed_over", (P,), sent, "it is inductive")
    system.invariant("told_is_there", (P,), implies(conj(a.connected(), a.told(P)), a.has(P)),
        "while a connection stands, the replica keeps what it named")  # fmt: skip
    system.invariant("counters", (), conj(a.purged() >= 0, a.purged() <= a.durable(),
        a.durable() <= a.written(), a.cursor() >= 0, a.cursor() <= a.n(),
        implies(a.connected(), a.reads() <= a.durable())),
        "everybody reads inside a log")  # fmt: skip
    if a.rules.speaks_of_purges:
        system.safe("what_is_missing_can_be_fetched", (P,), fetched,
            "what was not executed is still in the source's binary log")  # fmt: skip
        system.invariant("what_is_missing_can_be_fetched", (P,), fetched, "it is inductive")
    system.cover("connected_with_a_gap", (P, Q), conj(a.connected(), a.executed(P), a.told(P),
        Q >= 0, Q < P, ~a.has(Q)))  # fmt: skip
    system.cover("an_entry_comes_twice", (E, F), conj(E >= 0, E < F, F < a.n(),
        eq(a.gtid_at(E), a.gtid_at(F))))  # fmt: skip
