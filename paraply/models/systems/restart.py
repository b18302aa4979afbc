"""Exactly once across restarts, and conditions for a single saved position.

A replica reads its relay log in order, and each commit saves the position with the data. After a
crash it restarts at a relay log file and skips executed transactions, or at the saved position.

Source: WL#8440, applier recovery and EX7; MariaDB's ``gtid_slave_pos`` (position saved in the
transaction), one position per domain.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
)

P, Q = Variable("p", INT), Variable("q", INT)
BEGIN = Variable("begin", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a known fault."""

    name: str = "restart"
    by_position: bool = False
    """Restart after the saved position without skips (single GTID per domain)."""
    commits_in_order: bool = False
    """A worker commits when no earlier transaction runs."""
    saves_with_data: bool = True
    """The transaction saves the position."""
    begins_before_the_missing: bool = True
    """Restart before the first missing transaction."""
    skips_executed: bool = True
    gtid_with_data: bool = True
    """The transaction itself records its GTID as executed; off, a later step does."""
    relay_log_survives: bool = True
    """Off, a crash may lose what is not executed, and the receiver continues after it."""


def restart(rules: Rules = Rules()) -> System:
    """Return the replica's system."""
    system = System(rules.name, "a relay log read in order, workers, crashes, a saved position")
    n = system.state("n", INT)
    cursor = system.state("cursor", INT)
    running = system.state("running", INT, BOOL)
    executed = system.state("executed", INT, BOOL)
    twice = system.state("twice", INT, BOOL)
    position = system.state("position", INT)
    data = executed if rules.gtid_with_data else system.state("data", INT, BOOL)

    system.starts_with("empty", (), conj(eq(n(), 0), eq(cursor(), 0), eq(position(), 0)))
    system.starts_with("idle", (P,), conj(~running(P), ~executed(P), ~twice(P)))
    if not rules.gtid_with_data:
        system.starts_with("no_data", (P,), ~data(P))
    system.action("receive", (), updates={n: lambda: n() + 1}, meaning="the relay log grows")
    skipped = executed(cursor()) if rules.skips_executed and not rules.by_position else ~TRUE
    if not rules.relay_log_survives:
        lost = system.state("lost", INT, BOOL)
        system.starts_with("nothing_lost", (P,), ~lost(P))
        skipped = disj(skipped, lost(cursor()))
        system.action("pass_over", (), guard=conj(cursor() < n(), lost(cursor())),
            updates={cursor: lambda: cursor() + 1},
            meaning="the relay log continues after what was lost")  # fmt: skip
    system.action(
        "give_out", (), guard=conj(cursor() < n(), ~skipped),
        updates={
            running: lambda p: disj(running(p), eq(p, cursor())),
            cursor: lambda: cursor() + 1,
        },
        meaning="the coordinator gives the next transaction to a worker",
    )  # fmt: skip
    if rules.skips_executed and not rules.by_position:
        system.action(
            "skip", (), guard=conj(cursor() < n(), executed(cursor())),
            updates={cursor: lambda: cursor() + 1},
            meaning="GTID auto-skip: it was executed before",
        )  # fmt: skip
    in_turn = forall(Q, implies(running(Q), P <= Q)) if rules.commits_in_order else TRUE
    commit: Updates = {
        data: lambda p: disj(data(p), eq(p, P)),
        twice: lambda p: disj(twice(p), conj(eq(p, P), data(p))),
        running: lambda p: conj(running(p), ~eq(p, P)),
    }
    if rules.saves_with_data:
        commit[position] = lambda: ite(P >= position(), P + 1, position())
    system.action("engine_commit", (P,), guard=conj(running(P), in_turn), updates=commit,
        meaning="the worker commits; the position is saved with the data")  # fmt: skip
    if not rules.gtid_with_data:
        system.action("record_gtid", (P,), guard=data(P),
            updates={executed: lambda p: disj(executed(p), eq(p, P))},
            meaning="the GTID is recorded afterwards")  # fmt: skip
    if not rules.saves_with_data:
        system.action(
            "save_position", (P,), guard=conj(executed(P), P >= position()),
            updates={position: lambda: P + 1}, meaning="the position is saved afterwards",
        )  # fmt: skip
    again: Updates = {running: lambda p: False}
    if rules.by_position:
        system.action("crash", (), updates={**again, cursor: lambda: position()},
            meaning="begin again after the position saved")  # fmt: skip
    else:
        missing = forall(Q, implies(conj(Q >= 0, Q < BEGIN), executed(Q)))
        begins = conj(BEGIN >= 0, BEGIN <= n(),
                      missing if rules.begins_before_the_missing else TRUE)  # fmt: skip
        if not rules.relay_log_survives:
            begins = conj(begins, forall(Q, implies(lost(Q), conj(Q < n(), ~executed(Q)))))
        system.action(
            "crash", (BEGIN,), guard=begins,
            updates={**again, cursor: lambda: BEGIN},
            havoc=() if rules.relay_log_survives else (lost,),
            meaning="begin again with a relay log file",
        )  # fmt: skip

    system.safe("nothing_is_applied_twice", (P,), ~twice(P), "no transaction commits again")
    system.safe("nothing_is_passed_over", (P,), implies(conj(P >= 0, P < cursor(), ~running(P)),
        executed(P)), "whatever the coordinator has read is executed or in progress")  # fmt: skip
    if rules.by_position:
        exact = conj(
            implies(conj(P >= 0, P < position()), executed(P)), implies(executed(P), P < position())
        )
        system.safe("position_equals_data", (P,), exact,
            "at every moment the position covers what was executed, and nothing else")  # fmt: skip
        system.invariant("position_equals_data", (P,), exact, "the position is saved with the data")
    system.invariant("nothing_is_applied_twice", (P,), ~twice(P), "the statement is inductive")
    system.invariant("nothing_is_passed_over", (P,), implies(
        conj(P >= 0, P < cursor(), ~running(P)), executed(P)), "it is inductive")  # fmt: skip
    system.invariant("running_is_not_executed", (P,), implies(running(P), conj(~executed(P),
        P >= 0, P < cursor())), "what is in progress was read and has not committed")  # fmt: skip
    system.invariant("executed_was_received", (P,), implies(executed(P), conj(P >= 0, P < n())),
        "only what is in the relay log is executed")  # fmt: skip
    system.invariant("counters", (), conj(n() >= 0, cursor() >= 0, cursor() <= n(),
        position() >= 0, position() <= n()), "the coordinator reads inside the log")  # fmt: skip
    if rules.by_position:
        system.invariant("executed_is_before_the_cursor", (P,), implies(executed(P), P < cursor()),
            "what is executed was read since the last restart, or lies before it")  # fmt: skip
    hole = conj(executed(P), Q >= 0, Q < P, ~executed(Q))
    begun = conj(executed(P), running(Q))
    system.cover("others_are_under_way", (P, Q), begun if rules.commits_in_order else hole)
    return system
