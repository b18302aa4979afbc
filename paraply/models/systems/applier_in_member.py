"""The applier's model refines the end-to-end model; the applier leads.

``paraply/models/systems/applier.py`` fixes a dialect's numbers and omits sessions, locks and
storage. ``paraply/models/systems/end_to_end.py`` includes those and allows any sufficient numbers.
Local transactions commit at once. The member's worker changes rows and tables within one applier
step, provably without waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.simulation import taken
from paraply.models.language.system import System
from paraply.models.language.terms import INT, TRUE, Variable, conj, disj, eq, forall, implies
from paraply.models.systems import end_to_end
from paraply.models.systems.applier import WL8440, Dialect
from paraply.models.systems.end_to_end import ROW, TABLE
from paraply.models.systems.side_by_side import PREFIX, WINDOW, SideBySide

P, Q, HERE, WORKER = (Variable(name, INT) for name in ("p", "q", "here", "worker"))
R, ROW_ = Variable("r", ROW), Variable("row", ROW)
T, TAB = Variable("t", TABLE), Variable("tab", TABLE)
LC, WITNESS = Variable("new_lc", INT), Variable("witness", ROW)

WHY_APPLIER = (
    "counters", "numbers_lie_below_the_counter", "items_lie_below_the_counter", "item_is_covered",
    "fence_is_covered", "row_dependency_is_stamped", "fence_is_stamped",
    "start_respects_last_committed", "view_change_waited", "view_change_is_waited_for",
    "finished_was_started", "started_was_delivered", "epoch_begins_with_a_view_change",
    "old_epoch_lies_before_the_base", "base_is_a_view_change",
)  # fmt: skip
"""From the proof of P01."""

WHY_MEMBER = (
    "base_is_a_view_change", "phases", "row_lock_is_a_writers", "meta_lock_is_a_ddls",
    "last_is_a_writer", "last_ddl_is_one",
)  # fmt: skip
"""From the proof of P31."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The dialect, and assumptions about its runs."""

    dialect: Dialect = WL8440
    purges_executed_only: bool = True
    """Assumption A11: purged transactions are executed here, too."""
    ddl_is_apart: bool = True
    """Assumption A12: no local transaction runs beside remote DDL of its tables."""
    online_first: bool = True
    """Assumption A13: a joiner's sessions start after its view change."""


def applier_in_member(rules: Rules = Rules()) -> System:
    """Return the joint system; the applier leads."""
    joint = SideBySide(
        "applier_in_member", "what the applier does, and the member with it",
        rules.dialect, end_to_end.Rules(), leads="applier",
    )  # fmt: skip
    applier, member, a, m = joint.applier, joint.member, joint.a, joint.m
    place, system = joint.place, joint.system
    for name, chosen in (("certify", (LC,)), ("change_view", ()), ("join", ())):
        witnessed = (*chosen, WITNESS) if chosen else ()
        joint.step(
            name, witnessed, taken(applier, name, *witnessed), taken(member, name, *chosen),
            agreed=joint.same_delivered(), remembered=joint.delivered(),
            meaning="delivered to both; a transaction has the LC that the dialect gives it",
        )  # fmt: skip
    online = disj(eq(m.base(), 0), m.committed(m.base()))
    ddl_done = forall(P, forall(R, implies(conj(joint.in_log(P), m.ws(HERE, R),
        m.alters(place(P), m.table(R))), a.committed(P))))  # fmt: skip
    joint.step(
        "certify_local", (HERE,), joint.session(),
        taken(member, "certify_local"), taken(member, "engine_commit", HERE),
        agreed=conj(
            eq(HERE, m.n()), m.local(HERE), forall(T, ~m.alters(HERE, T)),
            online if rules.online_first else TRUE, ddl_done if rules.ddl_is_apart else TRUE,
        ),
        meaning="a local transaction, which the member commits at once",
    )  # fmt: skip
    executed = forall(P, forall(R, implies(conj(joint.in_log(P), a.ws(P, R), a.purged(R)),
        a.committed(P))))  # fmt: skip
    for name, at_applier, at_member, window in joint.collections():
        joint.step(
            name, (WINDOW,), at_applier, at_member,
            agreed=conj(eq(WINDOW, a.told(window)),
                        executed if rules.purges_executed_only else TRUE),
            meaning="a dialect's window, and the number that it leaves out",
        )  # fmt: skip
    joint.step(
        "start", (Q,), taken(applier, "start", Q), taken(member, "start", place(Q)),
        meaning="the coordinator gives it to a worker",
    )  # fmt: skip
    mine = place(WORKER)
    at_work = conj(a.started(WORKER), ~a.committed(WORKER))
    changes_row = taken(member, "change_row", mine, ROW_)
    alters = taken(member, "alter", mine, TAB)
    for name, parameter in (("change_row", ROW_), ("alter", TAB)):
        joint.step(name, (HERE, parameter), taken(member, name, HERE, parameter),
            meaning="a worker's change, which the applier does not see")  # fmt: skip
    all_changed = conj(
        forall(R, implies(m.ws(mine, R), eq(m.row_lock(R), mine))),
        forall(T, implies(m.alters(mine, T), eq(m.meta_lock(T), mine))),
    )
    joint.step(
        "finish", (WORKER,), taken(applier, "finish", WORKER),
        taken(member, "engine_commit", mine), agreed=all_changed,
        meaning="a worker's engine commit, when the member has made its changes",
    )  # fmt: skip
    joint.claim()
    system.safe("change_row_never_waits", (WORKER, ROW_), implies(
        conj(at_work, m.ws(mine, ROW_)), disj(eq(m.row_lock(ROW_), mine), changes_row.guard)),
        "a worker's change of a row has been made, or is possible")  # fmt: skip
    system.safe("alter_never_waits", (WORKER, TAB), implies(
        conj(at_work, m.alters(mine, TAB)), disj(eq(m.meta_lock(TAB), mine), alters.guard)),
        "and so has its change of a table, or is")  # fmt: skip

    joint.couple()
    session = conj(P >= 0, P < m.n(), m.local(P))
    system.invariant("sessions_are_done", (P,), implies(session, m.committed(P)),
        "a local transaction commits as soon as it is certified")  # fmt: skip
    joint.keep(applier, [PREFIX + name for name in WHY_APPLIER])
    joint.keep(member, WHY_MEMBER)
    return system
