"""A system as a Coq file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraply.models.coq.definitions import definitions
from paraply.models.coq.gallina import STATE, Gallina, NotPrintableError, named, parameters
from paraply.models.coq.proofs import (
    Hypothesis,
    Prover,
    apart,
    plain_post,
    plain_substitute,
    plan_of,
    projections,
)
from paraply.models.coq.refuting import NotRefutedError
from paraply.models.coq.responses import Responses
from paraply.models.judging.certificates.store import Store
from paraply.models.language.system import (
    Action,
    Obligation,
    Statement,
    System,
    obligations,
    skolem,
)
from paraply.models.language.terms import Apply, Term

PROOFS_BEGIN = "(* From here on: proofs. Coq checks them; nobody has to read them. *)"


class NotWrittenError(Exception):
    """An obligation lacks a Coq proof."""


class File:
    """The Coq file of one system."""

    def __init__(self, system: System, store: Store) -> None:
        self.system = system
        self.gallina = Gallina(system)
        self._store = store
        self._responses = {r.name: Responses(system, r) for r in system.responses}
        self._actions = {action.name: action for action in system.actions}

    def text(self) -> str:
        """Return the file. Raises :class:`NotWrittenError`."""
        system = self.system
        lines = [
            definitions(system),
            PROOFS_BEGIN,
            "",
            f"Record Inv ({STATE} : state) : Prop := {{",
        ]
        fields = [f"  i_{s.name} : inv_{s.name} {STATE}" for s in system.invariants]
        lines += [";\n".join(fields), "}.", ""]
        for obligation in obligations(system):
            response = self._responses.get(obligation.claim)
            if response is None:
                lines += self._lemma(obligation)
            else:
                lines += self._response_lemma(response, obligation)
        lines += [*self._starts(), *self._kept()]
        for statement in system.safety:
            lines += self._theorem(statement)
        for response in self._responses.values():
            lines += response.theorem()
        lines.append("End Model.")
        return "\n".join(lines) + "\n"

    def _lemma(self, obligation: Obligation) -> list[str]:
        stated = self.system.safety if obligation.step == "safety" else self.system.invariants
        statement = next(s for s in stated if s.name == obligation.statement)
        values, fresh = skolem(statement.variables)
        goal = plain_substitute(statement.body, values)
        kind = "safe" if obligation.step == "safety" else "inv"
        after, head, begin = STATE, "", []
        known = self._axioms()
        if obligation.step == "initially":
            name, head = f"starts_{statement.name}", f"init {STATE} ->"
            begin = ["  intros S. unfold init in S."]
            known += self._init()
        else:
            begin = ["  intros I."]
            known += self._invariants()
            name, head = f"implies_{statement.name}", f"Inv {STATE} ->"
        binders = ""
        if obligation.step in self._actions:
            action = self._actions[obligation.step]
            binders, given = parameters(self.gallina, action)
            name = f"keep_{statement.name}_{action.name}"
            head += f" guard_{action.name} {STATE}{given} ->"
            begin = [f"  intros I G. unfold guard_{action.name} in G."]
            known.append(Hypothesis(action.guard, "G"))
            after, goal = f"(act_{action.name} {STATE}{given})", plain_post(goal, action)
        begin.append(f"  unfold {kind}_{statement.name}.")
        if fresh:
            begin.append(f"  intros {' '.join(named(one.name) for one in fresh)}.")
        if not self.gallina.is_plain(goal):
            begin.append(f"  change ({self.gallina.proposition(goal)}).")
        return [
            f"Lemma {name} ({STATE} : state){' ' + binders if binders else ''} :",
            f"  {head} {kind}_{statement.name} {after}.",
            "Proof.",
            *begin,
            *self._proof(obligation, known, goal),
            "Qed.",
            "",
        ]

    def _response_lemma(self, response: Responses, obligation: Obligation) -> list[str]:
        lemma = response.lemma(obligation)
        known = [*self._axioms(), *self._invariants(), *lemma.known]
        names = [hypothesis.proof for hypothesis in lemma.known]
        begin = [f"  intros I {' '.join(names)}."]
        if "G" in names:
            begin.append(f"  unfold guard_{obligation.step} in G.")
        if lemma.unfolds:
            begin.append(f"  unfold {lemma.unfolds}.")
        return [
            f"Lemma {lemma.name} {lemma.binders} :",
            f"  {' -> '.join(lemma.premises)} ->",
            f"  {lemma.conclusion}.",
            "Proof.",
            *begin,
            f"  change ({self.gallina.proposition(lemma.goal)}).",
            *self._proof(obligation, known, lemma.goal),
            "Qed.",
            "",
        ]

    def _axioms(self) -> list[Hypothesis]:
        return [Hypothesis(a.closed, f"axiom_{a.name}") for a in self.system.axioms]

    def _invariants(self) -> list[Hypothesis]:
        return [
            Hypothesis(s.closed, f"(i_{s.name} {STATE} I)") for s in self.system.invariants
        ]  # fmt: skip

    def _proof(self, obligation: Obligation, known: Sequence[Hypothesis], goal: Term) -> list[str]:
        name = f"{obligation.system}: {obligation.statement}/{obligation.step}"
        certificate = self._store.certificate(obligation)
        if certificate is None:
            raise NotWrittenError(f"{name} has no certificate: make certificates")
        whole, shown = apart(self.gallina, obligation, known)
        relations: dict[Term, str] = {
            h.formula: h.proof
            for h in shown
            if isinstance(h.formula, Apply) and h.formula.function in self.gallina.relations
        }
        try:
            plan = plan_of(whole, certificate)
            return Prover(self.gallina, shown, plan, relations).lines(goal)
        except (NotPrintableError, NotRefutedError) as refusal:
            raise NotWrittenError(f"{name}: {refusal}") from refusal

    def _init(self) -> Iterator[Hypothesis]:
        stated = self.system.initially
        for statement, proof in zip(stated, projections("S", len(stated)), strict=True):
            yield Hypothesis(statement.closed, proof)

    def _starts(self) -> list[str]:
        proofs = [f"(starts_{s.name} {STATE} S)" for s in self.system.invariants]
        return [
            f"Lemma Inv_starts ({STATE} : state) : init {STATE} -> Inv {STATE}.",
            f"Proof. intros S. exact (Build_Inv {STATE} {' '.join(proofs)}). Qed.",
            "",
        ]

    def _kept(self) -> list[str]:
        actions = self.system.actions
        patterns = " | ".join(f"{_given(self.gallina, action)} G" for action in actions)
        lines = [
            f"Lemma Inv_kept ({STATE} after : state) :",
            f"  Inv {STATE} -> step {STATE} after -> Inv after.",
            f"Proof. intros I Step. destruct Step as [{patterns}].",
        ]
        for action in actions:
            given = _given(self.gallina, action)
            proofs = [f"(keep_{s.name}_{action.name} {STATE}{given} I G)"
                      for s in self.system.invariants]  # fmt: skip
            lines.append(f"  - exact (Build_Inv _ {' '.join(proofs)}).")
        return [*lines, "Qed.", ""]

    def _theorem(self, statement: Statement) -> list[str]:
        return [
            f"Theorem {statement.name} :",
            "  forall run, is_run state init step run ->",
            f"  forall k, safe_{statement.name} (run k).",
            "Proof.",
            f"  intros run R k. apply implies_{statement.name}.",
            "  exact (invariant_rule state init step Inv Inv_starts Inv_kept run R k).",
            "Qed.",
            "",
        ]


def _given(gallina: Gallina, action: Action) -> str:
    return parameters(gallina, action)[1]
