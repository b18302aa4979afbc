"""Predictions of a key on a table without one, against logs of a source whose table has it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.auditing.counterfactuals import Setting, Ways, counterfactuals
from paraply.auditing.logged_source import Source
from paraply.auditing.predicting import prediction
from paraply.reference_impl.certification.trackers import WritesetTracker
from paraply.reference_impl.comparison.appliers import APPLIERS, AS_LOGGED, WRITESET
from paraply.reference_impl.comparison.changed import keyless_tables, with_key, without_table
from paraply.reference_impl.comparison.logged import LoggedTasks
from paraply.reference_impl.comparison.tasks import WholeTable
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, TRANSACTIONAL, WAITED
from paraply.reference_impl.workloads.stamps import (
    commit_parents,
    restamped,
    timestamps,
    tracked_tasks,
)
from paraply.reporting.audit.faster_outline import faster_lines
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.log import ABSENT
from tests.builders.key_cases import registry_of
from tests.builders.logged import delete, insert, transaction, update

JOURNAL, OTHER, KEYED = "d.journal", "d.notes", "d.t"
WITH_KEY = "CREATE TABLE journal (at INT NOT NULL PRIMARY KEY, v INT)"
SCHEMA = (
    "CREATE TABLE journal (at INT NOT NULL, v INT)",
    "CREATE TABLE notes (at INT NOT NULL, v INT)",
    "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, v INT)",
)
WORKERS = (1, 2, 3, 8)
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
UNSHRUNK = settings(
    phases=[Phase.generate], max_examples=500, suppress_health_check=SLOW, database=None
)
MONOTONE = (("mysql", "mysql-writeset"), ("mariadb", "mariadb-conservative"))
"""Ways to apply that undo nothing. Optimistic mode may lose time where less waits."""
SPECULATIVE = ("mariadb-optimistic", "mariadb-aggressive")


def log_of(*transactions, family, groups=None, waited=(), schema=SCHEMA):
    """Return the source of transactions, each given by its rows."""
    keys = KeyBuilder(registry_of(*schema))
    tasks = LoggedTasks(keys)
    groups = groups or list(range(1, len(transactions) + 1))
    for ordinal, (rows, group) in enumerate(zip(transactions, groups, strict=True), start=1):
        fields = {}
        if family == "mariadb":
            flags = {TRANSACTIONAL, ALLOW_PARALLEL} | ({WAITED} if ordinal in waited else set())
            fields = {"commit_id": group, "domain": 0, "flags": frozenset(flags)}
        txn = transaction(ordinal, rows=rows, **fields)
        keys.complete_transaction(txn)
        tasks.add(txn)
    log = tasks.log()
    if family == "mariadb":
        return Source(log=log, stamps={}, has_commit_ids=True)
    stamps = timestamps(tracked_tasks(log), groups, WritesetTracker())
    return Source(log=log, stamps={AS_LOGGED: stamps, WRITESET: stamps}, has_commit_ids=False)


def with_change(source, change):
    """Return a source of the changed log, with the stamps that it would have written."""
    log = change(source.log)
    if not source.stamps:
        return replace(source, log=log)
    parents = commit_parents(source.log, source.stamps[AS_LOGGED])
    return replace(source, log=log, stamps={WRITESET: restamped(log, parents, WritesetTracker())})


@st.composite
def stories(draw):
    """Transactions of rows, of which none returns once deleted, in groups, and those that waited.

    Members of a group share no row, and no table without a key.
    """
    txns, groups, seen, group = [], [], set(), 1
    versions = {}
    for _ in range(draw(st.integers(2, 10))):
        rows, touched = [], set()
        for _ in range(draw(st.integers(1, 3))):
            table = draw(st.sampled_from([JOURNAL, JOURNAL, KEYED, OTHER]))
            at = draw(st.integers(1, 4))
            version = versions.get((table, at))
            if version == "deleted":
                continue
            versions[table, at] = 0 if version is None else version + 1
            if version is None:
                rows.append(insert(table, at, 0))
            elif draw(st.integers(0, 3)):
                rows.append(update(table, (at, version), (at, version + 1)))
            else:
                versions[table, at] = "deleted"
                rows.append(delete(table, at, version))
            touched.add((table, at) if table == KEYED else table)
        if seen & touched or draw(st.booleans()):
            group, seen = group + 1, set()
        seen |= touched
        txns.append(rows)
        groups.append(group)
    return txns, groups, draw(st.sets(st.integers(1, len(txns))))


def written(story, family, **fields):
    txns, groups, waited = story
    return log_of(*txns, family=family, **{"groups": groups, "waited": waited, **fields})


def really_keyed(story, family):
    """Return the source if the table had a key; who met only the table had waited for it."""
    txns, _, waited = story
    seen, still = set(), set()
    for ordinal, rows in enumerate(txns, start=1):
        own = {(row.before or row.after)[0] for row in rows if row.table == JOURNAL}
        if ordinal in waited and (not own or own & seen):
            still.add(ordinal)
        seen |= own
    return written(story, family, waited=still, schema=(WITH_KEY, *SCHEMA[1:]))


def disagreement(story, change=with_key):
    """Return where the predicted key differs from the log of a source that has it."""
    for family, names in (("mysql", ("mysql-writeset",)),
                          ("mariadb", ("mariadb-conservative", *SPECULATIVE))):  # fmt: skip
        before, after = written(story, family), really_keyed(story, family)
        changed = with_change(before, lambda log: change(log, JOURNAL))
        if before.stamps:
            # The source stamps by the same commits, but with other keys.
            parents = commit_parents(before.log, before.stamps[AS_LOGGED])
            after.stamps[WRITESET] = restamped(after.log, parents, WritesetTracker())
            if list(map(str, changed.stamps[WRITESET])) != list(map(str, after.stamps[WRITESET])):
                return family, "stamps"
        for name in names:
            for workers in WORKERS:
                one, other = (each.moments(APPLIERS[name], workers) for each in (changed, after))
                if one.done != other.done:
                    return name, workers
    return None


@pytest.mark.long
@settings(suppress_health_check=SLOW)
@given(stories())
def test_key_is_predicted_as_the_log_of_a_source_that_has_it(story):
    assert disagreement(story) is None


def _keeps_waiting(log, table):
    found = with_key(log, table)
    for task, old in zip(found.tasks, log.tasks, strict=True):
        task.has_waited = old.has_waited
    return found


def _stays_unkeyed(log, table):
    found = with_key(log, table)
    for task, old in zip(found.tasks, log.tasks, strict=True):
        task.unkeyed_tables = old.unkeyed_tables
    return found


def _forgets_rows(log, table):
    return without_table(with_key(log, table), table)


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", [_keeps_waiting, _stays_unkeyed, _forgets_rows, lambda log, table: log]
)
def test_wrong_key_is_caught(fault):
    find(stories(), lambda story: disagreement(story, fault) is not None, settings=UNSHRUNK)


@pytest.mark.long
@pytest.mark.parametrize(("family", "applier"), MONOTONE)
def test_key_is_between_the_log_as_it_is_and_a_table_that_orders_nothing(family, applier):
    @settings(suppress_health_check=SLOW)
    @given(stories())
    def is_between(story):
        source = written(story, family)
        free = with_change(source, lambda log: _forgets_rows(log, JOURNAL))
        keyed = with_change(source, lambda log: with_key(log, JOURNAL))
        for workers in WORKERS:
            ends = [one.moments(APPLIERS[applier], workers).makespan
                    for one in (free, keyed, source)]  # fmt: skip
            assert ends == sorted(ends)

    is_between()


# What is listed.

WAYS = {
    "mariadb": Ways(now="mariadb-conservative", workload="mariadb-optimistic", workers=8,
                    settings=(Setting(applier="mariadb-optimistic", change="mode"),)),
    "mysql": Ways(now="mysql-as-logged", workload="mysql-writeset", workers=8, forgets=True,
                  settings=()),
}  # fmt: skip


def keys_found(source, family):
    ways = WAYS[family]
    known = [prediction(source, name, WORKERS) for name in (ways.now, ways.workload)]
    found = counterfactuals(source, ways, known, prediction)
    return [one for one in found if one.kind == "key"], found


def inserts_then_deletes(table, count=20):
    """Return transactions that fill a table and, in another order, empty it."""
    filled = [[insert(table, at, 0)] for at in range(count)]
    return filled + [[delete(table, at, 0)] for at in reversed(range(count))]


@pytest.mark.parametrize("family", sorted(WAYS))
def test_key_gains_where_different_rows_change(family):
    source = log_of(*inserts_then_deletes(JOURNAL), family=family)
    (key,), found = keys_found(source, family)
    assert key.change == f"a PRIMARY KEY on {JOURNAL}"
    assert key.gain > 1.5
    assert key.then > 4
    # A table that orders nothing gains no more, and is harder to get.
    assert all(one.kind != "table" for one in found)
    lines = [str(line) for line in faster_lines(AuditResult(counterfactuals=found), [])]
    assert any(key.change in line for line in lines)


@pytest.mark.parametrize("family", sorted(WAYS))
def test_key_gains_nothing_where_all_change_one_row(family):
    rows = [[update(JOURNAL, (1, at), (1, at + 1))] for at in range(20)]
    source = log_of([insert(JOURNAL, 1, 0)], *rows, family=family)
    assert keyless_tables(source.log) == [JOURNAL]
    assert keys_found(source, family)[0] == []


@pytest.mark.parametrize("family", sorted(WAYS))
def test_second_table_without_a_key_keeps_the_order(family):
    one, other = inserts_then_deletes(JOURNAL), inserts_then_deletes(OTHER)
    both = [[*rows, *more] for rows, more in zip(one, other, strict=True)]
    source = log_of(*both, family=family)
    assert keyless_tables(source.log) == [JOURNAL, OTHER]
    assert keys_found(source, family)[0] == []
    keyed = with_key(source.log, JOURNAL)
    assert {task.unkeyed_tables for task in keyed.tasks[1:]} == {frozenset({OTHER})}


def test_minimal_images_are_the_same_row_and_partial_ones_are_not_tried():
    first, second = update(JOURNAL, (1, 0), (ABSENT, 1)), update(JOURNAL, (1, 1), (ABSENT, 2))
    log = log_of([first], [second], family="mariadb").log
    assert log.tasks[1].rows[0].identities[1] == log.tasks[2].rows[0].identities[0]
    assert with_key(log, JOURNAL).tasks[2].rows[0].follows == (1,)
    partial = [delete(JOURNAL, 1, ABSENT)], [delete(JOURNAL, 2, ABSENT)]
    log = log_of(*partial, family="mariadb").log
    assert keyless_tables(log) == []
    assert with_key(log, JOURNAL).tasks[2].rows[0].follows == (1,)


def test_log_without_the_change_stays():
    log = log_of(*inserts_then_deletes(JOURNAL), family="mysql").log
    before = deepcopy(log)
    with_key(log, JOURNAL)
    assert log == before
    # A digest is no key: it has no number, and nothing waits for it.
    assert all(isinstance(subject, WholeTable) for subject in log.numbers)
    keyed = log_of(*inserts_then_deletes(KEYED), family="mysql").log
    assert not any(row.identities for task in keyed.tasks for row in task.rows)
