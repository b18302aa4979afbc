"""The group refines certification: what it decides is a run of the certifier's model.

The group of ``paraply/models/systems/group.py`` leads. Each state of it maps to one of
``paraply/models/systems/certification.py``: the order is that of positions, and a transaction sees
what was certified at the positions of its snapshot. Sessions, reports, commits, crashes and joiners
are steps in which certification stands still. It assumes A2 and A4; here they are proved.

A snapshot is taken at delivery, once. ``certifier_last`` are any snapshots that are fixed from the
beginning: if they are those of all that is delivered, a certifier with them takes each step, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.models.language.simulation import (
    Simulation,
    Words,
    given,
    renamed,
    taken,
    with_values,
)
from paraply.models.language.system import Action, System
from paraply.models.language.terms import (
    BOOL,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    negate,
)
from paraply.models.systems import certification, group
from paraply.models.systems.group import ROW, TXN

T, U, W = Variable("t", TXN), Variable("u", TXN), Variable("w", TXN)
R, ROW_, P = Variable("r", ROW), Variable("row", ROW), group.P
PREFIX = "certifier_"

WHY_GROUP = (
    "snapshots_have_applied_writers", "snapshots_have_reported_writers",
    "snapshots_have_writers_reported_before", "reports_rise", "reports_are_in_flight",
    "numbers_were_given", "numbers_differ_from_reports", "arrivals_were_sent",
    "members_are_in_the_order", "snapshots_are_prefixes", "places_are_positions",
    "versions_are_earlier", "versions_are_certified_writers", "positions_are_of_delivered",
)  # fmt: skip
"""From the proof of P49."""

WHY_CERTIFICATION = (
    "later_writers_saw_earlier_ones", "writer_is_remembered", "refusals_are_deserved",
)  # fmt: skip
"""From the proofs of P05 and P06."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The switches of the group, and of the map."""

    group: group.Rules = field(default_factory=group.Rules)
    snapshots_as_sent: bool = True
    """Off, the map takes what the member has applied at delivery for the snapshot: a fault."""


def group_in_certification(rules: Rules = Rules()) -> System:
    """Return the joint system; the group leads."""
    whole = group.group(rules.group)
    free = certification.Rules(snapshots_are_fixed=False, snapshots_are_closed=False)
    certifier = renamed(certification.certification(free), PREFIX, ("ws",))
    joint = Simulation(
        "group_in_certification", "what a group does, and certification with it", whole, certifier
    )
    system, g, c = joint.system, Words(whole), Words(certifier, PREFIX)
    last = system.rigid(PREFIX + "last", TXN, TXN, BOOL)

    def sees(t: Term, u: Term) -> Term:
        """Return that ``u`` was certified at a position in the snapshot of ``t``."""
        taken_at = g.snap(t) if rules.snapshots_as_sent else g.upto(g.home(t))
        return conj(g.certified(u), g.place(u) < taken_at)

    def last_writer(r: Term) -> Term:
        """Return the last certified writer of ``r``."""
        return g.txn_at(g.version(g.n(), r))

    def foreseen(action: Action, *here: Term) -> Action:
        """Return that ``action`` is possible, too, with the snapshots that are fixed before."""
        arrived = disj(c.delivered(U), *(eq(U, t) for t in here))
        agree = forall(U, forall(W, implies(arrived, eq(c.snap(U, W), last(U, W)))))
        return Action("", (), implies(agree, with_values(action.guard, c.snap, last)), {})

    takes = given(taken(certifier, "take_snapshot", T), c.chosen, lambda u: sees(T, u))
    settles = given(
        taken(certifier, "grow_stable_set"), c.grown,
        lambda u: conj(g.certified(u), g.place(u) < group.LEVEL),
    )  # fmt: skip
    purges = given(taken(certifier, "collect_garbage"), c.purged, lambda r: eq(r, ROW_))
    accepts = taken(certifier, "certify_positively", T)
    refuses = taken(certifier, "certify_negatively", T, ROW_, last_writer(ROW_))
    for name, parameters, matching in (
        ("certify", (T,), (takes, foreseen(accepts, T), accepts)),
        ("refuse", (T, ROW_), (takes, foreseen(refuses, T), refuses)),
        ("settle", (group.LEVEL,), (foreseen(settles), settles)),
        ("collect", (ROW_,), (foreseen(purges), purges)),
    ):  # fmt: skip
        action = taken(whole, name, *parameters)
        joint.step(name, parameters, action, *matching, meaning=action.meaning)
    for action in whole.actions:
        if action.name not in {step.name for step in system.actions}:
            joint.step(action.name, action.parameters, action, meaning=action.meaning)

    joint.claim()
    rival, contested = c.refuser(T), c.refused_row(T)
    system.safe("refusals_are_deserved", (T,), implies(conj(g.delivered(T), ~g.certified(T)), conj(
        g.certified(rival), g.place(rival) < g.place(T), g.snap(T) <= g.place(rival),
        g.ws(T, contested), g.ws(rival, contested))),
        "each refused transaction of the group shares a row with one certified before it, which "
        "is not in its snapshot")  # fmt: skip
    system.safe("first_certified_wins", (T, U, R), implies(conj(g.certified(T), g.certified(U),
        g.place(T) < g.place(U), g.ws(T, R), g.ws(U, R)), g.place(T) < g.snap(U)),
        "of two certified writers of one row, the later one's snapshot has the earlier "
        "one")  # fmt: skip
    system.safe("snapshots_are_closed", (T, U, W), implies(conj(c.snap(T, U), c.snap(U, W)),
        c.snap(T, W)), "A4: what a transaction in a snapshot saw is in the snapshot")  # fmt: skip

    system.invariant("decisions_agree", (T,), conj(eq(c.delivered(T), g.delivered(T)),
        eq(c.certified(T), g.certified(T))), "both deliver and certify the same")  # fmt: skip
    system.invariant("order_agrees", (T, U), eq(c.before(T, U), conj(g.delivered(T),
        g.delivered(U), g.place(T) < g.place(U))), "the order is that of positions")  # fmt: skip
    system.invariant("snapshots_agree", (T, U), eq(c.snap(T, U), conj(g.delivered(T),
        g.certified(U), g.place(U) < g.snap(T))),
        "a snapshot has what was certified at its positions")  # fmt: skip
    system.invariant("stable_agrees", (T,), eq(c.stable(T), conj(g.certified(T),
        g.place(T) < g.stable())), "stable is what was certified at stable positions")  # fmt: skip
    system.invariant("items_agree", (R,), conj(eq(c.has(R), g.has(R)), implies(g.has(R), conj(
        g.version(g.n(), R) >= 0, eq(c.writer(R), last_writer(R))))),
        "an item names the last certified writer")  # fmt: skip
    system.invariant("places_are_found", (T,), implies(g.delivered(T),
        eq(g.txn_at(g.place(T)), T)), "each delivered transaction is at its position")  # fmt: skip
    system.invariant("positions_are_places", (P,), implies(conj(P >= 0, P < g.n()),
        eq(g.place(g.txn_at(P)), P)), "and each position has one transaction")  # fmt: skip
    joint.keep(whole, WHY_GROUP)
    joint.keep(certifier, [PREFIX + name for name in WHY_CERTIFICATION])
    system.cover("refused", (T,), conj(c.delivered(T), ~c.certified(T)))
    system.cover("rewritten_from_elsewhere", (T, U, R), conj(g.certified(T), g.certified(U),
        g.place(T) < g.place(U), g.ws(T, R), g.ws(U, R),
        negate(eq(g.home(T), g.home(U)))))  # fmt: skip
    return system
