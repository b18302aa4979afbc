"""Whatever the reference applier gives to a worker, the specification allows to start.

The coordinator of the reference is stricter than the specification (it waits for all at a gap), so
its steps must be among those that the theorems cover; the mutants of its low-water mark must not.
"""

from __future__ import annotations

import pytest

import paraply.reference_impl.subjects  # noqa: F401 - registers
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope, World
from paraply.models.systems.applier import WL8440, parallel_applier
from paraply.properties.search import random_schedules
from paraply.reference_impl.applier.subject import APPLIER
from paraply.reference_impl.mutants import mutant_named
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import TransactionKind

SPECIFICATION = CompiledReading(parallel_applier(WL8440))
OPTIONS = {"workers": 3, "rotations": 0, "view_changes": 1, "reads": 0, "sessions": 1}


def world_of(history):
    """Return the world in which the whole log is delivered and nothing has started."""
    tables = {"n": {(): len(history.transactions)}, "sn": {}, "lc": {}, "vc": {}}
    for position, transaction in enumerate(history.transactions):
        tables["sn"][position,] = transaction.timestamp.sequence_number
        tables["lc"][position,] = transaction.timestamp.last_committed
        tables["vc"][position,] = transaction.kind is TransactionKind.VIEW_CHANGE
    return World(Scope(low=-1, high=len(history.transactions)), tables)


def refused_steps(history):
    """Return how many steps were compared, and those that the specification does not allow."""
    world, count, refused = world_of(history), 0, []
    for event in history.events:
        name = {EventKind.SCHEDULED: "start", EventKind.ENGINE_COMMITTED: "finish"}.get(event.kind)
        if name is None:
            continue
        bound = {"q" if name == "start" else "p": event.transaction - 1}
        count += 1
        if not SPECIFICATION.is_enabled(name, world, bound):
            refused.append((name, event.transaction))
            break
        world = SPECIFICATION.step(name, world, bound)
    return count, refused


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("dialect", ["logical_clock", "logical_clock_unordered"])
def test_every_start_of_the_reference_is_a_start_of_the_specification(dialect):
    workload = Workload(transactions=6, rows=4, dialect=dialect, options=OPTIONS)
    total = 0
    for schedule in random_schedules(0, 300):
        count, refused = refused_steps(APPLIER.run(schedule, workload))
        assert not refused, schedule.seed
        total += count
    assert total > 4_000


@pytest.mark.parametrize(
    "name", ["low_water_mark_is_highest_done", "last_committed_off_by_one",
             "last_committed_is_one_parent", "zero_means_no_dependency"],
)  # fmt: skip
def test_start_of_a_faulty_coordinator_is_refused_by_the_specification(name):
    mutant = mutant_named(name)
    workload = Workload(
        transactions=6, rows=4, dialect="logical_clock_unordered",
        options={**OPTIONS, "stamps": mutant.workload.options.get("stamps", "mysql_8_0")},
    )  # fmt: skip
    assert any(
        refused_steps(mutant.subject.run(schedule, workload))[1]
        for schedule in random_schedules(0, 2000)
    )
