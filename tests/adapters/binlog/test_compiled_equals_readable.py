"""The compiled engine gives the result of the readable one, field by field, or hands over."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci.bench import mixes
from ci.bench.dialects import TABLES
from ci.bench.mixes import PAYLOAD
from paraply.adapters.binlog.compiled import expanding
from paraply.properties.logs import (
    critical_path,
    overlap_rules,
    parallelism,
    scheduling_models,
    worker_timeline,
)
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled import auditor, keyed_rows, state
from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.logs.log_lint import LogLint
from paraply.vocabulary.not_compilable import NotCompilable
from paraply.vocabulary.verdict import Verdict
from tests.builders.engines import audit_by_compiled, audit_by_readable, differences
from tests.builders.hot_logs import hot_log
from tests.builders.log_compressor import compress
from tests.builders.log_forger import ForgedLog

DIALECTS = ("mariadb", "mysql")
ROWS_CODES = (23, 24, 25, 30, 31, 32)
FIRST_ROWS = 8
"""Last committed of a transaction that may overlap anything but the DDL at the beginning."""
LOADED = 40
"""Transactions at the beginning that create and fill the tables; faults come after them."""


@pytest.fixture(scope="session")
def small_logs(tmp_path_factory):
    """One generated log per dialect, with few and therefore hot rows."""
    folder = tmp_path_factory.mktemp("generated")
    return {
        dialect: hot_log(
            folder / f"{dialect}.000001", dialect=dialect, size_bytes=800_000, seed=7, rows=200
        )
        for dialect in DIALECTS
    }


@pytest.fixture(scope="session")
def production_log(tmp_path_factory):
    """Write logs with foreign keys, DECIMAL keys and a table without a key; few rows are hot."""
    folder = tmp_path_factory.mktemp("production")

    def write(dialect, seed=0, *, with_ddl=True):
        path = folder / f"{dialect}-{seed}-{with_ddl}.000001"
        define = mixes.MixWriter._define
        with pytest.MonkeyPatch.context() as patch:
            for name in ("CUSTOMERS", "TARIFFS"):
                patch.setattr(mixes, name, 32)
            patch.setattr(mixes, "LOAD_ROWS", 8)
            if not with_ddl:
                patch.setattr(
                    mixes.MixWriter, "_define",
                    lambda self, sql: sql.startswith("ALTER") or define(self, sql),
                )  # fmt: skip
            mixes.generate(
                path, kind="production", dialect=dialect, size_bytes=60_000, seed=seed, block=24
            )
        return path

    return write


def assert_alike(*files, schema=None, options=None, **sizes):
    """Compare the engines, and return the result; a hand-over fails."""
    names = tuple(map(str, files))
    readable = audit_by_readable(names, schema, options)
    compiled = audit_by_compiled(names, schema, options, **sizes)
    assert differences(readable, compiled) == []
    assert readable.report.files
    return readable.result


# --- Sound logs ------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_sound_log_gives_the_same_result_and_holds(small_logs, dialect):
    result = assert_alike(small_logs[dialect])
    assert result.verdict is Verdict.HOLDS
    assert result.conflicting_pairs_ordered > 100
    assert result.pairs_allowed_to_overlap > 100
    assert result.replay.before_images_found > 300


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_metadata_of_regular_batches_is_checked_at_once(small_logs, dialect, monkeypatch):
    checked, observe = Counter(), LogLint.observe

    def counting(lint, txn):
        checked["one by one"] += 1
        observe(lint, txn)

    monkeypatch.setattr(LogLint, "observe", counting)
    transactions = audit_by_compiled((str(small_logs[dialect]),)).result.transactions
    assert 0 < checked["one by one"] < transactions / 2


@pytest.mark.long
def test_comparison_notices_one_changed_timestamp(small_logs, tmp_path):
    log = ForgedLog.read(small_logs["mysql"])
    log.set_timestamp(len(log) - 3, last_committed=FIRST_ROWS)
    forged = (str(log.save(tmp_path / "forged.000001")),)
    sound = (str(small_logs["mysql"]),)
    found = differences(audit_by_readable(sound), audit_by_compiled(forged))
    assert any(line.startswith("pairs_allowed_to_overlap") for line in found)
    assert any(line.startswith("clock_distance") for line in found)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(3))
def test_chunks_and_batches_of_any_size_change_nothing(small_logs, dialect, seed):
    rng = random.Random(seed)
    assert_alike(
        small_logs[dialect],
        chunk_bytes=rng.choice((64, 999, 4_096, 33_333)),
        transactions_max=rng.choice((1, 2, 17, 300)),
    )


def test_transaction_longer_than_the_largest_buffer_goes_to_the_readable_decoder(small_logs):
    with pytest.raises(NotCompilable, match="rows that kernels cannot read"):
        audit_by_compiled((str(small_logs["mysql"]),), chunk_bytes=500, bytes_max=1_000)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_two_files_are_one_stream_with_two_clocks(small_logs, dialect, tmp_path):
    whole = ForgedLog.read(small_logs[dialect])
    gtids = whole.starts()
    cut = gtids[len(gtids) * 2 // 3]
    second = ForgedLog.read(small_logs[dialect])
    second.events = second.events[: gtids[0]] + second.events[cut:]
    whole.events = whole.events[:cut] + whole.events[-1:]
    files = [whole.save(tmp_path / "bin.000001"), second.save(tmp_path / "bin.000002")]
    result = assert_alike(*files, chunk_bytes=5_000)
    assert result.transactions > 200


@pytest.mark.long
def test_conflict_across_a_gap_or_last_committed_zero_says_what_would_still_help(
    small_logs, tmp_path
):
    log = ForgedLog.read(small_logs["mysql"])
    gtids = log.starts()
    # Without its beginning the log holds no DDL, which last_committed=0 would overlap.
    cut = gtids[LOADED + 60 : LOADED + 62]
    log.events = log.events[: gtids[0]] + log.events[gtids[LOADED] : cut[0]] + log.events[cut[1] :]
    log = ForgedLog(log.data())
    schema = tmp_path / "schema.sql"
    statements = ["CREATE DATABASE bench", "USE bench", *(table.ddl for table in TABLES)]
    schema.write_text("".join(f"{statement};\n" for statement in statements))
    for ordinal in (30, 90, 110):
        log.set_timestamp(ordinal, last_committed=0)
    for ordinal in range(61, 70):
        log.set_timestamp(ordinal, last_committed=LOADED + 2)
    result = assert_alike(log.save(tmp_path / "tail.000001"), schema=str(schema))
    told = {violation.consequence.partition("waits at ")[2][:8] for violation in result.violations}
    assert {"a gap in", "last_com"} <= told


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_bounds_of_the_judges_bite_at_the_same_transaction(small_logs, dialect):
    options = AuditOptions(
        horizon=Horizon(keys=300, transactions=1_000),
        replay_rows_max=150,
        workers=(1, 3),
        appliers=("commit-group", "logical-clock"),
    )
    result = assert_alike(small_logs[dialect], options=options, transactions_max=50)
    assert result.replay.rows_forgotten > 100
    options = AuditOptions(horizon=Horizon(keys=1_000_000, transactions=60), workers=())
    assert_alike(small_logs[dialect], options=options)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_arrays_that_begin_tiny_grow_without_a_trace(small_logs, dialect, monkeypatch):
    monkeypatch.setattr(auditor, "new_state", partial(state.new_state, small=3))
    monkeypatch.setattr(state, "KEYS_OF_ONE", 1)
    monkeypatch.setattr(keyed_rows, "new_replay", partial(keyed_rows.new_replay, small=2))
    grown = Counter()
    original = auditor.grown

    def counting(old, status, needed):
        grown[status] += 1
        return original(old, status, needed)

    monkeypatch.setattr(auditor, "grown", counting)
    assert_alike(small_logs[dialect])
    assert_alike(
        small_logs[dialect], options=AuditOptions(horizon=Horizon(keys=60, transactions=40))
    )
    assert min(grown[C.GROW_PAST], grown[C.GROW_TOUCHES], grown[C.GROW_TIES]) > 0
    assert grown[C.GROW_PREFIXES] > 0 or dialect == "mariadb"


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_inner_bounds_of_the_judges_bite_at_the_same_transaction(
    small_logs, dialect, monkeypatch, tmp_path
):
    monkeypatch.setattr(auditor, "RING_MAX", 16)
    monkeypatch.setattr(parallelism, "CriticalPath", partial(critical_path.CriticalPath, 16))
    for module in (auditor, scheduling_models):
        monkeypatch.setattr(module, "WINDOW_MAX", 10)
    for module in (auditor, overlap_rules):
        monkeypatch.setattr(module, "STRETCHES_MAX", 6)
    log = ForgedLog.read(small_logs[dialect])
    if dialect == "mysql":
        for ordinal in range(LOADED, len(log) + 1):
            # Gaps in the numbers: every third transaction begins a stretch.
            log.set_timestamp(
                ordinal, sequence_number=ordinal + ordinal // 3, last_committed=ordinal - 9
            )
    assert_alike(log.save(tmp_path / "bounded.000001"))


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_rounds_too_far_back_to_grow_are_the_same(small_logs, dialect, monkeypatch):
    whole = assert_alike(small_logs[dialect])
    for module in (auditor, worker_timeline):
        monkeypatch.setattr(module, "LEVELS_MAX", 2)
    short = assert_alike(small_logs[dialect])
    narrower = [
        one.width_max < other.width_max
        for one, other in zip(short.parallelism, whole.parallelism, strict=True)
    ]
    assert any(narrower)


# --- Foreign keys, and tables without a key --------------------------------------------------

PRODUCTION_LOADED = 14
"""Transactions that create and fill the tables of a production log."""


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_foreign_keys_and_inserts_without_a_key_give_the_same_result(production_log, dialect):
    result = assert_alike(production_log(dialect), transactions_max=40)
    assert result.verdict is Verdict.HOLDS
    assert result.conflicting_pairs_ordered > 50
    assert result.replay.rows_without_key > 5
    assert "with-keys" in {each.model for each in result.parallelism}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_barrier_just_before_the_links_of_the_path_is_named(production_log, seed, monkeypatch):
    links = 20 + 7 * seed
    monkeypatch.setattr(auditor, "RING_MAX", links)
    monkeypatch.setattr(parallelism, "CriticalPath", partial(critical_path.CriticalPath, links))
    assert_alike(production_log("mysql"))


def relates_by_key(event):
    """Return whether an event inserts an order or deletes items."""
    table = int.from_bytes(event.body[:6], "little")
    inserts, deletes = event.code in (23, 30), event.code in (25, 32)
    return (inserts and table == mixes.ORDERS.number) or (deletes and table == mixes.ITEM.number)


def overlapping(log, dialect, by):
    """Let transactions overlap those of ``by`` before them."""
    for ordinal in range(PRODUCTION_LOADED, len(log) + 1):
        if dialect == "mysql":
            log.set_timestamp(ordinal, last_committed=max(PRODUCTION_LOADED - 2, ordinal - by))
        else:
            log.set_commit_id(ordinal, 1_000 + ordinal // by)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_overlapping_parents_and_children_are_found_and_wait_alike(
    production_log, dialect, tmp_path
):
    tables, waits = Counter(), 0
    for seed, by in enumerate((9, 60, 200, 400)):
        log = ForgedLog.read(production_log(dialect, seed, with_ddl=False))
        overlapping(log, dialect, by)
        if by >= 200:
            # Only the foreign key relates the items of an order and its delete.
            log.events = [event for event in log.events if not relates_by_key(event)]
        options = AuditOptions(violations_max=7 if by == 60 else 1_000)
        result = assert_alike(log.save(tmp_path / f"{by}.000001"), options=options)
        tables.update(f"{each.table}.{each.index[:10]}" for each in result.violations)
        waits += result.may_wait
    assert {"bench.customer.PRIMARY", "bench.orders.REFERENCES"} <= set(tables)
    assert waits


@pytest.mark.long
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32), dialect=st.sampled_from(DIALECTS))
def test_any_mixture_of_faults_with_foreign_keys_gives_the_same_result(
    production_log, tmp_path_factory, seed, dialect
):
    rng = random.Random(seed)
    log = ForgedLog.read(production_log(dialect, seed % 5, with_ddl=False))
    if rng.random() < 0.7:
        overlapping(log, dialect, rng.choice((9, 60, 200)))
    for fault in (lambda: forge_rows(log, rng), lambda: drop_or_repeat(log, rng)):
        if rng.random() < 0.5:
            fault()
    horizon = Horizon(keys=rng.choice((30, 300, 10**6)), transactions=rng.choice((20, 60, 1_000)))
    options = AuditOptions(horizon=horizon, replay_rows_max=rng.choice((60, 10_000)))
    path = log.save(tmp_path_factory.mktemp("mixture") / "log.000001")
    assert_alike(path, options=options, transactions_max=rng.choice((1, 50, 8192)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"REFERENCES orders (code))", b"REFERENCES orders (code) ON DELETE CASCADE)"),
        (None, None),
    ],
)
def test_cascades_and_unchecked_changes_are_judged_alike(production_log, old, new, tmp_path):
    log = ForgedLog.read(production_log("mysql"))
    for event in log.events:
        if old is not None and old in event.body:
            event.body[:] = event.body.replace(old, new)
        elif old is None and event.code in ROWS_CODES:
            event.body[6] |= 2
    assert_alike(log.save(tmp_path / "other.000001"))


# --- Faults ----------------------------------------------------------------------------------


def forge_metadata(log, dialect, rng):
    """Give a few transactions other timestamps or commit ids."""
    for _ in range(rng.randint(1, 6)):
        ordinal = rng.randint(LOADED, len(log))
        if dialect == "mysql":
            kind = rng.randrange(3)
            if kind == 0:
                log.set_timestamp(ordinal, last_committed=rng.randint(FIRST_ROWS, ordinal - 1))
            elif kind == 1:
                log.set_timestamp(ordinal, sequence_number=rng.randint(1, len(log) + 5))
            else:
                log.set_timestamp(ordinal, last_committed=ordinal + rng.randrange(3))
        else:
            commit_id = rng.choice((None, 5, ordinal))
            for member in range(ordinal, min(len(log), ordinal + rng.randint(1, 8)) + 1):
                log.set_commit_id(member, commit_id)


def forge_rows(log, rng):
    """Damage a row image in a few rows events: the last byte belongs to a value."""
    rows = [event for event in log.events if event.code in ROWS_CODES]
    for event in rng.sample(rows, rng.randint(1, 5)):
        event.body[-1] ^= 1 + rng.randrange(5)


def drop_or_repeat(log, rng, loaded=LOADED):
    """Drop whole transactions, repeat some, or move one to another place."""
    gtids = log.starts()
    spans = list(zip(gtids, [*gtids[1:], len(log.events) - 1], strict=True))
    for _ in range(rng.randint(1, 3)):
        first, last = rng.choice(spans[loaded:])
        if rng.random() < 0.5:
            for event in log.events[first:last]:
                event.code = -1  # Dropped below.
        else:
            copies = log.events[first:last]
            at = rng.choice(spans[loaded:])[0]
            log.events[at:at] = copies
            break
    log.events = [event for event in log.events if event.code >= 0]


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(4))
def test_forged_metadata_gives_the_same_findings(small_logs, dialect, seed, tmp_path):
    rng = random.Random(seed)
    log = ForgedLog.read(small_logs[dialect])
    forge_metadata(log, dialect, rng)
    assert_alike(log.save(tmp_path / "forged.000001"), transactions_max=97)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_ruined_metadata_fills_the_lists_alike(small_logs, dialect, tmp_path):
    log = ForgedLog.read(small_logs[dialect])
    for ordinal in range(LOADED, len(log) + 1):
        if dialect == "mysql":
            log.set_timestamp(ordinal, last_committed=FIRST_ROWS)
        else:
            log.set_commit_id(ordinal, 77)
    options = AuditOptions(violations_max=40, lint_max=5)
    result = assert_alike(log.save(tmp_path / "ruined.000001"), options=options)
    assert result.verdict is Verdict.VIOLATED
    assert len(result.violations) == 40
    assert result.violations_dropped > 100


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(3))
def test_damaged_rows_and_lost_transactions_give_the_same_replay(
    small_logs, dialect, seed, tmp_path
):
    rng = random.Random(seed)
    log = ForgedLog.read(small_logs[dialect])
    (forge_rows if seed % 2 else drop_or_repeat)(log, rng)
    options = AuditOptions(replay_findings_max=3)
    result = assert_alike(log.save(tmp_path / "damaged.000001"), options=options)
    assert result.replay.findings


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_truncated_and_corrupt_files_stop_at_the_same_byte(small_logs, dialect, tmp_path):
    data = small_logs[dialect].read_bytes()
    for at in (len(data) // 2, len(data) * 3 // 4):
        cut = tmp_path / "cut.000001"
        cut.write_bytes(data[:at])
        assert assert_alike(cut).transactions > LOADED
        corrupt = tmp_path / "corrupt.000001"
        corrupt.write_bytes(data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :])
        assert_alike(corrupt)
        assert not audit_by_readable((str(corrupt),)).report.read_to_end


@pytest.mark.long
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), dialect=st.sampled_from(DIALECTS), chunk=st.integers(40, 40_000))
def test_any_mixture_of_faults_gives_the_same_result(small_logs, tmp_path_factory, **drawn):
    rng = random.Random(drawn["seed"])
    log = ForgedLog.read(small_logs[drawn["dialect"]])
    faults = [
        lambda: forge_metadata(log, drawn["dialect"], rng),
        lambda: forge_rows(log, rng),
        lambda: drop_or_repeat(log, rng),
    ]
    # Dropping or repeating renumbers transactions, so it comes last.
    for fault in faults:
        if rng.random() < 0.6:
            fault()
    path = log.save(tmp_path_factory.mktemp("mixture") / "log.000001")
    assert_alike(path, chunk_bytes=drawn["chunk"], transactions_max=rng.choice((1, 50, 8192)))


# --- Compressed transactions -----------------------------------------------------------------


@pytest.mark.long
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), dialect=st.sampled_from(DIALECTS), chunk=st.integers(40, 40_000))
def test_compressed_transactions_with_faults_give_the_same_result(
    small_logs, production_log, tmp_path_factory, **drawn
):
    rng = random.Random(drawn["seed"])
    dialect = drawn["dialect"]
    with_parents = rng.random() < 0.5
    log = ForgedLog.read(production_log(dialect) if with_parents else small_logs[dialect])
    if rng.random() < 0.5:
        forge_metadata(log, dialect, rng)
    if not with_parents and rng.random() < 0.5:
        forge_rows(log, rng)
    path = compress(log, rng).save(tmp_path_factory.mktemp("packed") / "log.000001")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expanding, "RUN_BYTES", rng.choice((1, 3_000, 1 << 20)))
        sizes = {"chunk_bytes": drawn["chunk"], "transactions_max": rng.choice((1, 50, 8192))}
        try:
            assert_alike(path, **sizes)
        except NotCompilable as refusal:
            # Forged stamps may let rows overlap DDL, and put DDL into commit groups.
            if not (with_parents and "DDL" in str(refusal)):
                raise


@pytest.mark.parametrize("dialect", DIALECTS)
def test_conflict_in_compressed_transactions_is_that_of_the_plain_log(
    small_logs, dialect, tmp_path
):
    log = ForgedLog.read(small_logs[dialect])
    if dialect == "mysql":
        for ordinal in range(LOADED + 20, LOADED + 60):
            log.set_timestamp(ordinal, last_committed=LOADED)
    else:
        for ordinal in range(LOADED + 20, LOADED + 60):
            log.set_commit_id(ordinal, 77)
    plain = audit_by_compiled((str(log.save(tmp_path / "plain.000001")),))
    packed = compress(log, random.Random(3)).save(tmp_path / "packed.000001")
    found = audit_by_compiled((str(packed),))
    told = [
        [(one.table, one.key, one.later.gtid) for one in each.result.violations]
        for each in (plain, found)
    ]
    assert told[0]
    assert told[0] == told[1]
    assert any("PAYLOAD" in name or "COMPRESSED" in name for name in found.report.files[0].events)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_compression_stops_at_the_same_byte(small_logs, dialect, seed, tmp_path):
    rng = random.Random(seed)
    log = compress(ForgedLog.read(small_logs[dialect]), rng)
    packed = [event for event in log.events if event.code in (PAYLOAD, 166, 167, 168)]
    for event in rng.sample(packed, 2):
        event.body[rng.randrange(9, len(event.body))] ^= 1 << rng.randrange(8)
    is_taken_alike((str(log.save(tmp_path / "damaged.000001")),))


# --- Real logs -------------------------------------------------------------------------------


def is_taken_alike(files, schema=None):
    """Return whether the compiled engine took the log; if so, the results are the same."""
    try:
        compiled = audit_by_compiled(files, schema)
    except NotCompilable:
        return False
    assert differences(audit_by_readable(files, schema), compiled) == []
    return True


@pytest.mark.long
def test_recorded_logs_give_the_same_result_or_are_handed_over(repository):
    folder = repository / "tests" / "fixtures" / "binlogs"
    taken, handed_over = [], []
    for case in sorted(path for path in folder.glob("*/*") if path.is_dir()):
        files = tuple(str(path) for path in sorted(case.glob("bin.0?????")))
        schema = case / "schema.sql"
        for known in (None, str(schema)) if schema.exists() else (None,):
            (taken if is_taken_alike(files, known) else handed_over).append(case.name)
    assert taken
    assert handed_over


def test_third_party_logs_give_the_same_result_or_are_handed_over(corpus):
    logs = [
        path
        for path in sorted(corpus.rglob("*"))
        if path.is_file() and path.read_bytes()[:4] == b"\xfebin"
    ]
    taken = [path.name for path in logs if is_taken_alike((str(path),))]
    assert taken


# --- Without the compiler --------------------------------------------------------------------

_PROGRAM = """
import sys
from tests.builders.engines import audit_by_compiled, audit_by_readable, differences
files = (sys.argv[1],)
found = differences(audit_by_readable(files), audit_by_compiled(files))
print(found)
sys.exit(bool(found))
"""


@pytest.mark.long
def test_kernels_run_uncompiled_with_the_same_result(small_logs, tmp_path, repository):
    log = ForgedLog.read(small_logs["mysql"])
    gtids = log.starts()
    log.events = log.events[: gtids[LOADED]] + log.events[-1:]
    path = log.save(tmp_path / "tiny.000001")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(path)],
        cwd=repository, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
