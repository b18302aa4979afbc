"""Tables left to the readable code: the result is the readable engine's, and kernels judge."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.compiled import stream
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.conflict_index import Horizon
from paraply.vocabulary.not_compilable import NotCompilable
from tests.adapters.binlog.test_compiled_equals_readable import (
    LOADED,
    PRODUCTION_LOADED,
    drop_or_repeat,
    forge_rows,
)
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.log_forger import ForgedLog
from tests.builders.odd_tables import (
    JUDGED_BY_KERNELS,
    ODDITIES,
    begin_late,
    join_transactions,
    odd_log,
    overlap,
    spread_over_domains,
    with_minimal_metadata,
)

DIALECTS = ("mariadb", "mysql")
REFUSED = ("unknown keys, in overlaps longer than the horizon",)
"""What drawn horizons may lead to; everything else must be judged."""


def assert_left_alike(*files, options=None, schema=None, **sizes):
    """Compare the engines; return the result, and the tables that were left."""
    names, left = tuple(map(str, files)), LeftTables()
    readable = audit_by_readable(names, schema, options)
    compiled = audit_by_leaving(names, schema, options, left, **sizes)
    assert differences(readable, compiled) == []
    return readable.result, left


@pytest.mark.long
@pytest.mark.parametrize("oddity", ODDITIES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_odd_table_is_left_and_the_result_is_the_same(dialect, oddity, tmp_path):
    path = tmp_path / "odd.000001"
    log = odd_log(path, dialect=dialect, seed=1, oddities=(oddity,))
    _, left = assert_left_alike(log.save(path), transactions_max=40)
    assert bool(left.reasons) == (oddity not in JUDGED_BY_KERNELS)


@pytest.mark.long
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32),
    dialect=st.sampled_from(DIALECTS),
    oddities=st.lists(st.sampled_from(sorted(ODDITIES)), min_size=1, max_size=3, unique=True),
)
def test_any_mixture_of_left_tables_and_faults_gives_the_same_result(
    tmp_path_factory, seed, dialect, oddities
):
    run_mixture(tmp_path_factory.mktemp("mixture"), seed, dialect, tuple(oddities))


def saved(log, path, *, rotated):
    """Save a log, in two files if ``rotated``."""
    starts = log.starts()
    if not rotated or len(starts) < 30:
        return [log.save(path)]
    cut = starts[len(starts) * 2 // 3]
    second = type(log)(log.data())
    second.events = second.events[: starts[0]] + second.events[cut:]
    log.events = log.events[:cut] + log.events[-1:]
    return [log.save(path), second.save(path.with_suffix(".000002"))]


def mixture(folder, seed, dialect, oddities, **size):
    """Return a drawn log's files, options, and where the draws go on."""
    rng = random.Random(seed)
    path = folder / "log.000001"
    log = odd_log(path, dialect=dialect, seed=seed, oddities=oddities, **size)
    if rng.random() < 0.7:
        join_transactions(log, rng, rng.choice((0.2, 0.6)), PRODUCTION_LOADED)
        log = type(log)(log.data())
    if rng.random() < 0.7:
        overlap(log, dialect, rng.choice((9, 60, 200)), PRODUCTION_LOADED)
    loaded = min(LOADED, len(log) - 10)
    for fault in (lambda: forge_rows(log, rng), lambda: drop_or_repeat(log, rng, loaded)):
        if rng.random() < 0.4:
            fault()
    if rng.random() < 0.3:
        begin_late(log, rng, PRODUCTION_LOADED)
    if rng.random() < 0.5:
        with_minimal_metadata(log)
    if dialect == "mariadb" and rng.random() < 0.4:
        spread_over_domains(log, rng.choice((2, 4)), rng)
    horizon = Horizon(keys=rng.choice((300, 10**6)), transactions=rng.choice((60, 1_000)))
    options = AuditOptions(
        horizon=horizon if rng.random() < 0.3 else Horizon(),
        replay_rows_max=rng.choice((20, 60, 10_000)),
        violations_max=rng.choice((7, 1_000)),
        replay_findings_max=rng.choice((3, 1_000)),
    )
    return saved(log, path, rotated=rng.random() < 0.5), options, rng


def run_mixture(folder, seed, dialect, oddities):
    """Compare both engines on one drawn log; return what they found, None where one refuses."""
    files, options, rng = mixture(folder, seed, dialect, oddities)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "EARLY_TRANSACTIONS", rng.choice((0, 10_000)))
        try:
            return assert_left_alike(
                *files, options=options, transactions_max=rng.choice((1, 50, 8192))
            )
        except NotCompilable as reason:
            if not any(known in str(reason) for known in REFUSED):
                raise
            return None


@pytest.mark.long
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), domains=st.integers(2, 4))
def test_unknown_keys_in_several_domains_give_the_same_result(tmp_path_factory, seed, domains):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("domains") / "log.000001"
    log = odd_log(path, dialect="mariadb", seed=seed, oddities=rng.choice(((), ("keyless",))))
    overlap(log, "mariadb", rng.choice((9, 60)), PRODUCTION_LOADED)
    spread_over_domains(log, domains)
    begin_late(log, rng, PRODUCTION_LOADED)
    with_minimal_metadata(log)
    assert_left_alike(log.save(path), transactions_max=rng.choice((1, 50, 8192)))


@pytest.mark.long
def test_left_tables_cross_domains_too(tmp_path):
    path = tmp_path / "log.000001"
    log = odd_log(path, dialect="mariadb", seed=1, oddities=("nullable-hidden",))
    spread_over_domains(log, 4, random.Random(1))
    with_minimal_metadata(log)
    result, left = assert_left_alike(log.save(path))
    assert left.reasons
    assert any("or changed in rows that no known key" in r.reason for r in result.unknown_because)


@pytest.mark.long
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), domains=st.integers(2, 4))
def test_keys_that_cross_domains_give_the_same_result(tmp_path_factory, seed, domains):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("domains") / "log.000001"
    log = odd_log(path, dialect="mariadb", seed=seed, oddities=rng.choice(((), ("keyless",))))
    if rng.random() < 0.5:
        overlap(log, "mariadb", rng.choice((9, 60)), PRODUCTION_LOADED)
    spread_over_domains(log, domains, rng)
    options = AuditOptions(violations_max=rng.choice((1, 1_000)))
    result, _ = assert_left_alike(
        log.save(path), options=options, transactions_max=rng.choice((1, 50, 8192))
    )
    assert any("last changed in another" in each.reason for each in result.unknown_because)


@pytest.mark.long
def test_every_recorded_log_is_compiled_and_gives_the_same_result(repository):
    folder = repository / "tests" / "fixtures" / "binlogs"
    left_somewhere = 0
    for case in sorted(path for path in folder.glob("*/*") if path.is_dir()):
        files = sorted(case.glob("bin.0?????"))
        schema = case / "schema.sql"
        for known in (None, str(schema)) if schema.exists() else (None,):
            _, left = assert_left_alike(*files, schema=known)
            left_somewhere += bool(left.reasons)
    assert left_somewhere > 10


@pytest.mark.long(each=3)
@pytest.mark.parametrize("seed", range(2))
def test_any_end_of_a_recorded_log_gives_the_same_result(repository, tmp_path, seed):
    """A log that begins after its tables were made tells few of their keys."""
    rng = random.Random(seed)
    path = tmp_path / "bin.000001"
    judged = refused = 0
    for file in sorted((repository / "tests" / "fixtures" / "binlogs").glob("*/*/bin.000001")):
        starts = ForgedLog.read(file).starts()
        for begin in rng.sample(starts[1:], min(4, max(0, len(starts) - 1))):
            log = ForgedLog.read(file)
            del log.events[starts[0] : begin]
            try:
                assert_left_alike(log.save(path))
            except NotCompilable as reason:
                if not any(known in str(reason) for known in REFUSED):
                    raise
                refused += 1
            else:
                judged += 1
    assert judged > 3 * refused


@pytest.mark.long(each=3)
@pytest.mark.parametrize("seed", range(2))
def test_any_beginning_of_a_recorded_log_gives_the_same_result(repository, tmp_path, seed):
    """What a log does later hides nothing of what it did before, such as tables that go."""
    rng = random.Random(seed)
    path = tmp_path / "bin.000001"
    beginnings = 0
    for file in sorted((repository / "tests" / "fixtures" / "binlogs").glob("*/*/bin.000001")):
        starts = ForgedLog.read(file).starts()
        for end in rng.sample(starts[1:], min(4, max(0, len(starts) - 1))):
            log = ForgedLog.read(file)
            del log.events[end:]
            assert_left_alike(log.save(path))
            beginnings += 1
    assert beginnings > 100


def test_one_more_pass_finds_all_tables_that_are_left(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "EARLY_TRANSACTIONS", 0)
    path = tmp_path / "odd.000001"
    log = odd_log(path, dialect="mysql", seed=1, oddities=("texts", "minimal-children"))
    _, left = assert_left_alike(log.save(path))
    assert left.restarts == 1
    assert {"bench.tariff", "bench.item", "bench.orders", "bench.customer"} == set(left.reasons)


def test_passes_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "RESTARTS_MAX", 0)
    path = tmp_path / "odd.000001"
    log = odd_log(path, dialect="mysql", seed=1, oddities=("texts",))
    with pytest.raises(NotCompilable, match="ever more other rows"):
        audit_by_leaving((str(log.save(path)),))
