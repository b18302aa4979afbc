"""The page on Hypothesis lists every machine, with its dialects, preconditions and Bundles."""

import importlib
import pkgutil
import re

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from paraply.properties import machines
from paraply.registries import subject_named
from tests.docs.console import ROOT

PAGE = (ROOT / "docs/hypothesis.md").read_text(encoding="utf-8")
ROWS = {
    name: cells
    for name, *cells in re.findall(
        r"^\| `(\w+Machine)`, `(\w+)` \| (.+?) \| (.+?) \|(.*) \|$", PAGE, re.MULTILINE
    )
}


def known():
    """Return the machines by name, without the base class of several."""
    found = {}
    for one in pkgutil.iter_modules(machines.__path__):
        module = importlib.import_module(f"{machines.__name__}.{one.name}")
        for name, value in vars(module).items():
            is_own = isinstance(value, type) and value.__module__ == module.__name__
            if is_own and issubclass(value, RuleBasedStateMachine) and hasattr(value, "make"):
                found[name] = value
    return found


MACHINES = known()


def rules_of(machine):
    """Return the rules of a machine of no system."""
    bound = type("Bound", (machine,), {"make": lambda self: None})
    return bound().rules


class Asked:
    """Stands for a machine and its system; it notes which method a precondition calls."""

    def __init__(self, names):
        self.names = names

    def __getattr__(self, name):
        if name in ("tested", "channel"):
            return self
        self.names.add(name)
        return lambda: True


def test_the_page_lists_every_machine_and_its_module():
    assert {name: f"{row[0]}" for name, row in ROWS.items()} == {
        name: machine.__module__.rpartition(".")[2] for name, machine in MACHINES.items()
    }


@pytest.mark.parametrize("name", ROWS)
def test_a_row_names_the_preconditions_and_bundles_of_its_machine(name):
    rules = rules_of(MACHINES[name])
    asked = set()
    for one in rules:
        for holds in one.preconditions:
            holds(Asked(asked))
    bundles = {target for one in rules for target in one.targets}
    methods, _, listed = ROWS[name][3].partition("Bundle")
    assert set(re.findall(r"`(\w+)`", methods)) == asked
    assert set(re.findall(r"`(\w+)`", listed)) == bundles


@pytest.mark.parametrize("name", ROWS)
def test_a_row_names_dialects_that_exist(name):
    subjects, _, dialects = re.sub(" without ", ": ", ROWS[name][2]).partition(": ")
    found = [subject_named(one) for one in re.findall(r"`(\w+)`", subjects)]
    assert found
    assert set(re.findall(r"`(\w+)`", dialects)) <= {one for each in found for one in each.dialects}


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_has_the_invariant_that_the_page_names(name):
    assert "`nothing_is_broken_so_far`" in PAGE
    bound = type("Bound", (MACHINES[name],), {"make": lambda self: None})
    assert [one.function.__name__ for one in bound().invariants] == ["nothing_is_broken_so_far"]
