"""The applier's model simulates a whole member; the member leads.

The member of ``paraply/models/systems/end_to_end.py`` uses one dialect's numbers.
``paraply/models/systems/applier.py`` observes remote transactions, the certification info and
certified sessions, but no locks, changes or local commits. So proofs about the applier cover whole
members. The applier *assumes* A1, that earlier writers have committed; here it is proved.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.models.language.simulation import taken
from paraply.models.language.system import System
from paraply.models.language.terms import INT, TRUE, Variable, conj, eq, implies
from paraply.models.systems import end_to_end
from paraply.models.systems.applier import WL8440
from paraply.models.systems.end_to_end import ROW, TABLE
from paraply.models.systems.side_by_side import PREFIX, WINDOW, SideBySide

P, Q, K, WORKER = (Variable(name, INT) for name in ("p", "q", "k", "worker"))
R, ROW_, TAB = Variable("r", ROW), Variable("row", ROW), Variable("tab", TABLE)
LC, WITNESS = Variable("new_lc", INT), Variable("witness", ROW)

WHY_APPLIER = ("counters", "finished_was_started", "started_was_delivered")
"""From the proof of P01."""

WHY_MEMBER = (
    "item_is_covered", "row_dependency_is_stamped", "view_change_waited",
    "epoch_begins_with_a_view_change", "old_epoch_lies_before_the_base", "base_is_a_view_change",
    "row_writers_start_in_turn", "phases", "missing_item_was_executed", "row_lock_is_a_writers",
    "session_keeps_its_rows", "writers_follow_each_other", "last_is_a_writer",
    "last_is_the_latest",
)  # fmt: skip
"""From the proof of P31."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The switches of the member."""

    member: end_to_end.Rules = field(default_factory=end_to_end.Rules)


def member_in_applier(rules: Rules = Rules()) -> System:
    """Return the joint system; the member leads."""
    joint = SideBySide(
        "member_in_applier", "what a member does, and the applier with it",
        WL8440, rules.member, leads="member",
    )  # fmt: skip
    applier, member, a, m = joint.applier, joint.member, joint.a, joint.m
    place, rank, system = joint.place, joint.rank, joint.system
    dialects_own = m.told(taken(joint.alone, "certify", LC, WITNESS).guard)
    for name, chosen in (("certify", (LC,)), ("change_view", ()), ("join", ())):
        witnessed = (*chosen, WITNESS) if chosen else ()
        joint.step(
            name, witnessed, taken(member, name, *chosen), taken(applier, name, *witnessed),
            agreed=conj(joint.same_delivered(), dialects_own if chosen else TRUE),
            remembered=joint.delivered(),
            meaning="delivered to both; a transaction has the LC that the dialect gives it",
        )  # fmt: skip
    joint.step(
        "certify_local", (), taken(member, "certify_local"), joint.session(),
        meaning="a local transaction, which holds its locks from now on",
    )  # fmt: skip
    for name, at_applier, at_member, window in joint.collections():
        joint.step(name, (WINDOW,), at_member, at_applier, agreed=eq(WINDOW, m.told(window)),
            meaning="a dialect's window, and the number that it leaves out")  # fmt: skip
    joint.step(
        "start", (Q,), taken(member, "start", Q), taken(applier, "start", rank(Q)),
        meaning="the coordinator gives it to a worker",
    )  # fmt: skip
    for name, parameter in (("change_row", ROW_), ("alter", TAB)):
        joint.step(name, (WORKER, parameter), taken(member, name, WORKER, parameter),
            meaning="a worker's change, which the applier does not see")  # fmt: skip
    commits = taken(member, "engine_commit", WORKER)
    joint.step("finish", (WORKER,), commits, taken(applier, "finish", rank(WORKER)),
        agreed=~m.local(WORKER), meaning="a worker's engine commit")  # fmt: skip
    joint.step("commit_session", (WORKER,), commits, agreed=m.local(WORKER),
        meaning="a session's engine commit, which the applier does not see")  # fmt: skip

    joint.claim()
    joint.couple()
    system.invariant("progress_in_log_agrees", (P,), implies(joint.in_log(P), conj(
        eq(a.started(P), m.started(place(P))), eq(a.committed(P), m.committed(place(P))))),
        "and so for each position of the relay log")  # fmt: skip
    joint.keep(applier, [PREFIX + name for name in WHY_APPLIER])
    joint.keep(member, WHY_MEMBER)

    waiting = conj(P >= 0, P < m.n(), m.local(P), ~m.committed(P), joint.from_elsewhere(K))
    system.cover("session_beside_a_worker", (P, K), conj(waiting, m.started(K), ~m.committed(K)))
    system.cover("session_after_a_worker", (P, K, R), conj(waiting, K < P, m.ws(P, R), m.ws(K, R)))
    return system
