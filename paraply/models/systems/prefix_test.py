"""The test of a replica's states against the source's: the first equal state not before the last.

``content(i)`` is the source's state after ``i`` of ``n`` commits, ``shown(k)`` the k-th state that
readers of the replica can see. Only fingerprints are compared. A state may occur many times.
``other`` is any explanation of the first ``explained`` shown states by rising prefixes.

The test of one key alone is the same, with its versions as states.

Source: ``paraply/properties/two_logs/rule.py``, ``position_of``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Literal,
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
    negate,
)

STATE, PRINT = Sort("State"), Sort("Print")
S = Variable("s", STATE)
AT, J, K, L = (Variable(name, INT) for name in "ijkl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault of the test, or a dropped assumption."""

    name: str = "prefix_test"
    never_goes_back: bool = True
    """The search begins at the last position, not at the beginning."""
    takes_the_first: bool = True
    """It takes the first equal state, not any."""
    prints_differ: bool = True
    """Assumption A19: different states have different fingerprints."""


def prefix_test(rules: Rules = Rules()) -> System:
    """Return the system of one comparison."""
    system = System(rules.name, "each shown state is given the first equal prefix from the last on")
    content = system.rigid("content", INT, STATE)
    shown = system.rigid("shown", INT, STATE)
    n = system.rigid("n", INT)
    finger = system.rigid("fingerprint", STATE, PRINT)
    state_of = system.rigid("state_of", PRINT, STATE)
    other = system.rigid("other", INT, INT)
    explained = system.rigid("explained", INT)
    seen = system.state("seen", INT)
    at = system.state("at", INT, INT)
    last = system.state("last", INT)
    failed = system.state("failed", BOOL)

    system.assume("source_begins", (), n() >= 0, "the source has a first state")
    if rules.prints_differ:
        system.assume("A19", (S,), eq(state_of(finger(S)), S),
            "different states have different fingerprints")  # fmt: skip
    inside = conj(K >= 0, K < explained())
    system.assume("other_explains", (K,), implies(inside, conj(
        other(K) >= 0, other(K) <= n(), eq(content(other(K)), shown(K)))),
        "`other` gives each of the first states an equal prefix")  # fmt: skip
    system.assume("other_rises", (K, L), implies(conj(K >= 0, K <= L, L < explained()),
        other(K) <= other(L)), "and no later one a shorter prefix")  # fmt: skip
    system.starts_with("nothing_shown", (), conj(eq(seen(), 0), eq(last(), 0), ~failed()))

    def equal(i: Term) -> Term:
        return eq(finger(content(i)), finger(shown(seen())))

    first = last() if rules.never_goes_back else Literal(0)
    none_before = forall(J, implies(conj(first <= J, J < AT), negate(equal(J))))
    placed: Updates = {
        seen: lambda: seen() + 1,
        at: lambda k: ite(eq(k, seen()), AT, at(k)),
        last: lambda: AT,
    }
    system.action(
        "place", (AT,),
        guard=conj(~failed(), first <= AT, AT <= n(), equal(AT),
                   none_before if rules.takes_the_first else TRUE),
        updates=placed,
        meaning="the shown state has the fingerprint of a prefix, the first from the last on",
    )  # fmt: skip
    system.action(
        "fail", (),
        guard=conj(~failed(), forall(J, implies(conj(first <= J, J <= n()),
                                                negate(equal(J))))),
        updates={failed: lambda: TRUE},
        meaning="no prefix from the last one on has this fingerprint",
    )  # fmt: skip

    rises = implies(conj(K >= 0, K <= L, L < seen()), at(K) <= at(L))
    is_shown = implies(conj(K >= 0, K < seen()), conj(at(K) >= 0, at(K) <= n(),
        eq(content(at(K)), shown(K))))  # fmt: skip
    system.safe("what_is_shown_is_a_prefix", (K,), is_shown,
        "each state that passed is the source's state after some commits")  # fmt: skip
    system.safe("no_reader_goes_back", (K, L), rises,
        "a later state that passed is of no shorter prefix")  # fmt: skip
    system.safe("failing_means_no_explanation", (), implies(failed(), explained() <= seen()),
        "where the test fails, no choice of rising prefixes explains the state")  # fmt: skip
    system.invariant("what_is_shown_is_a_prefix", (K,), is_shown, "it is inductive")
    system.invariant("no_reader_goes_back", (K, L), rises, "it is inductive")
    system.invariant("failing_means_no_explanation", (), implies(failed(), explained() <= seen()),
        "it is inductive")  # fmt: skip
    system.invariant("first_is_least", (K,), implies(conj(inside, K < seen()), at(K) <= other(K)),
        "the test is never ahead of another explanation")  # fmt: skip
    system.invariant("last_is_the_latest", (K,), implies(conj(K >= 0, K < seen()),
        at(K) <= last()), "the last position is the highest")  # fmt: skip
    system.invariant("last_was_given", (), conj(seen() >= 0, last() >= 0, last() <= n(),
        disj(eq(seen(), 0), eq(last(), at(seen() - 1))), disj(seen() > 0, eq(last(), 0))),
        "it is the one given last, or the beginning")  # fmt: skip
    system.cover("a_state_occurs_again", (AT, J), conj(AT < J, eq(content(AT), content(J)),
        eq(seen(), 2), AT < at(0), eq(at(1), J)))  # fmt: skip
    system.cover("a_state_is_refused", (), conj(failed(), seen() >= 1))
    return system
