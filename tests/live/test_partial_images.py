"""Both engines of the audit agree on images of real servers that do not show all columns."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator

import pymysql
import pytest

from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.adapters.servers import (
    Server,
    ServerRoom,
    find_mariadb,
    find_mariadb_11_8,
    find_mysql,
)
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.log_forger import ForgedLog
from tests.builders.odd_tables import overlap
from tests.live.runs import installed

pytestmark = pytest.mark.live
CHANGES = 150
_TEXT = "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
TABLES = (
    f"parent (id INT PRIMARY KEY, label VARCHAR(9) {_TEXT} NULL UNIQUE, body TEXT NULL)",
    "child (id INT PRIMARY KEY, parent INT NULL, a INT NULL, b INT NULL, body BLOB NULL,"
    " UNIQUE pair (a, b), KEY (parent, a), FOREIGN KEY (parent) REFERENCES parent (id){})",
    "plain (x INT NOT NULL, y INT NOT NULL, v INT NULL, PRIMARY KEY (x, y))",
    f"named (code CHAR(4) {_TEXT} NOT NULL, v INT NULL, note TEXT NULL, UNIQUE (code))",
)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(find_mariadb, id="mariadb"),
        pytest.param(find_mariadb_11_8, id="mariadb-11.8"),
        pytest.param(find_mysql, id="mysql"),
    ],
)
def source(request) -> Iterator[Server]:
    installation = installed(request.param)
    with ServerRoom() as room:
        yield room.start(installation)


IN_PART = (
    "INSERT INTO parent VALUES (9, '9', '9')", "UPDATE parent SET label = '8' WHERE id = 9",
    "INSERT INTO child VALUES (9, NULL, 9, 9, '9')", "UPDATE child SET a = 8 WHERE id = 9",
    "INSERT INTO plain VALUES (9, 9, 9)", "UPDATE plain SET v = 8 WHERE x = 9 AND y = 9",
    "INSERT INTO named VALUES ('9', 9, '9')", "UPDATE named SET v = 8 WHERE code = '9'",
)  # fmt: skip
"""Changes of each table, of which images show less than all columns."""


def changes(dice: random.Random) -> Iterator[str]:
    """Yield statements on few rows; a server refuses some."""
    yield from IN_PART
    for _ in range(CHANGES):
        one, other, value = (dice.randrange(4) for _ in range(3))
        text = dice.choice(("NULL", f"'{value}'"))
        number = dice.choice(("NULL", str(value)))
        yield dice.choice((
            f"INSERT INTO parent (id, label) VALUES ({one}, {text})",
            f"INSERT INTO parent VALUES ({one}, {text}, {text})",
            f"UPDATE parent SET label = {text} WHERE id = {one}",
            f"UPDATE parent SET body = {text} WHERE id = {one}",
            f"UPDATE parent SET id = {other} WHERE id = {one}",
            f"DELETE FROM parent WHERE id = {one}",
            f"INSERT INTO child (id, parent) VALUES ({one}, {number})",
            f"INSERT INTO child VALUES ({one}, {number}, {other}, {value}, {text})",
            f"UPDATE child SET parent = {number} WHERE id = {one}",
            f"UPDATE child SET a = {number} WHERE id = {one}",
            f"UPDATE child SET a = {other}, b = {number} WHERE id = {one}",
            f"UPDATE child SET body = {text} WHERE id = {one}",
            f"DELETE FROM child WHERE id = {one}",
            f"REPLACE INTO plain VALUES ({one}, {other}, {number})",
            f"UPDATE plain SET y = {value} WHERE x = {one} AND y = {other}",
            f"DELETE FROM plain WHERE x = {one}",
            f"INSERT INTO named (code, v) VALUES ('{one}', {number})",
            f"UPDATE named SET note = {text}, v = {number} WHERE code = '{one}'",
            f"DELETE FROM named WHERE code = '{one}'",
        ))  # fmt: skip


@pytest.mark.parametrize("action", ["", " ON DELETE CASCADE", " ON DELETE SET NULL"])
@pytest.mark.parametrize("image", ["MINIMAL", "NOBLOB", "FULL_NODUP"])
def test_engines_judge_partial_images_alike(source, image, action, tmp_path):
    if image == "FULL_NODUP" and not (source.is_mariadb and source.installation.version >= (11, 4)):
        pytest.skip("this server has no FULL_NODUP images")
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    before = len(source.binary_logs())
    source.run(["DROP DATABASE IF EXISTS live", "CREATE DATABASE live", "FLUSH BINARY LOGS"])
    source.run(["USE live", *(f"CREATE TABLE {table.format(action)}" for table in TABLES)])
    with source.connect(database="live") as connection, connection.cursor() as cursor:
        cursor.execute(f"SET SESSION binlog_row_image={image}")
        for statement in changes(dice):
            try:
                cursor.execute(statement)
                connection.commit()
            except pymysql.err.IntegrityError:
                connection.rollback()
    source.query("FLUSH BINARY LOGS")
    (path,) = source.binary_logs()[before:-1]
    log = ForgedLog.read(path)
    overlap(log, "mariadb" if source.is_mariadb else "mysql", dice.choice((5, 30)), len(TABLES) + 2)
    files, left = (str(log.save(tmp_path / path.name)),), LeftTables()
    readable = audit_by_readable(files)
    assert differences(readable, audit_by_leaving(files, left=left)) == []
    assert left.reasons == {}
    # Without a BLOB or TEXT, NOBLOB shows all.
    assert len(left.compared) == (3 if image == "NOBLOB" else 4)
    assert readable.result.violations
