"""The compiled reading says what the readable one says, for every action of every system."""

from itertools import product
from random import Random

import pytest

from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope, World, evaluate, is_enabled, step
from tests.models.built import SYSTEMS


def random_world(system, scope, random):
    tables = {}
    for function in system.functions:
        values = scope.values(function.result)
        tables[function.name] = {
            arguments: random.choice(values)
            for arguments in scope.arguments(function)
            if random.random() < 0.8
        }
    return World(scope, tables)


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("name", SYSTEMS)
def test_guards_and_updates_are_those_of_the_readable_reading(name):
    system = SYSTEMS[name]
    reading = CompiledReading(system)
    scope = Scope(low=-1, high=2, size=2)
    random = Random(name)
    enabled = 0
    for _ in range(12):
        world = random_world(system, scope, random)
        for action in system.actions:
            choices = list(product(*(scope.values(p.sort) for p in action.parameters)))
            for values in random.sample(choices, min(4, len(choices))):
                bound = dict(zip(action.parameters, values, strict=True))
                named = {variable.name: value for variable, value in bound.items()}
                expected = is_enabled(action, world, bound)
                assert reading.is_enabled(action.name, world, named) == expected
                enabled += expected
                after = reading.step(action.name, world, named)
                assert after.tables == step(system, action, world, bound).tables
            names = [parameter.name for parameter in action.parameters]
            every = [dict(zip(names, values, strict=True)) for values in choices]
            known = dict(list(random.choice(every).items())[: random.randint(0, len(names))])
            found = reading.enabled(action.name, world, known)
            assert found == [
                one for one in every
                if known.items() <= one.items() and reading.is_enabled(action.name, world, one)
            ]  # fmt: skip
            enabled += len(found)
    assert enabled


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("name", SYSTEMS)
def test_statements_are_true_where_the_readable_reading_says_so(name):
    system = SYSTEMS[name]
    reading = CompiledReading(system)
    random = Random(name)
    stated = [*system.initially, *system.axioms, *system.invariants, *system.safety]
    truths = set()
    for _ in range(4):
        world = random_world(system, Scope(low=-1, high=1, size=2), random)
        for statement in stated:
            true = evaluate(statement.closed, world, {})
            assert reading.holds(statement.closed, world) == true, statement.name
            truths.add(true)
    assert truths == {True, False}
