"""The minimiser: it takes smaller runs that break the same property, until none is left.

``edit(r, i)`` is the i-th simplification of ``r``, of ``edits(r)``: a chunk cut out, a choice
lowered, a smaller workload. They are tried in any order. What was tried in vain counts for the
kept run only. A run may break a property, hold, or leave it unknown.

Source: ``paraply/properties/shrinking.py``, ``paraply/counterexamples/shrinking.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    exists,
    forall,
    implies,
    negate,
)

RUN, PROPERTY = Sort("Run"), Sort("Property")
P, EDIT = Variable("p", PROPERTY), Variable("i", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault of the minimiser."""

    name: str = "minimiser"
    wants_a_breach: bool = True
    """It takes no run that leaves the property unknown."""
    wants_the_same: bool = True
    """It takes no run that breaks another property only."""
    wants_smaller: bool = True
    """It takes smaller runs only."""
    begins_again: bool = True
    """After a change, everything is tried anew."""
    admits_limits: bool = True
    """Where its budget ends first, it does not call the run minimal."""


def minimiser(rules: Rules = Rules()) -> System:
    """Return the system of one minimisation."""
    system = System(rules.name, "smaller runs that break the same property are taken until none is")
    breaks = system.rigid("breaks", RUN, PROPERTY, BOOL)
    holds = system.rigid("holds", RUN, PROPERTY, BOOL)
    size = system.rigid("size", RUN, INT)
    edits = system.rigid("edits", RUN, INT)
    edit = system.rigid("edit", RUN, INT, RUN)
    first = system.rigid("first", RUN)
    wanted = system.rigid("wanted", PROPERTY)
    kept = system.state("kept", RUN)
    vain = system.state("vain", INT, BOOL)
    ended = system.state("ended", BOOL)
    minimal = system.state("minimal", BOOL)

    system.assume("begins_with_a_breach", (), breaks(first(), wanted()),
        "the run to minimise breaks the property")  # fmt: skip
    system.starts_with("first_is_kept", (), conj(eq(kept(), first()), ~ended(), ~minimal()))
    system.starts_with("nothing_tried", (EDIT,), ~vain(EDIT))

    def is_edit(i: Term) -> Term:
        return conj(i >= 0, i < edits(kept()))

    def is_better(run: Term) -> Term:
        return conj(breaks(run, wanted()), size(run) < size(kept()))

    tried = edit(kept(), EDIT)
    broken = breaks(tried, wanted()) if rules.wants_the_same else exists(P, breaks(tried, P))
    if not rules.wants_a_breach:
        broken = ~holds(tried, wanted())
    taken = conj(broken, size(tried) < size(kept()) if rules.wants_smaller else TRUE)
    system.action(
        "take", (EDIT,), guard=conj(~ended(), is_edit(EDIT), taken),
        updates={kept: lambda: tried, vain: lambda i: FALSE if rules.begins_again else vain(i)},
        meaning="a simplification breaks the property and is smaller: it is kept, and all are "
        "tried anew",
    )  # fmt: skip
    system.action(
        "try_in_vain", (EDIT,), guard=conj(~ended(), is_edit(EDIT), negate(taken)),
        updates={vain: lambda i: disj(vain(i), eq(i, EDIT))},
        meaning="a simplification does not break it, or is not smaller",
    )  # fmt: skip
    system.action(
        "end", (), guard=conj(~ended(), forall(EDIT, implies(is_edit(EDIT), vain(EDIT)))),
        updates={ended: lambda: TRUE, minimal: lambda: TRUE},
        meaning="all were tried in vain: the run is called minimal",
    )  # fmt: skip
    system.action(
        "give_up", (), guard=~ended(),
        updates={ended: lambda: TRUE, minimal: lambda: FALSE if rules.admits_limits else TRUE},
        meaning="the budget of runs is spent",
    )  # fmt: skip

    same = breaks(kept(), wanted())
    no_larger = size(kept()) <= size(first())
    system.safe("the_verdict_is_kept", (), same,
        "the kept run breaks the property that the first run breaks")  # fmt: skip
    system.safe("it_never_grows", (), no_larger, "the kept run is not larger than the first")
    system.safe("minimal_is_one_minimal", (EDIT,), implies(conj(minimal(), is_edit(EDIT)),
        negate(is_better(edit(kept(), EDIT)))),
        "no simplification of a run called minimal is a smaller run that breaks it")  # fmt: skip
    system.invariant("the_verdict_is_kept", (), same, "it is inductive")
    system.invariant("it_never_grows", (), no_larger, "it is inductive")
    system.invariant("vain_is_of_the_kept_run", (EDIT,), implies(vain(EDIT),
        negate(is_better(edit(kept(), EDIT)))),
        "what was tried in vain does not improve the kept run")  # fmt: skip
    system.invariant("minimal_means_all_were_tried", (EDIT,), implies(
        conj(minimal(), is_edit(EDIT)), conj(ended(), vain(EDIT))),
        "a run is called minimal when all was tried")  # fmt: skip
    system.cover("a_run_is_made_smaller_twice", (EDIT,), conj(minimal(), eq(size(kept()), 0),
        eq(size(first()), 2), eq(kept(), edit(edit(first(), EDIT), EDIT))))  # fmt: skip
    system.cover("an_unknown_run_is_left", (EDIT,), conj(minimal(), is_edit(EDIT),
        ~breaks(edit(kept(), EDIT), wanted()), ~holds(edit(kept(), EDIT), wanted())))  # fmt: skip
    return system
