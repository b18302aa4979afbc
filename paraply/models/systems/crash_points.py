"""Position and data in two engines: equal after a crash at any point of a commit.

A replica's transaction has its data in one engine and its position in another (MariaDB's
``gtid_slave_pos``). Both prepare, the replica logs, then each engine commits. After a crash,
recovery commits what the binary log contains and rolls back the rest. The replica restarts after
the highest saved position.

Source: MariaDB's ``rpl_slave_state`` and two-phase commit with the binary log as coordinator;
MDEV-6549 (a retried transaction without its position).
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import BOOL, INT, Term, Variable, conj, disj, eq, forall, implies

P, Q = Variable("p", INT), Variable("q", INT)
BEGIN = Variable("begin", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a configuration or fault."""

    name: str = "crash_points"
    position_is_transactional: bool = True
    """The position's engine is transactional; off, written rows persist."""
    has_coordinator: bool = True
    """A binary log decides prepared work; off, engines roll back."""
    retry_saves_position: bool = True
    """A retry saves its position again."""
    log_is_synced: bool = True
    """The replica's binary log is durable when written (``sync_binlog=1``)."""


def crash_points(rules: Rules = Rules()) -> System:
    """Return one domain of a replica."""
    system = System(rules.name, "two engines, a binary log between them, crashes at any point")
    cursor = system.state("cursor", INT)
    running = system.state("running", INT, BOOL)
    retried = system.state("retried", INT, BOOL)
    data_prepared = system.state("data_prepared", INT, BOOL)
    saved_prepared = system.state("saved_prepared", INT, BOOL)
    logged = system.state("logged", INT, BOOL)
    data = system.state("data", INT, BOOL)
    saved = system.state("saved", INT, BOOL)
    durable = logged if rules.log_is_synced else system.state("durable", INT, BOOL)

    def after_crash_data(p: Term) -> Term:
        decided = conj(data_prepared(p), durable(p))
        return disj(data(p), decided) if rules.has_coordinator else data(p)

    def after_crash_saved(p: Term) -> Term:
        decided = conj(saved_prepared(p), durable(p))
        return disj(saved(p), decided) if rules.has_coordinator else saved(p)

    system.starts_with("at_the_beginning", (), eq(cursor(), 0))
    system.starts_with("empty", (P,), conj(~running(P), ~retried(P), ~data_prepared(P),
        ~saved_prepared(P), ~logged(P), ~data(P), ~saved(P)))  # fmt: skip
    system.action(
        "begin", (),
        updates={
            running: lambda p: disj(running(p), eq(p, cursor())), cursor: lambda: cursor() + 1,
        },
        meaning="a worker begins the next transaction of the relay log",
    )  # fmt: skip
    undecided = conj(running(P), ~logged(P))
    system.action(
        "prepare_data", (P,), guard=undecided,
        updates={data_prepared: lambda p: disj(data_prepared(p), eq(p, P))},
        meaning="its changes are durable, but not visible",
    )  # fmt: skip
    position = saved_prepared if rules.position_is_transactional else saved
    again = undecided if rules.retry_saves_position else conj(undecided, ~retried(P))
    system.action(
        "prepare_position", (P,), guard=again,
        updates={position: lambda p: disj(position(p), eq(p, P))},
        meaning="its position is durable, but not visible",
    )  # fmt: skip
    system.action(
        "retry", (P,), guard=undecided,
        updates={
            data_prepared: lambda p: conj(data_prepared(p), ~eq(p, P)),
            saved_prepared: lambda p: conj(saved_prepared(p), ~eq(p, P)),
            retried: lambda p: disj(retried(p), eq(p, P)),
        },
        meaning="a temporary error: both engines roll back, and the transaction is run again",
    )  # fmt: skip
    ready = position(P) if rules.retry_saves_position else disj(position(P), retried(P))
    system.action(
        "log", (P,),
        guard=conj(undecided, data_prepared(P), ready,
                   forall(Q, implies(conj(Q >= 0, Q < P), logged(Q)))),
        updates={logged: lambda p: disj(logged(p), eq(p, P))},
        meaning="in relay-log order it is written to the replica's binary log: decided",
    )  # fmt: skip
    if not rules.log_is_synced:
        system.starts_with("nothing_is_durable", (P,), ~durable(P))
        system.action("sync_log", (P,), guard=logged(P),
            updates={durable: lambda p: disj(durable(p), eq(p, P))},
            meaning="the replica's binary log is synced some time later")  # fmt: skip
    system.action(
        "commit_data", (P,), guard=conj(running(P), logged(P)),
        updates={data: lambda p: disj(data(p), eq(p, P))},
        meaning="the engine of the data commits",
    )  # fmt: skip
    system.action(
        "commit_position", (P,), guard=conj(running(P), logged(P), saved_prepared(P)),
        updates={saved: lambda p: disj(saved(p), eq(p, P))},
        meaning="the engine of the position table commits",
    )  # fmt: skip
    highest = conj(
        BEGIN >= 0, disj(eq(BEGIN, 0), after_crash_saved(BEGIN - 1)),
        forall(Q, implies(Q >= BEGIN, ~after_crash_saved(Q))),
    )  # fmt: skip
    recovered: Updates = {
        data: after_crash_data, saved: after_crash_saved, cursor: lambda: BEGIN,
        running: lambda p: False, retried: lambda p: False,
        data_prepared: lambda p: False, saved_prepared: lambda p: False,
    }  # fmt: skip
    if not rules.log_is_synced:
        recovered[logged] = durable
    system.action("crash_and_recover", (BEGIN,), guard=highest, updates=recovered,
        meaning="the binary log decides what is prepared; the highest position counts",
    )  # fmt: skip

    equal = eq(after_crash_data(P), after_crash_saved(P))
    system.safe("position_equals_data", (P,), equal,
        "a crash at this moment leaves the position of exactly what is in the data")  # fmt: skip
    system.safe("one_position_tells_all", (P, Q), implies(conj(P >= 0, P < Q,
        after_crash_saved(Q)), after_crash_data(P)),
        "whatever is before the highest position is in the data")  # fmt: skip
    system.safe("nothing_is_applied_twice", (P,), implies(P >= cursor(), ~after_crash_data(P)),
        "what is still to be begun is not in the data")  # fmt: skip
    system.safe("nothing_is_passed_over", (P,), implies(conj(P >= 0, P < cursor()),
        disj(running(P), after_crash_data(P))),
        "what was begun runs or is in the data")  # fmt: skip
    system.invariant("logged_is_decided", (P,), implies(logged(P), conj(
        disj(data(P), data_prepared(P)), disj(saved(P), saved_prepared(P)))),
        "both engines have prepared what the binary log has")  # fmt: skip
    system.invariant("committed_is_logged", (P,), implies(disj(data(P), saved(P)), logged(P)),
        "no engine commits what the binary log does not have")  # fmt: skip
    system.invariant("log_is_a_prefix", (P, Q), implies(conj(P >= 0, P < Q, logged(Q)), logged(P)),
        "the replica's binary log follows the relay log")  # fmt: skip
    system.invariant("logged_was_begun", (P,), implies(disj(logged(P), running(P)),
        conj(P >= 0, P < cursor())), "nothing is logged that was not begun")  # fmt: skip
    system.invariant("begun_is_running_or_logged", (P,), implies(conj(P >= 0, P < cursor()),
        disj(running(P), logged(P))), "a restart begins after what is decided")  # fmt: skip
    system.invariant("cursor_is_a_position", (), cursor() >= 0, "positions count from 0")
    system.cover("between_the_engines", (P,), conj(data(P), ~saved(P)))
    system.cover("begun_again", (P,), conj(data(P), P < cursor(), ~running(P), running(P + 1)))
    return system
