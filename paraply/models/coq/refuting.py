"""Refute ground facts by a tree of decisions that Coq checks.

The naive search tries a false formula, a forced decision, a clause of arithmetic or equality, then
a guess. ``refuted`` in ``proofs/coq/Foundation.v`` checks the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from paraply.models.coq.gallina import boolean, chain
from paraply.models.judging.solver import Literals
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    And,
    Apply,
    Compare,
    Equal,
    Function,
    Ite,
    Literal,
    Not,
    Or,
    Plus,
    Sort,
    Term,
    Variable,
    nodes_in,
    parts_of,
)

NODES_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Fact:
    """A true formula and its Coq tactic."""

    formula: Term
    tactic: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """The formula with this number is false."""

    formula: int


@dataclass(frozen=True, slots=True)
class Split:
    """A case distinction on an atom."""

    atom: int
    yes: Tree
    no: Tree


Tree = Leaf | Split


class NotRefutedError(Exception):
    """The search finds no contradiction."""


class Refutation:
    """The search; fills ``facts``, ``atoms`` and ``tree``."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.atoms: list[Term] = []
        self.facts: list[Fact] = []
        self._numbers: dict[Term, int] = {}
        self.in_fact: list[list[int]] = []
        self._with: dict[int, list[int]] = {}
        self._seen: set[Term] = set()
        self._readings: dict[str, Literals] = {}
        self._nodes = 0
        for fact in facts:
            self._add(fact)
        self.tree = self._search({}, list(range(len(self.facts))))

    def _add(self, fact: Fact) -> int | None:
        if fact.formula in self._seen:
            return None
        self._seen.add(fact.formula)
        number = len(self.facts)
        self.facts.append(fact)
        found = list(dict.fromkeys(self._atoms_in(fact.formula)))
        self.in_fact.append(found)
        for atom in found:
            self._with.setdefault(atom, []).append(number)
        for atom in found:
            for one in nodes_in(self.atoms[atom]):
                if isinstance(one, Ite) and one.sort != BOOL:
                    self._add(choice(one))
        return number

    def _atoms_in(self, node: Term) -> Iterator[int]:
        match node:
            case Literal():
                return
            case Not() | And() | Or():
                parts: Sequence[Term] = parts_of(node)
            case Ite() if node.sort == BOOL:
                parts = parts_of(node)
            case Equal(left, _) if left.sort == BOOL:
                parts = parts_of(node)
            case _:
                if node not in self._numbers:
                    self._numbers[node] = len(self.atoms)
                    self.atoms.append(node)
                    self._readings = {}
                yield self._numbers[node]
                return
        for part in parts:
            yield from self._atoms_in(part)

    def value(self, node: Term, known: dict[int, bool]) -> bool | None:
        """Return the result of the checker's ``decided``."""
        match node:
            case Literal(value):
                return bool(value)
            case Not(body):
                inner = self.value(body, known)
                return None if inner is None else not inner
            case And(parts) | Or(parts):
                absorbing = isinstance(node, Or)
                values = [self.value(part, known) for part in parts]
                if absorbing in values:
                    return absorbing
                return None if None in values else not absorbing
            case Ite(condition, then, otherwise):
                test = self.value(condition, known)
                return None if test is None else self.value(then if test else otherwise, known)
            case Equal(left, right) if left.sort == BOOL:
                first, second = self.value(left, known), self.value(right, known)
                return None if first is None or second is None else first == second
        return known.get(self._numbers[node])

    def _search(self, known: dict[int, bool], queue: list[int]) -> Tree:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise NotRefutedError("too many decisions")
        while queue:
            number = queue.pop(0)
            formula = self.facts[number].formula
            value = self.value(formula, known)
            if value is False:
                return Leaf(number)
            if value is None:
                for atom in self.in_fact[number]:
                    for forced in (True, False):
                        if atom in known:
                            continue
                        if self.value(formula, {**known, atom: not forced}) is False:
                            rest = [*queue, number, *self._with[atom]]
                            tree = self._search({**known, atom: forced}, list(dict.fromkeys(rest)))
                            if not uses(tree, atom, self.in_fact):
                                return tree
                            leaf = Leaf(number)
                            return Split(atom, *((tree, leaf) if forced else (leaf, tree)))
        fresh = self._theory(known)
        if fresh is not None:
            return self._search(known, fresh)
        atom = self._undecided(known)
        yes = self._search({**known, atom: True}, list(self._with[atom]))
        if not uses(yes, atom, self.in_fact):
            return yes
        no = self._search({**known, atom: False}, list(self._with[atom]))
        return Split(atom, yes, no) if uses(no, atom, self.in_fact) else no

    def _undecided(self, known: dict[int, bool]) -> int:
        best: list[int] = []
        for number, atoms in enumerate(self.in_fact):
            left = [atom for atom in atoms if atom not in known]
            is_better = left and (not best or len(left) < len(best))
            if is_better and self.value(self.facts[number].formula, known) is None:
                best = left
        if not best:
            raise NotRefutedError("the facts do not contradict each other")
        return best[0]

    def _theory(self, known: dict[int, bool]) -> list[int] | None:
        core = self._contradiction("both", known)
        if core is None:
            return None
        for decisions in ({atom: known[atom] for atom in core}, known):
            for reading, lemma in (("arithmetic", by_arithmetic), ("equality", by_equality)):
                smaller = self._contradiction(reading, decisions)
                if smaller is not None:
                    clause = [(self.atoms[atom], known[atom]) for atom in smaller]
                    number = self._add(lemma(clause))
                    if number is None:
                        raise NotRefutedError("a clause excludes nothing")
                    return [number]
        added = [
            self._add(fact)
            for first, second in combinations(
                dict.fromkeys(one for atom in core for one in applications(self.atoms[atom])), 2
            )
            if (fact := congruence(first, second)) is not None
        ]
        # If nothing is new, the equalities of arguments are still to be decided.
        return [number for number in added if number is not None] or None

    def _contradiction(self, reading: str, known: dict[int, bool]) -> list[int] | None:
        if reading not in self._readings:
            hidden = Hidden()
            as_read = {"both": partial(opaque, kinds=(Ite,), hidden=hidden),
                       "arithmetic": partial(opaque, kinds=(Ite, Apply), hidden=hidden),
                       "equality": partial(uninterpreted, hidden=hidden)}[reading]  # fmt: skip
            self._readings[reading] = Literals([as_read(atom) for atom in self.atoms])
        return self._readings[reading].contradiction(known)


def uses(tree: Tree, atom: int, in_fact: list[list[int]]) -> bool:
    """Return whether a leaf uses a decision."""
    if isinstance(tree, Leaf):
        return atom in in_fact[tree.formula]
    return uses(tree.yes, atom, in_fact) or uses(tree.no, atom, in_fact)


def applications(node: Term) -> Iterator[Term]:
    """Yield applications with arguments inside an atom."""
    return (one for one in nodes_in(node) if isinstance(one, Apply) and one.arguments)


# Readings of atoms for Z3, whose contradictions a Coq tactic can explain.


class Hidden:
    """Constants in place of terms."""

    def __init__(self) -> None:
        self._numbers: dict[Term, int] = {}

    def constant(self, node: Term, sort: Sort) -> Variable:
        """Return the constant for a term."""
        return Variable(f"opaque@{self._numbers.setdefault(node, len(self._numbers))}", sort)


def opaque(node: Term, *, kinds: tuple[type[Term], ...], hidden: Hidden) -> Term:
    """Return an atom with constants for some terms."""

    def inner(part: Term) -> Term:
        is_of_others = isinstance(part, Equal) and part.left.sort != INT
        if isinstance(part, kinds) or (is_of_others and Apply in kinds):
            return hidden.constant(part, part.sort)
        return plainly(part, inner)

    return inner(node)


NUMBER = Sort("Number@")


def uninterpreted(node: Term, *, hidden: Hidden) -> Term:
    """Return an atom without arithmetic."""

    def inner(part: Term) -> Term:
        match part:
            case Compare(operator, left, right):
                name = "less@" if operator == "<" else "least@"
                return Function(name, (NUMBER, NUMBER), BOOL)(inner(left), inner(right))
            case Equal(left, right):
                return Equal(inner(left), inner(right))
            case Plus(left, constant):
                name = f"plus@{constant}" if constant >= 0 else f"minus@{-constant}"
                return Function(name, (NUMBER,), NUMBER)(inner(left))
            case Apply(function, arguments):
                sorts = tuple(_loose(sort) for sort in function.arguments)
                loose = Function(function.name, sorts, _loose(function.result))
                return loose(*map(inner, arguments))
            case Variable(name, sort):
                return Variable(name, _loose(sort))
            case Ite() | Literal():
                return hidden.constant(part, _loose(part.sort))
        raise TypeError(f"not an atom: {part!r}")

    return inner(node)


def _loose(sort: Sort) -> Sort:
    return NUMBER if sort == INT else sort


def plainly(node: Term, visit: Callable[[Term], Term]) -> Term:
    """Apply ``visit`` to parts without simplification."""
    match node:
        case Literal() | Variable():
            return node
        case Apply(function, arguments):
            return Apply(function, tuple(visit(argument) for argument in arguments))
        case Not(body):
            return Not(visit(body))
        case And(parts):
            return And(tuple(visit(part) for part in parts))
        case Or(parts):
            return Or(tuple(visit(part) for part in parts))
        case Ite(condition, then, otherwise):
            return Ite(visit(condition), visit(then), visit(otherwise))
        case Equal(left, right):
            return Equal(visit(left), visit(right))
        case Compare(operator, left, right):
            return Compare(operator, visit(left), visit(right))
        case Plus(left, constant):
            return Plus(visit(left), constant)
    raise TypeError(f"not a term without quantifiers: {node!r}")


# Facts that need no hypothesis.


def choice(node: Ite) -> Fact:
    """Return the fact that defines an if-then-else."""
    formula = Ite(node.condition, Equal(node, node.then), Equal(node, node.otherwise))
    equal = f"refine (proj2 ({true_iff(node.sort)} _ _) eq_refl)"
    if isinstance(node.condition, Literal):
        return Fact(formula, equal)
    return Fact(formula, f"destruct {boolean(node.condition)}; {equal}")


Clause = list[tuple[Term, bool]]
"""Contradictory decisions."""


def _excluded(clause: Clause) -> Term:
    return Or(tuple(Not(atom) if value else atom for atom, value in clause))


def by_arithmetic(clause: Clause) -> Fact:
    """Return a clause of arithmetic as a fact."""
    return Fact(_excluded(clause), "clear; lia")


def by_equality(clause: Clause) -> Fact:
    """Return a clause of equality as a fact."""
    steps = []
    for place, (atom, value) in enumerate(clause):
        is_last = place == len(clause) - 1
        lemma = ("is_not" if value else "by_contradiction") if is_last else (
            "unless" if value else "or_else")  # fmt: skip
        hole = "" if is_last else " _"
        steps.append(f"refine ({lemma} _{hole} _); intro E{place}")
        steps += _read_equality(f"E{place}", atom, value)
    return Fact(_excluded(clause), "; ".join([*steps, "congruence"]))


def _read_equality(name: str, atom: Term, value: bool) -> Iterator[str]:
    if isinstance(atom, Equal):
        sort = atom.left.sort
        if value:
            yield f"apply (proj1 ({true_iff(sort)} _ _)) in {name}"
        else:
            yield f"apply (differs _ _ {true_iff(sort)}) in {name}"


def true_iff(sort: Sort) -> str:
    """Return the sort's Boolean-equality lemma."""
    return {INT: "Z.eqb_eq", BOOL: "Bool.eqb_true_iff"}.get(sort) or f"eqb_{sort.name}_true"


def congruence(first: Term, second: Term) -> Fact | None:
    """Return the congruence of applications, or None."""
    assert isinstance(first, Apply)
    assert isinstance(second, Apply)
    if first.function != second.function:
        return None
    pairs = [(a, b) for a, b in zip(first.arguments, second.arguments, strict=True) if a != b]
    parts = [Not(Equal(a, b)) for a, b in pairs]
    steps = []
    for place, (a, _) in enumerate(pairs):
        steps.append(f"refine (unless _ _ _); intro E{place}")
        steps.append(f"apply (proj1 ({true_iff(a.sort)} _ _)) in E{place}")
    steps += [f"refine (proj2 ({true_iff(first.sort)} _ _) _)", "congruence"]
    return Fact(Or((*parts, Equal(first, second))), "; ".join(steps))


# As Coq text.


def form_text(node: Term, numbers: dict[Term, int]) -> str:
    """Return a formula as the checker's datatype."""

    def inner(part: Term) -> str:
        return form_text(part, numbers)

    match node:
        case Literal(value):
            return f"(Lit {'true' if value else 'false'})"
        case Not(body):
            return f"(Neg {inner(body)})"
        case And(parts):
            return chain([inner(p) for p in parts], "(Both {} {})".format, inner(TRUE))
        case Or(parts):
            return chain([inner(p) for p in parts], "(Either {} {})".format, inner(FALSE))
        case Ite(condition, then, otherwise):
            return f"(Cond {inner(condition)} {inner(then)} {inner(otherwise)})"
        case Equal(left, right) if left.sort == BOOL:
            return f"(Same {inner(left)} {inner(right)})"
    return f"(Atom {numbers[node]})"


def refutation_script(facts: Sequence[Fact]) -> list[str]:
    """Return tactics that prove ``False``."""
    found = Refutation(facts)
    used = sorted(set(_leaves(found.tree)))
    kept = [found.facts[number] for number in used]
    atoms = list(dict.fromkeys(a for number in used for a in found.in_fact[number]))
    numbers = {found.atoms[atom]: place for place, atom in enumerate(atoms)}
    renumbered = {atom: place for place, atom in enumerate(atoms)}
    leaves = {number: place for place, number in enumerate(used)}
    listed = ";\n     ".join(boolean(found.atoms[atom]) for atom in atoms)
    forms = ";\n     ".join(form_text(fact.formula, numbers) for fact in kept)
    return [
        f"  refine (refuted\n    [{listed}]\n    [{forms}]\n"
        f"    {_tree_text(found.tree, renumbered, leaves)}\n"
        "    ltac:(vm_compute; reflexivity) _).",
        "  cbv [all_true value nth].",
        *(f"  split; [{fact.tactic} |]." for fact in kept),
        "  exact Logic.I.",
    ]


def _leaves(tree: Tree) -> Iterator[int]:
    if isinstance(tree, Leaf):
        yield tree.formula
    else:
        yield from _leaves(tree.yes)
        yield from _leaves(tree.no)


def _tree_text(tree: Tree, atoms: dict[int, int], leaves: dict[int, int]) -> str:
    if isinstance(tree, Leaf):
        return f"(Leaf {leaves[tree.formula]})"
    yes, no = (_tree_text(part, atoms, leaves) for part in (tree.yes, tree.no))
    return f"(Split {atoms[tree.atom]} {yes} {no})"
