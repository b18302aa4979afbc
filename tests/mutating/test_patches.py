"""Mutations of functions: which ones, and how they are loaded and taken out again."""

from __future__ import annotations

import inspect

import pytest

from paraply.mutating.operators import Swaps, mutations
from paraply.mutating.patches import LoadedFunctions, PatchError
from tests.mutating import sample

SOURCE = """
class Window:
    low: int
    high: int
    name: str

    def holds(self, one: int, other: int, text: str) -> bool:
        self.record(one)
        return self.low <= one and between(one, other)


def between(one, other):
    return one < other
"""


def changes(**swaps):
    return {one.what: one for one in mutations(SOURCE, swaps=Swaps(**swaps))}


@pytest.mark.parametrize(
    "what",
    [
        "`between(one, other)` → `between(other, one)`",
        "`one` → `other`",
        "`self.low` → `self.high`",
        "`self.low <= one` → `self.low < one`",
        "`one < other` → `one >= other`",
        "`self.record(one)` → `pass`",
    ],
)
def test_arguments_variables_and_attributes_of_one_type_are_confused(what):
    assert what in changes()


def test_variables_of_other_types_are_not_confused():
    assert not {what for what in changes() if "text" in what or "name" in what}


def test_unchanged_calls_and_unwired_names_stay_as_they_are():
    assert "`self.record(one)` → `pass`" not in changes(unchanged=frozenset({"record"}))
    assert "`one` → `other`" not in changes(is_wired=False)


@pytest.fixture
def loaded():
    functions = LoadedFunctions("tests")
    yield functions
    functions.restore()


def mutation_of(place, what):
    found = mutations(inspect.getsource(sample))
    return next(one for one in found if one.place == place and what in one.what)


def test_patch_reaches_subclasses_properties_and_caches_and_is_undone(loaded):
    account = sample.Savings(5)
    assert (account.may_take(5), account.is_empty, sample.fee(3)) == (True, False, 4)
    loaded.load(mutation_of("Account.may_take", "<= self.balance` → `amount < "), sample)
    loaded.load(mutation_of("Account.is_empty", "`self.balance == 0` → `self.balance != "), sample)
    loaded.load(mutation_of("fee", "`amount + 1` → `amount - 1`"), sample)
    assert (account.may_take(5), account.is_empty, sample.fee(3)) == (False, True, 2)
    loaded.restore()
    assert (account.may_take(5), account.is_empty, sample.fee(3)) == (True, False, 4)


def test_patch_that_fits_no_loaded_function_is_refused(loaded):
    (found, *_) = mutations("def unknown(x: int):\n    return x + 1\n")
    with pytest.raises(PatchError, match="no function unknown"):
        loaded.load(found, sample)


def test_dropped_super_call_fits_and_is_undone(loaded):
    loaded.load(mutation_of("Savings.__init__", "super().__init__(balance)` → `pass"), sample)
    assert not hasattr(sample.Savings(2), "balance")
    loaded.restore()
    assert sample.Savings(2).balance == 2
