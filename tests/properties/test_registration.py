"""No property is forgotten: what a module registers, ``properties.all`` imports."""

from __future__ import annotations

import re

import properties.all
from properties.registry import registered_properties

REGISTERS = re.compile(r"^@(always|sometimes)\(", re.MULTILINE)


def test_all_modules_that_register_properties_are_imported(repository):
    registering = {
        path.stem
        for path in (repository / "properties").glob("*.py")
        if REGISTERS.search(path.read_text(encoding="utf-8"))
    }
    assert registering == set(properties.all.__all__)
    assert registering == {prop.area for prop in registered_properties()}


def test_property_states_a_fact_and_names_its_source():
    for prop in registered_properties():
        assert prop.meaning.endswith("."), prop.name
        assert prop.source, prop.name
