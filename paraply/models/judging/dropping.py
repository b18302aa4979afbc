"""Specifications with one thing left out: would the proofs notice?

A guard's condition, an assumption, an initial condition or an invariant that no proof misses is
either said elsewhere, or not needed for what is claimed. What a proof uses is read from its
certificate; a solver then says whether some obligation fails without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from paraply.models.judging.bounded import breach_of
from paraply.models.judging.certificates.store import Store
from paraply.models.kernel.normal_form import assertions
from paraply.models.language.smtlib import text
from paraply.models.language.system import (
    Action,
    Obligation,
    Statement,
    System,
    as_state,
    obligations,
)
from paraply.models.language.terms import (
    TRUE,
    And,
    Apply,
    Term,
    Variable,
    conj,
    eq,
    forall_many,
    negate,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that a specification says: which kind, where, and what."""

    kind: str
    """``guard``, ``assumption``, ``start`` or ``invariant``."""
    place: str
    """The action, or the name of the statement."""
    term: Term

    def __str__(self) -> str:
        if self.kind == "guard":
            return f"{self.place}: {text(self.term)}"
        return f"{self.kind} {self.place}"


def conjuncts(term: Term) -> tuple[Term, ...]:
    """Return the parts of a conjunction, or the term itself."""
    return term.parts if isinstance(term, And) else (term,)


def pieces(system: System) -> Iterator[Piece]:
    """Yield everything that can be left out of a system."""
    for action in system.actions:
        if action.guard != TRUE:
            yield from (Piece("guard", action.name, part) for part in conjuncts(action.guard))
    for kind, stated in (
        ("assumption", system.axioms), ("start", system.initially), ("invariant", system.invariants)
    ):  # fmt: skip
        yield from (Piece(kind, statement.name, statement.closed) for statement in stated)


def without(system: System, piece: Piece) -> System:
    """Return the system with one piece left out."""

    def others(stated: Iterable[Statement], kind: str) -> list[Statement]:
        return [s for s in stated if (piece.kind, piece.place) != (kind, s.name)]

    def weaker(action: Action) -> Action:
        if (piece.kind, piece.place) != ("guard", action.name):
            return action
        kept = [part for part in conjuncts(action.guard) if part != piece.term]
        return replace(action, guard=conj(*kept))

    return replace(
        system,
        actions=[weaker(action) for action in system.actions],
        axioms=others(system.axioms, "assumption"),
        initially=others(system.initially, "start"),
        invariants=others(system.invariants, "invariant"),
    )


def users(system: System, store: Store) -> dict[Piece, list[tuple[str, str]]]:
    """Return, for each piece, the (statement, step) of every proof that uses it.

    That an invariant is preserved is no reason for it, so its own obligations do not count.
    """
    found: dict[Piece, list[tuple[str, str]]] = {piece: [] for piece in pieces(system)}
    for obligation in obligations(system):
        certificate = store.certificate(obligation)
        if certificate is None:
            continue
        used = _used_terms(obligation, {int(str(step[0])) for step in certificate.steps})
        for piece, proofs in found.items():
            match piece.kind:
                case "guard":
                    asserted = piece.place == obligation.step
                case "start":
                    asserted = obligation.step == "initially"
                case "invariant":
                    own = piece.place == obligation.statement and obligation.step != "safety"
                    asserted = obligation.step != "initially" and not own
                case _:
                    asserted = True
            if asserted and not used.isdisjoint(conjuncts(piece.term)):
                proofs.append((obligation.statement, obligation.step))
    return found


def _used_terms(obligation: Obligation, numbers: set[int]) -> set[Term]:
    """Return the hypotheses, each conjunct apart, that some assertions come from."""
    apart = tuple(part for given in obligation.hypotheses for part in conjuncts(given))
    found = assertions(replace(obligation, hypotheses=apart))
    used = {found[number].origin for number in numbers}
    return {apart[origin] for origin in used if origin < len(apart)}


def follows(system: System, piece: Piece) -> Obligation:
    """Return that the rest of the system implies a piece: leaving it out changes nothing."""
    rest = without(system, piece)
    goal = replace(_background(rest, piece), statement=f"{piece} follows", goal=piece.term)
    if piece.kind == "start":
        stated = (*rest.axioms, *rest.initially)
        return replace(goal, hypotheses=tuple(statement.closed for statement in stated))
    return goal


def is_idle(system: System, piece: Piece) -> Obligation:
    """Return that a step which only the lack of a guard's condition allows changes nothing."""
    goal = _background(without(system, piece), piece)
    action = _action(system, piece)
    same = []
    for function, (variables, value) in action.updates.items():
        same.append(forall_many(variables, eq(Apply(function, variables), value)))
    return replace(
        goal, statement=f"{piece} is idle", hypotheses=(*goal.hypotheses, negate(piece.term)),
        goal=conj(*same),
    )  # fmt: skip


def forbidden(system: System, piece: Piece) -> tuple[System, Statement]:
    """Return a system and a situation in it that shows what a piece forbids.

    For a guard's condition: a reachable state where the rest of the guard holds and the condition
    does not. For an assumption or an initial condition: a start without it that breaks it. Raises
    ``ValueError`` for an invariant, which forbids nothing.
    """
    if piece.kind == "guard":
        action = _action(without(system, piece), piece)
        # Where a function has this value, the step could choose the same value.
        body = as_state(conj(action.guard, negate(piece.term)))
        return system, Statement(f"forbidden {piece}", action.parameters, body)
    stated = (*system.axioms, *system.initially)
    found = next((s for s in stated if s.name == piece.place), None)
    if piece.kind == "invariant" or found is None:
        raise ValueError(f"{piece} forbids nothing")
    return without(system, piece), breach_of(found)


def _action(system: System, piece: Piece) -> Action:
    return next(action for action in system.actions if action.name == piece.place)


def _background(rest: System, piece: Piece) -> Obligation:
    """Return an obligation about a reachable state in which the rest of a guard holds."""
    known = tuple(statement.closed for statement in (*rest.axioms, *rest.invariants))
    parameters: tuple[Variable, ...] = ()
    if piece.kind == "guard":
        action = _action(rest, piece)
        known, parameters = (*known, action.guard), action.parameters
    return Obligation(rest.name, "", "dropping", known, TRUE, parameters)
