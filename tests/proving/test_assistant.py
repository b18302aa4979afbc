"""Coq accepts what the generator writes, and refuses what was tampered with.

Marked ``live``: Coq is a Debian package, not a Python one.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

from paraply.models.claims.theorems import THEOREMS
from paraply.models.coq.definitions import definitions, module_name
from paraply.models.coq.proofs import plain_post
from paraply.models.coq.refuting import Fact, NotRefutedError, Refutation
from paraply.models.coq.theorems import PROOFS_BEGIN, File, NotWrittenError
from paraply.models.judging.certificates.maker import make, sealed
from paraply.models.judging.certificates.store import Store
from paraply.models.kernel.certificate import Certificate, seal
from paraply.models.language.system import System, obligations
from paraply.models.language.terms import BOOL, INT, TRUE, And, Not, Variable, eq
from paraply.proving import assistant
from paraply.proving.assistant import STORED, check_text, compared, prepare, stored_claims
from tests.models.built import SYSTEMS

SMALL = "members"

live = pytest.mark.live
needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None, reason="coqc is not installed: apt-get install coq"
)


# Without Coq.


@pytest.mark.parametrize("name", SYSTEMS)
def test_stored_definitions_are_those_of_the_model(name):
    stored = STORED / f"{module_name(SYSTEMS[name])}.v"
    assert stored.read_text(encoding="utf-8") == definitions(SYSTEMS[name])


@pytest.mark.long
def test_every_theorem_of_the_project_is_claimed_of_each_of_its_systems():
    claims = stored_claims()
    for entry in THEOREMS:
        for build in entry.systems:
            for statement in entry.statements:
                claim = claims[f"{module_name(build())}.{statement}"]
                assert "is_run" in claim
                responses = {response.name: response for response in build().responses}
                if statement in responses:
                    assert f"goal_{statement}" in claim
                    fair = responses[statement].fair
                    assert claim.count("weakly_fair") == len(fair)
                    assert all(f"act_{action}" in claim for action in fair)
                else:
                    assert f"safe_{statement}" in claim
    assert len(claims) == sum(len(system.claims) for system in SYSTEMS.values())


def test_file_begins_with_the_definitions_and_is_the_same_each_time():
    first, second = (File(SYSTEMS[SMALL], Store()).text() for _ in range(2))
    assert first == second
    assert first.startswith(definitions(SYSTEMS[SMALL]))


class OtherStore:
    """Certificates with one of them changed."""

    def __init__(self, changed):
        self._changed = changed

    def certificate(self, obligation):
        return self._changed(obligation, Store().certificate(obligation))


def emptied(obligation, _):
    return Certificate(seal(obligation, ()), ())


def test_certificate_without_instances_gives_no_proof():
    with pytest.raises(NotWrittenError):
        File(SYSTEMS[SMALL], OtherStore(emptied)).text()


def test_missing_certificate_gives_no_proof():
    with pytest.raises(NotWrittenError, match="no certificate"):
        File(SYSTEMS[SMALL], OtherStore(lambda *_: None)).text()


P, Q = Variable("p", INT), Variable("q", INT)


def test_facts_without_a_contradiction_are_not_refuted():
    with pytest.raises(NotRefutedError):
        Refutation([Fact(P <= Q, ""), Fact(Q <= P, "")])


def test_contradiction_by_arithmetic_and_equality_together_is_found():
    system = System("s")
    f = system.state("f", INT, BOOL)
    found = Refutation([Fact(P <= Q, ""), Fact(Q <= P, ""), Fact(f(P), ""), Fact(Not(f(Q)), "")])
    assert {fact.tactic for fact in found.facts} >= {"clear; lia"}


def test_weakest_precondition_is_not_simplified():
    system = System("s")
    f = system.state("f", INT, BOOL)
    system.action("a", updates={f: lambda p: TRUE})
    assert plain_post(And((f(P), TRUE)), system.actions[0]) == And((TRUE, TRUE))


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("limit_s", [0.0, 600.0])
def test_time_in_all_is_printed_and_too_much_of_it_is_a_warning(
    monkeypatch, capsys, tmp_path, limit_s
):
    others = ("certification", SMALL)

    def coqc(_, module):
        return "", "", 25.0 if module.startswith("M_") else 0.0

    monkeypatch.setattr(assistant, "compiled", coqc)
    monkeypatch.setattr(assistant, "File", lambda *_: SimpleNamespace(text=str))
    monkeypatch.setattr(assistant, "IN_ALL_S", limit_s)
    assistant.main(["--folder", str(tmp_path), *others])
    said = capsys.readouterr()
    assert re.search(r"theorems, 50 CPU s, \d+ s in all\n$", said.out)
    assert ("warning: more than 0 s" in said.err) == (limit_s == 0.0)


# With Coq.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("coq")
    prepare(made)
    return made


def counter():
    system = System("counter")
    n, seen = system.state("n", INT), system.state("seen", INT, BOOL)
    system.starts_with("zero", (P,), eq(n(), 0) & ~seen(P))
    system.action("up", guard=n() < 3, updates={n: lambda: n() + 1})
    system.action("look", havoc=(seen,))
    system.invariant("small", (), n() <= 3, "")
    system.safe("small", (), n() <= 3, "")
    return system


@live
@needs_coq
def test_small_system_is_accepted_and_compared(folder):
    system = SYSTEMS[SMALL]
    result = check_text(folder, system, File(system, Store()).text())
    assert result.problem == ""
    assert result.obligations == len(obligations(system))
    claims = stored_claims()
    assert compared(system, result, claims, STORED) == ""
    other = {**claims, f"{module_name(system)}.what_a_refuses_b_refuses": "True"}
    assert "claims differ" in compared(system, result, other, STORED)
    fewer = {n: s for n, s in claims.items() if not n.endswith("what_a_refuses_b_refuses")}
    assert "claims differ" in compared(system, result, fewer, STORED)
    weaker = replace(system, actions=system.actions[1:])
    assert "definitions differ" in compared(weaker, result, claims, STORED)


def tampered(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


TAMPERING = {
    "guard dropped": lambda t: _body_of(t, "Definition guard_collect_at_a", "True."),
    "leaf changed": lambda t: tampered(t, "(Leaf 0)", "(Leaf 99)"),
    "lemma admitted": lambda t: t.replace("Qed.", "Admitted.", 1),
    "axiom added": lambda t: tampered(t, PROOFS_BEGIN, "Axiom wrong : False.").replace(
        "Proof.\n", "Proof.\n  destruct wrong.\n", 1
    ),
    "invariant made true": lambda t: _body_of(t, "Definition inv_", "True."),
    "statement made stronger": lambda t: _body_of(t, "Definition safe_", "False."),
}


def _body_of(text, head, body):
    """Return the text with the body of the first definition that begins so replaced."""
    begin = text.index(":=", text.index(head)) + 2
    return f"{text[:begin]} {body}{text[text.index(chr(10) * 2, begin) :]}"


@live
@needs_coq
@pytest.mark.parametrize("name", TAMPERING)
def test_tampered_file_is_refused(folder, name):
    system = SYSTEMS[SMALL]
    text = TAMPERING[name](File(system, Store()).text())
    assert check_text(folder, system, text).problem


PROGRESS = "lock_queue[exact]"

TAMPERED_PROGRESS = {
    "rank lowered by nothing": lambda t: _body_of(t, "Definition rank_", "[]."),
    "pending made true": lambda t: _body_of(t, "Definition pending_", "true."),
    "fairness of an action left out": lambda t: re.sub(
        r"  \(forall \(p : Z\), weakly_fair state run \(fun st => guard_start.*?\) ->\n", "", t
    ).replace("F_start ", "", 1),
    "helpful step without effect": lambda t: tampered(
        t, "_to_start p' => act_start st p'", "_to_start p' => st"
    ),
    "lemma admitted": lambda t: t.replace("Qed.\n\nEnd Model", "Admitted.\n\nEnd Model", 1),
}


@pytest.mark.long
@pytest.mark.parametrize("name", TAMPERED_PROGRESS)
@live
@needs_coq
def test_tampered_progress_is_refused(folder, name):
    system = SYSTEMS[PROGRESS]
    text = File(system, Store()).text()
    changed = TAMPERED_PROGRESS[name](text)
    assert changed != text
    assert check_text(folder, system, changed).problem


@live
@needs_coq
def test_progress_is_a_theorem_about_all_fair_runs(folder):
    system = SYSTEMS[PROGRESS]
    result = check_text(folder, system, File(system, Store()).text())
    assert result.problem == ""
    assert set(result.theorems) == set(system.claims)
    assert compared(system, result, stored_claims(), STORED) == ""


@live
@needs_coq
def test_false_statement_about_a_chosen_function_cannot_be_proved(folder):
    store = OtherStore(lambda obligation, _: make(obligation) or sealed(obligation, ()))
    system = counter()
    assert check_text(folder, system, File(system, store).text()).problem == ""
    seen = system.functions[1]
    system.invariant("nothing_seen", (P,), ~seen(P), "")
    with pytest.raises(NotWrittenError, match="nothing_seen/look"):
        File(system, store).text()


@pytest.mark.long
def test_coq_that_is_not_installed_is_an_error_with_a_remedy(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(assistant.shutil, "which", lambda _: None)
    assert assistant.main(["--folder", str(tmp_path), SMALL]) == 3
    assert "P713 coqc is not installed" in capsys.readouterr().err
