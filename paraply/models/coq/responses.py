"""Responses as Coq text: definitions for review, a lemma per obligation, and a theorem.

``proofs/coq/Response.v`` has the rule. Its premises, read at a system's steps, are the lemmas'
statements by conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraply.models.coq.gallina import (
    STATE,
    Gallina,
    NotPrintableError,
    boolean,
    named,
    parameters,
    sort_text,
)
from paraply.models.coq.proofs import Hypothesis, plain_post, plain_substitute
from paraply.models.coq.refuting import true_iff
from paraply.models.language.response import (
    BOUNDED,
    COVERED,
    ENABLED,
    HELPS,
    Case,
    Measure,
    Response,
)
from paraply.models.language.system import (
    Action,
    Obligation,
    System,
    given_to,
    named_apart,
)
from paraply.models.language.terms import (
    FALSE,
    FRESH,
    TRUE,
    And,
    Compare,
    Equal,
    Not,
    Or,
    Term,
    Variable,
)

After = Callable[[Term], Term]


def binders(variables: Sequence[Variable]) -> str:
    """Return typed binders, each after a blank."""
    return "".join(f" ({named(v.name)} : {sort_text(v.sort)})" for v in variables)


def words(variables: Sequence[Variable]) -> str:
    """Return variables as arguments, each after a blank."""
    return "".join(f" {named(v.name)}" for v in variables)


# The rule's functions as unsimplified formulas.


def _lower(rank: Sequence[Measure], after: After) -> Term:
    if not rank:
        return FALSE
    one, top, bottom = rank[0], after(rank[0].top), after(rank[0].bottom)
    moved = Or((Compare("<", top, one.top), Compare("<", one.bottom, bottom)))
    first = And((Compare("<=", top, one.top), And((Compare("<=", one.bottom, bottom), moved))))
    return Or((first, And((_equal(one, after), _lower(rank[1:], after)))))


def _equal(one: Measure, after: After) -> Term:
    return And((Equal(after(one.top), one.top), Equal(after(one.bottom), one.bottom)))


def _same(rank: Sequence[Measure], after: After) -> Term:
    return And((_equal(rank[0], after), _same(rank[1:], after))) if rank else TRUE


def _natural(rank: Sequence[Measure]) -> Term:
    if not rank:
        return TRUE
    return And((Compare("<=", rank[0].bottom, rank[0].top), _natural(rank[1:])))


def _holds(case: Case, given: Sequence[Variable], after: After) -> Term:
    same = (Equal(g, after(a)) for g, a in zip(given, case.arguments, strict=True))
    return And((after(case.condition), *same))


def definitions_of(system: System, response: Response) -> list[str]:
    """Return a response's definitions."""
    gallina = Gallina(system)
    for formula in (response.pending, response.goal, *(c.condition for c in response.cases)):
        if not gallina.is_plain(formula):
            raise NotPrintableError(f"{response.name} has a quantifier: {formula!r}")
    name, about = response.name, binders(response.variables)
    head = f"({STATE} : state){about}"
    rank = "; ".join(f"({boolean(m.top)}, {boolean(m.bottom)})" for m in response.rank)
    lines = [
        f"(* {response.meaning} *)",
        f"Definition pending_{name} {head} : bool :=", f"  {boolean(response.pending)}.",
        f"Definition goal_{name} {head} : bool :=", f"  {boolean(response.goal)}.",
        f"Definition rank_{name} {head} : list (Z * Z) :=", f"  [{rank}].",
        f"Inductive help_{name} : Type :=",
    ]  # fmt: skip
    helps, guards, acts = [], [], []
    for case in response.cases:
        action = system.action_named(case.action)
        given = [Variable(p.name + FRESH, p.sort) for p in action.parameters]
        lines.append(f"| {name}_{case.name}{binders(given)} (* {case.meaning} *)")
        pattern = f"  | {name}_{case.name}{words(given)} =>"
        helps.append(f"{pattern} {boolean(_holds(case, given, lambda term: term))}")
        guards.append(f"{pattern} guard_{action.name} {STATE}{words(given)}")
        acts.append(f"{pattern} act_{action.name} {STATE}{words(given)}")
    lines[-1] += "."
    one = f"(h : help_{name}) ({STATE} : state)"
    for head, cases in (
        (f"helps_{name}{about} {one} : bool", helps),
        (f"guard_{name} {one} : Prop", guards),
        (f"act_{name} {one} : state", acts),
    ):
        lines += [f"Definition {head} :=", "  match h with", *cases, "  end."]
    return [*lines, ""]


@dataclass(frozen=True, slots=True)
class Lemma:
    """A lemma about a response, before its proof."""

    name: str
    binders: str
    premises: tuple[str, ...]
    conclusion: str
    known: tuple[Hypothesis, ...]
    """What the premises say, after those of ``Inv``."""
    goal: Term
    unfolds: str = ""


class Responses:
    """The lemmas and theorem of one response."""

    def __init__(self, system: System, response: Response) -> None:
        self.system = system
        self.stated = response
        self.response = named_apart(response)
        self._gallina = Gallina(system)
        self._name = response.name
        self._about = words(self.response.variables)
        self._binders = f"({STATE} : state){binders(self.response.variables)}"
        self._open = (f"Inv {STATE}", f"pending_{self._name} {STATE}{self._about} = true",
                      f"negb (goal_{self._name} {STATE}{self._about}) = true")  # fmt: skip

    def _given(self, case: Case) -> tuple[Variable, ...]:
        return given_to(self.system.action_named(case.action))

    def lemma(self, obligation: Obligation) -> Lemma:
        """Return the lemma of an obligation."""
        known = (
            Hypothesis(self.response.pending, "O"),
            Hypothesis(Not(self.response.goal), "N"),
        )
        rank = self.response.rank
        if obligation.step == COVERED:
            some = Or(tuple(case.condition for case in self.response.cases))
            return Lemma(f"{self._name}_some_case", self._binders, self._open,
                         f"{boolean(some)} = true", known, some)  # fmt: skip
        if obligation.step == BOUNDED:
            return Lemma(f"{self._name}_bounded", self._binders, self._open,
                         f"natural (rank_{self._name} {STATE}{self._about}) = true",
                         known, _natural(rank))  # fmt: skip
        case = next(c for c in self.response.cases if self.response.part(c) == obligation.statement)
        given, action = self._given(case), self.system.action_named(case.action)
        premises, held = self._premises(case)
        name = f"{self._name}_{case.name}_{obligation.step}"
        about = self._binders + binders(given)
        taken = f"(act_{action.name} {STATE}{words(given)})"
        values: dict[Variable, Term] = dict(zip(action.parameters, given, strict=True))
        if obligation.step == ENABLED:
            goal = plain_substitute(action.guard, values)
            said = f"guard_{action.name} {STATE}{words(given)}"
            return Lemma(name, about, (*self._open, *premises), said, (*known, *held), goal,
                         unfolds=f"guard_{action.name}")  # fmt: skip
        if obligation.step == HELPS:
            goal = self._better(
                lambda node: plain_substitute(plain_post(node, action), values), FALSE
            )
            said = f"{self._better_text(taken)} = true"
            return Lemma(name, about, (*self._open, *premises), said, (*known, *held), goal)
        other = self.system.action_named(obligation.step)
        taken = f"(act_{other.name} {STATE}{self._parameters(other)[1]})"
        return Lemma(
            name, about + self._parameters(other)[0],
            (*self._open, *premises, f"guard_{other.name} {STATE}{self._parameters(other)[1]}"),
            f"{self._not_worse_text(case, taken)} = true",
            (*known, *held, Hypothesis(other.guard, "G")),
            self._better(lambda node: plain_post(node, other), self._kept(case, other)),
        )  # fmt: skip

    def _kept(self, case: Case, action: Action) -> Term:
        def after(node: Term) -> Term:
            return plain_post(node, action)

        kept = _holds(case, self._given(case), after)
        return And((_same(self.response.rank, after), kept))

    def _better(self, after: After, kept: Term) -> Term:
        lower = _lower(self.response.rank, after)
        better = lower if kept == FALSE else Or((lower, kept))
        return Or((after(self.response.goal), And((after(self.response.pending), better))))

    def _better_text(self, after: str, kept: str = "") -> str:
        name, about = self._name, self._about
        lower = f"lower (rank_{name} {after}{about}) (rank_{name} {STATE}{about})"
        better = f"({lower} || {kept})" if kept else lower
        return f"goal_{name} {after}{about} || (pending_{name} {after}{about} && {better})"

    def _not_worse_text(self, case: Case, after: str) -> str:
        name, about = self._name, self._about
        same = f"same (rank_{name} {after}{about}) (rank_{name} {STATE}{about})"
        helps = f"helps_{name}{about} {self._help(case)} {after}"
        return self._better_text(after, f"({same} && {helps})")

    def _help(self, case: Case) -> str:
        return f"({self._name}_{case.name}{words(self._given(case))})"

    def _premises(self, case: Case) -> tuple[tuple[str, ...], tuple[Hypothesis, ...]]:
        formulas = [case.condition]
        formulas += [Equal(g, a) for g, a in zip(self._given(case), case.arguments, strict=True)]
        said = tuple(f"{boolean(formula)} = true" for formula in formulas)
        return said, tuple(
            Hypothesis(formula, proof)
            for formula, proof in zip(formulas, _case_names(case), strict=True)
        )

    def _parameters(self, action: Action) -> tuple[str, str]:
        typed, given = parameters(self._gallina, action)
        return (f" {typed}" if typed else ""), given

    def theorem(self) -> list[str]:
        """Return the theorem about all fair runs, with its last lemmas."""
        return [*self._covered(), *self._no_step_is_worse(), *self._theorem()]

    def _covered(self) -> list[str]:
        name, about = self._name, self._about
        lines = [
            f"Lemma {name}_covered {self._binders} : {' -> '.join(self._open)} ->",
            f"  exists h, helps_{name}{about} h {STATE} = true.",
            f"Proof. intros I O N. pose proof ({name}_some_case {STATE}{about} I O N) as C.",
        ]
        cases = self.response.cases
        for place, case in enumerate(cases):
            arguments = "".join(f" {boolean(argument)}" for argument in case.arguments)
            shown = [f"  exists ({name}_{case.name}{arguments})."]
            shown += [f"  unfold helps_{name}."]
            if case.arguments:
                shown += ["  apply andb_true_intro; split; [exact C |]."]
            else:
                shown += ["  exact C."]
            for number, argument in enumerate(case.arguments, start=1):
                same = f"exact (proj2 ({true_iff(argument.sort)} _ _) eq_refl)"
                if number < len(case.arguments):
                    shown += [f"  apply andb_true_intro; split; [{same} |]."]
                else:
                    shown += [f"  {same}."]
            if place < len(cases) - 1:
                lines += ["  apply orb_true_iff in C; destruct C as [C | C].", "  {", *shown, "  }"]
            else:
                lines += shown
        return [*lines, "Qed.", ""]

    def _no_step_is_worse(self) -> list[str]:
        lines: list[str] = []
        for case in self.response.cases:
            premises, _ = self._premises(case)
            names = " ".join(_case_names(case))
            given = words(self._given(case))
            patterns = " | ".join(f"{self._parameters(a)[1]} G" for a in self.system.actions)
            needed = " -> ".join((*self._open, *premises, f"step {STATE} after"))
            lines += [
                f"Lemma {self._name}_{case.name}_not_worse {self._binders}"
                f"{binders(self._given(case))} (after : state) :",
                f"  {needed} ->",
                f"  {self._not_worse_text(case, 'after')} = true.",
                f"Proof. intros I O N {names} Step. destruct Step as [{patterns}].",
            ]
            for action in self.system.actions:
                lemma = f"{self._name}_{case.name}_{action.name}"
                parameters = self._parameters(action)[1]
                lines.append(
                    f"  - exact ({lemma} {STATE}{self._about}{given}{parameters} I O N {names} G)."
                )
            lines += ["Qed.", ""]
        return lines

    def _theorem(self) -> list[str]:
        name, about, response = self._name, self._about, self.response
        fair = [self.system.action_named(action) for action in response.fair]
        lines = [f"Theorem {name} :", "  forall run, is_run state init step run ->"]
        for action in fair:
            typed, given = self._parameters(action)
            quantified = f"forall{typed}, " if typed else ""
            lines.append(
                f"  ({quantified}weakly_fair state run (fun {STATE} => guard_{action.name} {STATE}"
                f"{given}) (fun {STATE} => act_{action.name} {STATE}{given})) ->"
            )
        lines += [
            f"  forall{binders(response.variables)}, leads_to state run"
            f" (fun {STATE} => pending_{name} {STATE}{about})"
            f" (fun {STATE} => goal_{name} {STATE}{about}).",
            "Proof.",
            f"  intros run Run {' '.join(f'F_{action.name}' for action in fair)}{about}.",
            f"  apply (response_rule state init step Inv (fun {STATE} => pending_{name} {STATE}"
            f"{about})",
            f"    (fun {STATE} => goal_{name} {STATE}{about}) (fun {STATE} => rank_{name} {STATE}"
            f"{about})",
            f"    help_{name} (helps_{name}{about}) guard_{name} act_{name}).",
            "  - exact Inv_starts.",
            "  - exact Inv_kept.",
            "  - intros; reflexivity.",
            f"  - intros {STATE} (I & O & N). exact ({name}_bounded {STATE}{about} I O N).",
            f"  - intros {STATE} (I & O & N). exact ({name}_covered {STATE}{about} I O N).",
            *self._each_case(f"{STATE}", ENABLED),
            *self._each_case(f"{STATE}", HELPS),
            *self._each_case(f"{STATE} after", "not_worse", " Step"),
            "  - exact Run.",
            f"  - intros [{self._patterns()}].",
            *(f"    + exact (F_{case.action}{words(self._given(case))})."
              for case in response.cases),
            "Qed.", "",
        ]  # fmt: skip
        return lines

    def _patterns(self) -> str:
        return " | ".join(words(self._given(case)) for case in self.response.cases)

    def _each_case(self, states: str, lemma: str, step: str = "") -> list[str]:
        lines = [f"  - intros [{self._patterns()}] {states} (I & O & N) C{step}."]
        for case in self.response.cases:
            names = _case_names(case)
            apart = f"    + unfold helps_{self._name} in C."
            for first, second in pairwise(names):
                apart += f" apply andb_true_iff in {first}; destruct {first} as [{first} {second}]."
            after = " after" if "after" in states else ""
            given = words(self._given(case))
            proof = f"{self._name}_{case.name}_{lemma} {STATE}{self._about}{given}{after}"
            lines += [apart, f"      exact ({proof} I O N {' '.join(names)}{step})."]
        return lines


def _case_names(case: Case) -> list[str]:
    return ["C", *(f"H{place}" for place in range(1, len(case.arguments) + 1))]
