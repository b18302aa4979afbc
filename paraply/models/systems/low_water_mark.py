"""The coordinator with its low-water mark starts only what LC allows.

``paraply/models/systems/applier.py`` waits for everything up to LC. The real coordinator has groups
and the longest finished prefix of jobs in a group. Numbers rise within a group.

Source: ``Mts_submode_logical_clock::schedule_next_event``, ``get_lwm_timestamp``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import BOOL, INT, Variable, conj, disj, eq, forall, implies, ite
from paraply.models.systems.logical_clock import reaches

P, Q, J = Variable("p", INT), Variable("q", INT), Variable("j", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a known fault."""

    name: str = "low_water_mark"
    is_prefix: bool = True
    """The mark ends the longest finished prefix, not the highest job."""
    groups_wait: bool = True
    """A group's first job waits for all before it."""


def low_water_mark(rules: Rules = Rules()) -> System:
    """Return the coordinator's system."""
    system = System(rules.name, "groups, jobs, and the longest prefix of jobs that is done")
    sn = system.rigid("sn", INT, INT)
    lc = system.rigid("lc", INT, INT)
    given = system.state("given", INT)
    group = system.state("group", INT)
    prefix = system.state("prefix", INT)
    done = system.state("done", INT, BOOL)
    group_of = system.state("group_of", INT, INT)

    system.starts_with("empty", (), conj(eq(given(), 0), eq(group(), 0), eq(prefix(), 0)))
    system.starts_with("nothing_done", (P,), ~done(P))
    recorded: Updates = {
        given: lambda: given() + 1,
        group_of: lambda p: ite(eq(p, given()), group(), group_of(p)),
    }
    all_done = forall(P, implies(conj(P >= 0, P < given()), done(P)))
    system.action(
        "open_group", (), guard=all_done if rules.groups_wait else conj(),
        updates={
            given: lambda: given() + 1, group: lambda: given(), prefix: lambda: given(),
            group_of: lambda p: ite(eq(p, given()), given(), group_of(p)),
        },
        meaning="a gap, a rotation or LC 0: the numbers say nothing about what came before",
    )  # fmt: skip
    rises = conj(given() > group(), sn(given()) > sn(given() - 1))
    if rules.is_prefix:
        reached = conj(prefix() > group(), lc(given()) <= sn(prefix() - 1))
        system.action("give_out", (), guard=conj(rises, reached), updates=recorded,
            meaning="LC is at or below the low-water mark")  # fmt: skip
    else:
        reached = conj(J >= group(), J < given(), done(J), lc(given()) <= sn(J))
        system.action("give_out", (J,), guard=conj(rises, reached), updates=recorded,
            meaning="LC is at or below the number of some job that is done")  # fmt: skip
    system.action(
        "finish", (P,), guard=conj(P >= 0, P < given()),
        updates={done: lambda p: disj(done(p), eq(p, P))}, meaning="a worker is done",
    )  # fmt: skip
    system.action(
        "advance", (), guard=conj(prefix() < given(), done(prefix())),
        updates={prefix: lambda: prefix() + 1}, meaning="the prefix that is done grows",
    )  # fmt: skip

    both = conj(P >= 0, P < Q, Q < given())
    covered = implies(conj(both, disj(P < group_of(Q), reaches(lc(Q), sn(P)))), done(P))
    meaning = "each started transaction had all up to its LC, and every earlier group, done"
    system.safe("starts_respect_last_committed", (P, Q), covered, meaning)
    system.invariant("starts_respect_last_committed", (P, Q), covered, meaning)
    system.invariant("earlier_groups_are_done", (P,), implies(conj(P >= 0, P < group()), done(P)),
        "a group was opened when all before it was done")  # fmt: skip
    system.invariant("prefix_is_done", (P,), implies(conj(P >= group(), P < prefix()), done(P)),
        "everything in the prefix is done")  # fmt: skip
    system.invariant("numbers_rise_in_the_group", (P, Q), implies(conj(both, P >= group()),
        sn(P) < sn(Q)), "within a group the numbers rise")  # fmt: skip
    system.invariant("counters", (), conj(group() >= 0, prefix() >= group(), prefix() <= given(),
        group() <= given()), "the prefix lies in the group")  # fmt: skip
    system.cover("two_run_at_once", (P, Q), conj(both, ~done(P), ~done(Q)))
    system.cover("mark_lets_one_pass", (P, Q), conj(both, done(P), ~done(Q),
        eq(group_of(P), group_of(Q)), lc(Q) <= sn(P), ~(sn(Q) <= lc(Q))))  # fmt: skip
    return system
