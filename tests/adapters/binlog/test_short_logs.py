"""Many short drawn logs, whose kernels also run uncompiled in no time: mutants must fail here."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest

from paraply.adapters.binlog.compiled import stream
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.properties.logs import (
    critical_path,
    overlap_rules,
    parallelism,
    scheduling_models,
    worker_timeline,
)
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled import auditor, keyed_rows, state
from paraply.properties.logs.compiled.path import CompiledPath
from paraply.properties.logs.conflict_index import Horizon
from paraply.vocabulary.not_compilable import NotCompilable
from tests.adapters.binlog.test_compiled_equals_readable import PRODUCTION_LOADED, drop_or_repeat
from tests.adapters.binlog.test_left_tables import (
    DIALECTS,
    REFUSED,
    assert_left_alike,
    mixture,
)
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.odd_tables import (
    DELETES,
    ODDITIES,
    begin_late,
    join_transactions,
    odd_log,
    overlap,
    relabel,
    spread_over_domains,
    with_minimal_metadata,
)
from tests.builders.xa_logs import with_xa

SIZE_BYTES = 18_000


def with_short_bounds(patch, rng, share):
    """Give a share of the engines' inner bounds values that a short log exceeds."""
    if rng.random() < share:
        ring = rng.choice((1, 5, 16))
        patch.setattr(auditor, "RING_MAX", ring)
        patch.setattr(parallelism, "CriticalPath", partial(critical_path.CriticalPath, ring))
    for name, values, *modules in (
        ("WINDOW_MAX", (2, 10), auditor, scheduling_models),
        ("STRETCHES_MAX", (2, 6), auditor, overlap_rules),
        ("LEVELS_MAX", (2,), auditor, worker_timeline),
    ):
        if rng.random() < share:
            value = rng.choice(values)
            for module in modules:
                patch.setattr(module, name, value)
    if rng.random() < share:
        patch.setattr(auditor, "new_state", partial(state.new_state, small=3))
        patch.setattr(state, "KEYS_OF_ONE", 1)
        patch.setattr(keyed_rows, "new_replay", partial(keyed_rows.new_replay, small=2))
    patch.setattr(stream, "EARLY_TRANSACTIONS", rng.choice((0, 10_000)))


def with_few_kept(options, rng, share):
    """Return options with which an audit remembers less than a short log."""
    horizon = Horizon(keys=rng.choice((9, 40, 10**6)), transactions=rng.choice((4, 12, 1_000)))
    return replace(
        options,
        horizon=horizon if rng.random() < share else options.horizon,
        replay_rows_max=rng.choice((5, 20, 60, 10_000)),
        workers=rng.choice(((), (1, 3), options.workers)),
        violations_max=rng.choice((1, 3, 7, 1_000)),
        lint_max=rng.choice((1, 1_000)),
        appliers=rng.choice((options.appliers, options.appliers[::-1], options.appliers[:1])),
    )


def drawn(folder, seed):
    """Return a drawn short log's files, options, and where the draws go on."""
    rng = random.Random(f"short {seed}")
    oddities = tuple(rng.sample(sorted(ODDITIES), rng.randrange(3)))
    number = rng.randrange(2**32)
    return mixture(folder, number, rng.choice(DIALECTS), oddities, size_bytes=SIZE_BYTES)


def cut_some(files, rng):
    """Let some files end within their last transactions, as after a crash of the server."""
    for file in files:
        if rng.random() < 0.5:
            data = file.read_bytes()
            file.write_bytes(data[: -rng.randrange(1, max(2, len(data) // 10))])


def compare(folder, seed):
    """Compare the engines on one drawn log; return the result, None where one refuses."""
    files, options, rng = drawn(folder, seed)
    if seed % 3 == 2:
        cut_some(files, random.Random(f"cut {seed}"))
    share = rng.choice((0.3, 0.9))
    options = with_few_kept(options, rng, share)
    names, left = tuple(map(str, files)), LeftTables()
    with pytest.MonkeyPatch.context() as patch:
        with_short_bounds(patch, rng, share)
        readable = audit_by_readable(names, None, options)
        try:
            compiled = audit_by_leaving(
                names, None, options, left, transactions_max=rng.choice((1, 7, 8192))
            )
        except NotCompilable as reason:
            if not any(known in str(reason) for known in REFUSED):
                raise
            return None
    assert differences(readable, compiled) == []
    return readable.result


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("seed", range(40))
def test_any_short_log_gives_the_same_result(tmp_path, seed):
    compare(tmp_path, seed)


INCOMPLETE = (104, 227)
"""Seeds of logs in which an incomplete transaction lies among the links that a path keeps."""


@pytest.mark.parametrize("seed", INCOMPLETE)
def test_incomplete_transactions_are_no_links_of_a_path(tmp_path, monkeypatch, seed):
    (tmp_path / "right").mkdir()
    assert compare(tmp_path / "right", seed) is not None
    monkeypatch.setattr(CompiledPath, "first_kept", lambda path, last: last - path.links_max + 1)
    with pytest.raises(AssertionError):
        compare(tmp_path, seed)


@pytest.mark.parametrize("seed", [21, 29, 33])
def test_reader_whose_writes_are_forgotten_is_compared_by_them(tmp_path, monkeypatch, seed):
    """It wrote the parent that it read, and much was written between it and the next writer."""
    monkeypatch.setattr(state, "KEYS_OF_ONE", 1)
    rng = random.Random(seed)
    path, dialect = tmp_path / "log.000001", rng.choice(DIALECTS)
    log = odd_log(path, dialect=dialect, seed=seed, oddities=(), size_bytes=SIZE_BYTES)
    join_transactions(log, rng, 0.9, PRODUCTION_LOADED)
    log = type(log)(log.data())
    horizon = Horizon(keys=rng.choice((9, 16, 40)), transactions=1_000)
    assert_left_alike(log.save(path), options=AuditOptions(horizon=horizon))


@pytest.mark.long(quick=8)
@pytest.mark.parametrize("seed", range(20))
def test_rows_that_contradict_are_found_alike(tmp_path, monkeypatch, seed):
    """Keys that another row has, rows that come twice or never, images that differ."""
    rng = random.Random(f"contradict {seed}")
    path, dialect = tmp_path / "log.000001", rng.choice(DIALECTS)
    oddities = rng.choice(((), ("minimal-parents",), ("texts-of-parents",)))
    log = odd_log(path, dialect=dialect, seed=seed, oddities=oddities, size_bytes=24_000)
    relabel(log, rng, rng.choice((0.3, 1.0)))
    for _ in range(rng.randrange(5)):
        drop_or_repeat(log, rng, rng.choice((7, PRODUCTION_LOADED)))
        log = type(log)(log.data())
    if rng.random() < 0.5:
        monkeypatch.setattr(keyed_rows, "new_replay", partial(keyed_rows.new_replay, small=2))
    options = AuditOptions(
        replay_rows_max=rng.choice((20, 60, 10_000)), replay_findings_max=rng.choice((1, 3, 1_000))
    )
    result, _ = assert_left_alike(
        log.save(path), options=options, transactions_max=rng.choice((7, 8192))
    )
    assert result.replay.duplicate_keys or result.replay.rows_forgotten


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("seed", range(6))
def test_rows_that_may_have_cascaded_contradict_alike(tmp_path, seed):
    """The log begins after its tables were made, so that any change may have deleted a child."""
    rng = random.Random(f"doubted {seed}")
    path, dialect = tmp_path / "log.000001", rng.choice(DIALECTS)
    log = odd_log(path, dialect=dialect, seed=seed, oddities=(), size_bytes=24_000)
    begin_late(log, rng, PRODUCTION_LOADED)
    repeat_deletions(log, rng)
    result, _ = assert_left_alike(log.save(path), transactions_max=rng.choice((7, 8192)))
    assert not result.replay.before_images_missing, "any of them may have gone by a cascade"


def repeat_deletions(log, rng):
    """Repeat half of the transactions that delete rows some transactions later."""
    starts = [*log.starts(), len(log.events) - 1]
    for number in reversed(range(len(starts) - 2)):
        part = log.events[starts[number] : starts[number + 1]]
        if any(event.code in DELETES for event in part) and rng.random() < 0.5:
            at = rng.choice(starts[number + 1 : number + 20])
            log.events[at:at] = part


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("seed", range(8))
def test_prepared_rows_that_contradict_are_found_alike(tmp_path, seed):
    rng = random.Random(f"prepared {seed}")
    path, dialect = tmp_path / "log.000001", rng.choice(DIALECTS)
    oddities = tuple(rng.sample(sorted(ODDITIES), rng.randrange(3)))
    log = odd_log(path, dialect=dialect, seed=seed, oddities=oddities, size_bytes=SIZE_BYTES)
    share = rng.choice((0.2, 0.5))
    log = with_xa(log, dialect, rng, share=share, first=PRODUCTION_LOADED)
    relabel(log, rng, 0.5)
    for _ in range(3):
        drop_or_repeat(log, rng, PRODUCTION_LOADED)
        log = type(log)(log.data())
    result, _ = assert_left_alike(log.save(path), transactions_max=rng.choice((7, 8192)))
    assert result.kinds["xa"]


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("seed", range(6))
def test_unknown_keys_in_several_domains_give_the_same_result(tmp_path, seed):
    rng = random.Random(f"domains {seed}")
    path, oddities = tmp_path / "log.000001", rng.choice(((), ("keyless",)))
    log = odd_log(path, dialect="mariadb", seed=seed, oddities=oddities, size_bytes=SIZE_BYTES)
    overlap(log, "mariadb", 9, PRODUCTION_LOADED)
    spread_over_domains(log, 3)
    begin_late(log, rng, PRODUCTION_LOADED)
    with_minimal_metadata(log)
    result, _ = assert_left_alike(log.save(path), transactions_max=rng.choice((7, 8192)))
    assert result.unknown_because


@pytest.mark.parametrize("server", ["mariadb-10.11.19", "mysql-9.7.4"])
def test_recorded_xa_transactions_give_the_same_result(repository, server):
    files = sorted((repository / "tests/fixtures/binlogs" / server / "xa").glob("bin.0?????"))
    assert files
    assert_left_alike(*files)
