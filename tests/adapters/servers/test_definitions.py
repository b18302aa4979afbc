"""--dsn: definitions from a server that is only read."""

from __future__ import annotations

import json
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest

from paraply.adapters.binlog.schema.dump import load_schema_text
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.servers import ServerRoom, definitions, find_mariadb, find_mysql
from paraply.adapters.servers.definitions import read_schema, schema_file
from paraply.cli import main
from paraply.commands import verify
from paraply.errors import USAGE
from paraply.vocabulary.errors import ParaplyError
from tests.verifying.watch.sent_logs import answered

LOG = Path(__file__).parents[2] / "fixtures/binlogs/mysql-9.7.4/load-full-metadata/bin.000001"
TABLES = {
    "a`b.t": "CREATE TABLE `a``b`.`t` (id int PRIMARY KEY, v varchar(9) UNIQUE)",
    "shop.p": "CREATE TABLE `shop`.`p` (id int PRIMARY KEY)",
    "shop.c": "CREATE TABLE `shop`.`c` (id int PRIMARY KEY, p int,"
    " FOREIGN KEY (p) REFERENCES p (id))",
}


class Answers:
    """A server that knows two schemas."""

    def __init__(self):
        self.asked = []

    def query(self, statement):
        self.asked.append(statement)
        return answered(TABLES, statement)


def test_definitions_are_read_and_nothing_else_is_asked():
    server = Answers()
    schema = read_schema(server)
    assert schema.asked == server.asked
    assert all(asked.startswith(("SHOW ", "SELECT ")) for asked in schema.asked)
    assert schema.variables == {"version": "8.4.1", "lower_case_table_names": "0"}
    registry = SchemaRegistry()
    assert load_schema_text(registry, schema.text, "server.sql") == len(TABLES)
    assert all(registry.table(name).keys_complete for name in TABLES)
    assert [key.parent for key in registry.table("shop.c").foreign_keys] == ["shop.p"]


@pytest.mark.parametrize(
    ("command", "schema", "dsn"),
    [
        ("audit", "--schema", "--dsn"),
        ("verify", "--schema", "--dsn"),
        ("verify", "--target-schema", "--target-dsn"),
    ],
)
def test_dsn_and_schema_are_two_answers_to_one_question(command, schema, dsn, tmp_path, capsys):
    log = tmp_path / "bin.000001"
    log.write_bytes(b"\xfebin")
    arguments = [command, str(log), schema, "x.sql", dsn, "mysql://me:s3cret@127.0.0.1:1"]
    if command == "verify":
        arguments += ["--target", str(log)]
    assert main(arguments) == 3
    told = capsys.readouterr().err
    assert f"{schema} and {dsn} both give definitions" in told
    assert "s3cret" not in told


def test_account_that_sees_no_table_is_told_what_it_needs(monkeypatch, capsys):
    class Empty(Answers):
        def query(self, statement):
            return answered({}, statement)

    monkeypatch.setattr(definitions, "ExistingServer", lambda *_, **__: Empty())
    assert main(["audit", str(LOG), "--dsn", "mysql://me:s3cret@127.0.0.1:1"]) == 3
    told = capsys.readouterr().err
    assert "P628" in told
    assert "the account sees no table" in told
    assert "grant it SELECT" in told
    assert "s3cret" not in told


def test_definitions_of_both_servers_reach_the_judge(tmp_path, monkeypatch):
    @contextmanager
    def served(url, **_):
        path = tmp_path / f"{url}.sql"
        path.write_text("")
        yield str(path), None

    asked = []

    def judged(request, advance):
        asked.append(request)
        raise ParaplyError(USAGE, reason="enough", command="")

    monkeypatch.setattr(definitions, "schema_file", served)
    monkeypatch.setattr(verify, "verify", judged)
    log = tmp_path / "bin.000001"
    log.write_bytes(b"\xfebin")
    arguments = ["verify", str(log), "--target", str(log), "--dsn", "one", "--target-dsn", "two"]
    assert main(arguments) == 3
    assert (asked[0].schema, asked[0].target_schema) == tuple(
        str(tmp_path / f"{name}.sql") for name in ("one", "two")
    )


def test_audit_lists_what_it_asked_in_every_report(tmp_path, monkeypatch, capsys):
    server = Answers()
    read_only = []

    def connected(_, *, name, is_read_only):
        read_only.append(is_read_only)
        return server

    monkeypatch.setattr(definitions, "ExistingServer", connected)
    dsn, page, document = "mysql://me:s3cret@127.0.0.1:1", tmp_path / "a.html", tmp_path / "a.json"
    reports = ["--html", str(page), "--json", str(document), "--details", "--plain"]
    monkeypatch.setenv("COLUMNS", "2000")
    assert main(["audit", str(LOG), "--dsn", dsn, *reports]) == 0
    shown, found = capsys.readouterr().out, json.loads(document.read_text())
    html = unescape(page.read_text())
    assert read_only == [True]
    # Variables, tables, two schemas, three tables.
    assert len(server.asked) == 7
    assert found["statements_asked"] == server.asked
    for statement in server.asked:
        assert statement in shown
        assert f"<code>{statement}</code>" in html
    assert "s3cret" not in shown + html + document.read_text()


@pytest.mark.live
@pytest.mark.parametrize("find", [find_mariadb, find_mysql])
def test_server_is_read_and_left_as_it_was(find):
    try:
        installation = find()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    with ServerRoom() as room:
        server = room.start(installation)
        server.run(
            [
                "CREATE DATABASE shop",
                "CREATE TABLE shop.p (id int PRIMARY KEY)",
                "CREATE TABLE shop.c (id int, p int, UNIQUE (id),"
                " FOREIGN KEY (p) REFERENCES shop.p (id) ON DELETE CASCADE)",
                "CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'pass/word'",
                "GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
            ]
        )
        before = server.query("SELECT * FROM information_schema.tables ORDER BY 1, 2, 3")
        with schema_file(f"mysql://reader:pass%2Fword@127.0.0.1:{server.port}") as (path, schema):
            registry = SchemaRegistry()
            load_schema_text(registry, schema.text, path)
        assert registry.table("shop.p").keys_complete
        assert [key.on_delete for key in registry.table("shop.c").foreign_keys] == ["CASCADE"]
        after = server.query("SELECT * FROM information_schema.tables ORDER BY 1, 2, 3")
        assert [row[:4] for row in before] == [row[:4] for row in after]
