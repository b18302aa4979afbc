"""Random problems for the kernel, judged by both solvers too.

``python -m tests.models.kernel.fuzz --problems 10000``: the kernel must never call contradictory
what a solver can satisfy; and without quantifiers it must find every contradiction, since there
it decides. Each problem comes from its own seed, so one is seen again with ``--seed S
--problems 1``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from random import Random

from paraply.models.judging.certificates.maker import layers, sealed
from paraply.models.judging.solver import Answer, judge_cvc5, judge_z3
from paraply.models.kernel.certificate import Instance
from paraply.models.kernel.check import check
from paraply.models.kernel.normal_form import assertions
from paraply.models.language.smtlib import script
from paraply.models.language.system import Obligation
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    Equal,
    Function,
    Ite,
    Quantified,
    Sort,
    Variable,
    conj,
    disj,
    eq,
    term,
)

ROW, TXN = Sort("Row"), Sort("Txn")
CONSTANTS = tuple(
    Variable(name, sort)
    for name, sort in (
        ("a", INT),
        ("b", INT),
        ("c", INT),
        ("r", ROW),
        ("s", ROW),
        ("t", TXN),
        ("u", TXN),
    )
)
FUNCTIONS = tuple(
    Function(name, arguments, result)
    for name, arguments, result in (
        ("sn", (INT,), INT), ("item", (ROW,), INT), ("at", (INT,), ROW), ("next", (ROW,), ROW),
        ("writer", (ROW,), TXN), ("lc", (TXN,), INT), ("n", (), INT), ("empty", (INT,), BOOL),
        ("ws", (INT, ROW), BOOL), ("snap", (TXN, TXN), BOOL), ("has", (ROW,), BOOL),
    )
)  # fmt: skip
OF_NUMBERS = tuple(f for f in FUNCTIONS if INT in f.arguments or f.result == INT)
INSTANCES_MAX = 60
"""Of a problem with quantifiers; satisfiable sets of many more keep the kernel busy for long."""


class Generator:
    """Makes one problem from its seed."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.with_quantifiers = self.chance.random() < 0.5
        # Few symbols, so that they meet; and in some problems few numbers, so that they are equal.
        self.is_narrow = self.chance.random() < 0.3
        several = OF_NUMBERS if self.is_narrow else FUNCTIONS
        self.functions = self.chance.sample(several, self.chance.randint(2, 4))
        self.is_shallow = self.is_narrow or self.chance.random() < 0.5
        self.known = list(CONSTANTS)

    def problem(self) -> Obligation:
        """Return the problem; its goal is falsehood or a random formula."""
        if self.chance.random() < 0.5:
            asserted = tuple(self.formula(2) for _ in range(self.chance.randint(4, 10)))
        else:
            asserted = tuple(self.clause() for _ in range(self.chance.randint(6, 16)))
        if self.is_narrow:
            asserted += tuple(conj(c >= 0, c <= 1) for c in self.known if c.sort == INT)
        goal = FALSE if self.chance.random() < 0.7 else self.formula(2)
        return Obligation("fuzz", "problem", "step", asserted, goal, CONSTANTS)

    def term(self, sort, depth):
        chance = self.chance
        makers = [f for f in self.functions if f.result == sort]
        if depth > 0 and makers and chance.random() < 0.6:
            function = chance.choice(makers)
            return function(*(self.term(each, depth - 1) for each in function.arguments))
        if depth > 0 and chance.random() < 0.1:
            condition = self.atom(0)
            return Ite(condition, self.term(sort, depth - 1), self.application(sort, depth - 1))
        if sort == INT and depth > 0 and chance.random() < 0.3:
            return self.term(INT, depth - 1) + chance.choice((-2, -1, 1, 2))
        if sort == INT and chance.random() < 0.3:
            return term(chance.randint(-1, 2))
        return chance.choice([known for known in self.known if known.sort == sort])

    def application(self, sort, depth):
        """Return a function applied to terms, or a constant if no function yields the sort."""
        makers = [f for f in self.functions if f.result == sort]
        if not makers:
            return self.chance.choice([known for known in self.known if known.sort == sort])
        function = self.chance.choice(makers)
        return function(*(self.term(each, max(depth - 1, 0)) for each in function.arguments))

    def atom(self, depth):
        chance = self.chance
        if chance.random() < 0.3 and any(f.result == BOOL for f in self.functions):
            return self.application(BOOL, depth)
        sort = chance.choice((INT, INT, ROW, TXN))
        left, right = self.application(sort, depth), self.term(sort, depth)
        while right == left:
            right = self.term(sort, depth + 1)
        if sort != INT or chance.random() < 0.5:
            return eq(left, right)
        return left < right if chance.random() < 0.5 else left <= right

    def literal(self):
        atom = self.atom(1 if self.is_shallow else 2)
        return atom if self.chance.random() < 0.5 else ~atom

    def clause(self):
        """Return a small disjunction; with quantifiers, sometimes for all values."""
        variable = Variable("x", self.chance.choice((INT, ROW)))
        quantified = self.with_quantifiers and self.chance.random() < 0.3
        before = self.known
        self.known = [*before, variable, variable] if quantified else before
        body = disj(*(self.literal() for _ in range(self.chance.choice((1, 2, 2, 3)))))
        self.known = before
        return Quantified(True, variable, body) if quantified else body

    def formula(self, depth):
        chance = self.chance
        kind = chance.random()
        if depth == 0 or kind < 0.35:
            return self.literal()
        if self.with_quantifiers and kind < 0.65:
            variable = Variable(chance.choice("xya"), chance.choice((INT, INT, ROW, TXN)))
            before = self.known
            self.known = [k for k in before if k.name != variable.name] + [variable] * 2
            body = self.formula(depth - 1)
            self.known = before
            return Quantified(chance.random() < 0.75, variable, body)
        parts = [self.formula(depth - 1) for _ in range(chance.randint(2, 3))]
        if kind < 0.85:
            return disj(*parts)
        if kind < 0.92:
            return conj(*parts)
        return Equal(*parts[:2]) if kind < 0.96 else Ite(parts[0], parts[1], parts[-1])


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one problem; ``fault`` says what must not be, or is empty."""

    has_quantifiers: bool
    is_proved: bool
    fault: str = ""


def judge(seed: int) -> Judged:
    """Make a problem, give the kernel as many instances as it may see, and ask the solvers."""
    maker = Generator(seed)
    problem = maker.problem()
    found = assertions(problem)
    quantified = any(assertion.variables for assertion in found)
    everything = [Instance(number, ()) for number, a in enumerate(found) if not a.variables]
    if quantified:
        for candidates in islice(layers(found, range(len(found)), CONSTANTS), 2):
            several = [one for one in candidates if one.terms]
            share = maker.chance.sample(several, min(len(several), INSTANCES_MAX // 2))
            everything += [one for one in share if one not in everything]
    said = check(problem, sealed(problem, everything))
    if not said.is_proved:
        wanted = not quantified and judge_z3(problem, timeout_s=5.0).answer is Answer.PROVED
        return Judged(quantified, False, f"not seen: {said.reason}" if wanted else "")
    for solver in (judge_z3, judge_cvc5):
        judgment = solver(problem, timeout_s=5.0)
        if judgment.answer is Answer.REFUTED:
            return Judged(quantified, True, f"{judgment.solver} has a model")
    return Judged(quantified, True)


def main() -> int:
    """Judge many problems; exit code 1 at the first fault, which is printed as SMT-LIB."""
    parser = argparse.ArgumentParser(prog="python -m tests.models.kernel.fuzz")
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first problem")
    chosen = parser.parse_args()
    met: Counter[tuple[bool, bool]] = Counter()
    for seed in range(chosen.seed, chosen.seed + chosen.problems):
        judged = judge(seed)
        met[judged.has_quantifiers, judged.is_proved] += 1
        if judged.fault:
            print(script(Generator(seed).problem()))
            print(f"{judged.fault}; again: python -m tests.models.kernel.fuzz --seed {seed} "
                  "--problems 1")  # fmt: skip
            return 1
    for quantified, words in ((False, "without quantifiers"), (True, "with quantifiers")):
        proved, left = met[quantified, True], met[quantified, False]
        print(f"{words}: {proved + left} problems, {proved} of them contradictory")
    print(f"seeds {chosen.seed} to {chosen.seed + chosen.problems - 1}: no fault")
    return 0


if __name__ == "__main__":
    sys.exit(main())
