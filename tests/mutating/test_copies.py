"""Changed copies of modules: which texts are replaced, and what is copied."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from paraply.mutating.copies import Change, ChangedCopy, ChangeError
from paraply.reference_impl.applier.coordinator import LogicalClock
from paraply.registries import mutant_named, registered_mutants, subject_named
from paraply.vocabulary.schedule import SeededSchedule

SOURCE = '''\
LIMIT = 1


class Window:
    """A window."""

    @property
    def size(self):
        """Return the size."""
        if self.low:
            return self.high - self.low
        return self.high

    def is_empty(self):
        """Return whether it is."""
        return self.size == 0


def size():
    return 1
'''


def changed(place, old, new):
    return Change(place, old, new).applied(SOURCE)


def test_text_is_replaced_in_the_named_function_alone():
    found = changed("m:Window.size", "self.high - self.low", "self.high")
    assert found == SOURCE.replace("self.high - self.low", "self.high")


def test_body_is_replaced_after_the_docstring():
    found = changed("m:Window.is_empty", "", "low = self.low\nreturn not low")
    assert '        """Return whether it is."""\n        low = self.low\n' in found
    assert found.endswith("        return not low\n\n\ndef size():\n    return 1\n")
    assert changed("m:size", "", "return 2").endswith("def size():\n    return 2\n")


def test_further_lines_are_indented_as_the_first():
    old = "if self.low:\n    return self.high - self.low\nreturn self.high"
    found = changed("m:Window.size", old, "high = self.high\n\nreturn high")
    assert (
        '        """Return the size."""\n        high = self.high\n\n        return high\n' in found
    )


def test_classes_and_modules_are_places_too():
    assert "    limit = 2\n\n    @property" in changed(
        "m:Window", "@property", "limit = 2\n\n@property"
    )
    assert changed("m", "LIMIT = 1", "LIMIT = 2").startswith("LIMIT = 2\n")


@pytest.mark.parametrize(
    ("place", "old", "reason"),
    [
        ("m:Window.size", "self.wide", "m:Window.size has 0 times: self.wide"),
        ("m:Window.size", "self.low", "m:Window.size has 2 times: self.low"),
        ("m:Window.size", "size == 0", "has 0 times"),
        ("m:Window.none", "x", "m:Window.none does not exist"),
    ],
)
def test_change_that_does_not_fit_is_refused(place, old, reason):
    with pytest.raises(ChangeError, match=reason):
        changed(place, old, "x")


def test_module_that_does_not_exist_is_refused():
    with pytest.raises(ChangeError, match=r"applier\.nothing:One does not exist"):
        ChangedCopy("none", "paraply.reference_impl", [Change("applier.nothing:One", "a", "b")])


MARK = [Change("applier.coordinator:LogicalClock.low_water_mark", "return mark", "return mark + 1")]


@pytest.fixture
def copy():
    return ChangedCopy("one mark too high", "paraply.reference_impl", MARK)


def test_only_what_imports_the_change_is_copied(copy):
    replica = copy.module("paraply.reference_impl.applier.replica")
    sleeping = copy.module("paraply.reference_impl.applier.sleeping")
    store = copy.module("paraply.reference_impl.applier.row_store")
    assert store is sys.modules["paraply.reference_impl.applier.row_store"]
    assert replica is not sys.modules["paraply.reference_impl.applier.replica"]
    assert replica.RowStore is store.RowStore
    assert sleeping.LogicalClock is not LogicalClock
    assert sleeping.LogicalClock().low_water_mark() == LogicalClock().low_water_mark() + 1


def test_imports_in_a_circle_are_followed_once():
    change = Change("applier.replica:Replica.on_read", "self.read(READER)", "self.read(AUDITOR)")
    circle = ChangedCopy("auditor reads", "paraply.reference_impl", [change])
    replica = circle.module("paraply.reference_impl.applier.replica")
    recovery = circle.module("paraply.reference_impl.applier.recovery")
    assert replica.Recovery is recovery.Recovery


def test_module_of_tests_is_copied_with_what_it_imports_as_changed():
    mutant = mutant_named("last_committed_off_by_one")
    systems = mutant.module("tests.machines.applier_system")
    assert systems.APPLIER is mutant.subject


def test_traceback_names_the_file_and_the_mutant(copy):
    clock = copy.module("paraply.reference_impl.applier.coordinator").LogicalClock
    file = clock.low_water_mark.__code__.co_filename
    assert Path(file.partition(",")[0]).name == "coordinator.py"
    assert file.endswith("changed by one mark too high")


def test_fault_is_beside_the_healthy_subject_not_in_it():
    mutant = mutant_named("last_committed_off_by_one")
    original = subject_named("applier")
    before = original.run(SeededSchedule(3), mutant.workload)
    assert mutant.subject.name == original.name
    assert mutant.subject is not original
    mutant.subject.run(SeededSchedule(3), mutant.workload)
    assert original.run(SeededSchedule(3), mutant.workload) == before
    assert subject_named("applier") is original


def test_names_are_given_once():
    names = Counter(mutant.name for mutant in registered_mutants())
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", [mutant.name for mutant in registered_mutants()])
def test_every_mutant_is_a_patch_that_applies_and_is_run(name):
    mutant = mutant_named(name)
    assert mutant.changes
    assert mutant.subject.name == mutant.of
    assert mutant.subject is not subject_named(mutant.of)
