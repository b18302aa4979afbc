"""Every assumption is a switch of its system, and a counterexample shows what breaks without it."""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from functools import cache

import pytest

from paraply.models.claims.claim import Counterexample
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS
from paraply.models.systems import variants
from tests.conftest import REPOSITORY

ASSUMPTIONS = tomllib.loads((REPOSITORY / "proofs" / "assumptions.toml").read_text("utf-8"))
REFUTED = {counter.id: counter for counter in COUNTEREXAMPLES}
RULES = {
    module.__name__: getattr(module, "Rules", None) or module.Dialect
    for name, module in vars(variants).items()
    # pytest adds modules, too, under names with an @, where it rewrites assertions.
    if inspect.ismodule(module) and name.isidentifier()
}
"""The switches of each system, by the module of the system."""


SET_ABOVE = {
    ("paraply.models.systems.parallel_group", "copies_state"): "returning_group",
    ("paraply.models.systems.certification", "snapshots_are_fixed"): "group_in_certification",
}
"""Switches that a system on top of theirs turns off, with that one: it says more, not less."""


@cache
def module_of(build):
    """Return the name of the module whose system a variant builds."""
    (name,) = {
        value.__name__
        for value in inspect.getclosurevars(build).globals.values()
        if inspect.ismodule(value)
    }
    return name


@cache
def switches_of(build):
    """Return the value of every switch."""
    given = inspect.getclosurevars(build).nonlocals["switches"]
    fields = dataclasses.fields(RULES[module_of(build)])
    return {field.name: given.get(field.name, field.default) for field in fields} | {"name": ""}


def turned_off(counter):
    """Return the switches that tell a counterexample from the nearest system that it delimits."""
    mine = switches_of(counter.system)
    others = [
        {name for name, value in switches_of(build).items() if mine[name] != value}
        for theorem in THEOREMS
        if counter.id in theorem.delimited_by
        for build in theorem.systems
        if module_of(build) == module_of(counter.system)
    ]
    return min(others, key=len)


@pytest.mark.parametrize("name", sorted(ASSUMPTIONS))
def test_assumption_is_one_switch_and_breaks_a_theorem_that_assumes_it(name):
    counter = REFUTED[ASSUMPTIONS[name]["without"]]
    (switch,) = turned_off(counter)
    users = [theorem for theorem in THEOREMS if name in theorem.assumes]
    assert users
    delimited = [theorem for theorem in users if counter.id in theorem.delimited_by]
    assert delimited, f"{counter.id} delimits no theorem that assumes {name}"
    faulty = switches_of(counter.system)[switch]
    for build in (build for theorem in users for build in theorem.systems):
        if module_of(build) == module_of(counter.system):
            assert switches_of(build)[switch] != faulty


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_theorem_assumes_only_what_is_numbered(theorem):
    assert set(theorem.assumes) <= set(ASSUMPTIONS)
    named = {
        axiom.name for build in theorem.systems for axiom in build().axioms
        if axiom.name[0] == "A" and axiom.name[1:].isdigit()
    }  # fmt: skip
    assert named <= set(ASSUMPTIONS)


@pytest.mark.parametrize("counter", COUNTEREXAMPLES, ids=lambda counter: counter.id)
def test_counterexample_differs_from_a_theorem_in_a_switch(counter):
    assert isinstance(counter, Counterexample)
    assert turned_off(counter)


def test_every_switch_is_turned_off_by_some_counterexample():
    off = {
        (module_of(counter.system), switch)
        for counter in COUNTEREXAMPLES
        for switch in turned_off(counter)
    }
    proved = {
        (module_of(build), field.name)
        for theorem in THEOREMS
        for build in theorem.systems
        for field in dataclasses.fields(RULES[module_of(build)])
        if switches_of(build)[field.name] not in (field.default, "")
    }
    left = {
        (module, field.name)
        for module, rules in RULES.items()
        for field in dataclasses.fields(rules)
        if (module, field.name) not in off | proved and field.name != "name"
    }
    assert left == set(SET_ABOVE)
    systems = {build().name for theorem in THEOREMS for build in theorem.systems}
    assert set(SET_ABOVE.values()) <= systems
