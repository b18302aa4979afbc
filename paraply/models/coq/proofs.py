"""A Coq proof of each obligation, from its certificate.

Instances become facts; ``refuting`` finds the decisions that contradict the negated goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paraply.models.coq.gallina import Gallina, NotPrintableError, boolean, named
from paraply.models.coq.refuting import Fact, plainly, refutation_script
from paraply.models.kernel.certificate import Certificate, instances
from paraply.models.kernel.normal_form import MARK, Assertion, assertions
from paraply.models.language.system import Action, Obligation
from paraply.models.language.terms import (
    INT,
    And,
    Apply,
    Ite,
    Literal,
    Not,
    Or,
    Quantified,
    Sort,
    Term,
    Variable,
    conjuncts,
    parts_of,
    without_capture,
)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A formula and its Coq proof."""

    formula: Term
    proof: str


Place = tuple[str, int]
"""A variable's name, and its number among equals."""

Values = Mapping[Place, Term]


@dataclass(slots=True)
class Plan:
    """The instances that a certificate uses."""

    used: dict[int, list[Values]]
    """By hypothesis; the goal comes after the last."""
    witnesses: dict[str, Place]
    """Skolem constants of the goal."""


def plan_of(obligation: Obligation, certificate: Certificate) -> Plan:
    """Return the plan for conjunct hypotheses."""
    found = assertions(obligation)
    places = _places(found)
    functions = {
        one.function.name: origin
        for assertion in found
        for one in _applications(assertion.matrix)
        if MARK in one.function.name
        for origin in (assertion.origin,)
    }
    witnesses: dict[str, Place] = {}
    counted: dict[str, int] = {}
    for name in sorted(functions, key=_number):
        if functions[name] != len(obligation.hypotheses):
            raise NotPrintableError(f"a hypothesis of {obligation.statement} asks for a witness")
        base = name.split(MARK)[0]
        witnesses[name] = (base, counted.setdefault(base, 0))
        counted[base] += 1
    used: dict[int, list[Values]] = {}
    for instance in instances(certificate, obligation, found):
        assertion = found[instance.assertion]
        values = {
            places[assertion.origin, variable.name]: term
            for variable, term in zip(assertion.variables, instance.terms, strict=True)
        }
        used.setdefault(assertion.origin, []).append(values)
    return Plan(used, witnesses)


def _places(found: Sequence[Assertion]) -> dict[tuple[int, str], Place]:
    names = {(a.origin, v.name) for a in found for v in a.variables}
    places: dict[tuple[int, str], Place] = {}
    counted: dict[tuple[int, str], int] = {}
    for origin, name in sorted(names, key=lambda one: _number(one[1])):
        base = name.split(MARK)[0]
        places[origin, name] = (base, counted.setdefault((origin, base), 0))
        counted[origin, base] += 1
    return places


def _number(name: str) -> int:
    return int(name.rsplit(MARK, 1)[1])


def _applications(node: Term) -> Iterator[Apply]:
    if isinstance(node, Apply):
        yield node
    for part in parts_of(node):
        yield from _applications(part)


def plain_substitute(node: Term, values: Mapping[Variable, Term]) -> Term:
    """Replace variables in ``node`` without simplification."""
    if isinstance(node, Variable):
        return values.get(node, node)
    if isinstance(node, Quantified):
        inner = {v: t for v, t in values.items() if v != node.variable}
        node = without_capture(node, (term.free for term in inner.values()))
        return Quantified(node.universal, node.variable, plain_substitute(node.body, inner))
    return plainly(node, lambda part: plain_substitute(part, values))


def plain_post(node: Term, action: Action) -> Term:
    """Return the unsimplified weakest precondition."""
    if isinstance(node, Quantified):
        node = without_capture(node, [action.parameters])
        return Quantified(node.universal, node.variable, plain_post(node.body, action))
    inner = plainly(node, lambda part: plain_post(part, action))
    if isinstance(inner, Apply) and inner.function in action.updates:
        variables, value = action.updates[inner.function]
        return plain_substitute(value, dict(zip(variables, inner.arguments, strict=True)))
    return inner


def default(sort: Sort) -> Term:
    """Return an element of a sort."""
    return Literal(0) if sort == INT else Variable(f"some_{sort.name}", sort)


@dataclass(slots=True)
class Prover:
    """Writes the proof of one obligation."""

    gallina: Gallina
    hypotheses: Sequence[Hypothesis]
    plan: Plan
    relations: Mapping[Term, str]
    _introduced: dict[Place, Variable] = field(default_factory=dict)
    _counted: dict[str, int] = field(default_factory=dict)
    _assumed: list[Fact] = field(default_factory=list)
    _premises: list[Hypothesis] = field(default_factory=list)
    _names: int = 0

    def lines(self, goal: Term) -> list[str]:
        """Return the tactics that prove a goal."""
        gallina = self.gallina
        if gallina.is_plain(goal):
            return self._by_contradiction(goal)
        match goal:
            case Apply():
                return [f"  exact {self.relations[goal]}."]
            case And(parts):
                return self._conjunction(parts)
            case Quantified(True, variable, body):
                fresh = Variable(self._fresh(f"w_{named(variable.name)}"), variable.sort)
                base = variable.name.rstrip("~")
                place = (base, self._counted.setdefault(base, 0))
                self._counted[base] += 1
                self._introduced[place] = fresh
                return [f"  intro {fresh.name}.",
                        *self.lines(plain_substitute(body, {variable: fresh}))]  # fmt: skip
            case Ite(condition, then, otherwise):
                name = self._fresh("C")
                return [
                    "  refine (by_cases _ _ _ _ _).",
                    *self._apart(then, name, Fact(condition, f"exact {name}")),
                    *self._apart(
                        otherwise, name, Fact(Not(condition), f"exact (f_equal negb {name})")
                    ),
                ]
            case Or():
                return self._implication(goal)
        raise NotPrintableError(f"no proof of {goal!r}")

    def _conjunction(self, parts: tuple[Term, ...]) -> list[str]:
        if len(parts) == 1:
            return self.lines(parts[0])
        first = self._apart(parts[0])
        return ["  split.", *first, "  {", *self._conjunction(parts[1:]), "  }"]

    def _fresh(self, name: str) -> str:
        self._names += 1
        return f"{name}{self._names}"

    def _apart(self, goal: Term, name: str = "", assumed: Fact | None = None) -> list[str]:
        scope = dict(self._introduced), list(self._assumed), list(self._premises)
        if assumed is not None:
            self._assumed.append(assumed)
        lines = [f"  intro {name}."] if name else []
        lines += self.lines(goal)
        self._introduced, self._assumed, self._premises = scope
        return ["  {", *lines, "  }"]

    def _implication(self, goal: Or) -> list[str]:
        parts = self.gallina.disjunction(goal)
        lines = []
        for premise in parts.premises:
            name = self._fresh("P")
            lines.append(f"  intro {name}.")
            self._premises.append(Hypothesis(premise, name))
        if parts.conclusion is None:
            return lines + self._by_contradiction(Or(parts.plain))
        if parts.plain:
            name = self._fresh("Q")
            lines.append(f"  intro {name}.")
            self._assumed.append(Fact(Not(Or(parts.plain)), f"exact (f_equal negb {name})"))
        return lines + self.lines(parts.conclusion)

    def _by_contradiction(self, goal: Term) -> list[str]:
        name = self._fresh("N")
        negated = Fact(Not(goal), f"exact (f_equal negb {name})")
        facts = [negated, *self._assumed, *self._facts()]
        lines = [f"  refine (by_contradiction _ _); intro {name}."]
        return lines + refutation_script(facts)

    def _facts(self) -> Iterator[Fact]:
        for number, hypothesis in enumerate(self.hypotheses):
            for values in self.plan.used.get(number, ()):
                yield from self._instance(hypothesis, values)
        for values in self.plan.used.get(len(self.hypotheses), ({},)):
            for premise in self._premises:
                yield from self._instance(premise, values)

    def _instance(self, hypothesis: Hypothesis, values: Values) -> Iterator[Fact]:
        known = {place: self._visible(term) for place, term in values.items()}
        counted: dict[str, int] = {}
        if not self._has_relation(hypothesis.formula):
            yield Fact(*self._matrix(hypothesis.formula, hypothesis.proof, known, counted))

    def _has_relation(self, node: Term) -> bool:
        return any(one.function in self.gallina.relations for one in _applications(node))

    def _visible(self, term: Term) -> Term:
        match term:
            case Apply(function, _) if MARK in function.name:
                place = self.plan.witnesses[function.name]
                return self._introduced.get(place) or default(function.result)
            case Variable(name, sort) if MARK in name:
                return default(sort)
        return plainly(term, self._visible)

    def _matrix(
        self, node: Term, proof: str, values: Values, counted: dict[str, int]
    ) -> tuple[Term, str]:
        if self.gallina.is_plain(node):
            return node, f"exact {proof}"
        match node:
            case Quantified(True, variable, body):
                base = variable.name.rstrip("~")
                place = (base, counted.setdefault(base, 0))
                counted[base] += 1
                value = values.get(place) or default(variable.sort)
                inner = plain_substitute(body, {variable: value})
                return self._matrix(inner, f"({proof} {boolean(value)})", values, counted)
            case And(parts):
                matrices = [
                    self._matrix(part, projected, values, counted)
                    for part, projected in zip(parts, projections(proof, len(parts)), strict=True)
                ]
                tactic = matrices[-1][1]
                for _, first in reversed(matrices[:-1]):
                    tactic = f"refine (andb_true_intro (conj _ _)); [{first} | {tactic}]"
                return And(tuple(matrix for matrix, _ in matrices)), tactic
            case Ite(condition, then, otherwise):
                name = self._fresh("X")
                yes, if_true = self._matrix(then, name, values, counted)
                no, if_false = self._matrix(otherwise, name, values, counted)
                tactic = (
                    f"generalize {proof}; destruct {boolean(condition)}; intro {name}; "
                    f"[{if_true} | {if_false}]"
                )
                return Ite(condition, yes, no), tactic
            case Or():
                split = self.gallina.disjunction(node)
                if split.premises or split.conclusion is None:
                    raise NotPrintableError("a hypothesis with a quantified premise")
                if not split.plain:
                    return self._matrix(split.conclusion, proof, values, counted)
                name = self._fresh("X")
                inner, tactic = self._matrix(split.conclusion, f"({name} eq_refl)", values, counted)
                plain = Or(split.plain)
                return Or((plain, inner)), (
                    f"generalize {proof}; destruct {boolean(plain)}; intro {name}; "
                    f"[reflexivity | {tactic}]"
                )
        raise NotPrintableError(f"no fact without a quantifier: {node!r}")


def projections(proof: str, count: int) -> list[str]:
    """Return proofs of a conjunction's parts."""
    found = []
    for place in range(count):
        if place < count - 1:
            found.append(f"(proj1 {proof})")
            proof = f"(proj2 {proof})"
        else:
            found.append(proof)
    return found


def apart(
    gallina: Gallina, obligation: Obligation, known: Sequence[Hypothesis]
) -> tuple[Obligation, list[Hypothesis]]:
    """Return the obligation with one hypothesis per conjunct, and their proofs.

    A Boolean hypothesis stays whole, as one fact.
    """
    split: list[Term] = []
    shown: list[Hypothesis] = []
    for hypothesis in known:
        parts = conjuncts(hypothesis.formula)
        split += parts
        if gallina.is_plain(hypothesis.formula):
            shown += [hypothesis] * len(parts)
        else:
            proofs = projections(hypothesis.proof, len(parts))
            shown += [Hypothesis(p, proof) for p, proof in zip(parts, proofs, strict=True)]
    return replace(obligation, hypotheses=tuple(split)), shown
