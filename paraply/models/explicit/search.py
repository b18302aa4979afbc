"""Breadth-first search over packed states, without a solver.

Generated Python code computes successors, a function per value of the ``split`` constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from paraply.models.explicit.expressions import (
    FALSE,
    TRUE,
    Context,
    Expression,
    Known,
    Masked,
    text_of,
)
from paraply.models.explicit.layout import Field, Layout
from paraply.models.explicit.symmetry import Move, canonical_by, symmetries
from paraply.models.language.concrete import Scope, Table
from paraply.models.language.system import Action, System, choice_of
from paraply.models.language.terms import Function, Term, Variable

if TYPE_CHECKING:
    from paraply.models.explicit.compiled.search import CompiledSearch

Successors = Callable[[int, Callable[[int], None]], None]


_AT_ONCE = 50_000


class ScopeExceededError(Exception):
    """A value left the scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a search.

    Attributes:
        distinct: states, up to symmetry if enabled.
        generated: successors with repetitions, and the initial state.
        depth: steps to the farthest state.
        broken: the first broken statement, or empty.
        trace: packed states up to the breach.
        is_complete: whether the search visited all states.
        orbit: number of symmetries.
    """

    distinct: int
    generated: int
    depth: int
    broken: str
    trace: tuple[int, ...]
    is_complete: bool
    orbit: int


@dataclass(frozen=True, slots=True)
class Step:
    """An action with its parameters and choices.

    The state after it has the bits of ``keep``, those of ``value``, and the ``moved`` fields.
    Functions ``outside`` get a value that is never in the scope.
    """

    guard: Expression
    keep: int
    value: int
    moved: list[tuple[Field, Expression]]
    outside: list[str]
    add: str

    def lines(self, inside: str) -> Iterator[str]:
        """Yield Python text that adds ``t``, the state after ``s``, if ``inside`` is true."""
        yield f"if {_bare(self.guard)}:"
        for name in self.outside:
            yield f" exceeded({name!r})"
        parts = [f"s & {self.keep}"]
        if self.value:
            parts.append(str(self.value))
        for number, (place, after) in enumerate(self.moved):
            yield f" v{number} = {_bare(after)}"
            if not place.is_truth:
                fits = f"{place.low} <= v{number} <= {place.high}"
                yield f" if not {fits}: exceeded(v{number})"
            parts.append(f"v{number} - {place.low} << {place.offset}")
        result = " | ".join(parts)
        if inside:
            yield f" t = {result}"
            yield f" if {inside}: {self.add}t)"
        else:
            yield f" {self.add}{result})"


class StateSpace:
    """A system's reachable states with one workload, ``rigid``.

    The search enters only states in ``bound``, but all successors must fit the scope. ``split``
    names constants to specialise, ``safety`` the statements, by default all. States have the values
    that guards, statements and ``roots`` read.
    """

    def __init__(
        self,
        system: System,
        scope: Scope,
        *,
        rigid: Mapping[str, Table] | None = None,
        start: Mapping[str, Table] | None = None,
        bound: Term | None = None,
        split: Sequence[str] = (),
        safety: Sequence[str] | None = None,
        roots: Sequence[Term] = (),
    ) -> None:
        system.require_well_formed()
        self.system = system
        self.rigid = rigid or {}
        self.statements = [one for one in system.safety if safety is None or one.name in safety]
        read = [*roots, *(one.body for one in self.statements)]
        self.layout = Layout(system, scope, read if bound is None else [*read, bound])
        self.start = self.layout.pack(start or {})
        reading = Context(self.layout, self.rigid)
        self.inside = TRUE if bound is None else reading.read(bound)
        named = {function.name: function for function in self.layout.functions}
        self._split = [named[name] for name in split if name in named]
        self._check_start()
        self.cases = list(self._cases())
        self.successors = self._compile_successors()
        self.stated = {one.name: reading.read(one.closed) for one in self.statements}
        self.broken = [
            (name, eval(f"lambda s: not ({text_of(read)})"))
            for name, read in self.stated.items()
            if read != TRUE
        ]

    def search(
        self, *, symmetry: bool = False, states_max: int = 50_000_000, readable_max: int = 60_000
    ) -> Found:
        """Visit every state up to a breach or ``states_max``.

        After ``readable_max`` generated states the compiled search begins anew, if numba is
        installed. It finds the same, perhaps another trace of the same length.
        """
        moves = symmetries(self.layout, self.rigid, self.start) if symmetry else []
        canonical = canonical_by(moves)
        start = self.start if canonical is None else canonical(self.start)
        seen = {start}
        rounds = [[start]]
        generated = 1
        broken = self._first_broken(rounds[0])
        while rounds[-1] and not broken and len(seen) < states_max:
            if generated > readable_max and (faster := self._compiled(moves)) is not None:
                return faster.search(start, states_max)
            fresh: set[int] = set()
            for first in range(0, len(rounds[-1]), _AT_ONCE):
                made: list[int] = []
                add = made.append
                for state in rounds[-1][first : first + _AT_ONCE]:
                    self.successors(state, add)
                generated += len(made)
                fresh.update(made if canonical is None else map(canonical, made))
            fresh -= seen
            seen |= fresh
            rounds.append(sorted(fresh))
            broken = self._first_broken(rounds[-1])
        return Found(
            distinct=len(seen),
            generated=generated,
            depth=len(rounds) - 1 - (not rounds[-1]),
            broken=broken[0] if broken else "",
            trace=self._trace(rounds, broken[1], canonical) if broken else (),
            is_complete=not rounds[-1] and not broken,
            orbit=len(moves) + 1,
        )

    def _compiled(self, moves: Sequence[Move]) -> CompiledSearch | None:
        try:
            from paraply.models.explicit.compiled.program import TooWideError
            from paraply.models.explicit.compiled.search import CompiledSearch
        except ImportError:
            return None
        try:
            return CompiledSearch(self, moves)
        except TooWideError:
            return None

    def _trace(
        self, rounds: list[list[int]], last: int, canonical: Callable[[int], int] | None
    ) -> tuple[int, ...]:
        trace = [last]
        for earlier in reversed(rounds[:-1]):
            for state in earlier:
                made: list[int] = []
                self.successors(state, made.append)
                if trace[-1] in (made if canonical is None else map(canonical, made)):
                    trace.append(state)
                    break
        return tuple(reversed(trace))

    def _first_broken(self, states: Sequence[int]) -> tuple[str, int] | None:
        for name, is_broken in self.broken:
            for state in states:
                if is_broken(state):
                    return name, state
        return None

    def _check_start(self) -> None:
        context = Context(self.layout, self.rigid)
        for statement in (*self.system.initially, *self.system.axioms):
            expression = context.read(statement.closed)
            if not eval(text_of(expression), {"s": self.start}):
                raise ValueError(f"{self.system.name}: {statement.name} is false at the start")

    def _cases(self) -> Iterator[tuple[Expression, list[Step]]]:
        """Yield the steps for each value of the split constants, with the test of these values."""
        choices = [self.layout.values(function.result) for function in self._split]
        for values in product(*choices):
            fixed = dict(zip(self._split, values, strict=True))
            fields = [self.layout.fields[function, ()] for function in fixed]
            wanted = sum(one.packed(v) for one, v in zip(fields, values, strict=True))
            here = Masked(sum(one.mask for one in fields), wanted) if fields else TRUE
            yield here, list(self._steps(Context(self.layout, self.rigid, fixed=fixed)))

    def _compile_successors(self) -> Successors:
        lines = ["def successors(s, add):"]
        inside = text_of(self.inside).replace("s ", "t ") if self.inside != TRUE else ""
        for here, steps in self.cases:
            if not steps:
                continue
            lines.append(f" if {_bare(here)}:")
            lines += [f"  {line}" for step in steps for line in step.lines(inside)]
            lines.append("  return")
        lines.append(" return")
        space: dict[str, object] = {"exceeded": _exceeded}
        exec(compile("\n".join(lines), f"<{self.system.name}>", "exec"), space)
        found: Successors = space["successors"]  # type: ignore[assignment]
        return found

    def _steps(self, context: Context) -> Iterator[Step]:
        for action in self.system.actions:
            for bound in self.parameters(action):
                yield from self._step(action, bound, context)

    def _step(
        self, action: Action, bound: Mapping[Variable, int], context: Context, add: str = "add("
    ) -> Iterator[Step]:
        for chosen in self._choices(action):
            here = Context(self.layout, self.rigid, dict(bound), chosen, context.fixed)
            guard = here.read(action.guard)
            if guard != FALSE:
                yield self._effect(action, here, guard, add)

    def _effect(self, action: Action, context: Context, guard: Expression, add: str) -> Step:
        keep, value = (1 << self.layout.width) - 1, 0
        moved: list[tuple[Field, Expression]] = []
        outside: list[str] = []
        for (function, arguments), place in self.layout.fields.items():
            if function not in action.updates:
                continue
            variables, term = action.updates[function]
            after = context.binding(dict(zip(variables, arguments, strict=True))).read(term)
            if after == Context(self.layout, {}).value_at(function, arguments):
                continue
            keep &= ~place.mask
            if not isinstance(after, Known):
                moved.append((place, after))
            elif place.low <= after.value <= place.high:
                value |= place.packed(after.value)
            else:
                outside.append(function.name)
        return Step(guard, keep, value, moved, outside, add)

    def parameters(self, action: Action) -> Iterator[dict[Variable, int]]:
        """Yield every choice of parameters, as numbers."""
        ranges = [self.layout.values(parameter.sort) for parameter in action.parameters]
        for values in product(*ranges):
            yield dict(zip(action.parameters, values, strict=True))

    def _choices(self, action: Action) -> Iterator[dict[tuple[Function, tuple[int, ...]], int]]:
        places = [
            (choice_of(function), arguments)
            for function in action.havoc
            for arguments in self.layout.arguments(function)
        ]
        ranges = [self.layout.values(function.result) for function, _ in places]
        for values in product(*ranges):
            yield dict(zip(places, values, strict=True))


def _bare(expression: Expression) -> str:
    return str(expression.value) if isinstance(expression, Known) else expression.text


def _exceeded(what: object) -> None:
    raise ScopeExceededError(f"{what} lies outside of the scope; give more integers or a bound")
