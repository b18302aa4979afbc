"""Modules are hidden for a while, if nothing has imported them before."""

from __future__ import annotations

import importlib
import sys

import pytest

from paraply.vocabulary.hidden_modules import hidden_modules


def test_a_hidden_module_cannot_be_imported_and_later_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with hidden_modules("colorsys"), pytest.raises(ModuleNotFoundError):
        importlib.import_module("colorsys")
    assert importlib.import_module("colorsys").ONE_THIRD


def test_an_imported_module_is_not_hidden() -> None:
    with hidden_modules("sys"):
        assert importlib.import_module("sys") is sys
    assert sys.modules["sys"] is sys
