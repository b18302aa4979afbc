"""Group commit through chained mutexes, semi-synchronous acknowledgement, crash and recovery.

A group takes ``LOCK_log`` for write and sync, ``LOCK_semi_sync`` for the wait, and
``LOCK_commit_ordered`` for the engine commit. It takes the next lock before it releases the last.
One replica receives the synced log in order, which acknowledges it. A crash loses unsynced groups.
Before the engine commit a group waits as one. Behind it, under AFTER_COMMIT, each of its
transactions waits for its own acknowledgement, and its client is answered then. A client that is
answered later, with the whole group, is a run of the same.

Source: MDEV-162 (stages 1 to 4, the hole and its two remedies); AFTER_SYNC and AFTER_COMMIT as in
``rpl_semi_sync_source_wait_point``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Function,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
)

G, H = Variable("g", INT), Variable("h", INT)
P = Variable("p", INT)
"""The place of a transaction in its group."""
FREE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Design switches; off is a configuration or fault."""

    name: str = "semi_sync"
    after_sync: bool = True
    """Wait before the engine commit (AFTER_SYNC)."""
    chained: bool = True
    """Take the next lock before releasing the last."""
    wait_stands: bool = True
    """Assumption A5: no time-out, KILL or switch ends the wait."""
    recovery: str = "waits"
    """Recovery after a crash.

    ``waits``: recovered groups wait for a replica; ``barred``: no connection before a replica
    catches up; ``commits``: the hole; ``none``.
    """
    send_after_sync: bool = True
    """Replicas receive only durable groups."""
    speaks_of_readers: bool = True
    """Whether it states what clients see before an answer."""


class _Answers:
    """Who gets an answer when: the clients of a group at once, or each of a transaction."""

    def __init__(self, system: System, rules: Rules) -> None:
        self.rules = rules
        self.by_transaction = not rules.after_sync
        self.of = (G, P) if self.by_transaction else (G,)
        sorts = [one.sort for one in self.of]
        self.confirmed = system.state("confirmed", *sorts, BOOL)
        if self.by_transaction:
            self.had = system.state("had", INT, INT)
            system.starts_with("nobody_is_answered", self.of, conj(~self.confirmed(*self.of),
                eq(self.had(G), 0)))  # fmt: skip

    def none(self) -> tuple[Term, ...]:
        """Return what is so of a group at the start, if its clients are answered at once."""
        return () if self.by_transaction else (~self.confirmed(G),)

    def is_there(self, received: Function) -> Term:
        """Return that the replica has what is answered."""
        return disj(received(G), P < self.had(G)) if self.by_transaction else received(G)

    def any_is_there(self, received: Function) -> Term:
        """Return that the replica has something of the group."""
        return disj(received(G), self.had(G) >= 1) if self.by_transaction else received(G)

    def act(self, system: System, received: Function, committed: Term, next_one: Term) -> None:
        """Add the answers to clients, and what a replica acknowledges of a group."""
        if not self.by_transaction:
            system.action(
                "answer_client", (G,), guard=committed,
                updates={self.confirmed: lambda g: disj(self.confirmed(g), eq(g, G))},
                meaning="the client that committed the group gets its answer; under AFTER_COMMIT "
                "only after the acknowledgement",
            )  # fmt: skip
            return
        system.action(
            "receive_one", (G,), guard=conj(next_one, ~received(G)),
            updates={self.had: lambda g: ite(eq(g, G), self.had(g) + 1, self.had(g))},
            meaning="the replica writes the group's next transaction, which is not its last, to "
            "its relay log and acknowledges it",
        )  # fmt: skip
        waits = self.is_there(received) if self.rules.wait_stands else TRUE
        system.action(
            "answer_client", (G, P), guard=conj(committed, P >= 0, waits),
            updates={
                self.confirmed: lambda g, p: disj(self.confirmed(g, p), conj(eq(g, G), eq(p, P)))
            },
            meaning="a client that committed a transaction of the group gets its answer, after the "
            "acknowledgement of this transaction",
        )  # fmt: skip


def semi_sync(rules: Rules = Rules()) -> System:
    """Return the system of source and replica."""
    system = System(rules.name, "FLUSH, SYNC, ACK and COMMIT stages; a replica; crashes")
    n = system.state("n", INT)
    synced = system.state("synced", INT, BOOL)
    in_log = system.state("in_log", INT)
    in_ack = system.state("in_ack", INT)
    in_commit = system.state("in_commit", INT)
    between = system.state("between", INT, BOOL)
    engine = system.state("engine", INT, BOOL)
    recovered = system.state("recovered", INT, BOOL)
    opened = system.state("opened", BOOL)
    received = system.state("received", INT, BOOL)
    seen = system.state("seen", INT, BOOL)
    answers = _Answers(system, rules)

    system.starts_with("locks_are_free", (), conj(eq(n(), 0), eq(in_log(), FREE),
        eq(in_ack(), FREE), eq(in_commit(), FREE), opened()))  # fmt: skip
    system.starts_with("nothing_happened", (G,), conj(~synced(G), ~between(G), ~engine(G),
        ~recovered(G), ~received(G), ~seen(G), *answers.none()))  # fmt: skip

    settled = forall(H, ~recovered(H))
    system.action(
        "write", (), guard=conj(eq(in_log(), FREE), settled, opened()),
        updates={in_log: lambda: n(), n: lambda: n() + 1},
        meaning="FLUSH: the next group takes LOCK_log and is written to the binary log",
    )  # fmt: skip
    system.action(
        "sync", (G,), guard=conj(eq(in_log(), G), G >= 0),
        updates={synced: lambda g: disj(synced(g), eq(g, G))},
        meaning="SYNC: the binary log is durable up to the group",
    )  # fmt: skip
    waiting_place = conj(eq(in_ack(), FREE), G >= 0)
    if rules.chained:
        system.action(
            "enter_ack", (G,), guard=conj(waiting_place, eq(in_log(), G), synced(G)),
            updates={in_ack: lambda: G, in_log: lambda: FREE},
            meaning="ACK: takes LOCK_semi_sync, then releases LOCK_log",
        )  # fmt: skip
    else:
        system.action(
            "leave_log", (G,), guard=conj(eq(in_log(), G), synced(G), G >= 0),
            updates={between: lambda g: disj(between(g), eq(g, G)), in_log: lambda: FREE},
            meaning="releases LOCK_log and holds nothing",
        )  # fmt: skip
        system.action(
            "enter_ack", (G,), guard=conj(waiting_place, between(G)),
            updates={between: lambda g: conj(between(g), ~eq(g, G)), in_ack: lambda: G},
            meaning="ACK: takes LOCK_semi_sync, in any order",
        )  # fmt: skip
    acknowledged = received(G) if rules.after_sync and rules.wait_stands else TRUE
    system.action(
        "enter_commit", (G,),
        guard=conj(eq(in_ack(), G), G >= 0, eq(in_commit(), FREE), acknowledged),
        updates={in_commit: lambda: G, in_ack: lambda: FREE},
        meaning="COMMIT: acknowledged; takes LOCK_commit_ordered, then releases LOCK_semi_sync",
    )  # fmt: skip
    system.action(
        "engine_commit", (G,), guard=conj(eq(in_commit(), G), G >= 0),
        updates={engine: lambda g: disj(engine(g), eq(g, G)), in_commit: lambda: FREE},
        meaning="the group becomes visible",
    )  # fmt: skip
    durable = synced(G) if rules.send_after_sync else conj(G >= 0, G < n())
    is_next = conj(durable, forall(H, implies(conj(H >= 0, H < G), received(H))))
    system.action(
        "receive", (G,), guard=is_next,
        updates={received: lambda g: disj(received(g), eq(g, G))},
        meaning="the replica writes the next group to its relay log and acknowledges it",
    )  # fmt: skip
    system.action(
        "read", (G,), guard=conj(engine(G), opened()),
        updates={seen: lambda g: disj(seen(g), eq(g, G))},
        meaning="a client at the source sees the group",
    )  # fmt: skip
    answers.act(system, received, conj(engine(G), opened()), is_next)
    if rules.recovery != "none":
        torn = conj(in_log() >= 0, ~synced(in_log()))
        remedies: dict[str, Updates] = {
            "waits": {recovered: lambda g: conj(synced(g), ~engine(g))},
            "barred": {engine: lambda g: disj(engine(g), synced(g)), opened: lambda: False},
            "commits": {engine: lambda g: disj(engine(g), synced(g))},
        }
        system.action(
            "crash_and_recover", (),
            updates={
                n: lambda: ite(torn, n() - 1, n()),
                in_log: lambda: FREE, in_ack: lambda: FREE, in_commit: lambda: FREE,
                between: lambda g: False,
                **remedies[rules.recovery],
            },
            meaning="what is in the binary log survives; what was not synced is gone",
        )  # fmt: skip
        if rules.recovery == "waits":
            system.action(
                "release_recovered", (G,),
                guard=conj(recovered(G), received(G), forall(H, implies(H < G, ~recovered(H)))),
                updates={
                    engine: lambda g: disj(engine(g), eq(g, G)),
                    recovered: lambda g: conj(recovered(g), ~eq(g, G)),
                },
                meaning="recovered groups commit in log order, once a replica has them",
            )  # fmt: skip
        if rules.recovery == "barred":
            system.action(
                "open_server", (), guard=forall(H, implies(synced(H), received(H))),
                updates={opened: lambda: True},
                meaning="connections are let in after a replica caught up",
            )  # fmt: skip

    no_phantom = implies(seen(G), received(G))
    survives = implies(answers.confirmed(*answers.of), answers.is_there(received))
    if rules.speaks_of_readers:
        what = "whatever a client saw is on the replica: it survives the loss of the source"
        system.safe("no_phantom_visibility", (G,), no_phantom, what)
    system.safe("confirmed_survives", answers.of, survives,
        "every transaction that a client got an answer for is on the replica")  # fmt: skip
    system.safe("no_overtaking", (G, H), implies(conj(G >= 0, G < H, engine(H)), engine(G)),
        "engine commits follow the binary log")  # fmt: skip
    some = answers.any_is_there(received)
    system.safe("replica_is_not_ahead", (G,), implies(some, conj(G >= 0, G < n(), synced(G))),
        "a crash of the source never leaves a replica with more than the source has")  # fmt: skip

    below = conj(G >= 0, G < n())
    held = disj(eq(in_log(), G), eq(in_ack(), G), eq(in_commit(), G))
    if rules.after_sync:
        system.invariant("no_phantom_visibility", (G,), no_phantom,
            "the safety statement is inductive")  # fmt: skip
    system.invariant("confirmed_survives", answers.of, survives,
        "an answer follows the acknowledgement")  # fmt: skip
    if rules.after_sync:
        while_open = conj(engine(G), opened()) if rules.recovery == "barred" else engine(G)
        system.invariant("visible_was_received", (G,), implies(while_open, received(G)),
            "while clients are let in, what they see is on the replica"
            if rules.recovery == "barred" else
            "AFTER_SYNC: the engine commit follows the acknowledgement")  # fmt: skip
        system.invariant("committing_was_received", (G,), implies(conj(eq(in_commit(), G), G >= 0),
            received(G)), "LOCK_commit_ordered is entered after the acknowledgement")  # fmt: skip
    if rules.recovery == "barred":
        system.invariant("barred_server_is_idle", (), disj(opened(), conj(eq(in_log(), FREE),
            eq(in_ack(), FREE), eq(in_commit(), FREE))), "no session works if barred")  # fmt: skip
    system.invariant("log_holder_is_last", (), conj(n() >= 0, disj(eq(in_log(), FREE),
        eq(in_log(), n() - 1)), in_log() >= FREE, in_ack() >= FREE, in_commit() >= FREE),
        "LOCK_log is held by the group written last")  # fmt: skip
    system.invariant("holders_are_written", (), conj(in_log() < n(), in_ack() < n(),
        in_commit() < n()), "only written groups hold locks")  # fmt: skip
    system.invariant("received_is_durable", (G,), implies(some, conj(below, synced(G))),
        "replicas are sent what was synced")  # fmt: skip
    system.invariant("synced_was_written", (G,), implies(synced(G), below), "sync follows write")
    system.invariant("left_log_is_synced", (G,), implies(conj(below, ~eq(in_log(), G)), synced(G)),
        "LOCK_log is released after the sync")  # fmt: skip
    system.invariant("visible_was_synced", (G,), implies(engine(G), synced(G)),
        "COMMIT follows SYNC")  # fmt: skip
    system.invariant("held_is_not_visible", (G,), implies(conj(engine(G), G >= 0), ~held),
        "a group that has committed holds no lock")  # fmt: skip
    system.invariant("everyone_is_somewhere", (G,), implies(below, disj(engine(G), held,
        between(G), recovered(G))), "a written group is somewhere")  # fmt: skip
    system.invariant("locks_are_in_log_order", (), conj(
        disj(eq(in_commit(), FREE), eq(in_ack(), FREE), in_commit() < in_ack()),
        disj(eq(in_commit(), FREE), eq(in_log(), FREE), in_commit() < in_log()),
        disj(eq(in_ack(), FREE), eq(in_log(), FREE), in_ack() < in_log())),
        "a holder of a later lock is earlier in the log")  # fmt: skip
    system.invariant("nobody_between_chained_locks", (G,), ~between(G),
        "the next lock is taken before the last one is released")  # fmt: skip
    system.invariant("holders_commit_in_order", (G, H), implies(conj(G >= 0, G < H, disj(
        engine(H), eq(in_commit(), H))), engine(G)),
        "everything before a committing group has committed")  # fmt: skip
    system.invariant("waiters_follow_the_committing", (G, H), implies(conj(G >= 0, G < H,
        eq(in_ack(), H)), disj(engine(G), eq(in_commit(), G))),
        "everything before the waiting group has committed or is committing")  # fmt: skip
    system.invariant("recovered_is_durable", (G,), implies(recovered(G), conj(synced(G),
        ~engine(G), eq(in_log(), FREE), eq(in_ack(), FREE), eq(in_commit(), FREE))),
        "recovered groups wait alone")  # fmt: skip
    if rules.recovery != "waits":
        system.invariant("nothing_waits_recovered", (G,), ~recovered(G),
            "only one of the remedies holds recovered groups back")  # fmt: skip
    system.cover("read_after_acknowledgement", (G,), conj(seen(G), received(G)))
    if answers.by_transaction:
        system.cover("answered_before_its_group", answers.of, conj(
            answers.confirmed(*answers.of), ~received(G)))  # fmt: skip
    system.cover("three_stages_at_once", (), conj(in_log() >= 0, in_ack() >= 0, in_commit() >= 0))
    if rules.recovery == "waits":
        system.cover("recovered_then_seen", (G, H), conj(seen(G), recovered(H)))
    return system
