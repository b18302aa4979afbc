"""The only interface to the solvers.

It pins seeds and time limits, and separates ``unknown`` from both answers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from paraply.models.judging.bounded import MARK, Run, Unrolling, replayed
from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.language.smtlib import declarations, script, text
from paraply.models.language.system import Obligation, Statement, System
from paraply.models.language.terms import BOOL, INT, Function, Term, Variable
from paraply.vocabulary.errors import ParaplyError, register

NO_SOLVER = register(
    "P710",
    "the solver {solver} is not installed",
    "pip install 'paraply[prove]'; `paraply prove --solver kernel` needs no solver",
)

PACKAGES = {"z3": "z3-solver", "cvc5": "cvc5"}

SEEDS = 4
"""From one seed Z3 may run out of time, from the next it takes a fraction of a second."""

QUICK_STEPS = 300_000
"""Of Z3, a fifth of a second: of a thousand obligations one or two need more."""

RUN_SECONDS_MAX = 300.0
"""CPU seconds for one length of a run: the longest search takes a fifth of it."""

ROUNDS_MAX = 3
LONGER = 4
"""Times as long by the clock, for each further round on a busy machine."""


def installed(solver: str) -> Any:
    """Return a solver's module. Raises ``ParaplyError`` P710."""
    try:
        return import_module(solver)
    except ImportError:
        raise ParaplyError(NO_SOLVER, solver=solver) from None


def is_installed(solver: str) -> bool:
    """Return whether a solver's module is available."""
    try:
        installed(solver)
    except ParaplyError:
        return False
    return True


class Answer(Enum):
    """A solver's answer to an obligation."""

    PROVED = "proved"
    REFUTED = "refuted"
    """A counterexample state exists."""
    UNDECIDED = "undecided"
    """The solver gave up; never a proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One solver's judgment of one obligation."""

    obligation: Obligation
    solver: str
    answer: Answer
    seconds: float
    """CPU seconds of this process, solvers included."""
    reason: str = ""


def judge_z3(
    obligation: Obligation, *, timeout_s: float = 10.0, seed: int = 0, steps_max: int = 0
) -> Judgment:
    """Judge by Z3: first in few steps and without tactics, then with its default ones.

    ``steps_max`` bounds Z3's machine-independent steps; 0 means unlimited.
    """
    z3 = installed("z3")
    started = time.process_time()
    asked = script(obligation.focused())
    # Tactics take longer than most proofs, but find those that searches without them rarely end.
    for make, steps in ((z3.SimpleSolver, QUICK_STEPS), (z3.Solver, steps_max)):
        # One context for all: a fresh one for each obligation costs more than the proof.
        solver = make()
        solver.set(timeout=int(timeout_s * 1000), random_seed=seed, rlimit=steps)
        solver.from_string(asked)
        said = str(solver.check())
        if said != "unknown":
            break
    answer = {"unsat": Answer.PROVED, "sat": Answer.REFUTED}.get(said, Answer.UNDECIDED)
    return Judgment(
        obligation=obligation,
        solver="z3",
        answer=answer,
        seconds=time.process_time() - started,
        reason=solver.reason_unknown() if answer is Answer.UNDECIDED else "",
    )


def judge_cvc5(obligation: Obligation, *, timeout_s: float = 10.0, seed: int = 0) -> Judgment:
    """Judge by cvc5."""
    cvc5 = installed("cvc5")
    started = time.process_time()
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(timeout_s * 1000)))
    solver.setOption("seed", str(seed))
    solver.setOption("sat-random-seed", str(seed))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(
        cvc5.InputLanguage.SMT_LIB_2_6, script(obligation.focused()), f"{obligation.system}.smt2"
    )
    manager = parser.getSymbolManager()
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, manager)).strip() or said
    answer = {"unsat": Answer.PROVED, "sat": Answer.REFUTED}.get(said, Answer.UNDECIDED)
    return Judgment(
        obligation=obligation,
        solver="cvc5",
        answer=answer,
        seconds=time.process_time() - started,
        reason=said if answer is Answer.UNDECIDED else "",
    )


SOLVERS = {"z3": judge_z3, "cvc5": judge_cvc5}


def contradicting(
    assertions: Sequence[Term],
    constants: Sequence[Variable],
    *,
    timeout_s: float = 10.0,
    seed: int = 0,
) -> list[int] | None:
    """Return contradictory assertions, or None."""
    z3 = installed("z3")

    marks = [f"mark!{number}" for number in range(len(assertions))]
    lines = declarations(assertions, constants)
    lines += [f"(declare-const {mark} Bool)" for mark in marks]
    lines += [
        f"(assert (=> {mark} {text(assertion)}))"
        for mark, assertion in zip(marks, assertions, strict=True)
    ]
    # A context of its own: which of two cores Z3 finds depends on earlier questions in a context.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set(timeout=int(timeout_s * 1000), random_seed=seed)
    solver.set("core.minimize", True)
    solver.from_string("\n".join(lines))
    if str(solver.check(*(z3.Bool(mark, context) for mark in marks))) != "unsat":
        return None
    return sorted(marks.index(str(mark)) for mark in solver.unsat_core())


class Literals:
    """Z3 contradictions between decisions about ground atoms."""

    def __init__(self, atoms: Sequence[Term]) -> None:
        z3 = installed("z3")
        constants = sorted(frozenset[Variable]().union(*(atom.free for atom in atoms)), key=str)
        lines = declarations(atoms, constants)
        for number, atom in enumerate(atoms):
            lines += [f"(declare-const atom@{number} Bool)",
                      f"(assert (= atom@{number} {text(atom)}))"]  # fmt: skip
        self._solver = z3.SimpleSolver()
        self._solver.set("core.minimize", True)
        self._solver.from_string("\n".join(lines))
        self._atoms = [z3.Bool(f"atom@{number}") for number in range(len(atoms))]

    def contradiction(self, decisions: Mapping[int, bool]) -> list[int] | None:
        """Return contradictory decisions, or None."""
        z3 = installed("z3")
        given = {atom: self._atoms[atom] if value else z3.Not(self._atoms[atom])
                 for atom, value in decisions.items()}  # fmt: skip
        if str(self._solver.check(*given.values())) != "unsat":
            return None
        core = {str(one) for one in self._solver.unsat_core()}
        return [atom for atom, literal in given.items() if str(literal) in core]


def solve_horn(clauses: str, *, steps_max: int = 0, timeout_s: float = 60.0) -> str | None:
    """Return a predicate that satisfies Horn clauses, or None.

    Z3's Spacer returns quantifier-free SMT-LIB text over ``v0``, ``v1``, …
    """
    z3 = installed("z3")

    context = z3.Context()
    solver = z3.SolverFor("HORN", ctx=context)
    solver.set(timeout=int(timeout_s * 1000), rlimit=steps_max)
    solver.from_string(clauses)
    if str(solver.check()) != "sat":
        return None
    model = solver.model()
    (predicate,) = model.decls()
    arguments = [
        z3.Const(f"v{number}", predicate.domain(number)) for number in range(predicate.arity())
    ]
    found = z3.substitute_vars(model[predicate].else_value(), *arguments)
    eliminate = z3.Then("simplify", "qe", "simplify", ctx=context)
    try:
        plain = z3.TryFor(eliminate, int(timeout_s * 1000), ctx=context)(found)
    except z3.Z3Exception:
        return None
    text_of_it: str = plain.as_expr().sexpr()
    return text_of_it


def shortest_run(
    system: System,
    situation: Statement,
    scope: Scope,
    *,
    capacity: Function | None = None,
    steps_max: int = 12,
    timeout_s: float = RUN_SECONDS_MAX,
) -> Run | None:
    """Return a replayed shortest run to ``situation``, or None.

    Raises ``TimeoutError`` if the solver gives up at a depth.
    """
    z3 = installed("z3")

    unrolling = Unrolling(system, scope, capacity)
    solver = z3.Solver(ctx=z3.Context())
    # Declarations accumulate, so each depth is parsed with all that were made before it.
    lines = [*unrolling.header, *unrolling.declare(0), *unrolling.start()]
    for depth in range(steps_max + 1):
        asked = "\n".join([*lines, unrolling.reached(situation, depth)])
        said = searched(solver, asked, timeout_s)
        if said == "sat":
            tables, taken = _read_model(solver.model(), system, scope, depth)
            return replayed(system, scope, tables, taken, situation, unrolling)
        if said != "unsat":
            raise TimeoutError(f"{system.name}: {situation.name} is undecided at depth {depth}")
        lines += [*unrolling.declare(depth + 1), *unrolling.transition(depth)]
    return None


def may_happen(
    system: System, situation: Statement, scope: Scope, *, capacity: Function | None = None
) -> bool:
    """Return whether the invariants allow a situation within a scope; if not, no run has it."""
    z3 = installed("z3")

    unrolling = Unrolling(system, scope, capacity)
    lines = [*unrolling.header, *unrolling.declare(0), *unrolling.first(system.invariants)]
    asked = "\n".join([*lines, unrolling.reached(situation, 0)])
    return searched(z3.Solver(ctx=z3.Context()), asked, RUN_SECONDS_MAX) != "unsat"


def searched(solver: Any, asked: str, timeout_s: float) -> str:
    """Return what a Z3 solver answers within so many CPU seconds.

    Z3 counts by the clock, which runs on while other processes have the processor: where that ended
    the search, it begins again with a longer limit.
    """
    limit = timeout_s
    for _ in range(ROUNDS_MAX):
        solver.reset()
        solver.set(timeout=int(limit * 1000), random_seed=0)
        solver.from_string(asked)
        began, at = time.process_time(), time.monotonic()
        said = str(solver.check())
        used, passed = time.process_time() - began, time.monotonic() - at
        if said != "unknown" or passed < limit or used >= timeout_s / 2:
            break
        limit *= LONGER
    return said


def _read_model(
    model: Any, system: System, scope: Scope, depth: int
) -> tuple[list[dict[str, Table]], list[tuple[int, int]]]:
    z3 = installed("z3")

    context = model.ctx
    declared = {declaration.name(): declaration for declaration in model.decls()}
    sorts = {s for f in system.functions for s in (*f.arguments, f.result)} - {INT, BOOL}
    spoken: dict[str, Value] = {}
    elements: dict[Value, Any] = {}
    for sort in sorts:
        for value in scope.values(sort):
            element = model.eval(declared[f"{value}{MARK}"](), model_completion=True)
            spoken[str(element)] = value
            elements[value] = element

    def python(value: Any) -> Value:
        if z3.is_int_value(value):
            return int(value.as_long())
        if z3.is_true(value) or z3.is_false(value):
            return bool(z3.is_true(value))
        return spoken[str(value)]

    def argument(value: Value) -> Any:
        return z3.IntVal(value, context) if isinstance(value, int) else elements[value]

    def table(function: Function, name: str) -> Table:
        if name not in declared:
            return {}
        symbol = declared[name]
        return {
            given: python(model.eval(symbol(*map(argument, given)), model_completion=True))
            for given in scope.arguments(function)
        }

    tables = [
        {
            function.name: table(
                function, function.name if function.rigid else f"{function.name}@{moment}"
            )
            for function in system.functions
        }
        for moment in range(depth + 1)
    ]
    taken: dict[int, tuple[int, int]] = {}
    for name, symbol in declared.items():
        if name.startswith("take@") and z3.is_true(model.eval(symbol(), model_completion=True)):
            moment, action, position = map(int, name.split("@")[1:])
            taken[moment] = (action, position)
    return tables, [taken[moment] for moment in range(depth)]
