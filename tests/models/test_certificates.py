"""Certificates: kept for every proof, needed in every step, and worthless for anything else."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice, pairwise
from random import Random

import pytest

from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.judging.certificates import __main__ as command
from paraply.models.judging.certificates.__main__ import renew
from paraply.models.judging.certificates.maker import (
    ground,
    layers,
    make,
    matches,
    sealed,
    some_elements,
)
from paraply.models.judging.certificates.store import FOLDER, Store, name_of, path_of, read, write
from paraply.models.judging.judges import judge_kernel
from paraply.models.judging.proving import needed
from paraply.models.judging.solver import Answer, contradicting, judge_z3
from paraply.models.kernel.certificate import Certificate, Instance, instances
from paraply.models.kernel.check import check, check_unsealed, refute
from paraply.models.kernel.normal_form import assertions
from paraply.models.kernel.search import Outcome
from paraply.models.language.system import System, obligations
from paraply.models.language.terms import FALSE, INT, conj, eq, negate
from paraply.vocabulary.errors import ParaplyError
from tests.models.built import SYSTEMS

STORE = Store()
SEED = 20_260
BYTES_MAX = 120
"""Of a system's certificates on average."""


def some_obligations(count):
    """Return obligations of all systems, the same ones each time."""
    everything = [part for system in SYSTEMS.values() for part in obligations(system)]
    return Random(SEED).sample(everything, count)


@pytest.mark.long
def test_certificates_are_kept_for_exactly_the_obligations_of_the_theorems():
    for system in SYSTEMS.values():
        kept = read(path_of(system.name))
        assert set(kept) == {name_of(part) for part in obligations(system)}
    assert set(FOLDER.glob("*.json")) == {path_of(name) for name in SYSTEMS}


def test_certificates_are_small():
    for path in FOLDER.glob("*.json"):
        assert path.stat().st_size < BYTES_MAX * len(read(path)), path.name


@pytest.mark.long
def test_certificate_is_accepted_only_for_its_own_obligation():
    parts = some_obligations(40)
    for part in parts:
        assert check(part, STORE.certificate(part)).is_proved
    for part, other in pairwise(parts):
        found = check(part, STORE.certificate(other))
        assert not found.is_proved
        assert "seal" in found.reason


@pytest.mark.long
def test_no_step_of_a_certificate_can_be_dropped():
    for part in some_obligations(60):
        steps = STORE.certificate(part).steps
        for number in range(len(steps)):
            fewer = Certificate("", steps[:number] + steps[number + 1 :])
            assert not check_unsealed(part, fewer).is_proved


def changed(certificate, chance):
    """Return the steps with one thing about them changed."""
    steps = [list(step) for step in certificate.steps]
    place = chance.randrange(len(steps))
    step = steps[place]
    kind = chance.choice(["drop", "double", "renumber", "swap", "reuse", "sum"])
    if kind == "drop":
        del steps[place]
    elif kind == "double":
        steps.append(list(step))
    elif kind == "renumber":
        step[0] += chance.choice([-1, 1])
    elif kind == "swap" and len(step) > 2:
        step[1:] = reversed(step[1:])
    elif kind == "reuse" and len(step) > 1:
        step[chance.randrange(1, len(step))] = chance.choice([s[-1] for s in steps])
    elif len(step) > 1:
        step[-1] = ["+", step[-1], 1]
    return tuple(map(tuple, steps))


@pytest.mark.long
def test_no_changed_certificate_is_accepted_under_its_old_seal():
    chance, tried = Random(SEED), 0
    for part in some_obligations(120):
        certificate = STORE.certificate(part)
        for _ in range(6):
            steps = changed(certificate, chance)
            if steps != certificate.steps:
                tried += 1
                assert not check(part, replace(certificate, steps=steps)).is_proved
        assert not check(part, replace(certificate, seal=certificate.seal[::-1])).is_proved
    assert tried > 400


@pytest.mark.long
def test_changed_certificate_that_is_sealed_again_is_accepted_only_if_its_instances_contradict():
    chance, accepted, refused = Random(SEED), 0, 0
    for part in some_obligations(100):
        found = assertions(part)
        for _ in range(3):
            steps = Certificate("", changed(STORE.certificate(part), chance))
            if not check_unsealed(part, steps).is_proved:
                refused += 1
                continue
            accepted += 1
            told = [ground(found, one) for one in instances(steps, part, found)]
            assert contradicting(told, (*part.constants, *some_elements(told))) is not None
    assert refused > 100  # most changes make a certificate worthless
    assert accepted > 0  # doubling a step does not


def candidates(part):
    """Return many instances of everything that is asserted, the same ones each time."""
    found = assertions(part)
    first, second = islice(layers(found, range(len(found)), part.constants), 2)
    some = [*first, *second]
    return found, Random(SEED).sample(some, min(len(some), 120))


def test_few_instances_where_terms_meet_their_like_hold_all_that_a_hard_certificate_needs():
    wanted = ("every_step_is_matched", "start")
    (part,) = (
        part for part in obligations(SYSTEMS["applier_in_member"])
        if (part.statement, part.step) == wanted
    )  # fmt: skip
    found = assertions(part)
    needed_here = instances(STORE.certificate(part), part, found)
    core = sorted({instance.assertion for instance in needed_here})
    *_, before, last = islice(matches(found, core), 3)
    assert len(before) < len(last) < 500
    assert set(needed_here) <= set(last)


def is_false(part):
    """Return whether Z3 finds a counterexample, as it does at once if it does at all."""
    return judge_z3(part, steps_max=300_000).answer is Answer.REFUTED


def accepts_nothing(part, *certificates):
    found, everything = candidates(part)
    assert refute(found, everything) is not Outcome.REFUTED
    for certificate in certificates:
        assert not check(part, certificate).is_proved
        assert not check_unsealed(part, certificate).is_proved


@pytest.mark.long
def test_no_certificate_is_accepted_for_a_problem_that_lost_what_it_needs():
    tried = 0
    for part in some_obligations(100):
        certificate = STORE.certificate(part)
        for number in range(len(part.hypotheses)):
            kept = part.hypotheses[:number] + part.hypotheses[number + 1 :]
            weaker = replace(part, hypotheses=kept)
            assert not check(weaker, certificate).is_proved
            if is_false(weaker):
                tried += 1
                accepts_nothing(weaker, certificate)
        if tried > 10:  # how many obligations that takes differs between samples
            return
    pytest.fail(f"only {tried} false problems")


@pytest.mark.long
def test_no_certificate_is_accepted_for_the_opposite_goal():
    tried = 0
    for part in some_obligations(100):
        opposite = replace(part, goal=negate(part.goal))
        if is_false(opposite):
            tried += 1
            accepts_nothing(opposite, STORE.certificate(part))
        if tried > 10:
            return
    pytest.fail(f"only {tried} false problems")


@pytest.mark.long
def test_no_instances_prove_what_is_false_of_a_faulty_system():
    tried = 0
    for entry in Random(SEED).sample(COUNTEREXAMPLES, 32):
        parts = islice(needed(entry.system(), (entry.statement,)), 40)
        false = next((part for part in parts if is_false(part)), None)
        if false is not None:
            tried += 1
            accepts_nothing(false)
    assert tried >= 8


def counter(limit):
    system = System("counter")
    n = system.state("n", INT)
    system.starts_with("zero", (), eq(n(), 0))
    system.action("up", guard=n() < limit, updates={n: lambda: n() + 1})
    system.safe("small", (), n() <= 3, "")
    system.invariant("small", (), n() <= 3, "")
    return system


def test_maker_finds_a_certificate_of_what_is_true_and_none_of_what_is_false():
    assert [make(part) is None for part in obligations(counter(3))] == [False, False, False]
    assert [make(part) is None for part in obligations(counter(4))] == [False, True, False]


def test_renewing_keeps_what_is_good_and_replaces_what_is_stale():
    certificates, missing, made = renew(counter(3), {})
    assert (len(certificates), missing, made) == (3, [], 3)
    again, _, made = renew(counter(3), certificates)
    assert (again, made) == (certificates, 0)
    _, missing, made = renew(counter(4), certificates)
    assert (missing, made) == (["small/up"], 1)


@pytest.mark.long
def test_making_a_certificate_afresh_gives_what_is_kept():
    for part in some_obligations(24):
        assert make(part) == STORE.certificate(part), (part.system, name_of(part))


def test_certificates_read_back_as_they_were_written(tmp_path):
    part = obligations(counter(3))[1]
    found = assertions(part)
    whole = sealed(part, [Instance(number, ()) for number in range(len(found))])
    write(tmp_path / "counter.json", {name_of(part): whole})
    assert read(tmp_path / "counter.json") == {name_of(part): whole}
    assert Store(tmp_path).certificate(part) == whole
    assert Store(tmp_path).certificate(obligations(counter(3))[0]) is None


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a/b": []}', '{"a/b": [1]}', '{"a/b": ["seal", 1]}', "[" * 100_000]
)
def test_file_that_holds_no_certificates_is_refused_with_its_name(tmp_path, text):
    path = tmp_path / "counter.json"
    path.write_text(text)
    with pytest.raises(ParaplyError, match=r"P711 .*counter\.json"):
        read(path)


def test_obligation_without_certificate_is_undecided_and_says_what_to_do():
    judgment = judge_kernel(obligations(counter(3))[0])
    assert judgment.answer is Answer.UNDECIDED
    assert "make certificates" in judgment.reason


def test_command_writes_what_is_missing_and_removes_what_is_left_over(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(command, "systems", lambda: [SYSTEMS["members"]])
    kept = (FOLDER / "members.json").read_text()
    members = json.loads(kept)
    members.popitem()
    (tmp_path / "members.json").write_text(json.dumps(members))
    (tmp_path / "forgotten.json").write_text("{}")
    assert command.main(["--folder", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "members: 32 certificates, 1 of them sought" in printed
    assert "removed forgotten.json" in printed
    assert [path.name for path in tmp_path.glob("*")] == ["members.json"]
    assert (tmp_path / "members.json").read_text() == kept


def test_contradictory_hypotheses_are_a_contradiction_whatever_the_goal():
    part = obligations(counter(3))[0]
    n = counter(3).functions[0]
    nonsense = replace(part, hypotheses=(conj(n() < 0, n() > 0),), goal=FALSE)
    assert make(nonsense) is not None
