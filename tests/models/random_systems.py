"""Random small systems: what is proved of one must be true in every state that a search reaches.

``python -m tests.models.random_systems --systems 10000`` prints its seed and how many statements
were proved; ``--store`` keeps that for ``proofs/README.md``. Integers are counters only and
quantifiers range over one small sort, so every state of the explicit search is a state of the
unbounded system, too.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random

from paraply.models.explicit.search import ScopeExceededError, StateSpace
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.language.concrete import Scope
from paraply.models.language.system import Statement, System, obligations
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Literal,
    Sort,
    Variable,
    conj,
    disj,
    eq,
    exists,
    forall,
    ite,
    negate,
)

ITEM = Sort("Item")
A, B, C = (Variable(name, ITEM) for name in "abc")
SCOPE = Scope(low=-1, high=3, size=2)
STATES_MAX = 4_000


@dataclass(slots=True)
class Maker:
    """Random terms over a system's functions; ``variables`` are in scope."""

    system: System
    chance: Random

    def applied(self, sort, variables, depth, *, rigid_only=False):
        """Return an application of a function with result ``sort``."""
        fitting = [f for f in self.system.functions
                   if f.result == sort and (f.rigid or not rigid_only)]  # fmt: skip
        fitting = [f for f in fitting if variables or ITEM not in f.arguments]
        if not fitting:
            return None
        chosen = self.chance.choice(fitting)
        return chosen(*(self.item(variables, depth - 1, rigid_only=rigid_only)
                        for _ in chosen.arguments))  # fmt: skip

    def item(self, variables, depth, *, rigid_only=False):
        """Return an element: a variable, or a function's value."""
        if depth > 0 and self.chance.random() < 0.3:
            found = self.applied(ITEM, variables, depth, rigid_only=rigid_only)
            if found is not None:
                return found
        return self.chance.choice(variables)

    def number(self, variables, depth):
        """Return a counter, plus or minus a little."""
        base = self.applied(INT, variables, depth) or Literal(1)
        return base + self.chance.randint(-1, 1)

    def formula(self, variables, depth):
        """Return a random formula, in which a variable may be bound again."""
        chance = self.chance
        kind = chance.choice(("atom", "atom", "not", "and", "or", "ite", "quantified"))
        if depth == 0 or kind == "atom":
            kind = chance.choice(("flag", "flag", "flag", "less", "same"))
            if kind == "flag":
                return self.applied(BOOL, variables, depth) or TRUE
            if kind == "less":
                return self.number(variables, depth) <= chance.randint(0, 2)
            if not variables:
                return TRUE
            return eq(self.item(variables, depth), self.item(variables, depth))
        if kind == "not":
            return negate(self.formula(variables, depth - 1))
        if kind == "quantified":
            bound = chance.choice((A, B, C))
            inner = self.formula(tuple(dict.fromkeys((*variables, bound))), depth - 1)
            return (forall if chance.random() < 0.5 else exists)(bound, inner)
        parts = [self.formula(variables, depth - 1) for _ in range(3)]
        if kind == "ite":
            return ite(*parts)
        return (conj if kind == "and" else disj)(*parts[:2])


def random_system(seed):
    """Return a random system, the workload and the start that the search takes."""
    chance = Random(seed)
    system = System(f"random_{seed}")
    system.state("flag", BOOL)
    some = system.state("some", ITEM, BOOL)
    system.state("one", ITEM)
    system.rigid("fixed", ITEM, BOOL)
    if chance.random() < 0.5:
        system.state("count", INT)
    else:
        system.state("number", ITEM, INT)
    if chance.random() < 0.5:
        system.state("pair", ITEM, ITEM, BOOL)
    maker = Maker(system, chance)
    state = [f for f in system.functions if not f.rigid]
    for function in state:
        start = {BOOL: False, INT: 0}.get(function.result)
        if start is not None:
            variables = (A, B)[: len(function.arguments)]
            system.starts_with(f"{function.name}_begins", variables,
                               eq(function(*variables), start))  # fmt: skip
    for number in range(chance.randint(1, 3)):
        parameters = (A, B)[: chance.randint(0, 2)]
        havoc = chance.sample(state, chance.choice((0, 1, 1)))
        changed = [f for f in chance.sample(state, chance.randint(0, 2)) if f not in havoc]
        updates = {f: updated(maker, f, parameters) for f in changed}
        system.action(f"step_{number}", parameters, maker.formula(parameters, 2), updates, havoc)
    for number in range(5):
        variables = (A, B)[: chance.randint(0, 2)]
        system.invariant(f"guess_{number}", variables, maker.formula(variables, 2), "")
    system.invariant("none", (A,), ~some(A), "")
    system.safety = list(system.invariants)
    rigid = {"fixed": {(item,): chance.random() < 0.5 for item in SCOPE.values(ITEM)}}
    return system, rigid


def updated(maker, function, parameters):
    """Return an update as a lambda: it reads its arguments, parameters and the state."""

    def value(*arguments):
        variables = (*parameters, *arguments)
        if function.result == BOOL:
            return maker.formula(variables, 2)
        if function.result == INT:
            return ite(maker.formula(variables, 1), maker.number(variables, 1), 0)
        return maker.item(variables, 2) if variables else function(*arguments)

    return value


def proved(system):
    """Return the guesses that Z3 proves inductive together."""
    kept = list(system.invariants)
    while True:
        parts = obligations(replace(system, invariants=kept, safety=[]))
        for part in parts:
            if judge_z3(part, steps_max=200_000).answer is not Answer.PROVED:
                kept = [statement for statement in kept if statement.name != part.statement]
                break
        else:
            return kept


def broken(system, rigid, kept):
    """Return the first of ``kept`` that is false in a reachable state, and if all were visited."""
    inside = replace(system, safety=[Statement(s.name, s.variables, s.body) for s in kept])
    try:
        space = StateSpace(inside, SCOPE, rigid=rigid, bound=in_bounds(system))
        found = space.search(states_max=STATES_MAX)
    except ScopeExceededError:
        return "", False
    return found.broken, found.is_complete


def in_bounds(system):
    """Return that every counter stays where one more step keeps it inside the scope."""
    parts = []
    for function in system.functions:
        if function.result == INT:
            variables = (A, B)[: len(function.arguments)]
            inside = conj(function(*variables) >= 0, function(*variables) <= SCOPE.high - 1)
            for variable in variables:
                inside = forall(variable, inside)
            parts.append(inside)
    return conj(*parts)


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came of random systems."""

    proved: int = 0
    with_proofs: int = 0
    searched_to_the_end: int = 0
    wrong: list = field(default_factory=list)


def fuzz(seed, systems):
    """Return what was proved, and the systems of which it is false."""
    tally = Tally()
    for number in range(seed, seed + systems):
        system, rigid = random_system(number)
        if kept := proved(system):
            name, is_complete = broken(system, rigid, kept)
            tally.proved += len(kept)
            tally.with_proofs += 1
            tally.searched_to_the_end += is_complete
            if name:
                tally.wrong.append((number, name))
    return tally


def main(argv=None):
    """Fuzz; exit code 1 if something proved is false."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path, help="JSON file for the result")
    chosen = parser.parse_args(argv)
    tally = fuzz(chosen.seed, chosen.systems)
    data = {"systems": chosen.systems, "seed": chosen.seed, **asdict(tally)}
    print(f"{chosen.systems} systems from seed {chosen.seed}: {tally.proved} statements of "
          f"{tally.with_proofs} systems proved, {len(tally.wrong)} of them false; all states of "
          f"{tally.searched_to_the_end} visited")  # fmt: skip
    for seed, name in tally.wrong:
        print(f"  --seed {seed} --systems 1: {name}")
    if chosen.store:
        chosen.store.write_text(json.dumps(data) + "\n", encoding="utf-8")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
