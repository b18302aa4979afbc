"""Prove theorems: every obligation, by every judge asked for, and every counterexample.

A theorem is proved when each of its systems' obligations is: the invariants hold initially, every
action preserves them, and they imply the statements. One that is undecided leaves it undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paraply.models.claims.claim import Counterexample, Theorem
from paraply.models.judging.bounded import Run, breach_of
from paraply.models.judging.judges import JUDGES
from paraply.models.judging.solver import Answer, Judgment, shortest_run
from paraply.models.language.concrete import Scope
from paraply.models.language.system import Obligation, Statement, System, obligations
from paraply.models.language.terms import Function
from paraply.vocabulary.verdict import Verdict, combine


@dataclass(slots=True)
class Proof:
    """What came of one theorem under one judge."""

    theorem: Theorem
    solver: str
    seed: int = 0
    order: int = 0
    """Which order the assertions were told in; 0 is the order in which they are written."""
    judgments: list[Judgment] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Return HOLDS only if every obligation was proved, UNKNOWN if one is undecided."""
        said = {
            Answer.PROVED: Verdict.HOLDS,
            Answer.UNDECIDED: Verdict.UNKNOWN,
            Answer.REFUTED: Verdict.VIOLATED,
        }
        return combine(said[judgment.answer] for judgment in self.judgments)

    @property
    def seconds(self) -> float:
        """Return the CPU seconds that the judge took over all obligations."""
        return sum(judgment.seconds for judgment in self.judgments)

    @property
    def proved(self) -> int:
        """Return how many obligations were proved."""
        return sum(judgment.answer is Answer.PROVED for judgment in self.judgments)

    @property
    def slowest_s(self) -> float:
        """Return the CPU seconds that one obligation took at most."""
        return max((judgment.seconds for judgment in self.judgments), default=0.0)


@dataclass(frozen=True, slots=True)
class Refutation:
    """What came of looking for one counterexample."""

    counterexample: Counterexample
    run: Run | None
    is_shortest: bool = True
    """Whether every smaller depth was searched, or a stored run was only replayed."""
    undecided: str = ""
    """Where the solver gave up; then there may be a run or not."""

    @property
    def as_expected(self) -> bool:
        """Return whether a run was found and its length is the recorded one."""
        return self.run is not None and len(self.run.steps) == self.counterexample.steps

    @property
    def verdict(self) -> Verdict:
        """Return HOLDS if the counterexample is as stated, UNKNOWN if the solver gave up."""
        if self.undecided:
            return Verdict.UNKNOWN
        return Verdict.HOLDS if self.as_expected else Verdict.VIOLATED


class ObligationCache:
    """Obligations of a system, and each judge's judgment, asked once for all theorems."""

    def __init__(self) -> None:
        self._judged: dict[tuple[str, str, str, str, int, int], Judgment] = {}

    def judge(
        self, obligation: Obligation, solver: str, *, timeout_s: float, seed: int, order: int = 0
    ) -> Judgment:
        """Return the judgment, asking the judge only the first time."""
        key = (obligation.system, obligation.statement, obligation.step, solver, seed, order)
        if key not in self._judged:
            told = obligation.shuffled(order)
            self._judged[key] = JUDGES[solver](told, timeout_s=timeout_s, seed=seed)
        return self._judged[key]


def needed(system: System, statements: Sequence[str]) -> Iterator[Obligation]:
    """Yield all induction obligations of a system, and the safety obligations of ``statements``."""
    for obligation in obligations(system):
        if obligation.step != "safety" or obligation.statement in statements:
            yield obligation


def prove(
    theorem: Theorem,
    solver: str,
    cache: ObligationCache,
    *,
    timeout_s: float = 10.0,
    seed: int = 0,
    order: int = 0,
) -> Proof:
    """Return the proof of a theorem by one judge."""
    proof = Proof(theorem, solver, seed, order)
    for build in theorem.systems:
        system = build()
        known = {statement.name for statement in system.safety}
        missing = [name for name in theorem.statements if name not in known]
        if missing:
            raise ValueError(f"{theorem.id} names {missing}, which {system.name} does not state")
        for obligation in needed(system, theorem.statements):
            proof.judgments.append(
                cache.judge(obligation, solver, timeout_s=timeout_s, seed=seed, order=order)
            )
    return proof


def capacity_of(system: System) -> Function | None:
    """Return the counter of delivered positions, if the system has one."""
    return next((f for f in system.functions if f.name == "n" and not f.arguments), None)


def safety_statement(system: System, name: str) -> Statement:
    """Return a safety statement by name."""
    return next(statement for statement in system.safety if statement.name == name)


def refute(counterexample: Counterexample, *, timeout_s: float = 60.0) -> Refutation:
    """Look for the shortest run that breaks the statement; depths below are shown to have none.

    ``timeout_s`` is what the solver has for each depth.
    """
    system = counterexample.system()
    breach = breach_of(safety_statement(system, counterexample.statement))
    try:
        run = shortest_run(
            system, breach, counterexample.scope, capacity=capacity_of(system),
            steps_max=counterexample.steps, timeout_s=timeout_s,
        )  # fmt: skip
    except TimeoutError as error:
        return Refutation(counterexample, None, is_shortest=False, undecided=str(error))
    return Refutation(counterexample, run)


def reach(system: System, situation: Statement, scope: Scope, steps_max: int) -> Run | None:
    """Return a shortest run to a situation that must be reachable, or None within the bound."""
    return shortest_run(system, situation, scope, capacity=capacity_of(system), steps_max=steps_max)
