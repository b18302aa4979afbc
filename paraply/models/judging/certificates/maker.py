"""Make certificates: find few instances that contradict each other, and leave out what can be.

Z3 says which assertions a proof needs; these are instantiated with the ground terms at hand, a
further layer of terms at a time, first only where a term is the argument of the same function; Z3
says which instances suffice; and then each is dropped without which the kernel still finds the
contradiction. So whatever is left in a certificate is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product

from paraply.models.judging.solver import contradicting
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
"""How often the terms of instances make new instances; no obligation so far needs more than one."""

ROUNDS_MAX = 6
"""How often instances where terms meet their like make new ones; the hardest so far needs six."""

INSTANCES_MAX = 6_000
"""Of all assertions together, per layer; beyond it the solver takes longer than it helps."""


def make(obligation: Obligation, *, timeout_s: float = 10.0) -> Certificate | None:
    """Return a certificate that the kernel accepts, or None where none was found."""
    found = assertions(obligation)
    closed = [forall_many(assertion.variables, assertion.matrix) for assertion in found]
    core = contradicting(closed, obligation.constants, timeout_s=timeout_s)
    if core is None:
        return None
    layered = layers(found, core, obligation.constants)
    for candidates in chain(matches(found, core), layered):
        grounded = [ground(found, instance) for instance in candidates]
        unknown = _elements(grounded)
        needed = contradicting(grounded, (*obligation.constants, *unknown), timeout_s=timeout_s)
        if needed is not None:
            kept = without_spare(found, [candidates[number] for number in needed])
            if kept is not None:
                return sealed(obligation, kept)
    return None


def sealed(obligation: Obligation, kept: Sequence[Instance]) -> Certificate:
    """Return instances as a certificate of an obligation."""
    steps: list[tuple[Data, ...]] = [
        (instance.assertion, *map(data_of, instance.terms)) for instance in kept
    ]
    return Certificate(seal(obligation, steps), tuple(steps))


def without_spare(found: Sequence[Assertion], kept: Sequence[Instance]) -> list[Instance] | None:
    """Return instances of which the kernel needs each one; None if it refutes not even all."""
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
"""Where a term stands: the function and which of its arguments it is."""


def matches(found: Sequence[Assertion], core: Sequence[int]) -> Iterator[list[Instance]]:
    """Yield growing sets of instances of the assertions ``core`` whose terms meet their like.

    A variable stands for the ground terms that are arguments where it is one: positions for
    positions, say, though numbers are integers too. That leaves out what stands there only by an
    equation, and a variable that no function is applied to stands for nothing.
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
    """Yield all instances of the assertions ``core`` over a growing pool of ground terms.

    First the constants, then the ground terms of the assertions, then those of the instances.
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


def _elements(grounded: Iterable[Term]) -> list[Variable]:
    """Return the constants that stand for some element of a sort."""
    used = (term for formula in grounded for term in terms_in(formula))
    return list(dict.fromkeys(t for t in used if isinstance(t, Variable) and MARK in t.name))


def is_ground(term: Term) -> bool:
    """Return whether no variable of an assertion occurs in ``term``."""
    return not any(isinstance(t, Variable) and MARK in t.name for t in terms_in(term))


def terms_in(node: Term) -> Iterator[Term]:
    """Yield the terms that are no formulas, outermost first, with repetitions."""
    return (one for one in nodes_in(node) if one.sort != BOOL)
