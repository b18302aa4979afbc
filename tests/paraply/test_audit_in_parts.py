"""An audit in parts finds what one auditor finds, wherever the log is cut."""

from __future__ import annotations

import json
import random
from dataclasses import fields, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adapters.binlog.blocks import cut_file
from adapters.violations_parquet import read_violations, write_violations
from ci.bench import workload
from ci.bench.generate_log import generate
from mining.engines import InProcess
from mining.history_tables import write_columns
from paraply.audit import AuditRequest, audit
from paraply.audit_at_scale import DIFFERENCES, PartSizes, audit_in_parts
from paraply.audit_on_spark import SparkRequest, audit_on_spark
from paraply.cli import main
from paraply.rows_across_parts import ROUNDS_SIDE_BY_SIDE, RowsAcrossParts
from properties.logs import audit as readable_audit
from properties.logs.compiled.batches import NotCompilable
from properties.logs.compiled.replay import CompiledRowFollower
from properties.logs.conflict_index import Horizon
from properties.logs.part_borders import Carried
from properties.logs.replay_state import ReplayState
from properties.tables.timestamps import TableRow
from tests.builders.log_forger import ForgedLog
from tests.properties.tables.test_timestamps import columns
from vocabulary.audit_result import AuditResult
from vocabulary.errors import ParaplyError
from vocabulary.verdict import Verdict

GTID_CODES = (33, 34, 162)
NOT_COMPARED = {
    "parallelism",
    "width_over_time",
    "blockers",
    "critical_path",
    "assumptions",
}
"""What a part cannot know, as ``DIFFERENCES`` and docs/spark.md say."""
RECORDINGS = Path(__file__).parent.parent / "fixtures" / "binlogs"
UNREADABLE = ("encrypted",)
SMALL_HORIZON = Horizon(keys=120, transactions=25)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A small log per dialect, with few and therefore hot rows."""
    folder = tmp_path_factory.mktemp("parts")
    patch = pytest.MonkeyPatch()
    patch.setattr(workload, "SBTEST_ROWS", 100)
    patch.setattr(workload, "ACCOUNTS", 100)
    patch.setattr("ci.bench.generate_log.BLOCK_TRANSACTIONS", 100)
    made = {}
    for dialect in ("mariadb", "mysql"):
        made[dialect] = folder / f"{dialect}.000001"
        generate(made[dialect], dialect=dialect, size_bytes=300_000, seed=5)
    patch.undo()
    return made


@pytest.fixture(autouse=True)
def short_memory(monkeypatch):
    """Give every auditor a memory shorter than the log, so that approaches need not be whole."""
    monkeypatch.setattr(
        readable_audit.AuditOptions,
        "__init__",
        _with(readable_audit.AuditOptions.__init__, horizon=SMALL_HORIZON),
    )


def _with(init, **defaults):
    def wrapped(self, **given):
        init(self, **{**defaults, **given})

    return wrapped


def differences(whole, parts):
    return [
        f"{each.name}: {getattr(whole, each.name)} in parts {getattr(parts, each.name)}"
        for each in fields(AuditResult)
        if each.name not in NOT_COMPARED and getattr(whole, each.name) != getattr(parts, each.name)
    ] + [
        f"work of {one.model}"
        for one, other in zip(whole.parallelism, parts.parallelism, strict=True)
        if (one.model, one.work, one.safe) != (other.model, other.work, other.safe)
    ]


def audit_both(*files, engine="readable", sizes):
    request = AuditRequest(files=tuple(map(str, files)), engine=engine)
    return audit(request), audit_in_parts(request, sizes=sizes)


def random_sizes(seed):
    rng = random.Random(seed)
    return PartSizes(
        block_bytes=rng.choice((4_000, 9_000, 20_000)),
        part_blocks=rng.choice((2, 3, 5)),
        approach_blocks=rng.choice((0, 1, 4)),
    )


def forge_conflicts(path, target, seed):
    """Let some transactions overlap what they must not, at random places."""
    log = ForgedLog.read(path)
    rng = random.Random(seed)
    for at in rng.sample(range(len(log) // 2, len(log)), 12):
        log.set_timestamp(at, last_committed=max(1, at - rng.choice((3, 20))))
    return log.save(target)


def contradict(path, target, seed):
    """Drop some transactions and repeat others, so that rows are not what they were."""
    log = ForgedLog.read(path)
    gtids = [at for at, event in enumerate(log.events) if event.code in GTID_CODES]
    spans = list(zip(gtids, [*gtids[1:], len(log.events) - 1], strict=True))
    rng = random.Random(seed)
    changed = sorted(rng.sample(spans[len(spans) // 5 :], 12), reverse=True)
    for number, (first, last) in enumerate(changed):
        log.events[first:last] = log.events[first:last] * 2 if number % 2 else []
    return log.save(target)


@pytest.mark.parametrize("rows_max", [60, 1_000_000])
@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_rows_are_followed_across_parts(logs, tmp_path, monkeypatch, engine, rows_max):
    monkeypatch.setattr(
        readable_audit.AuditOptions,
        "__init__",
        _with(readable_audit.AuditOptions.__init__, replay_rows_max=rows_max),
    )
    path = contradict(logs["mariadb"], tmp_path / "contradicted.000001", 3)
    sizes = PartSizes(block_bytes=20_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(path, engine=engine, sizes=sizes)
    assert len(whole.replay.findings) > 5
    assert bool(whole.replay.rows_forgotten) == (rows_max == 60)
    assert differences(whole, parts.result) == []
    assert parts.parts > 5
    assert parts.rounds <= ROUNDS_SIDE_BY_SIDE


def test_rows_that_are_not_followed_across_parts_hide_contradictions(logs, tmp_path, monkeypatch):
    """The control: a part replayed from nothing cannot know what was there."""
    path = contradict(logs["mariadb"], tmp_path / "contradicted.000001", 3)
    monkeypatch.setattr(RowsAcrossParts, "follow", lambda self, parts, lessons: None)
    sizes = PartSizes(block_bytes=20_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(path, sizes=sizes)
    assert len(parts.result.replay.findings) < len(whole.replay.findings)
    assert parts.result.replay.before_images_unknown > whole.replay.before_images_unknown


@pytest.mark.parametrize("side_by_side", [0, ROUNDS_SIDE_BY_SIDE])
def test_guess_that_is_wrong_costs_rounds_and_no_finding(logs, tmp_path, monkeypatch, side_by_side):
    path = contradict(logs["mysql"], tmp_path / "contradicted.000001", 5)
    monkeypatch.setattr(ReplayState, "go_on", lambda *arguments: None)
    monkeypatch.setattr("paraply.rows_across_parts.ROUNDS_SIDE_BY_SIDE", side_by_side)
    sizes = PartSizes(block_bytes=25_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(path, sizes=sizes)
    assert differences(whole, parts.result) == []
    assert parts.rounds >= parts.parts - 1 > 3


RECORDED = sorted(folder for folder in RECORDINGS.glob("*/*") if folder.name not in UNREADABLE)


@pytest.mark.parametrize(
    "folder", RECORDED, ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def test_recorded_log_in_parts_is_audited_as_in_one_piece(folder):
    """XA, foreign keys, partial images, statements, DDL, crashes: whatever servers write."""
    whole, parts = audit_both(
        *sorted(folder.glob("bin.*")), sizes=PartSizes(block_bytes=2_000, part_blocks=2)
    )
    assert differences(whole, parts.result) == []


def test_part_that_needs_the_readable_engine_takes_the_others_along(logs):
    files = [str(logs["mysql"]), str(RECORDINGS / "mysql-9.7.4" / "xa" / "bin.000001")]
    request = AuditRequest(files=tuple(files), engine="auto")
    parts = audit_in_parts(request, sizes=PartSizes(part_blocks=1, approach_blocks=0))
    assert parts.result.engine == "readable"
    assert parts.judged_again["another part needs the readable engine"] > 0
    assert differences(audit(request), parts.result) == []


def test_engine_that_cannot_follow_rows_makes_room_for_the_other(logs, monkeypatch):
    def refuse(self, parts):
        raise NotCompilable("for a test")

    monkeypatch.setattr(CompiledRowFollower, "observe_batch", refuse)
    whole, parts = audit_both(logs["mysql"], engine="auto", sizes=random_sizes(0))
    assert parts.result.engine == "readable"
    parts.result.engine = whole.engine
    assert differences(whole, parts.result) == []
    with pytest.raises(ParaplyError, match="P308"):
        audit_both(logs["mysql"], engine="compiled", sizes=random_sizes(0))


def test_log_that_the_engine_asked_for_cannot_audit_is_refused():
    files = (str(RECORDINGS / "mysql-9.7.4" / "xa" / "bin.000001"),)
    with pytest.raises(ParaplyError, match="P308"):
        audit_in_parts(AuditRequest(files=files, engine="compiled"))


def test_border_that_a_worker_left_elsewhere_is_missed(logs, monkeypatch):
    monkeypatch.setattr("paraply.audit_parts.leave_border", lambda border, path: b"elsewhere")
    with pytest.raises(ParaplyError, match="P328"):
        audit_both(logs["mysql"], sizes=random_sizes(0))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_sound_log_cut_at_random_gives_the_same_result(logs, dialect, seed):
    engine = "compiled" if seed % 2 else "readable"
    whole, parts = audit_both(logs[dialect], engine=engine, sizes=random_sizes(seed))
    assert parts.parts > 1
    assert differences(whole, parts.result) == []
    assert whole.conflicting_pairs_ordered > 20


@pytest.mark.parametrize("seed", range(3))
def test_log_with_conflicts_cut_at_random_gives_the_same_violations(logs, tmp_path, seed):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", seed)
    engine = "compiled" if seed % 2 else "readable"
    whole, parts = audit_both(forged, engine=engine, sizes=random_sizes(seed))
    assert whole.verdict is Verdict.VIOLATED
    assert differences(whole, parts.result) == []
    assert parts.violations == whole.violations


def test_border_that_is_not_compared_loses_violations(logs, tmp_path, monkeypatch):
    """The control: without widened approaches the parts are not the whole."""
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", 0)
    monkeypatch.setattr(Carried, "get_faults", lambda self, part: [])
    sizes = PartSizes(block_bytes=4_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(forged, sizes=sizes)
    assert differences(whole, parts.result)
    assert len(parts.violations) < len(whole.violations)


def test_two_files_and_a_repeated_gtid_give_the_same_findings(logs, tmp_path):
    whole = ForgedLog.read(logs["mysql"])
    gtids = [at for at, event in enumerate(whole.events) if event.code in GTID_CODES]
    second = ForgedLog.read(logs["mysql"])
    # The second file begins with the last transactions of the first, again.
    second.events = second.events[: gtids[0]] + second.events[gtids[-30] :]
    files = [whole.save(tmp_path / "bin.000001"), second.save(tmp_path / "bin.000002")]
    alone, parts = audit_both(*files, sizes=random_sizes(1))
    assert any(each.rule == "gtids_are_unique" for each in alone.lint)
    assert differences(alone, parts.result) == []
    assert any("seen before" in reason for reason in parts.judged_again)


def test_log_damaged_in_the_middle_is_read_as_far_as_by_one_auditor(logs, tmp_path):
    data = bytearray(logs["mariadb"].read_bytes())
    data[len(data) * 2 // 3] ^= 0xFF
    damaged = tmp_path / "damaged.000001"
    damaged.write_bytes(data)
    whole, parts = audit_both(damaged, logs["mariadb"], sizes=random_sizes(2))
    assert whole.files[0].stopped
    for result in (whole, parts.result):
        # A table map that was told of before CREATE came again is told of again by a part only.
        result.tables = [replace(table, sources=()) for table in result.tables]
    assert differences(whole, parts.result) == []


def test_transaction_longer_than_a_part_is_never_cut(logs):
    sizes = PartSizes(block_bytes=40, part_blocks=2, approach_blocks=1)
    blocks = cut_file(str(logs["mariadb"]), sizes.block_bytes)
    ends = [block.end for block in blocks[:-1]]
    assert ends == [block.begin for block in blocks[1:]]
    assert max(end - b.begin for end, b in zip(ends, blocks, strict=False)) > 100 * 40


def test_compressed_log_is_one_block(logs, tmp_path):
    import gzip

    packed = tmp_path / "log.000001.gz"
    packed.write_bytes(gzip.compress(logs["mysql"].read_bytes()))
    assert [block.is_file for block in cut_file(str(packed), 100)] == [True]


def test_standard_input_is_refused_with_the_way_out():
    with pytest.raises(ParaplyError, match="P329"):
        audit_in_parts(AuditRequest(files=("-",)))


def test_violations_are_written_sorted_and_each_once(logs, tmp_path):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", 1)
    found = audit(AuditRequest(files=(str(forged),))).violations
    path = tmp_path / "out" / "violations.parquet"
    assert write_violations(path, [*reversed(found), *found]) == len(found) > 1
    assert read_violations(path) == found


def test_command_writes_the_violations_and_exits_1(logs, tmp_path, capsys):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", 2)
    out = tmp_path / "out"
    assert main(["audit", "--spark", "--master", "none", "--out", str(out), str(forged)]) == 1
    assert pq.read_table(out / "violations.parquet").num_rows > 0
    assert DIFFERENCES[0].split(":")[0] not in capsys.readouterr().out  # One part: no difference.


def test_table_of_transactions_is_checked_and_its_faults_are_told(tmp_path, capsys):
    path = tmp_path / "histories.parquet"
    rows = [TableRow(0, 0, 1, (1,)), TableRow(0, 0, 2, (1, 2)), TableRow(0, 2, 3, (2,))]
    write_columns(path, [columns(rows)])
    assert main(["audit", "--spark", str(path), "--json", str(tmp_path / "found.json")]) == 1
    assert "1 write follows another of its item" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["verdict"], found["unordered"], found["compared"]) == ("violated", 1, 2)


@pytest.mark.parametrize("lc", [0, 1])
def test_breaches_of_a_table_are_written_by_name(tmp_path, capsys, lc):
    path, out = tmp_path / "histories.parquet", tmp_path / "out"
    rows = [TableRow(4, 0, 1, (1,)), TableRow(4, lc, 2, (1, 9))]
    write_columns(path, [columns(rows[:1]), columns(rows[1:])])
    words = ["audit", "--spark", "--master", "none", str(path), "--out", str(out)]
    assert main(words) == (0 if lc else 1)
    assert f"{1 - lc} violations in {out}" in capsys.readouterr().err
    found = pq.read_table(out / "violations.parquet").to_pylist()
    assert found == [
        {
            "breach": "unordered", "history": 4, "file": str(path), "row": 1, "lc": 0, "sn": 2,
            "item": 1, "earlier_file": str(path), "earlier_row": 0, "earlier_sn": 1,
        }
    ][lc:]  # fmt: skip


def test_table_without_conflicts_exits_2_and_says_that_nothing_was_shown(tmp_path, capsys):
    path = tmp_path / "histories.parquet"
    write_columns(path, [columns([TableRow(0, 0, 1, (1,))])])
    assert main(["audit", "--spark", str(path)]) == 2
    assert "nothing was shown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["t.parquet"], "audited with --spark"),
        (["log.000001", "--master", "local[2]"], "--master goes with --spark"),
        (["log.000001", "--part-megabytes", "64"], "--part-megabytes goes with --spark"),
        (["log.000001", "--out", "out"], "--out goes with --spark"),
    ],
)
def test_what_needs_spark_is_refused_without_it(words, said, capsys):
    assert main(["audit", *words]) == 3
    assert said in capsys.readouterr().err


class Elsewhere(InProcess):
    """Stands for a cluster."""

    is_local = False


def test_cluster_needs_a_folder_that_its_workers_reach(logs, tmp_path, monkeypatch):
    monkeypatch.setattr("paraply.audit_on_spark.engine_of", lambda files, master: Elsewhere())
    request = AuditRequest(files=(str(logs["mysql"]),))
    with pytest.raises(ParaplyError, match="P328"):
        audit_on_spark(request, SparkRequest(master="spark://host:7077"))
    out = tmp_path / "new" / "out"
    found, _ = audit_on_spark(request, SparkRequest(master="spark://host:7077", out=str(out)))
    assert found.result.transactions > 0
    assert [path.name for path in out.iterdir()] == ["violations.parquet"]


def test_folder_that_is_a_file_is_refused(logs, tmp_path):
    (tmp_path / "taken").write_text("")
    request = AuditRequest(files=(str(logs["mysql"]),))
    with pytest.raises(ParaplyError, match="P302"):
        audit_on_spark(request, SparkRequest(out=str(tmp_path / "taken")))


def table_of(path, *groups):
    write_columns(path, [columns(rows) for rows in groups])
    return str(path)


@pytest.mark.parametrize("in_one_file", [True, False])
def test_histories_that_do_not_ascend_over_row_groups_and_files_are_refused(
    tmp_path, capsys, in_one_file
):
    """Else the parts of a history would be held for two histories, and nothing would conflict."""
    first = [TableRow(5, 0, 1, (1,))]
    between = [TableRow(6, 0, 1, (1,))]
    again = [TableRow(5, 0, 2, (1,))]
    if in_one_file:
        files = [table_of(tmp_path / "t.parquet", first, between, again)]
    else:
        files = [
            table_of(tmp_path / f"{n}.parquet", rows)
            for n, rows in enumerate([first, between, again])
        ]
    assert main(["audit", "--spark", "--master", "none", *files]) == 3
    assert "P730" in (said := capsys.readouterr().err)
    assert "begins with history 5, after 6" in said
    sound = table_of(tmp_path / "sound.parquet", first, again, between)
    assert main(["audit", "--spark", "--master", "none", sound]) == 1


def test_nulls_in_a_list_and_damaged_pages_are_told_with_the_file(tmp_path, capsys):
    path = tmp_path / "nulls.parquet"
    kinds = [("history", pa.int64()), ("lc", pa.int64()), ("sn", pa.int64())]
    schema = pa.schema([*kinds, ("items", pa.list_(pa.int64()))])
    rows = {"history": [0], "lc": [0], "sn": [1], "items": [[1, None]]}
    pq.write_table(pa.table(rows, schema=schema), path)
    assert main(["audit", "--spark", "--master", "none", str(path)]) == 3
    assert "nulls.parquet is not a table of transactions: row group 0 has nulls" in (
        capsys.readouterr().err
    )
    path = tmp_path / "damaged.parquet"
    table_of(path, [TableRow(0, n, n + 1, (n,)) for n in range(1, 2_000)])
    data = bytearray(path.read_bytes())
    data[4:900] = bytes(896)
    path.write_bytes(data)
    assert main(["audit", "--spark", "--master", "none", str(path)]) == 3
    assert "row group 0 cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--html", "--junit"])
def test_option_that_tables_do_not_have_is_refused(tmp_path, capsys, option):
    path = table_of(tmp_path / "t.parquet", [TableRow(0, 0, 1, (1,))])
    assert main(["audit", "--spark", path, option, str(tmp_path / "x")]) == 3
    assert f"{option} goes with binary logs" in capsys.readouterr().err
    assert main(["audit", "--spark", path, "--strict"]) == 1


def test_options_of_parts_are_checked(logs, tmp_path, capsys):
    assert main(["audit", "--out", str(tmp_path), str(logs["mysql"])]) == 3
    assert "--out goes with --spark" in capsys.readouterr().err
    assert main(["audit", "--spark", "--part-megabytes", "0", str(logs["mysql"])]) == 3
