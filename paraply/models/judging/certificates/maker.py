"""Find small sets of contradictory instances.

Z3 finds the necessary assertions. Ground terms instantiate them layer by layer, at first only at
equal arguments of functions. Z3 selects sufficient instances, and the kernel's check drops
superfluous ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product

from paraply.models.judging.solver import SEEDS, contradicting
from paraply.models.kernel.certificate import Certificate, Data, Instance, data_of, seal, some
from paraply.models.kernel.check import refute
from paraply.models.kernel.normal_form import MARK, Assertion, assertions
from paraply.models.kernel.search import Outcome
from paraply.models.language.system import Obligation
from paraply.models.language.terms import (
    BOOL,
    INT,
    Apply,
    Function,
    Literal,
    Sort,
    Term,
    Variable,
    forall_many,
    nodes_in,
    substitute,
)

LAYERS_MAX = 2
"""Rounds over all terms; one suffices so far."""

ROUNDS_MAX = 6
"""Rounds over matched terms; the hardest proof needs six."""

INSTANCES_MAX = 6_000
"""Per layer; more slow the solver."""


def make(obligation: Obligation, *, timeout_s: float = 10.0) -> Certificate | None:
    """Return an accepted certificate, or None."""
    found = assertions(obligation)
    closed = [forall_many(assertion.variables, assertion.matrix) for assertion in found]
    for seed in range(SEEDS):
        core = contradicting(closed, obligation.constants, timeout_s=timeout_s, seed=seed)
        if core is not None:
            return _of_core(obligation, found, core, timeout_s)
    return None


def _of_core(
    obligation: Obligation, found: Sequence[Assertion], core: Sequence[int], timeout_s: float
) -> Certificate | None:
    layered = layers(found, core, obligation.constants)
    for candidates in chain(matches(found, core), layered):
        grounded = [ground(found, instance) for instance in candidates]
        unknown = some_elements(grounded)
        needed = contradicting(grounded, (*obligation.constants, *unknown), timeout_s=timeout_s)
        if needed is not None:
            kept = without_spare(found, [candidates[number] for number in needed])
            if kept is not None:
                return sealed(obligation, kept)
    return None


def sealed(obligation: Obligation, kept: Sequence[Instance]) -> Certificate:
    """Return instances as a certificate."""
    steps: list[tuple[Data, ...]] = [
        (instance.assertion, *map(data_of, instance.terms)) for instance in kept
    ]
    return Certificate(seal(obligation, steps), tuple(steps))


def without_spare(found: Sequence[Assertion], kept: Sequence[Instance]) -> list[Instance] | None:
    """Return a minimal refutable set, or None."""
    needed = sorted(kept, key=lambda instance: (instance.assertion, repr(instance.terms)))
    if refute(found, needed) is not Outcome.REFUTED:
        return None
    for instance in list(needed):
        fewer = [other for other in needed if other is not instance]
        if refute(found, fewer) is Outcome.REFUTED:
            needed = fewer
    return needed


def ground(found: Sequence[Assertion], instance: Instance) -> Term:
    """Return an instance as a term."""
    assertion = found[instance.assertion]
    return substitute(assertion.matrix, dict(zip(assertion.variables, instance.terms, strict=True)))


Place = tuple[Function, int]
"""A function and argument index."""


def matches(found: Sequence[Assertion], core: Sequence[int]) -> Iterator[list[Instance]]:
    """Yield growing sets of matched instances of ``core``.

    A variable ranges over ground terms at its arguments of functions. This excludes positions equal
    only by an equation, and variables without a function.
    """
    at: dict[Place, dict[Term, None]] = {}
    places = [
        [{place for place, a in _arguments_in(found[number].matrix) if a == variable}
         for variable in found[number].variables]
        for number in core
    ]  # fmt: skip
    told = [found[number].matrix for number in core]
    before: list[Instance] = []
    for _ in range(ROUNDS_MAX):
        for place, argument in chain.from_iterable(map(_arguments_in, told)):
            if is_ground(argument):
                at.setdefault(place, {})[argument] = None
        candidates = [
            Instance(number, terms)
            for number, wanted in zip(core, places, strict=True)
            for terms in product(*(_standing(at, where) for where in wanted))
        ]
        if len(candidates) == len(before) or len(candidates) > INSTANCES_MAX:
            return
        yield candidates
        before, told = candidates, [ground(found, instance) for instance in candidates]


def _standing(at: dict[Place, dict[Term, None]], where: set[Place]) -> list[Term]:
    return list(
        dict.fromkeys(term for place in sorted(where, key=str) for term in at.get(place, ()))
    )


def _arguments_in(node: Term) -> Iterator[tuple[Place, Term]]:
    for inner in nodes_in(node):
        if isinstance(inner, Apply):
            for position, argument in enumerate(inner.arguments):
                yield (inner.function, position), argument


def layers(
    found: Sequence[Assertion], core: Sequence[int], constants: Iterable[Variable]
) -> Iterator[list[Instance]]:
    """Yield all instances of ``core`` over growing terms.

    Constants come first, then terms of assertions, then of instances.
    """
    pool: dict[Sort, dict[Term, None]] = {}

    def instances_with(terms: Iterable[Term]) -> list[Instance]:
        for term in terms:
            pool.setdefault(term.sort, {})[term] = None
        return list(islice(_over(found, core, pool), INSTANCES_MAX))

    written = [t for number in core for t in terms_in(found[number].matrix) if is_ground(t)]
    yield instances_with([*constants, *(t for t in written if _is_constant(t))])
    candidates = instances_with(written)
    yield candidates
    for _ in range(LAYERS_MAX):
        candidates = instances_with(
            [t for instance in candidates for t in terms_in(ground(found, instance))]
        )
        yield candidates


def _is_constant(term: Term) -> bool:
    return isinstance(term, Apply) and not term.arguments


def _over(
    found: Sequence[Assertion], core: Sequence[int], pool: dict[Sort, dict[Term, None]]
) -> Iterator[Instance]:
    for number in core:
        choices = [
            list(pool.get(variable.sort, {})) or [_default(variable.sort)]
            for variable in found[number].variables
        ]
        for terms in product(*choices):
            yield Instance(number, terms)


def _default(sort: Sort) -> Term:
    return Literal(0) if sort == INT else some(sort)


def some_elements(grounded: Iterable[Term]) -> list[Variable]:
    """Return the constants that stand for some element."""
    used = (term for formula in grounded for term in terms_in(formula))
    return list(dict.fromkeys(t for t in used if isinstance(t, Variable) and MARK in t.name))


def is_ground(term: Term) -> bool:
    """Return whether ``term`` has no assertion variable."""
    return not any(isinstance(t, Variable) and MARK in t.name for t in terms_in(term))


def terms_in(node: Term) -> Iterator[Term]:
    """Yield non-formula terms, outermost first, with repetitions."""
    return (one for one in nodes_in(node) if one.sort != BOOL)
