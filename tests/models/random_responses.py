"""Random small systems with responses: what is proved has no fair lasso that avoids the goal.

``python -m tests.models.random_responses --systems 3000`` prints its seed and how many responses
were proved. The oracle is the explicit search of ``paraply/models/explicit/lasso.py``, which shares
nothing with the obligations.
"""

from __future__ import annotations

import argparse
import sys
from random import Random

from paraply.models.explicit.lasso import FairGraph
from paraply.models.explicit.search import ScopeExceededError
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.language.response import Case, Measure, Response
from paraply.models.language.system import System, obligations
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Literal,
    Variable,
    conj,
    disj,
    eq,
    ite,
    negate,
    substitute,
)
from tests.models.random_systems import ITEM, SCOPE, A, in_bounds

X = Variable("x", ITEM)
RESPONSES = 6
"""Per system."""


class Maker:
    """Random actions, literals and ranks of one system."""

    def __init__(self, seed):
        self.chance = Random(seed)
        self.system = system = System(f"responses_{seed}")
        self.flags = [system.state(name, BOOL) for name in ("left", "right")]
        self.some = system.state("some", ITEM, BOOL)
        self.one = system.state("one", ITEM)
        self.count = system.state("count", INT)
        for flag in self.flags:
            system.starts_with(f"no_{flag.name}", (), ~flag())
        system.starts_with("none", (A,), ~self.some(A))
        system.starts_with("zero", (), eq(self.count(), 0))
        system.invariant("range", (), conj(self.count() >= 0, self.count() <= 2), "")
        for number in range(self.chance.randint(1, 4)):
            self.action(f"step_{number}")

    def literal(self, items):
        """Return a random literal."""
        kind = self.chance.choice(("flag", "flag", "some", "same", "count"))
        if kind == "flag":
            atom = self.chance.choice(self.flags)()
        elif kind == "some":
            atom = self.some(self.chance.choice(items))
        elif kind == "same":
            atom = eq(self.chance.choice(items), self.one())
        else:
            atom = self.count() <= self.chance.randint(0, 1)
        return atom if self.chance.random() < 0.5 else negate(atom)

    def action(self, name):
        """Add an action; one of five chooses ``one`` anew."""
        chance = self.chance
        parameters = (A,) if chance.random() < 0.4 else ()
        items = (*parameters, self.one())
        literals = [self.literal(items) for _ in range(chance.randint(0, 2))]
        updates = {}
        for flag in self.flags:
            if chance.random() < 0.4:
                updates[flag] = self.new_flag(flag, items)
        if chance.random() < 0.4:
            item, added = chance.choice(items), chance.random() < 0.6
            some = self.some
            updates[some] = (lambda x: disj(some(x), eq(x, item))) if added else (
                lambda x: conj(some(x), negate(eq(x, item))))  # fmt: skip
        if chance.random() < 0.4:
            step, count = chance.choice((1, 1, -1)), self.count
            updates[count] = lambda: count() + step
            literals.append(count() <= 1 if step > 0 else count() > 0)
        havoc = (self.one,) if chance.random() < 0.2 else ()
        if not havoc and parameters and chance.random() < 0.4:
            updates[self.one] = lambda: A
        self.system.action(name, parameters, conj(*literals), updates, havoc)

    def new_flag(self, flag, items):
        value = self.chance.choice((TRUE, TRUE, FALSE, negate(flag()), self.literal(items)))
        return lambda: value

    def measure(self):
        """Return one number of a rank."""
        kind = self.chance.choice(("literal", "literal", "count", "left"))
        if kind == "literal":
            return Measure(ite(self.literal((X, self.one())), 0, 1))
        return Measure(self.count()) if kind == "count" else Measure(Literal(2), self.count())

    def response(self):
        """Return a response, often about some action's guard, or None without a fair action."""
        chance, items = self.chance, (X, self.one())
        plain = [action for action in self.system.actions if not action.havoc]
        if not plain:
            return None
        cases = []
        for number, action in enumerate(chance.sample(plain, chance.randint(1, len(plain)))):
            arguments = tuple(chance.choice(items) for _ in action.parameters)
            guard = substitute(
                action.guard, dict(zip(action.parameters, arguments, strict=True)))  # fmt: skip
            more = [self.literal(items)] if chance.random() < 0.5 else []
            condition = conj(guard, *more) if chance.random() < 0.9 else conj(*more)
            cases.append(Case(name=f"case_{number}", condition=condition, action=action.name,
                              arguments=arguments))  # fmt: skip
        some_case = disj(*(case.condition for case in cases))
        pending = chance.choice((TRUE, some_case, some_case, self.literal(items)))
        return Response(
            name="reaches", variables=(X,), pending=pending, goal=self.goal(plain, items),
            rank=tuple(self.measure() for _ in range(chance.randint(0, 2))), cases=tuple(cases),
            fair=tuple(dict.fromkeys(case.action for case in cases)),
        )  # fmt: skip

    def goal(self, plain, items):
        """Return a literal, often one that some action may make true."""
        action = self.chance.choice(plain)
        made = [f for f in self.flags if action.updates.get(f, ((), FALSE))[1] == TRUE]
        if made and self.chance.random() < 0.7:
            return made[0]()
        return self.count() > 1 if self.chance.random() < 0.2 else self.literal(items)


def is_proved(system):
    """Return whether Z3 proves every obligation of the system's responses."""
    parts = sorted((part for part in obligations(system) if part.claim), key=lambda p: p.step)
    return all(judge_z3(p, steps_max=200_000).answer is Answer.PROVED for p in parts)


def graph_of(system, response):
    """Return the reachable states, or None where a counter leaves the scope."""
    try:
        return FairGraph(system, response, SCOPE, {}, inside=in_bounds(system))
    except ScopeExceededError:
        return None


def is_met(graph, response):
    """Return whether a reached state is pending and not at its goal."""
    for value in graph.space.layout.values(ITEM):
        awaited = graph.space.test(conj(*response.open), {X: value})
        if any(map(awaited, graph.edges)):
            return True
    return False


def fuzz(seed, systems):
    """Return how many responses were proved and met, how many have a lasso, and wrong proofs."""
    proved, refuted, wrong = 0, 0, []
    for number in range(seed, seed + systems):
        maker = Maker(number)
        for _ in range(RESPONSES):
            response = maker.response()
            if response is None:
                break
            maker.system.responses = []
            maker.system.responds(response)
            graph = graph_of(maker.system, response)
            if graph is None or not is_met(graph, response):
                continue
            has_lasso = graph.lasso() is not None
            refuted += has_lasso
            if is_proved(maker.system):
                proved += 1
                if has_lasso:
                    wrong.append(number)
    return proved, refuted, wrong


def main(argv=None):
    """Fuzz; exit code 1 if something proved has a lasso."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(argv)
    proved, refuted, wrong = fuzz(chosen.seed, chosen.systems)
    print(f"{chosen.systems} systems from seed {chosen.seed}: {proved} responses proved, "
          f"{refuted} with a fair lasso, {len(wrong)} with both")  # fmt: skip
    for number in wrong:
        print(f"  --seed {number} --systems 1")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
