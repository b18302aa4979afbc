"""The moment of the log that a dump's own header names."""

from __future__ import annotations

import gzip

import pytest

from paraply.adapters.servers import (
    ServerRoom,
    find_mariadb,
    find_mariadb_11_8,
    find_mysql,
)
from paraply.auditing.dump_age import DumpMoment
from paraply.auditing.dump_place import told_moment
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.vocabulary.verdict import Verdict
from tests.auditing.test_schema_doubts import Log, overlapping
from tests.live.runs import installed

ROTATE, STOP = 4, 3
PLACES = (
    "CHANGE MASTER TO MASTER_LOG_FILE='{}', MASTER_LOG_POS={};",
    "-- CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='{}', SOURCE_LOG_POS={};",
)
NOW = "CREATE TABLE test.t (id int NOT NULL, a int, PRIMARY KEY (id), UNIQUE KEY a (a));"


def altered(folder, end=None):
    """Write a log in which nothing but a dump's place shows its moment; return file and offsets."""
    log = Log()
    begins = log.writer.position
    overlapping(log).ddl("ALTER TABLE t ADD UNIQUE (a)")
    ends = log.writer.position
    if end is not None:
        log.writer.event(end, b"\x04" + bytes(7) + b"bin.000008" if end == ROTATE else b"")
    return str(log.writer.save(folder / "bin.000007")), begins, ends


def dump(folder, text, file, offset):
    path = folder / "schema.sql"
    path.write_text(f"{text.format(file, offset)}\n{NOW}\n")
    return str(path)


@pytest.mark.parametrize("text", PLACES)
@pytest.mark.parametrize("end", [None, ROTATE, STOP])
def test_place_of_begin_or_end_is_the_moment(tmp_path, text, end):
    file, begins, ends = altered(tmp_path, end)
    moments = {
        ("bin.000007", 4): DumpMoment.BEGIN,
        ("bin.000007", begins): DumpMoment.BEGIN,
        ("bin.000007", begins + 1): DumpMoment.UNKNOWN,
        ("bin.000007", ends - 1): DumpMoment.UNKNOWN,
        ("bin.000007", ends): DumpMoment.END,
        ("bin.000007", ends + 5000): DumpMoment.END,
        ("bin.000008", 4): DumpMoment.END,
        ("bin.000010", 4): DumpMoment.END,
        ("bin.000006", 4): DumpMoment.UNKNOWN,
        ("log.000008", 4): DumpMoment.UNKNOWN,
        ("bin.index", 4): DumpMoment.UNKNOWN,
    }
    for place, moment in moments.items():
        assert told_moment(dump(tmp_path, text, *place), [file]) is moment, place


def test_place_within_the_last_of_the_ends_events_is_not_the_end(tmp_path):
    file, _, ends = altered(tmp_path, ROTATE)
    assert told_moment(dump(tmp_path, PLACES[0], "bin.000007", ends + 3), [file]) is not (
        DumpMoment.END
    )


def test_audit_takes_the_moment_from_the_dump(tmp_path):
    file, begins, _ = altered(tmp_path)
    verdicts = {}
    for place in (begins, begins + 1, 1 << 20):
        schema = dump(tmp_path, PLACES[1], "bin.000007", place)
        verdicts[place] = audit(AuditRequest(files=(file,), schema=schema)).verdict
    assert [*verdicts.values()] == [Verdict.HOLDS, Verdict.UNKNOWN, Verdict.HOLDS]


def test_compressed_log_has_a_beginning(tmp_path):
    _, begins, ends = altered(tmp_path)
    packed = tmp_path / "packed" / "bin.000007.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress((tmp_path / "bin.000007").read_bytes()))
    for place, moment in ((begins, DumpMoment.BEGIN), (ends, DumpMoment.UNKNOWN)):
        schema = dump(tmp_path, PLACES[0], "bin.000007", place)
        assert told_moment(schema, [str(packed)]) is moment


def test_what_cannot_be_read_tells_nothing(tmp_path):
    file, begins, _ = altered(tmp_path)
    schema = dump(tmp_path, PLACES[0], "bin.000007", begins)
    (tmp_path / "bin.000007").write_bytes(b"no log")
    assert told_moment(schema, [file]) is DumpMoment.UNKNOWN
    assert told_moment(schema, [file, str(tmp_path / "absent")]) is DumpMoment.UNKNOWN
    assert told_moment(schema, ["-"]) is DumpMoment.UNKNOWN
    assert told_moment(schema, []) is DumpMoment.UNKNOWN


@pytest.mark.live
@pytest.mark.parametrize("find", [find_mariadb, find_mariadb_11_8, find_mysql])
def test_dumps_of_servers_tell_their_moments(find, tmp_path):
    with ServerRoom() as room:
        server = room.start(installed(find))
        server.run(["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"])
        word = "master" if server.is_mariadb else "source"

        def dumped(name):
            text = server.tool_output(
                server.installation.dump_command, f"--socket={server.socket}", "--user=root",
                "--no-data", f"--{word}-data=2", "--databases", "d",
            )  # fmt: skip
            (tmp_path / name).write_bytes(text)
            return str(tmp_path / name)

        server.run(["FLUSH BINARY LOGS"])
        begin = dumped("begin")
        server.run(["INSERT INTO d.t VALUES (1, 1)", "ALTER TABLE d.t ADD UNIQUE (v)"])
        midst = dumped("midst")
        server.run(["INSERT INTO d.t VALUES (2, 2)"])
        end = dumped("end")
        log = str(server.binary_logs()[-1])
        moments = [told_moment(each, [log]) for each in (begin, midst, end)]
        assert moments == [DumpMoment.BEGIN, DumpMoment.UNKNOWN, DumpMoment.END]
        server.run(["FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (3, 3)"])
        assert told_moment(dumped("later"), [log]) is DumpMoment.END
        assert told_moment(end, [log]) is DumpMoment.END
