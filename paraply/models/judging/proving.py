"""Prove theorems by every selected judge, and refute counterexamples.

A proof needs every obligation: invariants are initially true, inductive, and imply the statements.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paraply.models.claims.claim import Counterexample, Theorem
from paraply.models.judging.bounded import Run, breach_of
from paraply.models.judging.judges import JUDGES
from paraply.models.judging.lassos import replay_lasso, search_lasso
from paraply.models.judging.solver import (
    LONGER,
    ROUNDS_MAX,
    RUN_SECONDS_MAX,
    SEEDS,
    Answer,
    Judgment,
    shortest_run,
)
from paraply.models.judging.traces import replay
from paraply.models.language.concrete import Scope
from paraply.models.language.response import Response
from paraply.models.language.system import Obligation, Statement, System, obligations
from paraply.models.language.terms import Function
from paraply.vocabulary.verdict import Verdict, combine


@dataclass(slots=True)
class Proof:
    """A theorem's result under one judge."""

    theorem: Theorem
    solver: str
    seed: int = 0
    order: int = 0
    """Shuffle seed; 0 keeps the order."""
    judgments: list[Judgment] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Return HOLDS if everything is proved, UNKNOWN if undecided."""
        said = {
            Answer.PROVED: Verdict.HOLDS,
            Answer.UNDECIDED: Verdict.UNKNOWN,
            Answer.REFUTED: Verdict.VIOLATED,
        }
        return combine(said[judgment.answer] for judgment in self.judgments)

    @property
    def seconds(self) -> float:
        """Return the judge's total CPU seconds."""
        return sum(judgment.seconds for judgment in self.judgments)

    @property
    def proved(self) -> int:
        """Return the number of proved obligations."""
        return sum(judgment.answer is Answer.PROVED for judgment in self.judgments)

    @property
    def slowest_s(self) -> float:
        """Return the slowest obligation's CPU seconds."""
        return max((judgment.seconds for judgment in self.judgments), default=0.0)


@dataclass(frozen=True, slots=True)
class Refutation:
    """The result of a counterexample search."""

    counterexample: Counterexample
    run: Run | None
    is_shortest: bool = True
    """False for a replay."""
    undecided: str = ""

    @property
    def as_expected(self) -> bool:
        """Return whether the run's length is as recorded."""
        if self.run is None or len(self.run.steps) != self.counterexample.steps:
            return False
        return (self.run.loop or 0) == self.counterexample.loop

    @property
    def verdict(self) -> Verdict:
        """Return HOLDS as expected, UNKNOWN if undecided."""
        if self.undecided:
            return Verdict.UNKNOWN
        return Verdict.HOLDS if self.as_expected else Verdict.VIOLATED


class ObligationCache:
    """Obligations and judgments, shared by all theorems."""

    def __init__(self) -> None:
        self._judged: dict[tuple[str, str, str, str, int, int], Judgment] = {}

    def judge(
        self, obligation: Obligation, solver: str, *, timeout_s: float, seed: int, order: int = 0
    ) -> Judgment:
        """Return the cached or new judgment."""
        key = (obligation.system, obligation.statement, obligation.step, solver, seed, order)
        if key not in self._judged:
            told = obligation.shuffled(order)
            self._judged[key] = patiently(
                lambda limit, other: JUDGES[solver](told, timeout_s=limit, seed=other),
                timeout_s=timeout_s, seed=seed,
            )  # fmt: skip
        return self._judged[key]


def patiently(judge: Callable[[float, int], Judgment], *, timeout_s: float, seed: int) -> Judgment:
    """Ask again with another seed where the clock ends a judge, which gets a limit and a seed.

    Some searches never end with one seed and take no time with another. As solvers count by the
    clock, which runs on while other processes have the processor, limits grow while little CPU time
    is used.
    """
    used, limit = 0.0, timeout_s / SEEDS
    for _ in range(ROUNDS_MAX):
        for other in range(seed, seed + SEEDS):
            started = time.monotonic()
            judgment = judge(limit, other)
            used += judgment.seconds
            is_ended = time.monotonic() - started >= limit
            if judgment.answer is not Answer.UNDECIDED or not is_ended:
                return replace(judgment, seconds=used)
        if used >= timeout_s / 2:
            break
        limit *= LONGER
    return replace(judgment, seconds=used)


def needed(system: System, statements: Sequence[str]) -> Iterator[Obligation]:
    """Yield induction obligations and those of ``statements``."""
    for obligation in obligations(system):
        if not obligation.claim or obligation.claim in statements:
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
    """Return one judge's proof."""
    proof = Proof(theorem, solver, seed, order)
    for build in theorem.systems:
        system = build()
        missing = [name for name in theorem.statements if name not in system.claims]
        if missing:
            raise ValueError(f"{theorem.id} names {missing}, which {system.name} does not state")
        for obligation in needed(system, theorem.statements):
            proof.judgments.append(
                cache.judge(obligation, solver, timeout_s=timeout_s, seed=seed, order=order)
            )
    return proof


def capacity_of(system: System) -> Function | None:
    """Return the counter of delivered positions."""
    return next((f for f in system.functions if f.name == "n" and not f.arguments), None)


def safety_statement(system: System, name: str) -> Statement:
    """Return a safety statement by name."""
    return next(statement for statement in system.safety if statement.name == name)


def response_named(system: System, name: str) -> Response:
    """Return a response by name."""
    return next(response for response in system.responses if response.name == name)


def claim_named(system: System, name: str) -> Statement | Response:
    """Return a safety statement or response by name."""
    found = next((one for one in system.responses if one.name == name), None)
    return found or safety_statement(system, name)


def replayed(counterexample: Counterexample, data: dict[str, Any]) -> Run:
    """Return the stored run after a check on plain values. Raises ``ValueError``."""
    system = counterexample.system()
    claim = claim_named(system, counterexample.statement)
    if isinstance(claim, Response):
        return replay_lasso(system, claim, data)
    return replay(system, breach_of(claim), data)


def refute(counterexample: Counterexample, *, timeout_s: float = RUN_SECONDS_MAX) -> Refutation:
    """Search the shortest breach or lasso; ``timeout_s`` applies per depth of the solver."""
    system = counterexample.system()
    claim = claim_named(system, counterexample.statement)
    if isinstance(claim, Response):
        return Refutation(counterexample, _lasso(counterexample, system, claim))
    breach = breach_of(claim)
    try:
        run = shortest_run(
            system, breach, counterexample.scope, capacity=capacity_of(system),
            steps_max=counterexample.steps, timeout_s=timeout_s,
        )  # fmt: skip
    except TimeoutError as error:
        return Refutation(counterexample, None, is_shortest=False, undecided=str(error))
    return Refutation(counterexample, run)


def _lasso(counterexample: Counterexample, system: System, response: Response) -> Run | None:
    capacity, scope = capacity_of(system), counterexample.scope
    assert counterexample.workloads is not None
    assert capacity is not None
    # The scope has a position more than transactions: in each state that the search enters, the
    # next one can be queued.
    return search_lasso(
        system, response, scope, list(counterexample.workloads(scope.high - 1, scope)),
        inside=capacity() <= scope.high - 1, longest=counterexample.steps,
    )  # fmt: skip


def reach(
    system: System,
    situation: Statement,
    scope: Scope,
    steps_max: int,
    *,
    timeout_s: float = RUN_SECONDS_MAX,
) -> Run | None:
    """Return a shortest run, or None within the bound."""
    return shortest_run(
        system, situation, scope, capacity=capacity_of(system), steps_max=steps_max,
        timeout_s=timeout_s,
    )  # fmt: skip
