"""What the clock does not run: it changes no moment."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import pytest

from paraply.reference_impl.comparison.appliers import APPLIERS
from paraply.reference_impl.comparison.jobs import Serial
from paraply.reference_impl.comparison.mariadb import ParallelMode
from paraply.reference_impl.comparison.measures import is_as_serial, measured
from paraply.reference_impl.comparison.runs import Run
from paraply.reference_impl.comparison.tasks import Costs, LogBuilder, RowEvent
from paraply.reference_impl.mariadb.modes import Mode
from paraply.vocabulary.timestamps import LogicalTimestamp

SERVERS = [name for name in APPLIERS if name.startswith(("mysql-", "mariadb-"))]


def drawn_log(seed, *, domains=3, marks=0.2):
    """Return tasks with everything that a log may have."""
    random = Random(seed)
    builder = LogBuilder()
    keys, rows_max = random.choice([3, 8, 30, 200, 1000]), random.choice([1, 3, 8])
    barriers, reads = random.choice([0, 0.05, 0.2]), random.choice([0, 0.2, 0.6])
    domains, groups = random.randint(1, domains), random.choice([1, 3, 8])
    group = clock = sequence = arrival = 0
    for number in range(random.choice([5, 20, 40])):
        is_barrier = random.random() < barriers
        rows = []
        for place in range(0 if is_barrier else random.randint(0, rows_max)):
            table = random.randrange(4)
            writes = {builder.key((table, random.randrange(keys))) for _ in range(2)}
            if random.random() < 0.5:
                writes.add(builder.key(("its own", number, place)))
            read = {builder.key((table, random.randrange(keys)))} if random.random() < reads else ()
            read = {*read, builder.key(("never written", table))} - writes
            rows.append(
                RowEvent(table=f"s{table % 2}.t{table}", writes=tuple(writes), reads=tuple(read))
            )
        task = builder.add(rows, is_barrier=is_barrier)
        group += random.random() < 1 / groups
        if random.random() < 0.03:
            clock, sequence = clock + 1, 0
        sequence += 1
        arrival += random.choice([0, 0, 0, 4]) if seed % 3 == 0 else 0
        task.group, task.clock, task.arrival = group, clock, arrival
        task.domain = random.randrange(domains)
        task.stamp = LogicalTimestamp.as_recorded(max(0, sequence - random.randint(1, 6)), sequence)
        task.has_waited = random.random() < marks
        task.is_held_back = random.random() < marks
        task.is_irreversible = random.random() < 0.05
    log = builder.log()
    if random.random() < 0.5:
        log.costs = Costs(
            row=random.choice([1, 7]), commit=random.choice([1, 3, 11]),
            ddl=random.choice([1, 20]), undo=random.choice([1, 4]),
        )  # fmt: skip
    return log


def told(run):
    """Return all that a run tells but whether it had spare workers."""
    return {one.name: getattr(run, one.name) for one in fields(Run)[1:-1]}


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("name", APPLIERS)
def test_row_events_that_no_other_task_meets_are_applied_at_once_without_another_moment(name):
    skipped = 0
    for seed in range(40):
        log, every = drawn_log(seed), drawn_log(seed)
        every.met = set(every.numbers.values())
        skipped += len(log.meetings.alone)
        for workers in (1, 3, 8):
            found, wanted = (APPLIERS[name].run(one, workers) for one in (log, every))
            assert told(found) == told(wanted)
            assert measured(log, found) == measured(every, wanted)
    assert skipped


def test_no_moment_is_kept_if_a_key_that_tasks_meet_over_is_forgotten():
    different = 0
    for seed in range(40):
        log, forgetful = drawn_log(seed), drawn_log(seed)
        forgetful.met = set()
        optimistic = APPLIERS["mariadb-optimistic"]
        different += told(optimistic.run(log, 8)) != told(optimistic.run(forgetful, 8))
    assert different


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", SERVERS)
def test_one_worker_of_a_server_is_the_serial_applier(name):
    for seed in range(60):
        log = drawn_log(seed)
        found, serial = APPLIERS[name].run(log, 1), Serial(log).run()
        assert (found.begun, found.done, found.touched) == (
            serial.begun, serial.done, serial.touched,
        )  # fmt: skip
        assert is_as_serial(log, found)
        assert seed % 3 == 0 or found.makespan == log.work


@pytest.mark.long(quick=8)
@pytest.mark.parametrize("name", SERVERS)
def test_more_workers_change_nothing_where_the_others_were_spare(name):
    seen = set()
    for seed in range(150):
        log = drawn_log(seed, domains=1 + seed % 2)
        for workers in (2, 3, 5):
            run = APPLIERS[name].run(log, workers)
            seen.add(run.has_spare_workers)
            if run.has_spare_workers:
                for more in (workers + 1, 2 * workers, 16):
                    assert told(APPLIERS[name].run(log, more)) == told(run)
    assert seen == {True, False} or name.startswith("mysql-database")


@pytest.mark.parametrize("name", SERVERS)
def test_run_is_as_the_serial_one_if_it_misses_no_row_and_none_overlaps(name):
    for seed in range(40):
        log = drawn_log(seed)
        run = APPLIERS[name].run(log, 5)
        found = measured(log, run)
        assert is_as_serial(log, run) == (
            found.ends_as_serial and not found.misapplied and not found.overlaps
        )


def test_aggressive_mode_is_optimistic_where_no_task_is_marked():
    unmarked = marked = 0
    for seed in range(60):
        for marks in (0, 0.2):
            log = drawn_log(seed, marks=marks)
            if not marks:
                for task in log.tasks[1:]:
                    task.has_waited = task.is_barrier or task.is_irreversible
            runs = [
                told(ParallelMode(log, 8, mode=mode).run())
                for mode in (Mode.OPTIMISTIC, Mode.AGGRESSIVE)
            ]
            assert marks or runs[0] == runs[1]
            unmarked += not marks
            marked += runs[0] != runs[1]
    assert unmarked
    assert marked
