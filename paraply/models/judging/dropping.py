"""Drop a part of a specification and check for failed proofs.

A part without effect is redundant or unnecessary. Certificates show the parts in use; a solver
decides whether an obligation fails.
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
    Apply,
    Term,
    Variable,
    conj,
    conjuncts,
    eq,
    forall_many,
    negate,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a specification."""

    kind: str
    """``guard``, ``assumption``, ``start`` or ``invariant``."""
    place: str
    """The action or statement."""
    term: Term

    def __str__(self) -> str:
        if self.kind == "guard":
            return f"{self.place}: {text(self.term)}"
        return f"{self.kind} {self.place}"


def pieces(system: System) -> Iterator[Piece]:
    """Yield every removable part of a system."""
    for action in system.actions:
        if action.guard != TRUE:
            yield from (Piece("guard", action.name, part) for part in conjuncts(action.guard))
    for kind, stated in (
        ("assumption", system.axioms), ("start", system.initially), ("invariant", system.invariants)
    ):  # fmt: skip
        yield from (Piece(kind, statement.name, statement.closed) for statement in stated)


def without(system: System, piece: Piece) -> System:
    """Return the system without one piece."""

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
    """Return each piece's users as (statement, step).

    An invariant's own preservation does not count.
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
    apart = tuple(part for given in obligation.hypotheses for part in conjuncts(given))
    found = assertions(replace(obligation, hypotheses=apart))
    used = {found[number].origin for number in numbers}
    return {apart[origin] for origin in used if origin < len(apart)}


def follows(system: System, piece: Piece) -> Obligation:
    """Return that the rest implies a piece."""
    rest = without(system, piece)
    goal = replace(_background(rest, piece), statement=f"{piece} follows", goal=piece.term)
    if piece.kind == "start":
        stated = (*rest.axioms, *rest.initially)
        return replace(goal, hypotheses=tuple(statement.closed for statement in stated))
    return goal


def is_idle(system: System, piece: Piece) -> Obligation:
    """Return that newly enabled steps have no effect."""
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
    """Return a system and a situation that a piece forbids.

    It meets a guard's other conditions but not this one, or breaks an assumption or initial
    condition at the start. Raises ``ValueError`` for an invariant.
    """
    if piece.kind == "guard":
        action = _action(without(system, piece), piece)
        # With this value, the step could choose the same value.
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
    known = tuple(statement.closed for statement in (*rest.axioms, *rest.invariants))
    parameters: tuple[Variable, ...] = ()
    if piece.kind == "guard":
        action = _action(rest, piece)
        known, parameters = (*known, action.guard), action.parameters
    return Obligation(rest.name, "", "dropping", known, TRUE, parameters)
