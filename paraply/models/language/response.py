"""The response rule: under weak fairness, what is pending reaches its goal.

A pending state is in some case. Each case has a *helpful* action with arguments, terms of the
state. It is enabled, and taking it reaches the goal or lowers the rank. Any other step reaches the
goal, lowers the rank, or keeps rank, case and arguments. A rank is a sequence of natural numbers,
compared lexicographically; each is a difference of two integers, the second 0 by default.

Source: Manna and Pnueli, Completing the Temporal Picture (1991), rule F-WELL; proved in
``proofs/coq/Response.v``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paraply.models.language.refusal import IllFormedError
from paraply.models.language.terms import INT, Literal, Term, Variable, conj, disj, eq, negate

COVERED, BOUNDED = "covered", "bounded"
"""Steps of a response: some case holds; no rank is negative."""

ENABLED, HELPS = "enabled", "helps"
"""Steps of a case: its action is possible; it lowers the rank."""

ZERO = Literal(0)

After = Callable[[Term], Term]
"""The value of a term after a step."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a rank: ``top - bottom``."""

    top: Term
    bottom: Term = ZERO

    def same(self, after: After) -> Term:
        """Return that a step keeps the number."""
        return conj(eq(after(self.top), self.top), eq(after(self.bottom), self.bottom))

    def lower(self, after: After) -> Term:
        """Return that a step lowers the number: one end moves towards the other."""
        top, bottom = after(self.top), after(self.bottom)
        return conj(
            top <= self.top,
            self.bottom <= bottom,
            disj(top < self.top, self.bottom < bottom),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Pending states with one helpful action."""

    name: str
    condition: Term
    action: str
    arguments: tuple[Term, ...] = ()
    meaning: str = ""

    def holds(self, given: Sequence[Term], after: After = lambda term: term) -> Term:
        """Return that the case holds with the arguments ``given``."""
        same = (eq(g, after(a)) for g, a in zip(given, self.arguments, strict=True))
        return conj(after(self.condition), *same)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """For all ``variables``: what is ``pending`` reaches ``goal``.

    It assumes weak fairness of each action in ``fair``, for each choice of parameters.
    """

    name: str
    variables: tuple[Variable, ...]
    pending: Term
    goal: Term
    rank: tuple[Measure, ...]
    cases: tuple[Case, ...]
    fair: tuple[str, ...]
    meaning: str = ""

    @property
    def open(self) -> tuple[Term, Term]:
        """Return that the goal is still to be reached."""
        return self.pending, negate(self.goal)

    @property
    def read_after(self) -> tuple[Term, ...]:
        """Return the terms whose values after a step its obligations speak of."""
        numbers = (end for measure in self.rank for end in (measure.top, measure.bottom))
        situations = (term for case in self.cases for term in (case.condition, *case.arguments))
        return tuple(dict.fromkeys((self.pending, self.goal, *numbers, *situations)))

    def part(self, case: Case) -> str:
        """Return the name of a case's obligations."""
        return f"{self.name}.{case.name}"

    def covered(self) -> Term:
        """Return that some case holds."""
        return disj(*(case.condition for case in self.cases))

    def bounded(self) -> Term:
        """Return that no number of the rank is negative."""
        return conj(*(measure.bottom <= measure.top for measure in self.rank))

    def lower(self, after: After) -> Term:
        """Return that a step lowers the rank."""
        return disj(*(
            conj(*(before.same(after) for before in self.rank[:place]), measure.lower(after))
            for place, measure in enumerate(self.rank)
        ))  # fmt: skip

    def same(self, after: After) -> Term:
        """Return that a step keeps the rank."""
        return conj(*(measure.same(after) for measure in self.rank))

    def helped(self, after: After) -> Term:
        """Return what the helpful step must do."""
        return disj(after(self.goal), conj(after(self.pending), self.lower(after)))

    def not_worse(self, case: Case, given: Sequence[Term], after: After) -> Term:
        """Return what every step must do in ``case`` with the arguments ``given``."""
        kept = conj(self.same(after), case.holds(given, after))
        return disj(after(self.goal), conj(after(self.pending), disj(self.lower(after), kept)))


def require_cases(response: Response) -> None:
    """Raise :class:`IllFormedError` for cases or ranks that make no rule."""
    names: Sequence[str] = [case.name for case in response.cases]
    if not names:
        raise IllFormedError(f"{response.name} has no case")
    for name in names:
        if names.count(name) > 1:
            raise IllFormedError(f"{response.name} has two cases {name}")
    for case in response.cases:
        if case.action not in response.fair:
            raise IllFormedError(f"{case.name} names {case.action}, which is not fair")
    for measure in response.rank:
        if (measure.top.sort, measure.bottom.sort) != (INT, INT):
            raise IllFormedError(f"{response.name} has a rank that is no number")
