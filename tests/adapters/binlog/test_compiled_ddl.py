"""DDL that may overlap others' changes: kernels give the readable engine's result.

Some of it changes what the others use, and some horizons forget the beginning.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.transactions import read_transactions
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled import definitions
from paraply.properties.logs.compiled.definitions import Definitions
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.logs.dependency_safety import DEFINITIONS_CHANGE_ALONE
from paraply.vocabulary.not_compilable import NotCompilable
from tests.adapters.binlog.test_compiled_ranges import some_selection
from tests.builders.engines import (
    audit_by_compiled,
    audit_by_leaving,
    audit_by_readable,
    differences,
)
from tests.builders.odd_tables import (
    QUERY,
    TABLES,
    odd_log,
    production_log,
    rows_of,
    spread_over_domains,
)

LOADED = 20
"""Transactions that create and fill the tables."""


STATEMENTS = (
    "ALTER TABLE {} COMMENT 'x'", "ALTER TABLE {} FORCE", "TRUNCATE {}", "DROP TABLE IF EXISTS {}",
    "OPTIMIZE TABLE {}", "CREATE DATABASE other", "ALTER DATABASE bench COMMENT 'x'",
    "CREATE TABLE IF NOT EXISTS fresh (a INT PRIMARY KEY)", "RENAME TABLE nobody TO somebody",
    "ANALYZE TABLE {}", "CREATE TABLE fresh LIKE {}", "CREATE VIEW v AS SELECT * FROM {}",
    "CREATE TABLE IF NOT EXISTS {} (a INT)", "CREATE DATABASE IF NOT EXISTS bench",
)  # fmt: skip


def conflicting_ddl(path, rng, dialect, statements=STATEMENTS):
    """Write a log in which DDL, too, may overlap changes of what it names, and other DDL."""
    oddities = rng.choice(((), (), ("keyless",), ("minimal",)))
    log = odd_log(path, dialect=dialect, seed=rng.randrange(5), oddities=oddities)
    for event in log.events:
        if event.code == QUERY and b"ALTER TABLE tariff" in event.body and rng.random() < 0.8:
            table = rng.choice(("tariff", "orders", "item", "customer", "ORDERS"))
            statement = rng.choice(statements).format(table)
            event.body[event.body.index(b"ALTER TABLE tariff") :] = statement.encode()
    if dialect == "mariadb" and rng.random() < 0.5:
        spread_over_domains(log, 2)
    by = rng.choice((2, 3, 8, 30, 60))
    for ordinal in range(rng.choice((5, LOADED)), len(log) + 1):
        if dialect == "mysql":
            before = max(0, ordinal - 1 - rng.randrange(by))
            log.set_timestamp(ordinal, last_committed=before, sequence_number=ordinal)
        else:
            log.set_commit_id(ordinal, ordinal // by if rng.random() < 0.98 else None)
    return log.save(path)


def assert_judged_alike(path, rng):
    """Compare the engines on a log, or on a part; return how often DDL was not alone."""
    files = (str(path),)
    options = AuditOptions(
        violations_max=rng.choice((1, 5, 1_000)),
        horizon=rng.choice((Horizon(), Horizon(keys=10**6, transactions=100))),
    )
    selection = None
    if rng.random() < 0.3:
        selection = some_selection(list(read_transactions(files)), rng)
    readable = audit_by_readable(files, None, options, selection)
    try:
        compiled = audit_by_leaving(
            files, None, options, None, selection, transactions_max=rng.choice((1, 7, 500))
        )
    except NotCompilable as reason:
        if "horizon" not in str(reason):
            raise
        return 0
    assert differences(readable, compiled) == []
    found = readable.result.violations
    return sum(each.property == DEFINITIONS_CHANGE_ALONE for each in found)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
def test_ddl_that_overlaps_what_it_names_is_judged_beside_the_kernels(tmp_path, dialect, seed):
    rng = random.Random(seed)
    path = conflicting_ddl(tmp_path / "log.000001", rng, dialect)
    options = AuditOptions()
    readable = audit_by_readable((str(path),), None, options)
    compiled = audit_by_leaving((str(path),), None, options)
    assert differences(readable, compiled) == []
    assert any(v.property == DEFINITIONS_CHANGE_ALONE for v in readable.result.violations)


def told_apart(folder, dialect):
    """Return whether some drawn logs lead the engines to different results."""
    statements = ("ALTER DATABASE bench COMMENT 'x'", "ALTER TABLE {} COMMENT 'x'")
    for seed in range(12):
        rng, path = random.Random(seed), folder / f"{seed}.000001"
        try:
            assert_judged_alike(conflicting_ddl(path, rng, dialect, statements), rng)
        except AssertionError:
            return True
    return False


def test_uses_by_other_ddl_that_are_left_out_are_noticed(tmp_path, monkeypatch):
    real = Definitions.remember

    def remember(given, state, txn, *rest):
        real(given, state, txn, *rest)
        given._ddl[txn.ordinal] = given.seen(txn.ordinal), frozenset()

    monkeypatch.setattr(Definitions, "remember", remember)
    assert told_apart(tmp_path, "mariadb")


def test_rows_that_use_no_schema_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(definitions, "names_of", lambda tables: frozenset(map(str.lower, tables)))
    assert told_apart(tmp_path, "mysql")


@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
def test_pairs_by_definition_that_are_not_listed_are_noticed(tmp_path, monkeypatch, dialect):
    real = Definitions.meet
    monkeypatch.setattr(Definitions, "meet", lambda *given: dict(list(real(*given).items())[1:]))
    assert told_apart(tmp_path, dialect)


@pytest.mark.long
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), dialect=st.sampled_from(("mysql", "mariadb")))
def test_drawn_overlaps_with_ddl_give_the_same_result(tmp_path_factory, seed, dialect):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("ddl") / "log.000001"
    assert_judged_alike(conflicting_ddl(path, rng, dialect), rng)


def overlapping_ddl(path, rng, *, by):
    """Write a log in which each transaction may overlap some before it, DDL too.

    DDL is of a table without rows; return the number of DDL that may overlap others.
    """
    log = production_log(path, dialect="mysql", seed=rng.randrange(5), size_bytes=100_000)
    for event in log.events:
        if event.code == QUERY:
            event.body[:] = event.body.replace(b"ALTER TABLE tariff", b"ALTER TABLE nobody")
    starts = [*log.starts(), len(log.events)]
    overlaps = 0
    for ordinal in range(1, len(log) + 1):
        events = log.events[starts[ordinal - 1] : starts[ordinal]]
        is_ddl = any(b"ALTER TABLE" in event.body for event in events if event.code == QUERY)
        before = ordinal - 1 - (rng.randrange(by) if ordinal > LOADED + by else 0)
        log.set_timestamp(ordinal, last_committed=before, sequence_number=ordinal)
        overlaps += is_ddl and before < ordinal - 1
    return log.save(path), overlaps


@pytest.mark.long
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32))
def test_ddl_in_a_window_that_the_horizon_holds_is_judged_by_kernels(tmp_path_factory, seed):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("ddl") / "log.000001"
    path, overlaps = overlapping_ddl(path, rng, by=rng.choice((2, 3)))
    # Small batches: what was used is known by batch.
    options = AuditOptions(horizon=Horizon(keys=10**6, transactions=100))
    readable = audit_by_readable((str(path),), None, options)
    compiled = audit_by_compiled((str(path),), None, options, transactions_max=rng.choice((1, 7)))
    assert differences(readable, compiled) == []
    assert readable.result.transactions > 2 * 100
    assert overlaps


def test_ddl_in_a_window_beyond_the_horizon_is_handed_over(tmp_path):
    path, overlaps = overlapping_ddl(tmp_path / "log.000001", random.Random(1), by=60)
    assert overlaps
    options = AuditOptions(horizon=Horizon(keys=10**6, transactions=20))
    with pytest.raises(NotCompilable, match="more than the horizon holds"):
        audit_by_compiled((str(path),), None, options)


@pytest.mark.parametrize("seed", range(2))
def test_ddl_with_rows_that_overlaps_what_it_names_is_handed_over(tmp_path, seed):
    log = production_log(tmp_path / "log.000001", dialect="mysql", seed=seed)
    alter = next(e for e in log.events if e.code == QUERY and b"ALTER TABLE" in e.body)
    number = len(log) - 20 + seed
    at = log.starts()[number - 1]
    statement = replace(alter, body=bytearray(alter.body))
    statement.body[alter.body.index(b"ALTER") :] = b"ALTER TABLE orders COMMENT 'with rows'"
    # After the beginning, as CREATE ... SELECT has it.
    log.events.insert(at + 2, statement)
    for ordinal in range(number - 5, len(log) + 1):
        log.set_timestamp(ordinal, last_committed=number - 6, sequence_number=ordinal)
    path = log.save(tmp_path / "log.000001")
    readable = audit_by_readable((str(path),))
    assert any(v.property == DEFINITIONS_CHANGE_ALONE for v in readable.result.violations)
    with pytest.raises(NotCompilable, match="DDL with rows"):
        audit_by_leaving((str(path),))


@pytest.mark.parametrize("table", ["customer", "orders", "tariff"])
@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
def test_ddl_with_rows_that_runs_alone_is_judged_alike(tmp_path, dialect, table):
    log = production_log(tmp_path / "log.000001", dialect=dialect, seed=1)
    alter = next(e for e in log.events if e.code == QUERY and b"ALTER TABLE" in e.body)
    statement = replace(alter, body=bytearray(alter.body))
    ddl = TABLES[table].ddl.replace("CREATE", "CREATE OR REPLACE")
    statement.body[alter.body.index(b"ALTER") :] = ddl.encode()
    starts, changes = log.starts(), rows_of(log, table)
    # Behind other DDL, after which table maps are announced anew in any case.
    number = [
        ordinal
        for ordinal in range(LOADED, len(log))
        if any(each in changes for each in log.events[starts[ordinal - 1] : starts[ordinal]])
    ][-8]
    # As CREATE TABLE ... SELECT has it: MySQL's transactions begin with a BEGIN.
    log.events.insert(starts[number - 1] + (2 if dialect == "mysql" else 1), statement)
    if dialect == "mysql":
        for ordinal in range(number, len(log) + 1):
            log.set_timestamp(ordinal, last_committed=ordinal - 1, sequence_number=ordinal)
    else:
        log.set_commit_id(number, None)
    path = log.save(tmp_path / "log.000001")
    readable = audit_by_readable((str(path),))
    assert differences(readable, audit_by_leaving((str(path),))) == []
    assert any(link.because.startswith("CREATE OR") for link in readable.result.critical_path)
