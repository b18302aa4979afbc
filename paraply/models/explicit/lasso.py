"""Search the shortest weakly fair run that never reaches a response's goal.

Such a run is a lasso: a stem, then a loop for ever. Every fair action with its parameters is
impossible somewhere in the loop, or taken in it. An empty loop is a state without a fair step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from paraply.models.explicit.expressions import Context, text_of
from paraply.models.explicit.search import StateSpace, Step
from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.language.response import Response
from paraply.models.language.system import Action, System
from paraply.models.language.terms import Term, Variable

Test = Callable[[int], bool]

Edge = tuple[int, int]
"""The number of a step, and the state after it."""

Node = tuple[int, bool]
"""A state, and whether the goal is awaited."""


class TooManyStatesError(Exception):
    """The search met its limit."""


@dataclass(frozen=True, slots=True)
class Taken:
    """An action and its parameters."""

    action: str
    parameters: dict[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasso:
    """A fair run without the goal.

    Attributes:
        tables: the initial state with the workload.
        loop: the number of last steps that repeat.
        witness: values of the response's variables.
    """

    tables: Mapping[str, Table]
    steps: tuple[Taken, ...]
    loop: int
    witness: dict[str, Value]


class LabelledSpace(StateSpace):
    """States whose successors have the number of their step."""

    def _steps(self, context: Context) -> Iterator[Step]:
        for number, (action, bound) in enumerate(self.taken):
            yield from self._step(action, bound, context, add=f"add({number}, ")

    @cached_property
    def taken(self) -> list[tuple[Action, dict[Variable, int]]]:
        """Return every action with its parameters, in order."""
        return [
            (action, bound)
            for action in self.system.actions
            for bound in self.parameters(action)
        ]  # fmt: skip

    def test(self, term: Term, bound: Mapping[Variable, int]) -> Test:
        """Return a formula as a function of states."""
        read = Context(self.layout, self.rigid, dict(bound)).read(term)
        tested: Test = eval(f"lambda s: bool({text_of(read)})")
        return tested


class FairGraph:
    """All states of one workload, to search lassos of a response.

    ``inside`` limits the states entered; the fair steps of those must be all in the scope. Raises
    :class:`TooManyStatesError` above ``states_max`` states.
    """

    def __init__(
        self,
        system: System,
        response: Response,
        scope: Scope,
        tables: Mapping[str, Table],
        *,
        inside: Term | None = None,
        states_max: int = 200_000,
    ) -> None:
        rigid = {f.name for f in system.functions if f.rigid}
        self.response = response
        self.tables = tables
        roots = [response.pending, response.goal, *([inside] if inside is not None else [])]
        self.space = LabelledSpace(
            system, scope, safety=(), roots=roots,
            rigid={name: table for name, table in tables.items() if name in rigid},
            start={name: table for name, table in tables.items() if name not in rigid},
        )  # fmt: skip
        self._inside = None if inside is None else self.space.test(inside, {})
        fair = [n for n, (a, _) in enumerate(self.space.taken) if a.name in response.fair]
        self._bits = {number: 1 << place for place, number in enumerate(fair)}
        self.all_fair = (1 << len(fair)) - 1
        self.edges: dict[int, list[Edge]] = {}
        self.idle: dict[int, int] = {}
        """The fair steps that a state does not allow, as bits."""
        self._visit(states_max)

    def _visit(self, states_max: int) -> None:
        todo = [self.space.start]
        self.edges[self.space.start] = []
        successors: Any = self.space.successors
        while todo:
            state = todo.pop()
            found: list[Edge] = []
            successors(state, lambda number, after, found=found: found.append((number, after)))
            idle = self.all_fair
            for number, _ in found:
                idle &= ~self._bits.get(number, 0)
            self.idle[state] = idle
            for number, after in found:
                if self._inside is not None and not self._inside(after):
                    continue
                self.edges[state].append((number, after))
                if after not in self.edges:
                    self.edges[after] = []
                    todo.append(after)
            if len(self.edges) > states_max:
                raise TooManyStatesError(f"{self.space.system.name}: more than {states_max} states")

    def lasso(self, longest: int | None = None) -> Lasso | None:
        """Return a shortest lasso of at most ``longest`` steps, or None."""
        variables = self.response.variables
        best: Lasso | None = None
        for values in product(*(self.space.layout.values(v.sort) for v in variables)):
            bound = dict(zip(variables, values, strict=True))
            found = self._lasso(bound, longest)
            if found is not None:
                best, longest = found, len(found.steps) - 1
        return best

    def _lasso(self, bound: dict[Variable, int], longest: int | None) -> Lasso | None:
        pending = self.space.test(self.response.pending, bound)
        goal = self.space.test(self.response.goal, bound)
        stems = self._stems(pending, goal)
        fair = {
            state
            for component in components([s for s, awaits in stems if awaits], self._avoiding(goal))
            if self._is_fair(component, goal)
            for state in component
        }
        best: Lasso | None = None
        for (state, awaits), (depth, _) in stems.items():
            if not awaits or state not in fair or (longest is not None and depth > longest):
                continue
            loop = self._loop(state, goal, None if longest is None else longest - depth)
            if loop is not None:
                steps = (*self._stem(stems, (state, awaits)), *loop)
                longest = len(steps) - 1
                best = Lasso(
                    tables=self.tables, steps=tuple(map(self._named, steps)), loop=len(loop),
                    witness={v.name: self.space.layout.named(v.sort, x) for v, x in bound.items()},
                )  # fmt: skip
        return best

    def _avoiding(self, goal: Test) -> Callable[[int], Iterator[int]]:
        return lambda state: (after for _, after in self.edges[state] if not goal(after))

    def _stems(self, pending: Test, goal: Test) -> dict[Node, tuple[int, tuple[Node, int] | None]]:
        """Return depth and predecessor of each node, nearest first."""

        def arrivals(state: int, awaits: bool) -> Iterator[Node]:
            if not awaits:
                yield state, False
            if not goal(state) and (awaits or pending(state)):
                yield state, True

        found: dict[Node, tuple[int, tuple[Node, int] | None]] = {}
        todo: deque[Node] = deque()
        for node in arrivals(self.space.start, False):
            found[node] = (0, None)
            todo.append(node)
        while todo:
            node = todo.popleft()
            for number, after in self.edges[node[0]]:
                for there in arrivals(after, node[1]):
                    if there not in found:
                        found[there] = (found[node][0] + 1, (node, number))
                        todo.append(there)
        return found

    def _stem(
        self, stems: Mapping[Node, tuple[int, tuple[Node, int] | None]], node: Node
    ) -> list[int]:
        steps: list[int] = []
        while (before := stems[node][1]) is not None:
            node, number = before
            steps.append(number)
        return steps[::-1]

    def _is_fair(self, component: set[int], goal: Test) -> bool:
        met = 0
        for state in component:
            met |= self.idle[state]
            for number, after in self.edges[state]:
                if after in component and not goal(after):
                    met |= self._bits.get(number, 0)
        return met == self.all_fair

    def _loop(self, start: int, goal: Test, longest: int | None) -> list[int] | None:
        """Return a shortest fair loop from ``start``."""
        first = (start, self.idle[start])
        before: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {first: None}
        todo = deque([(first, 0)])
        while todo:
            here, length = todo.popleft()
            if here == (start, self.all_fair):
                steps: list[int] = []
                while (back := before[here]) is not None:
                    here, number = back
                    steps.append(number)
                return steps[::-1]
            if longest is not None and length >= longest:
                continue
            for number, after in self.edges[here[0]]:
                met = here[1] | self._bits.get(number, 0) | self.idle[after]
                if not goal(after) and (after, met) not in before:
                    before[after, met] = (here, number)
                    todo.append(((after, met), length + 1))
        return None

    def _named(self, number: int) -> Taken:
        action, bound = self.space.taken[number]
        named = self.space.layout.named
        return Taken(action.name, {v.name: named(v.sort, x) for v, x in bound.items()})


def components(
    states: Iterable[int], successors: Callable[[int], Iterator[int]]
) -> Iterator[set[int]]:
    """Yield strongly connected components (Tarjan 1972), without recursion."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in states:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, successors(root))]
        while work:
            state, left = work[-1]
            after = next(left, None)
            if after is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    component: set[int] = set()
                    while state not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    yield component
            elif after not in index:
                index[after] = low[after] = len(index)
                stack.append(after)
                on_stack.add(after)
                work.append((after, successors(after)))
            elif after in on_stack:
                low[state] = min(low[state], index[after])


def shortest_lasso(
    system: System,
    response: Response,
    scope: Scope,
    workloads: Iterable[Mapping[str, Table]],
    *,
    inside: Term | None = None,
    longest: int | None = None,
) -> Lasso | None:
    """Return a shortest lasso over all workloads, or None."""
    best: Lasso | None = None
    for tables in workloads:
        found = FairGraph(system, response, scope, tables, inside=inside).lasso(longest)
        if found is not None:
            best, longest = found, len(found.steps) - 1
    return best
