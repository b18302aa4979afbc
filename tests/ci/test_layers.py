"""The import table is enforced: each forbidden import, and each circle, is found."""

from __future__ import annotations

import pytest

from ci.layers import circles, module_violations, violations


@pytest.mark.long
def test_the_package_follows_the_table(repository):
    assert violations(repository) == []


@pytest.mark.parametrize(
    ("module", "line", "why"),
    [
        ("properties/apply/new.py", "import paraply.reference_impl.subject", "reference_impl"),
        ("models/systems/new.py", "from paraply.properties import registry", "properties"),
        ("models/systems/new.py", "import z3", "library z3"),
        ("vocabulary/new.py", "import numpy", "library numpy"),
        ("vocabulary/new.py", "def late():\n    from paraply.adapters import binlog", "adapters"),
        ("auditing/new.py", "from paraply.exploring import explore", "exploring"),
        ("adapters/binlog/new.py", "from tests.builders import logged", "tests"),
        ("auditing/new.py", "from . import pipeline", "relative import"),
        ("nowhere/new.py", "import os", "no row"),
    ],
)
def test_forbidden_import_is_found(module, line, why):
    (found,) = module_violations(module, line)
    assert why in found


def test_allowed_imports_are_accepted():
    assert module_violations("auditing/new.py", "from paraply.properties import registry") == []
    assert module_violations("models/judging/solver.py", "import z3") == []


def test_circle_is_found_and_late_imports_make_none():
    one, other = "auditing/one.py", "auditing/other.py"
    late = "def f():\n    from paraply.auditing.one import b"
    assert circles({one: "from paraply.auditing.other import a", other: late}) == []
    (found,) = circles(
        {
            one: "from paraply.auditing.other import a",
            other: "from paraply.auditing.one import b",
        }
    )
    assert "paraply.auditing.one, paraply.auditing.other" in found
