"""--dsn with --fetch: a server's own logs are copied and audited."""

from __future__ import annotations

import json
import struct
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from paraply.adapters.binlog.source import open_source
from paraply.adapters.servers import (
    ServerRoom,
    binlog_dump,
    definitions,
    existing,
    find_mariadb,
    find_mysql,
)
from paraply.adapters.servers.binlog_dump import LogPlace, dump_log, log_end, newest_logs
from paraply.adapters.servers.errors import SERVER_UNREACHABLE, STATEMENT_FAILED
from paraply.adapters.servers.unprivileged import give, server_account
from paraply.cli import main
from paraply.vocabulary.errors import ParaplyError
from tests.verifying.watch.sent_logs import answered

LOG = Path(__file__).parents[1] / "fixtures/binlogs/mysql-9.7.4/load-full-metadata/bin.000001"
DSN = "mysql://me:s3cret@127.0.0.1:1"
ROTATE, ARTIFICIAL, EOF = 4, 0x20, b"\xfe"


def events_of(data):
    at = 4
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 9)
        yield data[at : at + size]
        at += size


def announced(name):
    """Return the unlogged rotation that a server sends before a file."""
    body = struct.pack("<Q", 4) + name.encode()
    size = 19 + len(body)
    return struct.pack("<IBIIIH", 0, ROTATE, 1, size, 0, ARTIFICIAL) + body


class Packet:
    def __init__(self, data):
        self.data = data

    def is_eof_packet(self):
        return self.data == EOF

    def get_all_data(self):
        return self.data


class Connection:
    """A connection whose server sends files from the one that was asked for on."""

    def __init__(self, files):
        self.files, self.packets = files, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @contextmanager
    def cursor(self):
        yield self

    def execute(self, statement):
        assert statement.startswith("SET @")

    def _execute_command(self, _, request):
        offset, flags, replica = struct.unpack_from("<IHI", request)
        assert (offset, flags, replica) == (4, 1, 0)
        names = list(self.files)
        for name in names[names.index(request[10:].decode()) :]:
            self.packets.append(announced(name))
            self.packets += events_of(self.files[name])

    def _read_packet(self):
        return Packet(b"\0" + self.packets.pop(0) if self.packets else EOF)


class Server:
    """A server with one small log, or several."""

    def __init__(self, files):
        self.name, self.files, self.asked = "server", files, []
        self.is_mariadb = False

    def connect(self, **_):
        return Connection(self.files)

    def query(self, statement):
        self.asked.append(statement)
        if statement == binlog_dump.LIST_LOGS:
            return [(name, len(data), "No") for name, data in self.files.items()]
        return answered({"shop.p": "CREATE TABLE `shop`.`p` (id int PRIMARY KEY)"}, statement)


@pytest.fixture
def server(monkeypatch):
    made = Server({"bin.000007": LOG.read_bytes()})
    for module in (existing, definitions):
        monkeypatch.setattr(module, "ExistingServer", lambda *_, **__: made)
    return made


def test_logs_of_a_server_are_copied_byte_for_byte_and_audited(server, tmp_path, capsys):
    folder, report = tmp_path / "logs", tmp_path / "report.json"
    arguments = ["audit", "--dsn", DSN, "--fetch", str(folder), "--json", str(report)]
    assert main(arguments) == 0
    copied = folder / "bin.000007"
    assert copied.read_bytes() == LOG.read_bytes()
    found = json.loads(report.read_text())
    assert [file["name"] for file in found["files"]] == [str(copied)]
    assert found["statements_asked"] == server.asked
    assert server.asked[0] == "SHOW BINARY LOGS"
    assert any("1 log of the server from bin.000007 on" in one for one in found["assumptions"])
    assert main(["audit", str(copied), "--json", str(tmp_path / "again.json")]) == 0
    again = json.loads((tmp_path / "again.json").read_text())
    assert again["transactions"] == found["transactions"] > 0
    assert "s3cret" not in capsys.readouterr().out + report.read_text()


def test_file_that_is_there_is_never_overwritten(server, tmp_path, capsys):
    """The folder may be the server's own."""
    there = tmp_path / "bin.000007"
    there.write_bytes(b"mine")
    assert main(["audit", "--dsn", DSN, "--fetch", str(tmp_path)]) == 3
    assert "P627" in capsys.readouterr().err
    assert there.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("megabytes", "names"),
    [(1, ["c"]), (3, ["c"]), (4, ["b", "c"]), (9, ["a", "b", "c"]), (10**6, ["a", "b", "c"])],
)
def test_newest_logs_are_those_that_fit_and_always_the_last(megabytes, names):
    sizes = {"a": 5 << 20, "b": 2 << 20, "c": 2 << 20}
    server = Server({name: bytes(size) for name, size in sizes.items()})
    chosen = newest_logs(server, megabytes << 20)
    assert chosen == [LogPlace(file=name, offset=sizes[name]) for name in names]


def test_later_logs_follow_the_first_into_files_of_their_own(tmp_path):
    whole = LOG.read_bytes()
    server = Server({"bin.1": b"not sent", "bin.2": whole, "bin.3": whole})
    told = []
    files = dump_log(server, LogPlace(file="bin.2", offset=4), tmp_path, told.append)
    assert [(file.name, file.read_bytes()) for file in files] == [
        ("bin.2", whole),
        ("bin.3", whole),
    ]
    assert told == sorted(told)
    assert told[-1] == 2 * (len(whole) - 4)


@pytest.mark.parametrize("answer", ["refused", "none"])
def test_server_without_logs_is_an_error_with_a_remedy(answer, monkeypatch):
    server = Server({})

    def refused(statement):
        raise ParaplyError(STATEMENT_FAILED, statement=statement, reason="Access denied")

    if answer == "refused":
        server.query = refused
    with pytest.raises(ParaplyError, match=r"Access denied|no binary log") as raised:
        newest_logs(server, 1)
    assert raised.value.error.code == "P615"
    assert "REPLICATION CLIENT" in raised.value.remedy


def test_rights_are_no_remedy_where_there_is_no_connection():
    server = Server({})

    def refused(statement):
        raise ParaplyError(SERVER_UNREACHABLE, reason="'pynacl' package is required")

    server.query = refused
    for asks in (log_end, partial(newest_logs, bytes_max=1)):
        with pytest.raises(ParaplyError, match=r"P614 .*pynacl"):
            asks(server)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "name a log file"),
        (["--dsn", DSN], "name a log file"),
        (["--fetch", "logs"], "--fetch needs the server"),
        ([str(LOG), "--dsn", DSN, "--fetch", "logs"], "goes with no FILE"),
        (["--dsn", DSN, "--fetch", "logs", "--follow"], "goes with no FILE"),
        ([str(LOG), "--fetch-megabytes", "3"], "goes with --fetch"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    arguments, reason, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["audit", *arguments]) == 3
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "logs").exists()


@pytest.mark.live
@pytest.mark.parametrize(
    ("find", "encrypts"), [(find_mariadb, False), (find_mariadb, True), (find_mysql, False)]
)
def test_running_server_is_audited_from_its_first_log_on(find, encrypts, tmp_path, capsys):
    try:
        installation = find()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    report = tmp_path / "report.json"
    with ServerRoom() as room:
        keys = room.directory / "keys"
        keys.write_text("1;" + "a5" * 32)
        give(keys, server_account())
        options = [
            "--plugin-load-add=file_key_management",
            f"--file-key-management-filename={keys}",
            "--encrypt-binlog=ON",
        ]
        server = room.start(installation, options=options if encrypts else [])
        grant = "BINLOG MONITOR" if server.is_mariadb else "REPLICATION CLIENT"
        server.run(
            [
                "CREATE DATABASE shop",
                "CREATE TABLE shop.item (id int PRIMARY KEY, v int)",
                "INSERT INTO shop.item VALUES (1, 1), (2, 2)",
                "FLUSH BINARY LOGS",
                "UPDATE shop.item SET v = 3 WHERE id = 1",
                "CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'word'",
                "GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
                f"GRANT REPLICATION SLAVE, {grant} ON *.* TO reader@'127.0.0.1'",
            ]
        )
        dsn = f"mysql://reader:word@127.0.0.1:{server.port}"
        logs = tmp_path / "logs"
        main(["audit", "--dsn", dsn, "--fetch", str(logs), "--json", str(report)])
        found = json.loads(report.read_text())
        listed = {str(name): int(size) for name, size, *_ in server.query("SHOW BINARY LOGS")}
    assert len(listed) >= 2
    assert [Path(file["name"]).name for file in found["files"]] == list(listed)
    assert {file.name: file.stat().st_size for file in logs.iterdir()} == listed
    assert found["row_changes"] == 3
    assert found["replay"]["findings"] == []
    for file in logs.iterdir():
        with open_source(str(file)) as source:
            assert source is not None
