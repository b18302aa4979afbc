"""``paraply audit`` from files to exit code, on logs written for the purpose."""

from __future__ import annotations

import gzip
import io
import json
import sys
import types
from xml.etree import ElementTree

import pytest

from ci.pages.audit_json import SCHEMA_PATH, pages
from paraply.adapters.binlog.input_files import require_consecutive
from paraply.cli import main
from paraply.commands.audit import exit_code, parse_workers
from paraply.vocabulary.errors import ParaplyError
from tests.builders.audit_results import holding_result, truncated_result, violated_result
from tests.builders.binlog_writer import BinlogWriter, optional_metadata
from tests.builders.column_specs import integer
from tests.builders.json_schema import faults

COLUMNS = [integer(4).named("id", nullable=False), integer(4).named("v")]
INSERT, UPDATE = 30, 31

SAFE = [(2, 1, INSERT, [(1, 0)]), (3, 1, INSERT, [(2, 0)]), (4, 3, UPDATE, [(1, 0), (1, 5)])]
"""sequence_number, last_committed, what it does: 2 and 3 may overlap, 4 waits for both."""
UNSAFE = [*SAFE[:2], (4, 1, UPDATE, [(1, 0), (1, 5)])]
"""4 changes the row that 2 inserted and does not wait for it."""


def write_log(path, transactions, *, ddl=True, first=1, offset=0):
    """Write a log; return the offsets of its GTID events by sequence number."""
    writer, offsets = BinlogWriter(server_version="8.0.36"), {}
    if ddl:
        offsets[1] = writer.gtid(first, last_committed=0, sequence_number=1)
        writer.query("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, v INT)")
    for sequence_number, last_committed, code, rows in transactions:
        offsets[sequence_number] = writer.gtid(
            first + sequence_number - 1,
            last_committed=last_committed,
            sequence_number=sequence_number,
        )
        writer.query("BEGIN")
        writer.table_map(COLUMNS, metadata=optional_metadata(COLUMNS, primary_key=[0]))
        writer.rows(code, COLUMNS, rows)
        writer.xid(sequence_number)
    writer.save(path)
    return offsets


@pytest.fixture
def safe_log(tmp_path):
    path = tmp_path / "bin.000001"
    write_log(path, SAFE)
    return path


def audited(capsys, *arguments):
    """Run the audit; return its exit code and JSON document."""
    code = main(["audit", *map(str, arguments), "--json", "-"])
    captured = capsys.readouterr()
    assert captured.err == ""
    document = json.loads(captured.out)
    assert faults(document, json.loads(pages()[SCHEMA_PATH])) == []
    return code, document


def refused(capsys, *arguments):
    """Run an audit that must end in a registered error; return its text."""
    assert main(["audit", *map(str, arguments)]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_safe_log_holds(safe_log, capsys):
    code, document = audited(capsys, safe_log)
    assert (code, document["verdict"]) == (0, "holds")
    assert document["transactions"] == 4
    assert document["pairs_allowed_to_overlap"] == 1
    assert document["conflicting_pairs_ordered"] >= 1
    assert document["tables"][0]["keys"] == ["PRIMARY(id)"]
    assert document["replay"]["final_rows"] == 2
    assert document["files"][0]["first_gtid"].endswith(":1")
    assert document["files"][0]["last_gtid"].endswith(":4")


def test_conflict_that_may_overlap_is_named_by_the_offsets_in_the_file(tmp_path, capsys):
    path = tmp_path / "bin.000001"
    offsets = write_log(path, UNSAFE)
    code, document = audited(capsys, path)
    assert (code, document["verdict"]) == (1, "violated")
    (violation,) = document["violations"]
    assert (violation["earlier"]["offset"], violation["later"]["offset"]) == (
        offsets[2],
        offsets[4],
    )
    assert violation["earlier"]["file"] == str(path)
    assert (violation["later"]["last_committed"], violation["later"]["sequence_number"]) == (1, 4)
    assert (violation["table"], violation["index"]) == ("test.t", "PRIMARY")


def test_cut_file_is_audited_up_to_the_cut_and_unknown_from_there(safe_log, capsys):
    whole = safe_log.read_bytes()
    safe_log.write_bytes(whole[:-20])
    code, document = audited(capsys, safe_log)
    assert (code, document["verdict"]) == (2, "unknown")
    assert document["transactions"] == 4
    assert "P104" in document["files"][0]["stopped"]
    assert "file_is_read_to_its_end" in {r["property"] for r in document["unknown_because"]}


def test_violation_before_the_damage_outranks_unknown(tmp_path, capsys):
    path = tmp_path / "bin.000001"
    write_log(path, [*UNSAFE, (5, 4, INSERT, [(9, 9)])])
    damaged = bytearray(path.read_bytes())
    damaged[-10] ^= 0xFF
    path.write_bytes(damaged)
    code, document = audited(capsys, path)
    assert (code, document["verdict"]) == (1, "violated")
    assert "P105" in document["files"][0]["stopped"]


def test_files_are_one_stream_in_the_order_given(tmp_path, capsys):
    first, second = tmp_path / "bin.000001", tmp_path / "bin.000002"
    write_log(first, SAFE)
    # The clock starts anew with the file; the rows go on.
    write_log(second, [(1, 0, UPDATE, [(1, 5), (1, 6)])], ddl=False, first=5)
    code, document = audited(capsys, first, second)
    assert code == 0
    assert [file["transactions"] for file in document["files"]] == [4, 1]
    assert document["replay"]["before_images_found"] == 2
    assert document["replay"]["before_images_missing"] == 0


@pytest.mark.parametrize("engine", ["readable", "compiled"])
@pytest.mark.parametrize(("cut", "verdict"), [(0, "violated"), (20, "unknown")])
def test_rows_after_what_was_not_read_need_not_fit(tmp_path, capsys, engine, cut, verdict):
    first, second = tmp_path / "bin.000001", tmp_path / "bin.000002"
    write_log(first, SAFE)
    write_log(second, [(1, 0, UPDATE, [(1, 8), (1, 9)])], ddl=False, first=5)
    whole = first.read_bytes()
    first.write_bytes(whole[: len(whole) - cut])
    _, document = audited(capsys, first, second, "--engine", engine)
    assert document["verdict"] == verdict
    assert bool(document["replay"]["findings"]) == (verdict == "violated")


def test_file_that_is_no_log_leaves_the_others_audited(safe_log, tmp_path, capsys):
    other = tmp_path / "notes.txt"
    other.write_text("nothing of the sort\n")
    code, document = audited(capsys, safe_log, other)
    assert (code, document["verdict"]) == (2, "unknown")
    assert document["transactions"] == 4
    assert "P102" in document["files"][1]["stopped"]


def test_standard_input_is_a_file_like_any_other(safe_log, monkeypatch, capsys):
    piped = types.SimpleNamespace(buffer=io.BytesIO(safe_log.read_bytes()))
    monkeypatch.setattr(sys, "stdin", piped)
    code, document = audited(capsys, "-")
    assert code == 0
    assert [file["name"] for file in document["files"]] == ["-"]


TEXT = b"""\
# at 4
#231114 22:13:20 server id 1  end_log_pos 126 CRC32 0x00000000 \tStart: binlog v 4, server v 8.0.36
# at 126
#231114 22:13:20 server id 1  end_log_pos 203 CRC32 0x00000000 \tGTID\tlast_committed=0\t\
sequence_number=1\trbr_only=yes
SET @@SESSION.GTID_NEXT= '3e11fa47-71ca-11e1-9e33-c80aa9429562:1'/*!*/;
# at 203
#231114 22:13:20 server id 1  end_log_pos 280 CRC32 0x00000000 \tQuery\tthread_id=7\texec_time=0\t\
error_code=0
BEGIN
/*!*/;
# at 280
#231114 22:13:20 server id 1  end_log_pos 311 CRC32 0x00000000 \tXid = 1
COMMIT/*!*/;
"""


def test_text_dump_on_standard_input_is_told_by_its_first_lines(monkeypatch, capsys):
    piped = types.SimpleNamespace(buffer=io.BytesIO(TEXT))
    monkeypatch.setattr(sys, "stdin", piped)
    code, document = audited(capsys, "-")
    assert (code, document["transactions"]) == (2, 1)
    assert document["files"][0]["format"] == "text"
    assert document["files"][0]["server"] == "8.0.36"


def test_text_dump_and_binary_log_cannot_be_one_stream(safe_log, tmp_path, capsys):
    text = tmp_path / "bin.txt"
    text.write_bytes(TEXT)
    err = refused(capsys, safe_log, text)
    assert "P309" in err
    assert f"{text} is a text dump and {safe_log} is not" in err


@pytest.mark.parametrize(
    "names",
    [
        ("bin.000001", "bin.000003"),
        ("bin.000002", "bin.000001"),
        ("bin.000001", "bin.000001"),
        ("bin.000001", "bin.000002", "bin.000004.gz"),
    ],
)
def test_files_with_a_gap_between_them_are_no_log(safe_log, tmp_path, capsys, names):
    """The rows of the later one would differ from those that the earlier one left."""
    folder = tmp_path / "logs"
    folder.mkdir()
    files = [folder / name for name in names]
    for file in files:
        file.write_bytes(safe_log.read_bytes())
    last = f"P112 {files[-1]}: is not the file that follows {files[-2]}"
    assert last in refused(capsys, *files)
    verify = ["verify", str(safe_log), "--target", *map(str, files)]
    assert main(verify) == 3
    assert last in capsys.readouterr().err


@pytest.mark.parametrize(
    "names", [("bin.999999", "bin.1000000"), ("a/bin.000001", "b/bin.000003"), ("1", "3")]
)
def test_files_of_other_names_are_taken_as_given(names):
    require_consecutive(names)


@pytest.mark.parametrize("option", ["--start-gtid", "--stop-gtid"])
def test_empty_name_does_not_stand_for_the_whole_log(safe_log, capsys, option):
    assert f"P345 {option} '': it names no GTID" in refused(capsys, safe_log, option, "")


def test_compiled_engine_refuses_by_name_what_it_cannot_read(tmp_path, capsys):
    text = tmp_path / "bin.txt"
    text.write_bytes(TEXT)
    assert "P308" in refused(capsys, text, "--engine", "compiled")


def test_packed_file_gives_the_same_verdict(safe_log, tmp_path, capsys):
    packed = tmp_path / "bin.000001.gz"
    packed.write_bytes(gzip.compress(safe_log.read_bytes()))
    assert audited(capsys, packed)[0] == 0


def test_input_of_which_nothing_could_be_read_is_exit_code_3(tmp_path, capsys):
    path = tmp_path / "bin.000001"
    path.write_text("nothing of the sort\n")
    assert refused(capsys, path).startswith("paraply: P307 nothing could be read: P102 ")


def test_empty_file_is_exit_code_3(tmp_path, capsys):
    path = tmp_path / "bin.000001"
    path.write_bytes(b"")
    assert "P307" in refused(capsys, path)


@pytest.mark.parametrize("name", ["missing.000001", "."])
def test_mistyped_name_is_refused_before_anything_is_read(safe_log, tmp_path, capsys, name):
    assert "P101" in refused(capsys, safe_log, tmp_path / name)


def test_report_that_could_not_be_written_is_refused_before_anything_is_read(safe_log, capsys):
    assert "P302" in refused(capsys, safe_log, "--html", safe_log.parent / "no" / "report.html")


def test_schema_file_decides_what_the_log_alone_cannot(tmp_path, capsys):
    path, schema = tmp_path / "bin.000001", tmp_path / "schema.sql"
    write_log(path, SAFE, ddl=False)
    code, document = audited(capsys, path)
    assert (code, document["verdict"]) == (2, "unknown")
    assert any("--schema" in reason["remedy"] for reason in document["unknown_because"])
    schema.write_text("CREATE TABLE test.t (id INT NOT NULL PRIMARY KEY, v INT);\n")
    code, document = audited(capsys, path, "--schema", schema)
    assert (code, document["verdict"]) == (0, "holds")
    assert "--schema" in document["tables"][0]["sources"]


def test_strict_fails_on_unknown_and_leaves_the_verdict_alone(safe_log, capsys):
    safe_log.write_bytes(safe_log.read_bytes()[:-20])
    code, document = audited(capsys, safe_log, "--strict")
    assert (code, document["verdict"]) == (1, "unknown")


def test_every_report_is_written_beside_the_terminal_report(safe_log, tmp_path, capsys):
    names = {option: tmp_path / f"report.{option}" for option in ("json", "html", "junit")}
    arguments = [str(part) for option, path in names.items() for part in (f"--{option}", path)]
    assert main(["audit", str(safe_log), *arguments]) == 0
    assert "✓ HOLDS" in capsys.readouterr().out
    assert json.loads(names["json"].read_text())["verdict"] == "holds"
    assert names["html"].read_text().startswith("<!DOCTYPE html>")
    assert ElementTree.parse(names["junit"]).getroot().get("failures") == "0"


def test_plain_report_is_for_those_who_cannot_see_charts(safe_log, capsys):
    assert main(["audit", str(safe_log), "--plain"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Verdict: holds.\n")
    assert out.isascii()


def test_speedups_are_for_the_workers_that_were_asked_for(safe_log, capsys):
    _, document = audited(capsys, safe_log, "--workers", "3,1")
    assert set(document["parallelism"]["logical-clock"]["speedup"]) == {"1", "3"}


def test_applier_that_the_log_has_no_metadata_for_makes_it_unknown(safe_log, capsys):
    code, document = audited(capsys, safe_log, "--appliers", "commit-group")
    assert (code, document["verdict"]) == (2, "unknown")


@pytest.mark.parametrize("text", ["", "0", "1,,2", "-1", "1025", "1.5", "²", "9" * 5_000])
def test_list_that_is_no_list_of_workers_is_refused(text):
    with pytest.raises(ParaplyError) as raised:
        parse_workers(text)
    assert raised.value.error.code == "P303"


def test_workers_are_sorted_and_counted_once():
    assert parse_workers("8, 1,8,1024") == (1, 8, 1024)


@pytest.mark.parametrize(
    ("make", "code", "strict_code"),
    [(holding_result, 0, 0), (violated_result, 1, 1), (truncated_result, 2, 1)],
)
def test_exit_code_follows_the_verdict_and_strict_fails_on_doubt(make, code, strict_code):
    assert exit_code(make(), strict=False) == code
    assert exit_code(make(), strict=True) == strict_code


def test_warning_fails_only_when_strict():
    result = holding_result()
    result.lint = [finding for finding in violated_result().lint if finding.severity == "warning"]
    assert exit_code(result, strict=False) == 0
    assert exit_code(result, strict=True) == 1
