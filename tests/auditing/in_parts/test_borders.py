"""An audit in parts finds what one auditor finds, wherever the log is cut."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from paraply.adapters.binlog.blocks import cut_file
from paraply.adapters.violations_parquet import read_violations, write_violations
from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.properties.logs.part_borders import Carried
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.auditing.in_parts.auditing import (
    RECORDINGS,
    audit_both,
    differences,
    forge_conflicts,
    random_sizes,
)
from tests.auditing.test_audit_command import SAFE, UPDATE, write_log
from tests.builders.log_forger import ForgedLog

UNREADABLE = ("encrypted",)
RECORDED = sorted(folder for folder in RECORDINGS.glob("*/*") if folder.name not in UNREADABLE)


@pytest.mark.long(each=3)
@pytest.mark.parametrize(
    "folder", RECORDED, ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def test_recorded_log_in_parts_is_audited_as_in_one_piece(folder):
    """XA, foreign keys, partial images, statements, DDL, crashes: whatever servers write."""
    logs = sorted(folder.glob("bin.*"))
    # Every part costs an auditor: some ten are enough, also of a long log.
    block_bytes = max(2_000, sum(log.stat().st_size for log in logs) // 20)
    whole, parts = audit_both(*logs, sizes=PartSizes(block_bytes=block_bytes, part_blocks=2))
    assert differences(whole, parts.result) == []


@pytest.mark.long
def test_part_that_needs_the_readable_engine_takes_the_others_along(logs):
    readable = RECORDINGS / "mysql-9.7.4" / "load-minimal-image" / "bin.000001"
    files = [str(logs["mysql"]), str(readable)]
    request = AuditRequest(files=tuple(files), engine="auto")
    parts = audit_in_parts(request, sizes=PartSizes(part_blocks=1, approach_blocks=0))
    assert parts.result.engine == "readable"
    assert parts.judged_again["another part needs the readable engine"] > 0
    assert differences(audit(request), parts.result) == []


@pytest.mark.long
def test_border_that_a_worker_left_elsewhere_is_missed(logs, monkeypatch):
    monkeypatch.setattr("paraply.auditing.parts.leave_border", lambda border, path: b"elsewhere")
    with pytest.raises(ParaplyError, match="P328"):
        audit_both(logs["mysql"], sizes=random_sizes(0))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_sound_log_cut_at_random_gives_the_same_result(logs, dialect, seed):
    engine = "compiled" if seed % 2 else "readable"
    whole, parts = audit_both(logs[dialect], engine=engine, sizes=random_sizes(seed))
    assert parts.parts > 1
    assert differences(whole, parts.result) == []
    assert whole.conflicting_pairs_ordered > 20


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_log_with_conflicts_cut_at_random_gives_the_same_violations(logs, tmp_path, seed):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", seed)
    engine = "compiled" if seed % 2 else "readable"
    whole, parts = audit_both(forged, engine=engine, sizes=random_sizes(seed))
    assert whole.verdict is Verdict.VIOLATED
    assert differences(whole, parts.result) == []
    assert parts.violations == whole.violations


@pytest.mark.long
def test_border_that_is_not_compared_loses_violations(logs, tmp_path, monkeypatch):
    """The control: without widened approaches the parts are not the whole."""
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", 0)
    monkeypatch.setattr(Carried, "get_faults", lambda self, part: [])
    sizes = PartSizes(block_bytes=4_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(forged, sizes=sizes)
    assert differences(whole, parts.result)
    assert len(parts.violations) < len(whole.violations)


@pytest.mark.long
def test_two_files_and_a_repeated_gtid_give_the_same_findings(logs, tmp_path):
    whole = ForgedLog.read(logs["mysql"])
    gtids = whole.starts()
    second = ForgedLog.read(logs["mysql"])
    # The second file begins with the last transactions of the first, again.
    second.events = second.events[: gtids[0]] + second.events[gtids[-30] :]
    files = [whole.save(tmp_path / "bin.000001"), second.save(tmp_path / "bin.000002")]
    alone, parts = audit_both(*files, sizes=random_sizes(1))
    assert any(each.rule == "gtids_are_unique" for each in alone.lint)
    assert differences(alone, parts.result) == []
    assert any("seen before" in reason for reason in parts.judged_again)


@pytest.mark.long
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


@pytest.mark.parametrize("engine", ["readable", "compiled"])
@pytest.mark.parametrize(("cut", "verdict"), [(0, Verdict.VIOLATED), (20, Verdict.UNKNOWN)])
def test_rows_of_a_part_after_what_was_not_read_need_not_fit(tmp_path, engine, cut, verdict):
    first, second = tmp_path / "bin.000001", tmp_path / "bin.000002"
    write_log(first, SAFE)
    write_log(second, [(1, 0, UPDATE, [(1, 8), (1, 9)])], ddl=False, first=5)
    whole = first.read_bytes()
    first.write_bytes(whole[: len(whole) - cut])
    alone, parts = audit_both(
        first, second, engine=engine,
        sizes=PartSizes(block_bytes=1 << 20, part_blocks=1, approach_blocks=0),
    )  # fmt: skip
    assert alone.verdict is parts.result.verdict is verdict
    assert differences(alone, parts.result) == []


def test_transaction_longer_than_a_part_is_never_cut(logs):
    sizes = PartSizes(block_bytes=40, part_blocks=2, approach_blocks=1)
    blocks = cut_file(str(logs["mariadb"]), sizes.block_bytes)
    ends = [block.end for block in blocks[:-1]]
    assert ends == [block.begin for block in blocks[1:]]
    assert max(end - b.begin for end, b in zip(ends, blocks, strict=False)) > 100 * 40


def test_compressed_log_is_one_block(logs, tmp_path):
    packed = tmp_path / "log.000001.gz"
    packed.write_bytes(gzip.compress(logs["mysql"].read_bytes()))
    assert [block.is_file for block in cut_file(str(packed), 100)] == [True]


def test_violations_are_written_sorted_and_each_once(logs, tmp_path):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", 1)
    found = audit(AuditRequest(files=(str(forged),))).violations
    path = tmp_path / "out" / "violations.parquet"
    assert write_violations(path, [*reversed(found), *found]) == len(found) > 1
    assert read_violations(path) == found
