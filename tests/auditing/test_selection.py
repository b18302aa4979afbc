"""Auditing a part of a log: --start-gtid, --stop-gtid, --domain."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from ci.pages.audit_json import SCHEMA_PATH, pages
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.violations_parquet import read_violations
from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.auditing.selection import Selection, Selector
from paraply.cli import main
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.auditing.in_parts.auditing import RECORDINGS, contradict, forge_conflicts
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import SOURCE_UUID, BinlogWriter
from tests.builders.hot_logs import hot_log
from tests.builders.json_schema import faults

COLUMNS = [spec.integer(4).named("id", nullable=False), spec.integer(4).named("v")]


def change(writer, *rows, code=30):
    writer.query("BEGIN")
    writer.table_map(COLUMNS)
    writer.rows(code, COLUMNS, rows)
    writer.xid(1)


@pytest.fixture
def mysql(tmp_path):
    """CREATE, then rows 2 to 5: each deletes what the one before inserted."""
    writer = BinlogWriter()
    for number in range(1, 6):
        writer.gtid(number, last_committed=number - 1, sequence_number=number)
        if number == 1:
            writer.query("CREATE TABLE t (id int PRIMARY KEY, v int)")
        else:
            change(writer, (1, 1), code=30 if number % 2 == 0 else 32)
    return str(writer.save(tmp_path / "bin.000001"))


@pytest.fixture
def mariadb(tmp_path):
    """Two domains that take turns changing one row."""
    writer = BinlogWriter(server_version="10.11.19-MariaDB")
    writer.mariadb_gtid(1, flags=0x29)
    writer.query("CREATE TABLE t (id int PRIMARY KEY, v int)")
    for number in range(2, 8):
        writer.mariadb_gtid(number, domain=number % 2)
        image = (1, number)
        if number == 2:
            change(writer, image, code=23)
        else:
            change(writer, (1, number - 1), image, code=24)
    return str(writer.save(tmp_path / "bin.000001"))


def audited(file, **selection):
    request = AuditRequest(files=(file,), selection=Selection(**selection))
    return audit(request)


def gtid(number):
    return f"{SOURCE_UUID}:{number}"


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [("", "", 5), (gtid(3), "", 3), ("", gtid(3), 3), (gtid(2), gtid(4), 3), (gtid(5), "", 1)],
)
def test_part_of_a_log_is_judged_and_the_rest_teaches_the_tables(mysql, start, stop, expected):
    result = audited(mysql, start_gtid=start, stop_gtid=stop)
    assert result.transactions == expected
    assert result.replay.findings == []
    assert all(table.keys == ("PRIMARY(id)",) for table in result.tables)
    assert result.tables


def test_gtid_in_another_case_is_the_same(mysql):
    assert audited(mysql, start_gtid=gtid(4).upper()).transactions == 2


def test_one_domain_is_judged_alone_and_the_rows_of_others_are_followed(mariadb):
    whole, zero, one = (audited(mariadb, domain=domain) for domain in (None, 0, 1))
    assert (whole.transactions, zero.transactions, one.transactions) == (7, 4, 3)
    assert whole.replay.findings == zero.replay.findings == one.replay.findings == []
    found = [result.replay.before_images_found for result in (whole, zero, one)]
    assert found == [5, 2, 3]
    assert Verdict.VIOLATED not in (zero.verdict, one.verdict)
    assert (whole.range, one.range.other_domains, one.range.left_out) == (None, 4, 4)


def test_domains_have_starts_and_stops_of_their_own(mariadb):
    result = audited(mariadb, start_gtid="0-1-4,1-1-7")
    assert (result.transactions, result.range.before, result.range.after) == (3, 4, 0)
    result = audited(mariadb, start_gtid="1-1-5", stop_gtid="0-1-2")
    assert (result.transactions, result.range.before, result.range.after) == (4, 1, 2)
    assert audited(mariadb, start_gtid=" 00-1-004 ", domain=0).transactions == 2


@pytest.mark.parametrize(
    ("log", "selection", "text"),
    [
        (
            "mysql",
            {"start_gtid": gtid(9)},
            f"P346 .*{gtid(9)}.*bin.000001 has {gtid(1)} to {gtid(5)}",
        ),
        ("mysql", {"stop_gtid": gtid(9)}, "P346 .*--stop-gtid"),
        ("mysql", {"start_gtid": "0-1-1"}, f"P346 .*bin.000001 has {gtid(1)} to {gtid(5)}"),
        ("mariadb", {"start_gtid": "0-1-5"}, "P346 .*bin.000001 has 0-1-1 to 0-1-6"),
        ("mariadb", {"stop_gtid": "1-1-9"}, "P346 .*bin.000001 has 1-1-3 to 1-1-7"),
        ("mariadb", {"stop_gtid": "5-1-9"}, "P346 .*bin.000001 has 0-1-1 to 1-1-7"),
        ("mysql", {"start_gtid": gtid(4), "stop_gtid": gtid(2)}, f"P347 .*{gtid(2)} comes before"),
        ("mariadb", {"domain": 7}, "P347 .*no transaction of domain 7, but of 0, 1"),
        ("mysql", {"domain": 7}, "P347 .*domain 7, as its GTIDs name no domains"),
        ("mariadb", {"domain": 1, "start_gtid": "0-1-4"}, "P345 .*not of --domain 1"),
        ("mysql", {"domain": 1, "stop_gtid": gtid(4)}, "P345 .*names no domain"),
        ("mysql", {"start_gtid": "0-1"}, "P345"),
        ("mysql", {"start_gtid": " , "}, "P345 .*names no GTID"),
        ("mysql", {"start_gtid": f"{gtid(1)[:-1]}1-3"}, "P345"),
        ("mariadb", {"start_gtid": "0-1-1,0-1-2"}, "P345 .*two GTIDs of domain 0"),
        ("mysql", {"stop_gtid": f"{gtid(1)},{gtid(2)}"}, "P345 .*two GTIDs of one log"),
    ],
)
def test_range_that_is_none_or_not_there_is_an_error(log, selection, text, request):
    with pytest.raises(ParaplyError, match=text):
        audited(request.getfixturevalue(log), **selection)


def test_files_of_a_missing_gtid_are_counted_beyond_three():
    selector = Selector(Selection(start_gtid=gtid(9)))
    files = dict.fromkeys("abcde", ("u:1", "u:2"))
    with pytest.raises(ParaplyError, match=r"P346 .*: a has u:1 to u:2; b .*; c .*; 2 more files"):
        selector.require_found(files, 0)


def test_error_names_a_file_that_could_not_be_read_to_its_end(mysql):
    with open(mysql, "r+b") as log:
        log.truncate(log.seek(0, 2) - 40)
    with pytest.raises(ParaplyError, match=r"P346 .*could not be read to its end"):
        audited(mysql, stop_gtid=gtid(9))


def test_every_report_says_what_was_judged(mysql, tmp_path, capsys):
    told = f"Judged 2 of 5 transactions, {gtid(2)} to {gtid(3)}; left out: 1 before, 2 after."
    junit, sarif, page = (tmp_path / name for name in ("r.xml", "r.sarif", "r.html"))
    words = ["audit", mysql, "--start-gtid", gtid(2), "--stop-gtid", gtid(3)]
    outputs = ["--junit", str(junit), "--sarif", str(sarif), "--html", str(page)]
    assert main([*words, *outputs, "--engine", "compiled"]) == 2
    assert told in " ".join(capsys.readouterr().out.split())
    for report in (junit, sarif, page):
        assert told in report.read_text()
    assert main([*words, "--json", "-"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["reason"].startswith(told)
    assert document["engine"] == "readable"
    assert document["range"] == {
        "start_gtid": gtid(2), "stop_gtid": gtid(3), "domain": None, "first_gtid": gtid(2),
        "last_gtid": gtid(3), "before": 1, "after": 2, "other_domains": 0,
    }  # fmt: skip
    assert faults(document, json.loads(pages()[SCHEMA_PATH])) == []


def forged(tmp_path, dialect, seed):
    """A log with conflicts that may overlap and rows that do not fit; and its GTIDs."""
    path = hot_log(tmp_path / "hot.000001", dialect=dialect, size_bytes=300_000, seed=seed)
    if dialect == "mysql":
        path = forge_conflicts(path, tmp_path / "conflicts.000001", seed)
    path = contradict(path, tmp_path / "forged.000001", seed)
    return str(path), [txn.gtid for txn in read_transactions([str(path)])]


def inside(violation, judged):
    return {violation.earlier.ordinal, violation.later.ordinal} <= judged


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
def test_random_range_has_the_findings_of_the_whole_log_inside_of_it(tmp_path, dialect, seed):
    file, gtids = forged(tmp_path, dialect, seed)
    whole = audit(AuditRequest(files=(file,), engine="readable"))
    rng = random.Random(seed)
    # A GTID that is in the log twice is where it comes first.
    places = sorted({gtids.index(each) for each in gtids})
    met = Counter()
    # The first is long enough for conflicts; the others are anywhere.
    for first, last in [(places[3], places[-1]), *(rng.sample(places, 2) for _ in range(3))]:
        first, last = sorted((first, last))
        judged = set(range(first + 1, last + 2))
        chosen = Selection(start_gtid=gtids[first], stop_gtid=gtids[last])
        request = AuditRequest(files=(file,), selection=chosen)
        result = audit(request)
        assert result.violations == [each for each in whole.violations if inside(each, judged)]
        assert result.replay.findings == [
            each for each in whole.replay.findings if each.transaction.ordinal in judged
        ]
        assert result.transactions == len(judged)
        assert (result.range.before, result.range.after) == (first, len(gtids) - 1 - last)
        met.update(conflicts=len(result.violations), rows=len(result.replay.findings))
    assert min(met.values()) > 0
    sizes = PartSizes(block_bytes=20_000, part_blocks=2)
    compiled = audit(replace(request, engine="compiled"))
    assert compiled.engine == "compiled"
    compiled.engine = "readable"
    assert compiled == result
    assert audit_in_parts(request, sizes=sizes).result == result


@pytest.mark.long
def test_range_with_spark_lists_every_violation_and_starts_no_spark(tmp_path, capsys):
    file, gtids = forged(tmp_path, "mysql", 1)
    out = tmp_path / "out"
    words = ["audit", file, "--spark", "--out", str(out), "--stop-gtid", gtids[-1], "--json=-"]
    assert main(words) == 1
    printed = capsys.readouterr()
    assert "1 part judged by" in printed.err
    document = json.loads(printed.out)
    assert len(read_violations(out / "violations.parquet")) == len(document["violations"]) > 0
    assert any("in one piece" in text for text in document["assumptions"])


def test_tables_have_no_range(tmp_path, capsys):
    assert main(["audit", "t.parquet", "--spark", "--master=none", "--domain=1"]) == 3
    assert "go with binary logs" in capsys.readouterr().err


@pytest.mark.parametrize(
    "log", ["mysql-9.7.4/tags", "mysql-9.7.4/compressed", "mariadb-10.11.19/domains"]
)
def test_text_of_a_log_has_the_same_ranges(log):
    binary = RECORDINGS / log / "bin.000001"
    text = binary.parent / "expected" / "bin.000001.txt.gz"
    gtids = [txn.gtid for txn in read_transactions([str(binary)])]
    chosen = Selection(start_gtid=gtids[len(gtids) // 4], stop_gtid=gtids[-len(gtids) // 4])
    found = [audit(AuditRequest(files=(str(file),), selection=chosen)) for file in (binary, text)]
    assert found[0].range == found[1].range
    assert 0 < found[0].transactions == found[1].transactions < len(gtids)
