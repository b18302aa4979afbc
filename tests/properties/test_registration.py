"""No property is forgotten: what a module registers, ``paraply.properties.all`` imports."""

from __future__ import annotations

import re

from paraply.registries import registered_properties

REGISTERS = re.compile(r"^@(always|sometimes)\(", re.MULTILINE)


def test_all_modules_that_register_properties_are_imported(repository):
    folder = repository / "paraply" / "properties"
    registering = {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.py")
        if REGISTERS.search(path.read_text(encoding="utf-8"))
    }
    assert registering == {prop.area for prop in registered_properties()}


def test_property_states_a_fact_and_names_its_source():
    for prop in registered_properties():
        assert prop.meaning.endswith("."), prop.name
        assert prop.source, prop.name
