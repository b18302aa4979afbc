"""Progress of binary log rotation beside commits that wait for an acknowledgement.

Groups pass the locks of ``paraply/models/systems/semi_sync.py``. A rotation takes LOCK_log, too; a
dump thread sends synced groups in order. While a group is uncommitted, some step is possible. A
group takes at most six steps. So all groups commit if rotations stop.

Source: MDEV-162, "Pending XID issue"; MySQL bug 44058, point 5; MDEV-181.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paraply.models.language.system import System
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
)

G, H = Variable("g", INT), Variable("h", INT)
FREE = -1
STEPS_MAX = 6
"""Write, sync, enter_ack, receive, enter_commit, engine_commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Design switches; each is a known configuration."""

    name: str = "rotation"
    waits_for_xids: bool = False
    """A rotation keeps LOCK_log until all commits (before MDEV-181)."""
    dump_needs_lock_log: bool = False
    """The dump thread needs LOCK_log (before binlog_end_pos)."""
    replica_forgets: bool = False
    """A replica loses its received tail and receives it again."""


def rotation(rules: Rules = Rules()) -> System:
    """Return a rotating source and one replica."""
    system = System(rules.name, "three locks, a rotation, a dump thread")
    n = system.state("n", INT)
    synced = system.state("synced", INT, BOOL)
    sent = system.state("sent", INT)
    engine = system.state("engine", INT, BOOL)
    file_start = system.state("file_start", INT)
    in_log = system.state("in_log", INT)
    in_ack = system.state("in_ack", INT)
    in_commit = system.state("in_commit", INT)
    rotating = system.state("rotating", BOOL)
    # Ghost: how many steps each group has taken.
    steps = system.state("steps", INT, INT)

    system.starts_with("nothing_happened", (), conj(eq(n(), 0), eq(sent(), 0), eq(file_start(), 0),
        ~rotating(), eq(in_log(), FREE), eq(in_ack(), FREE), eq(in_commit(), FREE)))  # fmt: skip
    system.starts_with("no_group", (G,), conj(~synced(G), ~engine(G), eq(steps(G), 0)))

    def counted(group: Term) -> Callable[[Term], Term]:
        return lambda g: ite(eq(g, group), steps(g) + 1, steps(g))

    log_is_free = conj(eq(in_log(), FREE), ~rotating())
    may_sync = conj(in_log() >= 0, ~synced(in_log()))
    may_enter_ack = conj(in_log() >= 0, synced(in_log()), eq(in_ack(), FREE))
    may_enter_commit = conj(in_ack() >= 0, in_ack() < sent(), eq(in_commit(), FREE))
    may_commit = in_commit() >= 0
    may_send = conj(synced(sent()), log_is_free if rules.dump_needs_lock_log else TRUE)
    nothing_pends = forall(H, implies(conj(H >= file_start(), H < n()), engine(H)))
    may_end = conj(rotating(), nothing_pends if rules.waits_for_xids else TRUE)

    system.action(
        "write", (), guard=log_is_free,
        updates={in_log: lambda: n(), n: lambda: n() + 1, steps: counted(n())},
        meaning="FLUSH: the next group takes LOCK_log and is written",
    )  # fmt: skip
    system.action(
        "sync", (), guard=may_sync,
        updates={synced: lambda g: disj(synced(g), eq(g, in_log())), steps: counted(in_log())},
        meaning="SYNC: it is durable",
    )  # fmt: skip
    system.action(
        "enter_ack", (), guard=may_enter_ack,
        updates={in_ack: lambda: in_log(), in_log: lambda: FREE, steps: counted(in_log())},
        meaning="ACK: takes LOCK_semi_sync, then releases LOCK_log",
    )  # fmt: skip
    system.action(
        "receive", (), guard=may_send,
        updates={sent: lambda: sent() + 1, steps: counted(sent())},
        meaning="the dump thread sends the next group; the replica acknowledges it",
    )  # fmt: skip
    system.action(
        "enter_commit", (), guard=may_enter_commit,
        updates={in_commit: lambda: in_ack(), in_ack: lambda: FREE, steps: counted(in_ack())},
        meaning="COMMIT: acknowledged; takes LOCK_commit_ordered, then releases LOCK_semi_sync",
    )  # fmt: skip
    system.action(
        "engine_commit", (), guard=may_commit,
        updates={
            engine: lambda g: disj(engine(g), eq(g, in_commit())),
            in_commit: lambda: FREE, steps: counted(in_commit()),
        },
        meaning="the group is visible; its XID is no longer pending",
    )  # fmt: skip
    if rules.replica_forgets:
        system.action("reconnect", (), guard=sent() > 0, updates={sent: lambda: sent() - 1},
            meaning="the replica comes back without what it received last")  # fmt: skip
    system.action("begin_rotation", (), guard=log_is_free, updates={rotating: lambda: True},
        meaning="the file is full: the rotation takes LOCK_log")  # fmt: skip
    system.action("end_rotation", (), guard=may_end,
        updates={rotating: lambda: False, file_start: lambda: n()},
        meaning="a new file begins, and LOCK_log is released")  # fmt: skip

    written = conj(G >= 0, G < n())
    system.safe("somebody_can_move", (G,), implies(conj(written, ~engine(G)), disj(may_sync,
        may_enter_ack, may_enter_commit, may_commit, may_send, may_end)),
        "while a group has not committed, some step is possible that no new group and no new "
        "rotation need begin")  # fmt: skip
    system.safe("rotations_end", (), implies(rotating(), disj(may_end, may_enter_commit, may_commit,
        may_send)),
        "and during a rotation, it can end or a group can proceed")  # fmt: skip
    system.safe("steps_run_out", (G,), implies(G >= 0, steps(G) <= STEPS_MAX),
        f"no group takes more than {STEPS_MAX} steps, so {STEPS_MAX} for each group written, less "
        "those taken, is a measure that every step of a group makes smaller")  # fmt: skip
    system.safe("all_steps_are_taken", (G,), implies(conj(written, ~(steps(G) < STEPS_MAX)),
        engine(G)), "a group that has no step left has committed")  # fmt: skip

    system.invariant("everyone_is_somewhere", (G,), implies(conj(written, ~engine(G)),
        disj(eq(in_log(), G), eq(in_ack(), G), eq(in_commit(), G))),
        "a group that has not committed holds a lock")  # fmt: skip
    system.invariant("holders_have_not_committed", (G,), implies(conj(G >= 0, disj(
        eq(in_log(), G), eq(in_ack(), G), eq(in_commit(), G))), ~engine(G)),
        "a group that has committed holds none")  # fmt: skip
    system.invariant("one_lock_each", (), conj(
        disj(eq(in_commit(), FREE), eq(in_ack(), FREE), in_commit() < in_ack()),
        disj(eq(in_commit(), FREE), eq(in_log(), FREE), in_commit() < in_log()),
        disj(eq(in_ack(), FREE), eq(in_log(), FREE), in_ack() < in_log())),
        "a holder of a later lock is earlier in the log")  # fmt: skip
    system.invariant("holders_are_written", (), conj(in_log() >= FREE, in_ack() >= FREE,
        in_commit() >= FREE, in_ack() < n(), in_commit() < n(),
        disj(eq(in_log(), FREE), eq(in_log(), n() - 1))), "LOCK_log is the last one's")  # fmt: skip
    system.invariant("left_log_is_synced", (G,), implies(conj(written, ~eq(in_log(), G)),
        synced(G)), "LOCK_log is released after the sync")  # fmt: skip
    system.invariant("synced_was_written", (G,), implies(disj(synced(G), engine(G)), written),
        "nothing is synced or commits that was not written")  # fmt: skip
    system.invariant("sent_is_durable", (), conj(sent() >= 0, sent() <= n(),
        disj(eq(in_log(), FREE), synced(in_log()), sent() < n()), in_commit() < sent()),
        "replicas are sent what was synced")  # fmt: skip
    system.invariant("committed_was_sent", (G,), implies(engine(G), G < sent()),
        "the acknowledgement comes before the engine commit")  # fmt: skip
    system.invariant("file_is_part_of_the_log", (), conj(file_start() >= 0, file_start() <= n()),
        "the file begins somewhere in the log")  # fmt: skip
    system.invariant("rotation_excludes_writers", (), disj(~rotating(), eq(in_log(), FREE)),
        "both hold LOCK_log")  # fmt: skip
    in_flush = ite(synced(G), ite(G < sent(), 3, 2), 1)
    waiting = ite(G < sent(), 4, 3)
    count = ite(engine(G), STEPS_MAX, ite(eq(in_commit(), G), 5,
        ite(eq(in_ack(), G), waiting, in_flush)))  # fmt: skip
    system.invariant("steps_tell_the_stage", (G,), implies(G >= 0, eq(steps(G),
        ite(G < n(), count, 0))), "each step is counted where it is taken")  # fmt: skip
    system.cover("rotation_beside_commits", (), conj(rotating(), in_ack() >= 0, in_commit() >= 0))
    system.cover("commits_after_a_rotation", (G,), conj(file_start() > 0, G < file_start(),
        eq(in_commit(), G), in_log() >= file_start()))  # fmt: skip
    return system
