"""A slice of the fuzz, and that it would notice a kernel that errs."""

from __future__ import annotations

import pytest

from paraply.models.kernel import congruence, nodes, search, theory
from tests.models.kernel.fuzz import judge

SLICES, PROBLEMS = 10, 100


@pytest.mark.long(each=4)
@pytest.mark.parametrize("first", range(0, SLICES * PROBLEMS, PROBLEMS))
def test_kernel_refutes_nothing_that_a_solver_can_satisfy(first):
    judged = {seed: judge(seed) for seed in range(first, first + PROBLEMS)}
    faults = {seed: each.fault for seed, each in judged.items() if each.fault}
    assert not faults, "python -m tests.models.kernel.fuzz --problems 1 --seed <one of these>"
    met = {(each.has_quantifiers, each.is_proved) for each in judged.values()}
    assert len(met) == 4  # contradictory or not, with quantifiers or without


def caught(seeds):
    """Return whether a fault shows up among the first problems; a crash is one too."""
    for seed in range(seeds):
        try:
            if judge(seed).fault:
                return True
        except AssertionError:
            return True
    return False


def test_fuzz_notices_a_negated_difference_that_is_off_by_one(monkeypatch):
    def negated(self):
        return nodes.Difference(self.right, self.left, -self.bound)

    monkeypatch.setattr(nodes.Difference, "negated", negated)
    assert caught(300)


def test_fuzz_notices_a_negation_that_excludes_too_much(monkeypatch):
    def negated(self):
        return nodes.Difference(self.right, self.left, -self.bound - 2)

    monkeypatch.setattr(nodes.Difference, "negated", negated)
    assert caught(300)


def test_fuzz_notices_nodes_that_are_equal_without_reason(monkeypatch):
    monkeypatch.setattr(congruence.Congruence, "explain", lambda self, left, right: set())
    assert caught(300)


def test_fuzz_notices_functions_that_are_not_congruent(monkeypatch):
    monkeypatch.setattr(congruence.Congruence, "same", lambda self, left, right: left == right)
    assert caught(300)


def test_fuzz_notices_a_clause_that_lost_a_literal(monkeypatch):
    watch = search._Search._watch

    def careless(self, clause):
        watch(self, clause[:-1] if len(clause) > 2 else clause)

    monkeypatch.setattr(search._Search, "_watch", careless)
    assert caught(300)


@pytest.mark.long
def test_fuzz_notices_a_contradiction_with_a_literal_too_few(monkeypatch):
    contradiction = theory.Theory.contradiction

    def careless(self, literals):
        found = contradiction(self, literals)
        return found[:-1] if found and len(found) > 1 else found

    monkeypatch.setattr(theory.Theory, "contradiction", careless)
    assert caught(300)


def test_fuzz_notices_bounds_that_are_ignored(monkeypatch):
    monkeypatch.setattr(theory, "solve", lambda edges, size: [0] * size)
    assert caught(300)
