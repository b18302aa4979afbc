"""Garbage collection by rounds: members report, a collector takes the least report, purges below.

Members are numbered from 0; ``executed(m)`` and ``reported(m)`` are positions of the total order.
The collector goes through the members, and what all have reported becomes stable. A member may
fall silent; it blocks the collection until it is expelled.

Source: ``Certifier::garbage_collect``, ``Certifier::stable_set_handle`` (broadcasts of executed
GTIDs); group_replication_member_expel_timeout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.models.language.concrete import Scope, Table
from paraply.models.language.response import Case, Measure, Response
from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Variable,
    conj,
    disj,
    eq,
    implies,
    ite,
)

M, T = Variable("m", INT), Variable("t", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a configuration."""

    name: str = "stable_rounds"
    expels: bool = True
    """A silent member is expelled, and no longer waited for."""


def stable_rounds(rules: Rules = Rules()) -> System:
    """Return the system of one group."""
    system = System(rules.name, "members report what they executed; a collector takes the least")
    members = system.rigid("members", INT)
    n = system.state("n", INT)
    executed = system.state("executed", INT, INT)
    reported = system.state("reported", INT, INT)
    silent = system.state("silent", INT, BOOL)
    expelled = system.state("expelled", INT, BOOL)
    looked = system.state("looked", INT)
    least = system.state("least", INT)
    stable = system.state("stable", INT)

    system.assume("some_members", (), members() > 0, "the group has a member")
    system.starts_with("empty", (), conj(eq(n(), 0), eq(looked(), 0), eq(least(), 0),
        eq(stable(), 0)))  # fmt: skip
    system.starts_with("nothing_executed", (M,), conj(eq(executed(M), 0), eq(reported(M), 0),
        ~silent(M), ~expelled(M)))  # fmt: skip

    is_member = conj(M >= 0, M < members(), ~expelled(M))
    system.action("certify", (), updates={n: lambda: n() + 1}, meaning="the next transaction")
    system.action(
        "execute", (M,), guard=conj(is_member, ~silent(M), executed(M) < n()),
        updates={executed: lambda m: ite(eq(m, M), executed(m) + 1, executed(m))},
        meaning="a member commits the next transaction",
    )  # fmt: skip
    system.action(
        "report", (M,), guard=conj(is_member, ~silent(M), reported(M) < executed(M)),
        updates={reported: lambda m: ite(eq(m, M), executed(m), reported(m))},
        meaning="a member tells the group what it has executed",
    )  # fmt: skip
    system.action(
        "fall_silent", (M,), guard=conj(is_member, ~silent(M)),
        updates={silent: lambda m: disj(silent(m), eq(m, M))},
        meaning="a member stops: it hangs, or cannot be reached",
    )  # fmt: skip
    system.action(
        "expel", (M,),
        guard=conj(is_member, silent(M), TRUE if rules.expels else FALSE),
        updates={expelled: lambda m: disj(expelled(m), eq(m, M))},
        meaning="the group goes on without it",
    )  # fmt: skip
    begun = looked() > 0
    report, kept = reported(looked()), ite(begun, least(), n())
    lower = ite(conj(begun, least() <= report), least(), report)
    system.action(
        "look", (), guard=looked() < members(),
        updates={
            looked: lambda: looked() + 1,
            least: lambda: ite(expelled(looked()), kept, lower),
        },
        meaning="the collector takes the least of the reports, member by member",
    )  # fmt: skip
    system.action(
        "settle", (), guard=members() <= looked(),
        updates={looked: lambda: 0, stable: lambda: ite(stable() < least(), least(), stable())},
        meaning="what all have reported is stable and can be purged; the next round begins",
    )  # fmt: skip

    member = conj(M >= 0, M < members())
    system.invariant("reports_are_of_executed", (M,), conj(reported(M) >= 0,
        reported(M) <= executed(M), executed(M) <= n()),
        "nobody reports what it did not execute")  # fmt: skip
    system.invariant("counters", (), conj(looked() >= 0, looked() <= members(), least() >= 0,
        least() <= n(), stable() >= 0, stable() <= n()), "all within the order")  # fmt: skip
    below = implies(conj(member, M < looked()), disj(expelled(M), least() <= reported(M)))
    system.invariant("least_is_below_all_seen", (M,), below,
        "the round's least is no more than any report that it has seen")  # fmt: skip
    safe = implies(member, disj(expelled(M), stable() <= executed(M)))
    system.invariant("stable_is_reported", (M,),
        implies(member, disj(expelled(M), stable() <= reported(M))), "it is inductive")  # fmt: skip
    system.safe("stable_is_executed_everywhere", (M,), safe,
        "what is stable has been executed by every member that is in the group")  # fmt: skip
    system.cover("something_is_stable", (), conj(members() >= 2, stable() >= 1))
    system.cover("stable_without_a_silent_member", (M,), conj(member, silent(M), stable() >= 1,
        eq(executed(M), 0)))  # fmt: skip

    fair = ("execute", "report", "expel", "look", "settle")
    stops = conj(silent(M), ~expelled(M))
    gone = Measure(ite(silent(M), 0, 1))
    expel = Case(name="is_silent", condition=stops, action="expel", arguments=(M,),
                 meaning="the member has fallen silent")  # fmt: skip
    system.responds(Response(
        name="everybody_executes_or_leaves", variables=(M, T),
        pending=conj(member, T >= 0, T < n()), goal=disj(expelled(M), T < executed(M)),
        rank=(gone, Measure(T, executed(M))),
        cases=(
            expel,
            Case(name="is_behind", condition=~silent(M), action="execute", arguments=(M,),
                 meaning="the member has not executed so far"),
        ),
        fair=fair, meaning="every member executes each transaction, or is expelled",
    ))  # fmt: skip
    system.responds(Response(
        name="everybody_reports_or_leaves", variables=(M, T),
        pending=conj(member, T < executed(M)), goal=disj(expelled(M), T < reported(M)),
        rank=(gone,),
        cases=(
            expel,
            Case(name="has_not_reported", condition=~silent(M), action="report", arguments=(M,),
                 meaning="the member has executed it and not said so"),
        ),
        fair=fair, meaning="every member reports what it executed, or is expelled",
    ))  # fmt: skip
    lacks = conj(looked() < members(), ~expelled(looked()), reported(looked()) <= T)
    old = ite(conj(begun, least() <= T), 1, 0)
    system.responds(Response(
        name="a_round_makes_it_stable_or_meets_who_lacks_it", variables=(T,),
        pending=conj(T >= 0, T < n()), goal=disj(T < stable(), lacks),
        rank=(Measure(old), Measure(members(), looked())),
        cases=(
            Case(name="in_the_round", condition=looked() < members(), action="look",
                 meaning="a member is still to be looked at"),
            Case(name="round_is_over", condition=members() <= looked(), action="settle",
                 meaning="all have been looked at"),
        ),
        fair=fair,
        meaning="a transaction can be purged in the end, or the collector meets a member that has "
        "not reported it",
    ))  # fmt: skip
    return system


def workloads(transactions: int, scope: Scope) -> Iterator[dict[str, Table]]:
    """Yield one group with two members."""
    yield {"members": {(): 2}}
