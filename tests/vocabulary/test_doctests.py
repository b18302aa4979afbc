"""The examples in the docstrings of the vocabulary are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from paraply import vocabulary

FOLDER = vocabulary.__path__
MODULES = [module.name for module in pkgutil.iter_modules(FOLDER, "paraply.vocabulary.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_module_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    found = sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES)
    assert found >= 10
