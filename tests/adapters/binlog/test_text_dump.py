"""Text dumps: the same transactions as from the binary logs they were printed from."""

from __future__ import annotations

import gzip
import re
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.text import lines as text_lines
from paraply.adapters.binlog.text import rows as text_rows
from paraply.adapters.binlog.text.dump import is_text_dump, read_text_transactions
from paraply.adapters.binlog.text.values import UnreadableValue, parse_value
from paraply.adapters.binlog.transactions import read_transactions
from paraply.vocabulary.log import ABSENT, UNKNOWN, LoggedKind, Operation
from tests.builders.log_reading import source_of

RECORDED = Path(__file__).parents[2] / "fixtures" / "binlogs"
TEXT_SUFFIX = ".txt.gz"


def recorded_streams():
    """Return (name, logs, texts) of every recorded stream of files that has its text."""
    streams = []
    for expected in sorted(RECORDED.glob("*/*/expected")):
        stems = sorted({path.name.split(".")[0] for path in expected.glob("*" + TEXT_SUFFIX)})
        for stem in stems:
            texts = sorted(expected.glob(f"{stem}.[0-9]*{TEXT_SUFFIX}"))
            logs = [expected.parent / path.name.removesuffix(TEXT_SUFFIX) for path in texts]
            name = f"{expected.parent.parent.name}/{expected.parent.name}/{stem}"
            streams.append(pytest.param(logs, texts, id=name))
    return streams or [
        pytest.param(None, None, marks=pytest.mark.skip(f"no recorded logs in {RECORDED}"))
    ]


def read_text(*texts, report=None, **options):
    """Return the transactions of dumps given as text."""
    sources = [source_of(text.encode(), f"dump{n}") for n, text in enumerate(texts, start=1)]
    return list(read_text_transactions(sources, report=report, **options))


# Recorded logs and their text


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(("logs", "texts"), recorded_streams())
def test_text_gives_the_transactions_of_the_binary_log(logs, texts):
    report = LogReport()
    binary = list(read_transactions([str(path) for path in logs]))
    text = list(read_text_transactions([str(path) for path in texts], report=report))
    # mysqlbinlog prints no row with a geometry in it, and says so; nothing else may be missing.
    unprinted = {"kinds.spatial"} if "types" in str(logs[0]) else set()
    assert {d.code for d in report.diagnostics()} <= ({"P124"} if unprinted else set())
    assert len(binary) == len(text) > 0
    for one, two in zip(binary, text, strict=True):
        for name in (
            "ordinal", "kind", "end_offset", "gtid", "server_id", "last_committed",
            "sequence_number", "clock", "commit_id", "domain", "flags", "committed_at_us",
            "event_time_s", "statements", "xa_id", "complete",
        ):  # fmt: skip
            assert getattr(one, name) == getattr(two, name), (one.start, name)
        assert one.start.offset == two.start.offset
        assert two.undecoded_tables <= unprinted
        rows = [row for row in one.rows if row.table not in two.undecoded_tables]
        for ours, theirs in zip(rows, two.rows, strict=True):
            assert (ours.table, ours.operation) == (theirs.table, theirs.operation)
            assert (ours.before is None, ours.after is None) == (
                theirs.before is None,
                theirs.after is None,
            )


@pytest.mark.long
@pytest.mark.parametrize(("logs", "texts"), recorded_streams())
def test_text_gives_the_keys_of_the_binary_log(logs, texts):
    """Values printed and values decoded become the same keys, by the schema in the log alone.

    A text dump does not show which rows events carry NO_FOREIGN_KEY_CHECKS.
    """

    def checked(transactions):
        for txn in transactions:
            txn.rows = [replace(row, unchecked=False) for row in txn.rows]
            yield txn

    def keyed(transactions):
        return list(follow(KeyBuilder(SchemaRegistry()), checked(transactions)))

    binary = keyed(read_transactions([str(path) for path in logs]))
    text = keyed(read_text_transactions([str(path) for path in texts]))
    for one, two in zip(binary, text, strict=True):
        if "kinds.spatial" in two.undecoded_tables:
            continue
        assert one.keys == two.keys, one.start
        assert one.shared_keys == two.shared_keys
        assert one.uncertain_keys == two.uncertain_keys
        assert one.unkeyed_tables == two.unkeyed_tables
        assert one.partly_keyed_tables == two.partly_keyed_tables
        assert one.reached_tables == two.reached_tables


@pytest.mark.parametrize("number", ["01", "03", "07"])
def test_text_twins_of_zalora_match_their_binary_logs(corpus, number):
    folder = corpus / "zalora__binlog-parser"
    binary = list(read_transactions([str(folder / f"mysql-bin.{number}")]))
    text = list(read_text_transactions([str(folder / f"plaintext-mysql-bin.{number}")]))
    assert [(t.gtid, t.kind, t.start.offset, t.end_offset) for t in binary] == [
        (t.gtid, t.kind, t.start.offset, t.end_offset) for t in text
    ]
    assert sum(len(t.rows) for t in text) > 0
    for one, two in zip(binary, text, strict=True):
        assert len(one.rows) == len(two.rows)
        for ours, theirs in zip(one.rows, two.rows, strict=True):
            for left, right in zip(
                (ours.before or ()) + (ours.after or ()),
                (theirs.before or ()) + (theirs.after or ()),
                strict=True,
            ):
                if isinstance(left, int | type(None)) and not isinstance(right, str | bytes):
                    assert left == right


# Written by hand: the shapes that servers of other versions print

START = """DELIMITER /*!*/;
# at 4
#240101 10:00:00 server id 1  end_log_pos 126 \tStart: binlog v 4, server v {} created 240101
"""
MYSQL = START.format("8.0.36")
MARIADB = START.format("10.11.19-MariaDB-log")
HEADER = "#240101 10:00:01 server id 1  end_log_pos {} CRC32 0xabcdef01 \t"


def mysql_transaction(at, gtid, last_committed, sequence_number, body):
    return (
        f"# at {at}\n" + HEADER.format(at + 50)
        + f"GTID\tlast_committed={last_committed}\tsequence_number={sequence_number}"
        + "\trbr_only=yes\n"
        + f"SET @@SESSION.GTID_NEXT= '{gtid}'/*!*/;\n"
        + f"# at {at + 50}\n" + HEADER.format(at + 60) + "Query\tthread_id=1\texec_time=0\n"
        + "SET TIMESTAMP=1704103201/*!*/;\nBEGIN\n/*!*/;\n"
        + body
        + f"# at {at + 90}\n" + HEADER.format(at + 100) + "Xid = 7\nCOMMIT/*!*/;\n"
    )  # fmt: skip


def rows_event(at, lines, kind="Write_rows", table="`d`.`t`"):
    return (
        f"# at {at}\n# at {at + 5}\n"
        + HEADER.format(at + 5) + f"Table_map: {table} mapped to number 9\n"
        + HEADER.format(at + 15) + f"{kind}: table id 9 flags: STMT_END_F\n"
        + lines
    )  # fmt: skip


INSERT_ONE = "### INSERT INTO `d`.`t`\n### SET\n###   @1=1\n###   @2='x\\x27y\\\\z'\n"


def test_mysql_transaction_with_its_clock_and_row():
    (txn,) = read_text(MYSQL + mysql_transaction(200, "u:5", 3, 4, rows_event(260, INSERT_ONE)))
    assert (txn.gtid, txn.last_committed, txn.sequence_number) == ("u:5", 3, 4)
    assert (txn.kind, txn.start.offset, txn.end_offset) == (LoggedKind.ROWS, 200, 300)
    assert str(txn.start) == "dump1:200"
    (row,) = txn.rows
    assert (row.table, row.operation, row.before) == ("d.t", Operation.INSERT, None)
    assert row.after == (1, b"x'y\\z")
    assert row.position.offset == 265


def test_numbers_below_zero_are_printed_without_their_sign():
    (txn,) = read_text(MYSQL + mysql_transaction(200, "u:5", (1 << 64) - 3, 1 << 63, ""))
    assert (txn.last_committed, txn.sequence_number) == (-3, -(1 << 63))


def test_dump_tells_which_statement_failed():
    line = "# at {}\n" + HEADER + "Query\tthread_id=1\texec_time=0\terror_code={}\n"
    sql = "use `d`/*!*/;\nCREATE OR REPLACE TABLE t (x int, x int)\n/*!*/;\n"
    found = read_text(MARIADB + line.format(200, 250, 1060) + sql + line.format(250, 300, 0) + sql)
    assert [txn.statements for txn in found] == [
        ("DROP TABLE IF EXISTS `t`",),
        ("CREATE OR REPLACE TABLE t (x int, x int)",),
    ]


def test_mariadb_group_commit_flags_and_parallel_switch():
    body = (
        "/*M!100101 SET @@session.skip_parallel_replication={}*//*!*/;\nSTART TRANSACTION\n/*!*/;\n"
    )

    def group(at, gtid, skip):
        return (
            f"# at {at}\n" + HEADER.format(at + 40) + f"GTID {gtid} cid=77 trans waited\n"
            + body.format(skip)
            + f"# at {at + 40}\n" + HEADER.format(at + 60) + "Xid = 7\nCOMMIT/*!*/;\n"
        )  # fmt: skip

    one, two = read_text(MARIADB + group(200, "0-1-5", 0) + group(300, "0-1-6", 1))
    assert (one.gtid, one.domain, one.commit_id) == ("0-1-5", 0, 77)
    assert one.flags == {"transactional", "waited", "allow_parallel"}
    assert two.flags == {"transactional", "waited"}


def test_ddl_keeps_its_text_and_schema():
    text = (
        MARIADB
        + "# at 200\n" + HEADER.format(240) + "GTID 0-1-5 ddl\n"
        + "/*M!100001 SET @@session.gtid_seq_no=5*//*!*/;\n"
        + "# at 240\n" + HEADER.format(300) + "Query\tthread_id=1\n"
        + "use `my``db`/*!*/;\nSET TIMESTAMP=1/*!*/;\n"
        + "CREATE TABLE t (\n  a int -- ### not a row\n# at 9\n)\n/*!*/;\n"
    )  # fmt: skip
    (txn,) = read_text(text)
    assert txn.kind is LoggedKind.DDL
    assert txn.default_schema == "my`db"
    assert txn.statements == ("CREATE TABLE t (\n  a int -- ### not a row\n# at 9\n)",)
    assert (txn.start.offset, txn.end_offset) == (200, 300)


def test_statements_are_read_in_their_sql_mode():
    def ddl(at, mode):
        return (
            f"# at {at}\n" + HEADER.format(at + 40) + "GTID 0-1-5 ddl\n"
            + f"# at {at + 40}\n" + HEADER.format(at + 100) + "Query\tthread_id=1\n"
            + f"use `s`/*!*/;\n{mode}DROP TABLE \"a\"\n/*!*/;\n"
        )  # fmt: skip

    modes = "SET @@session.sql_mode=4/*!*/;\n", "", "SET @@session.sql_mode=1411383296/*!*/;\n"
    found = read_text(MARIADB + "".join(ddl(200 + 100 * at, mode) for at, mode in enumerate(modes)))
    names = [txn.statements[0].removeprefix("DROP TABLE ") for txn in found]
    assert names == ["`a`", "`a`", '"a"']


def test_phases_of_an_alter_are_read_although_the_statement_ends_with_no_delimiter():
    def phase(at, number, words):
        return (
            f"# at {at}\n" + HEADER.format(at + 40) + f"GTID 0-1-{number} ddl {words}\n"
            + f"# at {at + 40}\n" + HEADER.format(at + 90) + "Query\tthread_id=1\n"
            + "SET TIMESTAMP=1/*!*/;\n### ALTER TABLE t\n  ADD b int\n"
        )  # fmt: skip

    phases = [phase(200, 5, "START ALTER"), phase(300, 6, "COMMIT ALTER id= 5")]
    phases += [phase(400, 7, "START ALTER"), phase(500, 8, "ROLLBACK ALTER id= 7")]
    found = read_text(MARIADB + "".join(phases) + "DELIMITER ;\n# End of log file\n")
    assert [txn.statements for txn in found] == [("ALTER TABLE t\n  ADD b int",)] * 4
    assert [txn.gtid for txn in found] == ["0-1-5", "0-1-6", "0-1-7", "0-1-8"]
    assert [word for txn in found for word in txn.flags if "_alter" in word] == [
        "start_alter", "commit_alter", "start_alter", "rollback_alter",
    ]  # fmt: skip
    assert [len(txn.schema_statements) for txn in found] == [0, 1, 0, 0]


def test_minimal_images_are_absent_where_nothing_is_printed():
    lines = "### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @3=NULL\n"
    (txn,) = read_text(
        MYSQL + mysql_transaction(200, "u:5", 0, 1, rows_event(260, lines, "Update_rows"))
    )
    assert txn.rows[0].before == (1, ABSENT, ABSENT)
    assert txn.rows[0].after == (ABSENT, ABSENT, None)


def test_anonymous_and_old_gtid_lines():
    text = mysql_transaction(200, "ANONYMOUS", 0, 1, "").replace(
        "GTID\tlast", "Anonymous_GTID\tlast"
    )
    (txn,) = read_text(MYSQL + text)
    assert txn.gtid == ""
    (txn,) = read_text(
        START.format("5.6.51")
        + mysql_transaction(200, "u:5", 0, 1, "").replace(
            "GTID\tlast_committed=0\tsequence_number=1\trbr_only=yes", "GTID [commit=yes]"
        )
    )
    assert txn.gtid == "u:5"
    assert txn.sequence_number is None


def test_each_log_file_in_a_dump_starts_a_new_run_of_the_clock():
    one = MYSQL + mysql_transaction(200, "u:5", 0, 1, "")
    two = MYSQL + mysql_transaction(200, "u:6", 0, 1, "")
    assert [txn.clock for txn in read_text(one + two)] == [0, 1]
    assert [txn.clock for txn in read_text(one, two)] == [0, 1]


def test_rows_that_were_not_printed_leave_their_table_undecoded():
    report = LogReport()
    (txn,) = read_text(
        MYSQL + mysql_transaction(200, "u:5", 0, 1, rows_event(260, "")), report=report
    )
    assert txn.undecoded_tables == {"d.t"}
    (diagnostic,) = report.diagnostics()
    assert diagnostic.code == "P123"
    assert diagnostic.where.startswith("dump1:")
    assert not diagnostic.ends_file


def test_base64_statements_are_passed_over_and_their_rows_read():
    lines = "\nBINLOG '\nAAAA\n### not a row\n'/*!*/;\n" + INSERT_ONE
    (txn,) = read_text(MYSQL + mysql_transaction(200, "u:5", 0, 1, rows_event(260, lines)))
    assert len(txn.rows) == 1


@pytest.mark.parametrize(
    "bad",
    ["###   @2='open", "### !! Don't know how to handle column type=255", "###   @0=1",
     "###   @9999=1", "###   @2=???"],
)  # fmt: skip
def test_row_that_cannot_be_read_is_named_and_the_rest_goes_on(bad):
    report = LogReport()
    lines = INSERT_ONE + bad + "\n### INSERT INTO `d`.`u`\n### SET\n###   @1=2\n"
    (txn,) = read_text(
        MYSQL + mysql_transaction(200, "u:5", 0, 1, rows_event(260, lines)), report=report
    )
    assert txn.undecoded_tables == {"d.t"}
    assert [row.table for row in txn.rows] == ["d.u"]
    assert [diagnostic.code for diagnostic in report.diagnostics()] == ["P124"]


def test_dump_that_breaks_off_leaves_its_last_transaction_incomplete():
    whole = MYSQL + mysql_transaction(200, "u:5", 0, 1, rows_event(260, INSERT_ONE))
    (txn,) = read_text(whole[: whole.index("# at 290")])
    assert not txn.complete
    assert len(txn.rows) == 1


def test_gtid_that_ends_the_dump_is_not_the_one_that_mysqlbinlog_adds():
    whole = mysql_transaction(200, "u:7", 0, 1, "")
    cut = MYSQL + whole[: whole.index("# at 250")]
    added = "SET @@SESSION.GTID_NEXT= 'AUTOMATIC' /* added by mysqlbinlog */ /*!*/;\n"
    assert [txn.gtid for txn in read_text(cut + added)] == ["u:7"]


def test_rows_are_handed_out_in_batches(monkeypatch):
    monkeypatch.setattr(text_rows, "ROWS_BATCH", 2)
    seen = []
    (txn,) = read_text(
        MYSQL + mysql_transaction(200, "u:5", 0, 1, rows_event(260, INSERT_ONE * 5)),
        on_rows=lambda txn, rows: seen.append((txn.gtid, len(rows))),
    )
    assert seen == [("u:5", 2), ("u:5", 2), ("u:5", 1)]
    assert txn.rows == []


def test_rows_beyond_the_limit_are_named_not_kept():
    (txn,) = read_text(
        MYSQL + mysql_transaction(200, "u:5", 0, 1, rows_event(260, INSERT_ONE * 50)),
        row_bytes_max=200,
    )
    assert 0 < len(txn.rows) < 50
    assert txn.undecoded_tables == {"d.t"}


# Input that is not a dump


@pytest.mark.parametrize("text", ["", "hello\n", "x\n" * 1000, "\x00\x01" * 500])
def test_what_is_not_a_dump_is_refused_with_its_code(text):
    report = LogReport()
    assert read_text(text, report=report) == []
    (diagnostic,) = report.diagnostics()
    assert diagnostic.code == "P122"
    assert diagnostic.ends_file


def test_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(text_lines, "LINE_BYTES_MAX", 1 << 17)
    report = LogReport()
    read_text(MYSQL + "x" * (1 << 18), report=report)
    (diagnostic,) = report.diagnostics()
    assert diagnostic.code == "P121"
    assert diagnostic.where == "dump1:4"


def test_missing_file_is_reported_and_the_next_one_read(tmp_path):
    dump = tmp_path / "dump.sql.gz"
    dump.write_bytes(gzip.compress((MYSQL + mysql_transaction(200, "u:5", 0, 1, "")).encode()))
    report = LogReport()
    found = list(read_text_transactions([str(tmp_path / "absent"), str(dump)], report=report))
    assert [txn.gtid for txn in found] == ["u:5"]
    assert [diagnostic.code for diagnostic in report.diagnostics()] == ["P101"]


def test_dumps_and_binary_logs_are_told_apart():
    assert is_text_dump(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n")
    assert not is_text_dump(b"\xfebin\x00# at 4")
    assert not is_text_dump(b"hello")


WHOLE = (
    MYSQL
    + mysql_transaction(200, "u:5", 0, 1, rows_event(260, INSERT_ONE))
    + mysql_transaction(400, "u:6", 1, 2, rows_event(460, INSERT_ONE))
)


@given(st.data())
def test_damaged_text_never_raises_and_never_invents_transactions(data):
    lines = WHOLE.split("\n")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["drop", "cut", "swap", "garbage"]))
        if what == "drop":
            del lines[at]
        elif what == "cut":
            lines[at] = lines[at][: len(lines[at]) // 2]
        elif what == "swap":
            lines[at], lines[at - 1] = lines[at - 1], lines[at]
        else:
            lines[at] = data.draw(st.text(max_size=20))
    found = read_text("\n".join(lines))
    assert len(found) <= 6


PAYLOAD_LINE = """\
# at 157
#261121 14:09:22 server id 1  end_log_pos 400 CRC32 0x0 	Transaction_Payload	\
payload_size=243	compression_type=ZSTD	uncompressed_size=600
"""
GROUP_LINE = """\
# at 342
#261121 14:09:22 server id 1  end_log_pos 384 CRC32 0x0 	GTID 0-1-5 cid=3 trans
"""


@given(st.data())
def test_number_that_no_server_writes_never_raises(data):
    text = "\n".join([WHOLE, PAYLOAD_LINE, GROUP_LINE, WHOLE])
    numbers = list(re.finditer(r"\d+", text))
    chosen = data.draw(st.sampled_from(numbers))
    odd = data.draw(st.sampled_from(["9" * 5_000, "", "7#", "é7", "²", "-1", "1e9999999999"]))
    read_text(text[: chosen.start()] + odd + text[chosen.end() :])


# Values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"1", 1),
        (b"-1 (255)", -1),
        (b"NULL", None),
        (b"0.00", Decimal("0.00")),
        (b"1.5                 ", Decimal("1.5")),
        (b"-1.0000000000000000818e-05", Decimal("-1.0000000000000000818e-05")),
        (b"b'0101'", 5),
        (b"''", b""),
        (b"'a\\x00\\xff\\\\'", b"a\x00\xff\\"),
        ("'Ünï'".encode(), "Ünï".encode()),
        (b"'2024:01:02'", b"2024:01:02"),
        (b"JSON_REPLACE(@2, '$.a', 2)", UNKNOWN),
        (b"@2", ABSENT),
        (b"[1.00000e+00,2.00000e+00]", b"[1.00000e+00,2.00000e+00]"),
        (b"'2024:01:02' /* DATE meta=0 nullable=1 is_null=0 */", "2024-01-02"),
        (b"'10:00:00' /* TIME(0) meta=0 nullable=1 is_null=0 */", "10:00:00"),
        (b"1.25 /* TIMESTAMP(2) meta=2 nullable=1 is_null=0 */", "1970-01-01 00:00:01.25"),
        (b"1.5                  /* FLOAT meta=4 nullable=1 is_null=0 */", 1.5),
        (b"7 /* INT meta=0 nullable=0 is_null=0 */", 7),
        (b"-1 (255) /* TINYINT meta=0 nullable=0 is_null=0 */", -1),
        (b"'x' /* VARSTRING(120) meta=120 nullable=0 is_null=0 */", b"x"),
        (b"NULL /* INT meta=0 nullable=1 is_null=1 */", None),
    ],
)
def test_values_as_mysqls_program_prints_them(text, value):
    found = parse_value(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Quotes and backslashes are as they are.
        (rb"'it's \n \xff \''", rb"it's \n \xff \'"),
        (rb"'\x00\x1f'", b"\x00\x1f"),
        (b"\x27\x27\x27 /* VARSTRING(3) meta=3 nullable=1 is_null=0 */", b"'"),
        (b"'x' /* a */'", b"x' /* a */"),
        (b"''", b""),
    ],
)
def test_texts_as_mariadbs_program_prints_them(text, value):
    assert parse_value(text, is_mariadb=True) == value


@pytest.mark.parametrize("number", [b"9" * 5_000, b"-" + b"9" * 401, b"1e9999", b"1.%d" % 10**500])
@pytest.mark.parametrize("type_name", [b"", b" /* TIMESTAMP(0) meta=0 nullable=0 is_null=0 */"])
def test_number_that_no_column_holds_is_refused(number, type_name):
    with pytest.raises(UnreadableValue):
        parse_value(number + type_name)


def test_time_out_of_range_is_refused():
    with pytest.raises(UnreadableValue, match="no time"):
        parse_value(b"9" * 30 + b" /* TIMESTAMP(0) meta=0 nullable=0 is_null=0 */")


@given(st.binary(max_size=30))
def test_any_value_is_read_or_refused(text):
    with suppress(UnreadableValue):
        parse_value(text)
