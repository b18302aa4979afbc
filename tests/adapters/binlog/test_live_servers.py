"""The decoder beside real servers: SELECT says what rows hold, mysqlbinlog where events are."""

from __future__ import annotations

import json
import random
import re
import secrets
from collections.abc import Iterator
from decimal import Decimal

import pytest

from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.source import open_source
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import (
    Server,
    ServerRoom,
    find_mariadb,
    find_mariadb_11_8,
    find_mysql,
    replicate,
)
from paraply.adapters.servers.replication import wait_until_applied
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import ABSENT, LoggedKind, LoggedTransaction, Operation, RowImage
from tests.adapters.binlog.live_columns import MARIADB_ONLY, MYSQL_ONLY, SHARED, LiveColumn
from tests.builders.key_cases import registry_of

pytestmark = pytest.mark.live

FINDERS = {"mariadb": find_mariadb, "mariadb-11.8": find_mariadb_11_8, "mysql": find_mysql}


@pytest.fixture(scope="module", params=FINDERS)
def source(request) -> Iterator[Server]:
    try:
        installation = FINDERS[request.param]()
    except ParaplyError as reason:
        pytest.skip(str(reason))
    with ServerRoom() as room:
        server = room.start(installation, options=["--binlog-row-metadata=FULL"])
        print(f"live: {installation.version_text}")
        yield server


def _new_log(server: Server, *statements: str) -> None:
    """Start a new binary log and fill it; statements end before it does."""
    server.run(["DROP DATABASE IF EXISTS live", "CREATE DATABASE live CHARACTER SET utf8mb4"])
    server.run(["FLUSH BINARY LOGS", "USE live", *statements])


def _read(server: Server) -> tuple[list[LoggedTransaction], LogReport]:
    report = LogReport()
    transactions = list(read_transactions([str(server.binary_logs()[-1])], report=report))
    assert [d.text for d in report.diagnostics()] == []
    return transactions, report


def _columns(server: Server) -> list[LiveColumn]:
    own = MARIADB_ONLY if server.is_mariadb else MYSQL_ONLY
    return [column for column in [*SHARED, *own] if server.installation.version >= column.since]


def test_every_column_type_holds_what_select_says(source):
    columns = _columns(source)
    definition = ", ".join(f"{column.name} {column.sql_type}" for column in columns)
    inserts = [
        f"INSERT INTO a VALUES ({number}, {', '.join(column.values[number] for column in columns)})"
        for number in (0, 1)
    ]
    sql_mode = "SET sql_mode='ALLOW_INVALID_DATES', time_zone='+00:00'"
    _new_log(source, sql_mode, f"CREATE TABLE a (id INT PRIMARY KEY, {definition})", *inserts)
    transactions, _ = _read(source)
    decoded = [row.after for transaction in transactions for row in transaction.rows]
    shown = ", ".join(column.shown for column in columns)
    selected = source.run([sql_mode, f"SELECT {shown} FROM live.a ORDER BY id"])
    assert len(decoded) == len(selected) == 2
    for image, expected in zip(decoded, selected, strict=True):
        assert image is not None
        for column, ours, theirs in zip(columns, image[1:], expected, strict=True):
            if isinstance(theirs, float):
                assert ours == pytest.approx(theirs, rel=1e-6), column
            elif column.is_json:
                assert json.loads(ours) == json.loads(theirs), column
            else:
                assert ours == theirs, column
                assert isinstance(ours, Decimal) == isinstance(theirs, Decimal), column


def test_text_of_statements_is_in_the_character_set_of_the_client(source):
    _new_log(source)
    sql = "CREATE TABLE live.t (id INT PRIMARY KEY COMMENT 'é')"
    with source.connect(charset="latin1") as latin, latin.cursor() as cursor:
        cursor.execute(sql)
    assert _read(source)[0][-1].statements == (sql,)


def _tables_with_keys(seed: int, *, is_mariadb: bool) -> Iterator[tuple[str, str]]:
    """Yield names and definitions of tables with two to four keys of every shape."""
    dice = random.Random(seed)
    shapes = ("a", "b", "c", "c(2)", "d", "a, b", "b, c(3)", "v", "e", "b, v")
    for number in range(20):
        parts = dice.sample(shapes, dice.randint(2, 4))
        keys = [f"UNIQUE k{at} ({part})" for at, part in enumerate(parts)]
        if dice.random() < 0.3:
            keys.append("PRIMARY KEY (d)")
        generated = dice.choice(("VIRTUAL", "STORED"))
        if not is_mariadb:
            generated += dice.choice(("", " NOT NULL"))
        yield (
            f"t{number}",
            f"CREATE TABLE t{number} (a INT, b INT NOT NULL, c VARCHAR(9) NOT NULL, d INT NOT NULL,"
            f" v INT AS (b + 1) {generated}, e INT NOT NULL DEFAULT 7, f INT, {', '.join(keys)})",
        )


def test_unique_keys_come_in_the_servers_order_and_minimal_images_show_the_first(source):
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    for name, definition in _tables_with_keys(seed, is_mariadb=source.is_mariadb):
        _new_log(
            source,
            "SET binlog_row_image=MINIMAL",
            definition,
            f"INSERT INTO {name} (a, b, c, d) VALUES (1, 2, 'xyz', 4)",
            f"UPDATE {name} SET f = 5",
        )
        schema = registry_of(definition, default_schema="live").table(f"live.{name}")
        index = source.query(f"SHOW INDEX FROM live.{name}")
        # Columns: 3 the key's name, 10 YES where the part may be NULL. MySQL alone moves nullable
        # keys of virtual columns; nothing names rows by them.
        nullable = {row[2] for row in index if row[9] == "YES"}
        shown = list(dict.fromkeys(row[2] for row in index if row[2] not in nullable))
        assert [k.name for k in schema.unique_keys if k.name not in nullable] == shown, definition
        image = _read(source)[0][-1].rows[0].before
        # MariaDB 11.8 shows no generated column of an update, and no row is named by one.
        names = [part.column for part in schema.unique_keys[0].parts]
        first = [] if schema.unique_keys[0].name in nullable else names
        assert all(image[column] is not ABSENT for column in first), definition


def test_partial_json_and_minimal_images_lead_to_the_final_rows(source):
    if source.is_mariadb:
        pytest.skip("MariaDB has no partial JSON updates")
    values = {"a": [1, 2, {"b": "x" * 40}], "c": "y" * 40, "with space": "z"}
    document = json.dumps(values)
    _new_log(
        source,
        "CREATE TABLE j (id INT PRIMARY KEY, j JSON, k JSON, t TEXT)",
        f"INSERT INTO j VALUES (1, '{document}', '[1, 2, 3]', 't')",
        "SET SESSION binlog_row_value_options=PARTIAL_JSON",
        "UPDATE j SET j = JSON_SET(j, '$.a[2].b', 'short')",
        "UPDATE j SET j = JSON_SET(j, '$.\"with space\"', 's', '$.new', 5)",
        "UPDATE j SET j = JSON_REMOVE(j, '$.c'), k = JSON_REPLACE(k, '$[2]', 7)",
        "UPDATE j SET j = JSON_REMOVE(j, '$.a[0]'), t = 'u'",
    )
    transactions, report = _read(source)
    assert report.files[0].events["PARTIAL_UPDATE_ROWS"] == 4
    last = transactions[-1].rows[-1].after
    assert source.query("SELECT * FROM live.j") == [last]


STATEMENTS = (
    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200), UNIQUE (v))",
    "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, NULL)",
    "BEGIN", "UPDATE t SET v = 'drei' WHERE id = 3", "SAVEPOINT s", "DELETE FROM t WHERE id = 1",
    "COMMIT",
    "XA START 'g', 'b', 7", "INSERT INTO t VALUES (10, 'xa')", "XA END 'g', 'b', 7",
    "XA PREPARE 'g', 'b', 7", "XA COMMIT 'g', 'b', 7",
    "CREATE TABLE c AS SELECT * FROM t",
    "SET SESSION binlog_row_image = MINIMAL", "UPDATE t SET v = 'ten' WHERE id = 10",
    "SET SESSION binlog_row_image = FULL",
    "ALTER TABLE t ADD COLUMN n INT",
    "INSERT INTO t VALUES (20, 'twenty', 5)",
)  # fmt: skip
KINDS = [
    LoggedKind.DDL, LoggedKind.ROWS, LoggedKind.ROWS, LoggedKind.XA, LoggedKind.XA,
    LoggedKind.DDL, LoggedKind.ROWS, LoggedKind.DDL, LoggedKind.ROWS,
]  # fmt: skip


def test_events_stand_where_the_servers_own_tool_says(source):
    _new_log(source, *STATEMENTS)
    path = source.binary_logs()[-1]
    tool = "mariadb-binlog" if source.is_mariadb else "mysqlbinlog"
    command = source.installation.tool(tool)
    text = source.tool_output(command, "--base64-output=DECODE-ROWS", "-v", str(path)).decode()
    places = sorted({int(place) for place in re.findall(r"^# at (\d+)$", text, re.MULTILINE)})
    with open_source(str(path)) as opened:
        ours = [event.header.offset for event in BinlogReader(opened).raw_events()]
    assert ours == places


def test_transactions_are_the_kinds_that_were_run(source):
    _new_log(source, *STATEMENTS)
    transactions, report = _read(source)
    assert [transaction.kind for transaction in transactions] == KINDS
    assert all(transaction.complete and transaction.gtid for transaction in transactions)
    assert not report.files[0].unknown_events
    rows = [
        row for transaction in transactions for row in transaction.rows if row.table == "live.t"
    ]
    assert [row.operation for row in rows][:5] == [
        Operation.INSERT, Operation.INSERT, Operation.INSERT, Operation.UPDATE, Operation.DELETE,
    ]  # fmt: skip
    xa_ids = {t.xa_id for t in transactions if t.kind is LoggedKind.XA}
    assert xa_ids == {"X'67',X'62',7"}


@pytest.mark.parametrize("checksum", ["CRC32", "NONE"])
def test_compression_hides_nothing(source, checksum):
    big = "'" + "compress me " * 15 + "'"
    switch = (
        ["SET GLOBAL log_bin_compress = 1", "SET GLOBAL log_bin_compress_min_len = 10"]
        if source.is_mariadb
        else ["SET SESSION binlog_transaction_compression = ON"]
    )
    off = ["SET GLOBAL log_bin_compress = 0"] if source.is_mariadb else []
    source.run([f"SET GLOBAL binlog_checksum = {checksum}"])
    _new_log(
        source,
        *switch,
        "CREATE TABLE z (id INT PRIMARY KEY, v VARCHAR(300), w VARCHAR(300))",
        f"INSERT INTO z VALUES (1, {big}, {big}), (2, 'a', NULL)",
        f"UPDATE z SET v = CONCAT('x', {big})",
        "DELETE FROM z WHERE id = 1",
        *off,
    )
    transactions, report = _read(source)
    source.run(["SET GLOBAL binlog_checksum = CRC32"])
    assert report.files[0].checksums == [checksum]
    names = " ".join(report.files[0].events)
    assert ("COMPRESSED" if source.is_mariadb else "TRANSACTION_PAYLOAD") in names
    rows = [row for transaction in transactions for row in transaction.rows]
    assert [row.operation.value for row in rows] == ["insert"] * 2 + ["update"] * 2 + ["delete"]
    assert source.query("SELECT * FROM live.z") == [rows[3].after]


def test_driver_that_streams_from_the_server_sees_the_same_rows(source):
    """A decoder of other authors on the same log; it knows live, uncompressed streams only."""
    replication = pytest.importorskip("pymysqlreplication")
    from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

    _new_log(source, *STATEMENTS)
    path = source.binary_logs()[-1]
    stream = replication.BinLogStreamReader(
        connection_settings={
            "unix_socket": str(source.socket),
            "user": "root",
            "passwd": source.password,
        },
        server_id=4711,
        log_file=path.name,
        log_pos=4,
        blocking=False,
        only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent],
        is_mariadb=source.is_mariadb,
    )
    theirs = []
    try:
        for event in stream:
            for row in event.rows:
                before = row.get("before_values")
                after = row.get("after_values", row.get("values"))
                if isinstance(event, DeleteRowsEvent):
                    before, after = after, None
                theirs.append((event.schema + "." + event.table, before, after))
    except ValueError as error:
        if "MetadataFieldType" not in str(error):
            raise
        pytest.skip(f"the driver cannot read the table maps of this server: {error}")
    finally:
        stream.close()
    tables: dict[str, list[str]] = {}

    def on_table_map(table):
        tables[table.name] = [column.name for column in table.columns]

    ours = []
    for transaction in read_transactions([str(path)], on_table_map=on_table_map):
        for row in transaction.rows:
            names = tables[row.table]
            ours.append((row.table, _recorded(names, row.before), _recorded(names, row.after)))
    assert len(ours) == len(theirs) > 10
    for (table, before, after), (their_table, their_before, their_after) in zip(
        ours, theirs, strict=True
    ):
        assert table == their_table
        assert before == _only(their_before, before)
        assert after == _only(their_after, after)


def _recorded(names: list[str], image: RowImage | None) -> dict[str, object] | None:
    if image is None:
        return None
    return {name: v for name, v in zip(names, image, strict=True) if v is not ABSENT}


def _only(values: dict[str, object] | None, wanted: dict[str, object] | None):
    """The driver gives None for columns that a minimal image left out."""
    if values is None or wanted is None:
        return values
    return {name: values[name] for name in wanted}


@pytest.fixture(scope="module", params=FINDERS)
def pair(request) -> Iterator[tuple[Server, Server]]:
    try:
        installation = FINDERS[request.param]()
    except ParaplyError as reason:
        pytest.skip(str(reason))
    with ServerRoom() as room:
        first = room.start(installation)
        second = room.start(installation, options=["--relay-log=relay", "--relay-log-purge=0"])
        yield first, second


def test_relay_logs_hold_the_sources_transactions(pair):
    first, second = pair
    replicate(first, second)
    _new_log(first, *STATEMENTS)
    # Who stops in the middle of a transaction receives it twice, the first time in part.
    wait_until_applied(first, second)
    second.run(["FLUSH RELAY LOGS"])
    if not second.is_mariadb:  # MariaDB throws its relay logs away when it starts by GTID
        second.run(["STOP REPLICA", "START REPLICA"])
    first.run(["USE live", "INSERT INTO t VALUES (30, 'thirty', 1)", "FLUSH BINARY LOGS"])
    first.run(["USE live", "INSERT INTO t VALUES (31, 'thirty-one', 1)"])
    wait_until_applied(first, second)
    relays = sorted(path for path in second.datadir.glob("relay.0*"))
    report = LogReport()
    relayed = list(read_transactions([str(path) for path in relays], report=report))
    logged = list(read_transactions([str(path) for path in first.binary_logs()]))
    assert [d.text for d in report.diagnostics()] == []
    assert all(file.is_relay_log for file in report.files)
    by_gtid = {transaction.gtid: transaction for transaction in logged}
    assert {t.gtid for t in relayed} >= {t.gtid for t in logged[-5:]}
    for transaction in relayed:
        origin = by_gtid[transaction.gtid]
        assert transaction.complete
        assert transaction.kind is origin.kind
        assert [(r.before, r.after) for r in transaction.rows] == [
            (r.before, r.after) for r in origin.rows
        ]
        assert transaction.sequence_number == origin.sequence_number
        assert transaction.commit_id == origin.commit_id
    if not second.is_mariadb:
        # Numbers restart with each file of the source, and only there does the clock.
        clocks = {by_gtid[t.gtid].clock: t.clock for t in relayed}
        assert sorted(clocks.values()) == list(range(len(clocks)))
        assert len(clocks) >= 2
