"""Predictions of a key on a table without one, against logs of a source whose table has it."""

from __future__ import annotations

import gzip
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.auditing.counterfactuals import Setting, Ways, counterfactuals
from paraply.auditing.logged_source import Source
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.auditing.predicting import MARIADB, predict, prediction
from paraply.reference_impl.certification.trackers import WritesetTracker
from paraply.reference_impl.comparison.appliers import APPLIERS, AS_LOGGED, WRITESET
from paraply.reference_impl.comparison.changed import keyless_tables, with_keys, without_table
from paraply.reference_impl.comparison.logged import LoggedTasks
from paraply.reference_impl.comparison.tasks import WholeTable
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, TRANSACTIONAL, WAITED
from paraply.reference_impl.workloads.stamps import (
    commit_parents,
    restamped,
    timestamps,
    tracked_tasks,
)
from paraply.reporting.audit.faster_outline import faster_blocks, faster_lines
from paraply.reporting.audit.json_form import to_document
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.log import ABSENT, UNKNOWN, LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.builders.key_cases import registry_of
from tests.builders.logged import delete, insert, transaction, update

JOURNAL, OTHER, KEYED = "d.journal", "d.notes", "d.t"
WITH_KEY = {
    JOURNAL: "CREATE TABLE journal (id INT NOT NULL PRIMARY KEY, at INT NOT NULL, v INT)",
    OTHER: "CREATE TABLE notes (id INT NOT NULL PRIMARY KEY, at INT NOT NULL, v INT)",
}
SCHEMA = {
    JOURNAL: "CREATE TABLE journal (at INT NOT NULL, v INT)",
    OTHER: "CREATE TABLE notes (at INT NOT NULL, v INT)",
    KEYED: "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, v INT)",
}
WORKERS = (1, 2, 3, 8)
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
UNSHRUNK = settings(
    phases=[Phase.generate], max_examples=500, suppress_health_check=SLOW, database=None
)
MONOTONE = (("mysql", "mysql-writeset"), ("mariadb", "mariadb-conservative"))
"""Ways to apply that undo nothing. Optimistic mode may lose time where less waits."""
APPLIERS_OF = {
    "mysql": ["mysql-writeset", "mysql-writeset-unordered"],
    "mariadb": [f"mariadb-{mode}" for mode in MARIADB],
}


def log_of(*transactions, family, groups=None, waited=(), schema=None):
    """Return the source of transactions, each given by its rows."""
    keys = KeyBuilder(registry_of(*(schema or SCHEMA.values())))
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


class Rows:
    """The rows of one table without a key, each with a number, as a server would scan them."""

    def __init__(self):
        self.images, self.inserted, self.older = {}, 0, 0

    def insert(self, image):
        self.inserted += 1
        self.images[self.inserted] = image
        return self.inserted

    def oldest(self, image):
        """Return the number of the oldest row with an image; one older than the log, if none is."""
        numbers = [number for number, one in self.images.items() if one == image]
        if numbers:
            return min(numbers)
        self.older -= 1
        self.images[self.older] = image
        return self.older


@st.composite
def stories(draw):
    """Transactions of numbered rows, in groups, and those that waited.

    Rows may be equal, and older than the log. Members of a group share no row, and no table without
    a key. A row is a table, a number, a before and an after image.
    """
    txns, groups, seen, group = [], [], set(), 1
    tables = {JOURNAL: Rows(), OTHER: Rows()}
    versions = {}
    images = st.tuples(st.integers(1, 3), st.integers(0, 1))
    for _ in range(draw(st.integers(2, 10))):
        rows, touched = [], set()
        for _ in range(draw(st.integers(1, 3))):
            table = draw(st.sampled_from([JOURNAL, JOURNAL, KEYED, OTHER]))
            if table == KEYED:
                at = draw(st.integers(1, 4))
                version = versions[at] = versions.get(at, -1) + 1
                rows.append((table, at, (at, version), (at, version + 1)))
                touched.add((table, at))
                continue
            rows.append(change(tables[table], table, draw, images))
            touched.add(table)
        if seen & touched or draw(st.booleans()):
            group, seen = group + 1, set()
        seen |= touched
        txns.append(rows)
        groups.append(group)
    return txns, groups, draw(st.sets(st.integers(1, len(txns))))


def change(known, table, draw, images):
    image = draw(images)
    sort = draw(st.sampled_from(["insert", "update", "update", "delete"]))
    if sort == "insert":
        return table, known.insert(image), None, image
    number = known.oldest(image)
    if sort == "delete":
        del known.images[number]
        return table, number, image, None
    known.images[number] = draw(images)
    return table, number, image, known.images[number]


def row_change(row, keyed):
    table, number, *images = row
    if table in keyed:
        images = [None if image is None else (number, *image) for image in images]
    before, after = images
    if before is None:
        return insert(table, *after)
    return delete(table, *before) if after is None else update(table, before, after)


def written(story, family, keyed=(), waited=None):
    """Return the source of a story in which some tables have a key."""
    txns, groups, had_waited = story
    rows = [[row_change(row, keyed) for row in txn] for txn in txns]
    schema = [WITH_KEY[table] if table in keyed else sql for table, sql in SCHEMA.items()]
    waited = had_waited if waited is None else waited
    return log_of(*rows, family=family, groups=groups, waited=waited, schema=schema)


def really_keyed(story, family, keyed=(JOURNAL,)):
    """Return the source if tables had a key; who met only these tables had waited for them."""
    txns, _, waited = story
    seen, still = set(), set()
    for ordinal, rows in enumerate(txns, start=1):
        own = {row[:2] for row in rows if row[0] in keyed}
        if ordinal in waited and (not own or own & seen):
            still.add(ordinal)
        seen |= own
    return written(story, family, keyed, still)


def disagreement(story, change=with_keys, keyed=(JOURNAL,)):
    """Return where the predicted keys differ from the log of a source that has them."""
    for family, names in APPLIERS_OF.items():
        before, after = written(story, family), really_keyed(story, family, keyed)
        changed = with_change(before, lambda log: change(log, keyed))
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
@given(stories(), st.sampled_from([(JOURNAL,), (OTHER,), (JOURNAL, OTHER)]))
def test_key_is_predicted_as_the_log_of_a_source_that_has_it(story, keyed):
    assert disagreement(story, keyed=keyed) is None


def _keeps_waiting(log, tables):
    found = with_keys(log, tables)
    for task, old in zip(found.tasks, log.tasks, strict=True):
        task.has_waited = old.has_waited
    return found


def _stays_unkeyed(log, tables):
    found = with_keys(log, tables)
    for task, old in zip(found.tasks, log.tasks, strict=True):
        task.unkeyed_tables = old.unkeyed_tables
    return found


def _forgets_rows(log, tables):
    found = with_keys(log, tables)
    for table in tables:
        found = without_table(found, table)
    return found


def _renumbers(log, tables):
    changed = deepcopy(log)
    for task in changed.tasks:
        for row in task.rows:
            if row.identity is not None:
                row.identity += 1000 * task.number
    return with_keys(changed, tables)


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", [_keeps_waiting, _stays_unkeyed, _forgets_rows, _renumbers, lambda log, tables: log]
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
        free = with_change(source, lambda log: _forgets_rows(log, [JOURNAL]))
        keyed = with_change(source, lambda log: with_keys(log, [JOURNAL]))
        for workers in WORKERS:
            ends = [one.moments(APPLIERS[applier], workers).makespan
                    for one in (free, keyed, source)]  # fmt: skip
            assert ends == sorted(ends)

    is_between()


def workload(random, values, count=200):
    """Return transactions of the journal, of which a server changes any of several equal rows."""
    rows, found, number = {}, [], 0
    for _ in range(count):
        if len(rows) < 4 * values and random.random() < 0.5:
            number += 1
            rows[number] = (random.randrange(values), random.randrange(values))
            found.append([(JOURNAL, number, None, rows[number])])
            continue
        if not rows:
            continue
        one = random.choice(sorted(rows))
        before = rows.pop(one)
        after = None
        if random.random() < 0.7:
            after = rows[one] = (before[0], random.randrange(values))
        found.append([(JOURNAL, one, before, after)])
    return found, list(range(1, len(found) + 1)), set()


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("values", "mean", "most"), [(3, 0.06, 0.2), (10, 0.01, 0.08), (1_000, 0.0, 0.0)]
)
def test_speed_with_a_key_is_that_of_the_source_that_has_it(values, mean, most):
    # With 3 values most rows are equal to another, with 1,000 none.
    differences = []
    for seed in range(4):
        story = workload(Random(f"added key {values} {seed}"), values)
        for family, names in APPLIERS_OF.items():
            before, after = written(story, family), really_keyed(story, family)
            changed = with_change(before, lambda log: with_keys(log, [JOURNAL]))
            for name in names:
                one, other = (prediction(each, name, [2, 8]) for each in (changed, after))
                assert one.safe is other.safe is Verdict.HOLDS
                differences += [
                    abs(one.speedup[workers] / other.speedup[workers] - 1) for workers in (2, 8)
                ]
    assert sum(differences) / len(differences) <= mean
    assert max(differences) <= most


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
def test_second_table_without_a_key_keeps_the_order_until_it_has_one_too(family):
    one, other = inserts_then_deletes(JOURNAL), inserts_then_deletes(OTHER)
    both = [[*rows, *more] for rows, more in zip(one, other, strict=True)]
    source = log_of(*both, family=family)
    assert keyless_tables(source.log) == [JOURNAL, OTHER]
    assert keys_found(source, family)[0][0].change == f"a PRIMARY KEY on {JOURNAL}, {OTHER}"
    keyed = with_keys(source.log, [JOURNAL])
    assert {task.unkeyed_tables for task in keyed.tasks[1:]} == {frozenset({OTHER})}


def follows(log):
    """Return for each transaction those that it waits for if the journal has a key."""
    return [task.rows[-1].follows for task in with_keys(log, [JOURNAL]).tasks[1:]]


def test_updates_keep_the_row_and_the_oldest_of_equal_rows_is_taken():
    log = log_of(
        [insert(JOURNAL, 1, 0)],
        [insert(JOURNAL, 2, 0)],
        [update(JOURNAL, (2, 0), (1, 0))],
        [update(JOURNAL, (1, 0), (7, 0))],
        [update(JOURNAL, (7, 0), (8, 0))],
        [delete(JOURNAL, 1, 0)],
        [insert(JOURNAL, 1, 0)],
        [delete(JOURNAL, 8, 0)],
        [delete(JOURNAL, 5, 0)],
        family="mariadb",
    ).log  # fmt: skip
    assert follows(log) == [(), (), (2,), (1,), (4,), (3,), (), (5,), ()]


def test_minimal_image_of_an_update_is_filled_in_from_the_old_one():
    first, second = update(JOURNAL, (1, 0), (ABSENT, 1)), update(JOURNAL, (1, 1), (ABSENT, 2))
    assert follows(log_of([first], [second], family="mariadb").log) == [(), (1,)]


def test_rows_before_a_statement_are_forgotten():
    rows = [[insert(JOURNAL, 1, 0)], [], [insert(JOURNAL, 1, 0)], [delete(JOURNAL, 1, 0)]]
    keys = KeyBuilder(registry_of(*SCHEMA.values()))
    tasks = LoggedTasks(keys)
    for ordinal, changes in enumerate(rows, start=1):
        is_ddl = not changes
        txn = transaction(
            ordinal, rows=changes, domain=0, flags=frozenset({ALLOW_PARALLEL}),
            kind=LoggedKind.DDL if is_ddl else LoggedKind.ROWS,
            statements=("TRUNCATE TABLE journal",) if is_ddl else (),
        )  # fmt: skip
        keys.complete_transaction(txn)
        tasks.add(txn)
    # Without the statement the delete would find the first row.
    found = with_keys(tasks.log(), [JOURNAL])
    assert found.tasks[4].rows[0].follows == (3,)


@pytest.mark.parametrize("family", sorted(WAYS))
@pytest.mark.parametrize("change", [
    delete(JOURNAL, 1, ABSENT),
    insert(JOURNAL, 1, UNKNOWN),
    update(JOURNAL, (1, ABSENT), (ABSENT, 2)),
])  # fmt: skip
def test_no_key_is_predicted_where_a_row_is_not_known(family, change):
    source = log_of(*inserts_then_deletes(JOURNAL), [change], family=family)
    assert keyless_tables(source.log) == []
    assert source.log.unfollowed_tables == {JOURNAL}
    assert keys_found(source, family)[0] == []


@pytest.mark.parametrize("flag", ["rolled_back", "partly_rolled_back"])
def test_no_key_is_predicted_where_changes_may_be_undone(flag):
    keys = KeyBuilder(registry_of(*SCHEMA.values()))
    tasks = LoggedTasks(keys)
    txn = transaction(1, rows=[insert(JOURNAL, 1, 0)], flags=frozenset({flag}))
    keys.complete_transaction(txn)
    tasks.add(txn)
    assert tasks.log().unfollowed_tables == {JOURNAL}


def test_rows_with_null_in_the_only_unique_key_have_no_key():
    sql = "CREATE TABLE journal (at INT, v INT, UNIQUE (at))"
    rows = [[insert(JOURNAL, None, at)] for at in range(3)] + [[delete(JOURNAL, None, 1)]]
    log = log_of(*rows, [insert(JOURNAL, 1, 1)], family="mariadb", schema=(sql,)).log
    assert keyless_tables(log) == [JOURNAL]
    assert follows(log) == [(), (), (), (2,), ()]
    assert with_keys(log, [JOURNAL]).keys_of_table[JOURNAL] == 2


def test_log_without_the_change_stays():
    log = log_of(*inserts_then_deletes(JOURNAL), family="mysql").log
    before = deepcopy(log)
    with_keys(log, [JOURNAL])
    assert log == before
    # The number of a row is no key: nothing waits for it.
    assert all(isinstance(subject, WholeTable) for subject in log.numbers)
    keyed = log_of(*inserts_then_deletes(KEYED), family="mysql").log
    assert {row.identity for task in keyed.tasks for row in task.rows} == {None}


def test_key_is_in_the_report_of_a_real_log_with_its_lag(tmp_path):
    stored = Path(__file__).parent.parent / "fixtures" / "timing"
    file = tmp_path / "journal.000001"
    file.write_bytes(gzip.decompress((stored / "mysql-journal.000001.gz").read_bytes()))
    request = AuditRequest(files=(str(file),), schema=str(stored / "schema.sql"))
    result = audit(request)
    predict(request, result)
    key = result.counterfactuals[0]
    assert (key.kind, key.change) == ("key", "a PRIMARY KEY on d.journal")
    assert key.gain > 1.9
    assert 0 < key.most_lag_then < key.most_lag_now
    assert result.unpredicted_keys == []
    assert any(key.change in line.text for line in faster_lines(result, []))


def test_table_without_a_prediction_is_in_the_report_with_its_reason():
    result = AuditResult(unpredicted_keys=[JOURNAL])
    (line,) = faster_blocks(result)
    assert f"a PRIMARY KEY on {JOURNAL}: not predicted, because the log does not" in line.text
    assert to_document(result)["unpredicted_keys"] == [JOURNAL]
