"""A part of a log: the compiled engine gives the result of the readable one, field by field."""

from __future__ import annotations

import random
from collections import Counter
from itertools import groupby

import pytest

from paraply.adapters.binlog import compiled_gains
from paraply.adapters.binlog.compiled.batch import Batch
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.adapters.binlog.transactions import read_transactions
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.auditing.selection import Selection
from paraply.properties.logs.log_lint import LogLint
from paraply.vocabulary.not_compilable import NotCompilable
from tests.adapters.binlog.test_compiled_equals_readable import (
    DIALECTS,
    LOADED,
    PRODUCTION_LOADED,
    drop_or_repeat,
    forge_metadata,
    forge_rows,
)
from tests.adapters.binlog.test_left_tables import REFUSED
from tests.adapters.binlog.test_short_logs import (
    SIZE_BYTES,
    drawn,
    repeat_deletions,
    with_few_kept,
    with_short_bounds,
)
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.hot_logs import hot_log
from tests.builders.log_compressor import compress
from tests.builders.log_forger import ForgedLog
from tests.builders.odd_tables import begin_late, odd_log, overlap, spread_over_domains


def transactions_of(files):
    return list(read_transactions([*map(str, files)]))


def some_selection(txns, rng):
    """Draw a selection that takes something, if the log has GTIDs."""
    by_stream = {}
    for txn in txns:
        if txn.gtid and txn.gtid not in by_stream.setdefault(txn.domain, []):
            by_stream[txn.domain].append(txn.gtid)
    if not by_stream:
        return Selection()
    domain = rng.choice(sorted(by_stream, key=str))
    one_domain = domain is not None and rng.random() < 0.4
    starts, stops = [], []
    for stream, gtids in by_stream.items():
        first, last = sorted(rng.choices(range(len(gtids)), k=2))
        if one_domain and stream != domain:
            continue
        if rng.random() < 0.8:
            starts.append(gtids[first])
        if rng.random() < 0.6:
            stops.append(gtids[last])
    return Selection(
        start_gtid=",".join(starts), stop_gtid=",".join(stops),
        domain=domain if one_domain else None,
    )  # fmt: skip


def compare(files, selection, options=None, schema=None, **sizes):
    """Compare the engines on a part of a log; return the result, None where one refuses."""
    names = tuple(map(str, files))
    readable = audit_by_readable(names, schema, options, selection)
    try:
        compiled = audit_by_leaving(names, schema, options, LeftTables(), selection, **sizes)
    except NotCompilable as reason:
        if not any(known in str(reason) for known in (*REFUSED, "a chain through more")):
            raise
        return None
    assert differences(readable, compiled) == []
    return readable.result


def seeds(count, *, quick):
    return [
        seed if seed < quick else pytest.param(seed, marks=pytest.mark.long)
        for seed in range(count)
    ]


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("seed", seeds(30, quick=8))
def test_any_part_of_a_short_log_gives_the_same_result(tmp_path, seed):
    files, options, rng = drawn(tmp_path, f"ranged {seed}")
    share = rng.choice((0, 0.3, 0.9))
    options, txns = with_few_kept(options, rng, share), transactions_of(files)
    with pytest.MonkeyPatch.context() as patch:
        with_short_bounds(patch, rng, share)
        for _ in range(2):
            size = rng.choice((1, 7, 8192))
            compare(files, some_selection(txns, rng), options, transactions_max=size)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("seed", seeds(6, quick=2))
def test_domains_that_take_turns_are_chosen_alike(tmp_path, seed):
    rng = random.Random(f"turns {seed}")
    path = tmp_path / "log.000001"
    log = odd_log(path, dialect="mariadb", seed=seed, oddities=(), size_bytes=SIZE_BYTES)
    overlap(log, "mariadb", 9, PRODUCTION_LOADED)
    spread_over_domains(log, 3, rng)
    txns = transactions_of([log.save(path)])
    domains = sorted({txn.domain for txn in txns})
    assert len([*groupby(txns, key=lambda txn: txn.domain)]) > 2 * len(domains)
    for chosen in (*(Selection(domain=each) for each in domains), some_selection(txns, rng)):
        assert compare([path], chosen) is not None


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("seed", [4, 5, 6, 9])
def test_rows_that_do_not_fit_before_a_range_are_not_told_in_it(tmp_path, seed):
    """The log begins after its tables were made, so that any change may have deleted a child."""
    rng = random.Random(f"doubted {seed}")
    path, dialect = tmp_path / "log.000001", DIALECTS[seed % 2]
    log = odd_log(path, dialect=dialect, seed=seed, oddities=(), size_bytes=40_000)
    begin_late(log, rng, PRODUCTION_LOADED)
    repeat_deletions(log, rng)
    txns = transactions_of([log.save(path)])
    whole, last = (compare([path], each) for each in (None, Selection(start_gtid=txns[-3].gtid)))
    assert last.replay.rows_in_doubt == 0 < whole.replay.rows_in_doubt
    for result, is_told in ((whole, True), (last, False)):
        assert any("do not fit" in each.reason for each in result.unknown_because) == is_told


@pytest.fixture(scope="module")
def hot_pairs(tmp_path_factory):
    """Logs whose transactions may overlap what they must not; with their readable result."""
    folder, found = tmp_path_factory.mktemp("pairs"), {}
    for dialect in DIALECTS:
        path = hot_log(folder / f"{dialect}.000001", dialect=dialect, size_bytes=700_000, seed=3)
        log = ForgedLog.read(path)
        overlap(log, dialect, 9, LOADED)
        log.save(path)
        found[dialect] = path, transactions_of([path]), audit_by_readable((str(path),)).result
    return found


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_pair_that_a_range_cuts_is_no_violation_in_either_engine(hot_pairs, dialect):
    path, txns, whole = hot_pairs[dialect]
    pairs = [(each.earlier.ordinal, each.later.ordinal) for each in whole.violations]
    earlier, later = pairs[len(pairs) // 2]
    for first, last, is_cut in (
        (earlier, later, False), (earlier + 1, later, True), (earlier, later - 1, True),
    ):  # fmt: skip
        chosen = Selection(start_gtid=txns[first - 1].gtid, stop_gtid=txns[last - 1].gtid)
        result = compare([path], chosen)
        found = [(each.earlier.ordinal, each.later.ordinal) for each in result.violations]
        assert found == [pair for pair in pairs if first <= pair[0] and pair[1] <= last]
        assert ((earlier, later) in found) != is_cut


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_range_is_judged_by_the_compiled_engine(hot_pairs, dialect, monkeypatch):
    path, txns, whole = hot_pairs[dialect]
    chosen = Selection(start_gtid=txns[len(txns) // 2].gtid)
    request = AuditRequest(files=(str(path),), selection=chosen)
    assert audit(request).engine == "readable", "the log is small"
    monkeypatch.setattr(compiled_gains, "COMPILED_BYTES_MIN", 0)
    monkeypatch.setattr(compiled_gains, "COMPILING_BYTES_MIN", 0)
    result = audit(request)
    assert (result.engine, result.engine_because) == ("compiled", "")
    assert 0 < len(result.violations) < len(whole.violations)
    assert result.transactions == len(txns) - len(txns) // 2


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_metadata_of_passed_over_batches_is_checked_at_once(hot_pairs, dialect, monkeypatch):
    path, txns, _ = hot_pairs[dialect]
    singly, observe = Counter(), LogLint.observe

    def counting(lint, txn):
        singly[txn.ordinal] += 1
        observe(lint, txn)

    monkeypatch.setattr(LogLint, "observe", counting)
    whole = audit_by_leaving((str(path),))
    without = sum(singly.values())
    singly.clear()
    part = audit_by_leaving((str(path),), selection=Selection(start_gtid=txns[len(txns) // 2].gtid))
    # The borders of the range begin further batches.
    assert sum(singly.values()) <= without + 32
    assert sum(part.result.commit_group_sizes.values()) > 0
    assert whole.result.commit_group_sizes != part.result.commit_group_sizes


@pytest.mark.parametrize("dialect", DIALECTS)
def test_part_of_a_batch_has_the_keys_and_rows_of_its_transactions(hot_pairs, dialect):
    path, txns, _ = hot_pairs[dialect]
    counts, part_of = Counter(), Batch.part

    def checking(batch, first, end, toucher):
        part = part_of(batch, first, end, toucher)
        chosen = txns[part.first_ordinal - 1 :][: len(part)]
        assert [txn.gtid for txn in part.headers()] == [txn.gtid for txn in chosen]
        assert part.row_ends.tolist()[-1] == sum(len(txn.rows) for txn in chosen)
        assert part.touched.census[:, :3].sum() == part.row_ends[-1]
        counts["parts"] += len(part) < len(batch)
        return part

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Batch, "part", checking)
        chosen = Selection(start_gtid=txns[99].gtid, stop_gtid=txns[-100].gtid)
        audit_by_leaving((str(path),), selection=chosen)
    assert counts["parts"] >= 3


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(4))
def test_any_part_of_a_log_with_faults_gives_the_same_result(tmp_path, dialect, seed):
    rng = random.Random(f"faults {seed}")
    path = hot_log(tmp_path / "log.000001", dialect=dialect, size_bytes=300_000, seed=seed)
    log = ForgedLog.read(path)
    forge_metadata(log, dialect, rng)
    forge_rows(log, rng)
    drop_or_repeat(log, rng)
    files = [log.save(path)]
    txns = transactions_of(files)
    for _ in range(4):
        chosen = some_selection(txns, rng)
        assert compare(files, chosen, transactions_max=rng.choice((50, 8192))) is not None


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_part_of_compressed_transactions_gives_the_same_result(tmp_path, dialect):
    rng = random.Random(5)
    path = hot_log(tmp_path / "log.000001", dialect=dialect, size_bytes=150_000, seed=5)
    packed = compress(ForgedLog.read(path), rng).save(path)
    txns = transactions_of([packed])
    for _ in range(3):
        assert compare([packed], some_selection(txns, rng)) is not None


@pytest.mark.long
def test_parts_of_recorded_logs_give_the_same_result_or_are_handed_over(repository):
    folder, counts = repository / "tests" / "fixtures" / "binlogs", Counter()
    for case in sorted(path for path in folder.glob("*/*") if path.is_dir()):
        files = sorted(case.glob("bin.0?????"))
        txns, rng = transactions_of(files), random.Random(case.name)
        schema = case / "schema.sql"
        for known in (None, str(schema)) if schema.exists() else (None,):
            result = compare(files, some_selection(txns, rng), schema=known)
            counts["handed over" if result is None else "taken"] += 1
    assert counts["taken"] > 4 * counts["handed over"]
