"""Logs that are read in parts: the report is that of logs read in one piece, byte for byte."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from paraply.adapters.binlog.blocks import Block
from paraply.adapters.binlog.errors import UNREADABLE_FILE
from paraply.adapters.binlog.event_types import HeaderFlag
from paraply.adapters.binlog.schema.lessons import Statement
from paraply.cli import main
from paraply.mining.workers import Processes
from paraply.reporting.verify.json_form import verify_json
from paraply.verifying import in_parts
from paraply.verifying.compiled import parts as reading
from paraply.verifying.in_parts import cut_log
from paraply.verifying.mapping import Rules
from paraply.verifying.pipeline import InParts, VerifyRequest, verify
from paraply.vocabulary.child_failure import ChildFailure
from paraply.vocabulary.errors import ParaplyError
from tests.builders.hot_logs import hot_logs
from tests.builders.log_forger import ForgedLog
from tests.verifying.small_logs import Server, Txn, account
from tests.verifying.test_real_logs import BINLOGS, REPLICAS, files_of, forged_replica
from tests.verifying.workloads import START, transfers

SHOP = "CREATE TABLE %s (id INT PRIMARY KEY, owner VARCHAR(25), balance BIGINT)"
STANDALONE_DDL = 0x01 | 0x20


def verified_in_parts(source, target, *, parts=5, map_parts=map, **options) -> InParts:
    """Compare both reports; return how the parts were read."""
    request = VerifyRequest(
        source=tuple(map(str, source)), target=tuple(map(str, target)), **options
    )
    how = InParts(parts=parts, map_parts=map_parts)
    assert verify_json(verify(request, in_parts=how)) == verify_json(verify(request))
    return how


def shop_log(path: Path, *steps: Txn | str) -> Path:
    """A log of transactions and statements, whose table maps name no columns and no keys."""
    server = Server(START, has_names=False)
    for step in steps:
        if isinstance(step, Txn):
            server.commit(step)
            continue
        server.sequence += 1
        server.writer.mariadb_gtid(server.sequence, flags=STANDALONE_DDL)
        server.writer.query(step, schema="shop")
        server.rows.clear()
    return Path(server.save(path))


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A generated log per dialect, longer than the opening that is read before the parts."""
    folder = tmp_path_factory.mktemp("parts")
    return hot_logs(folder, seed=7)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_generated_log_is_judged_alike_wherever_it_is_cut(logs, dialect, monkeypatch):
    monkeypatch.setattr(in_parts, "OPENING_BYTES", 20_000)
    for parts in (1, 2, 7):
        how = verified_in_parts([logs[dialect]], [logs[dialect]], parts=parts)
        assert (how.in_one_piece, how.read, how.again) == ("", 2 * parts, 0)


@pytest.mark.long
def test_transaction_longer_than_a_part_belongs_to_the_part_where_it_begins(logs):
    how = verified_in_parts([logs["mysql"]], [logs["mysql"]], parts=60)
    sizes = [block.end - block.begin for (block,) in cut_log([str(logs["mysql"])], 60)[:-1]]
    assert max(sizes) > 2 * 300_000 / 60
    assert how.in_one_piece == ""
    assert 20 < how.read < 2 * 60


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_target_that_ends_inside_a_transaction_is_judged_alike(logs, dialect, tmp_path):
    data = logs[dialect].read_bytes()
    target = tmp_path / "target.000001"
    for size in (len(data) // 2, len(data) - 7):
        target.write_bytes(data[:size])
        verified_in_parts([logs[dialect]], [target])


@pytest.mark.long
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", ["none", "swapped", "lost", "twice", "cut"])
def test_recorded_replica_is_judged_alike(folder, fault, tmp_path):
    target = forged_replica(folder, fault, tmp_path)
    for by_content in (False, True):
        how = verified_in_parts(files_of(folder), [target], by_content=by_content)
        if fault in ("none", "cut"):
            assert (how.in_one_piece, how.read) == ("", 10)
        elif not by_content:
            assert how.in_one_piece == "the target has other transactions, or in another order"


@pytest.mark.long
@pytest.mark.parametrize("name", ["rotation", "restart", "keys", "compressed", "foreign-keys"])
@pytest.mark.parametrize("server", ["mariadb-10.11.19", "mysql-9.7.4"])
def test_recorded_log_is_judged_alike(server, name):
    folder = BINLOGS / server / name
    schema = str(folder / "schema.sql")
    for options in ({}, {"schema": schema, "target_schema": schema}):
        how = verified_in_parts(files_of(folder), files_of(folder), **options)
        assert how.in_one_piece in ("", "a target state is no prefix of the source")


def test_table_created_later_is_known_to_the_parts_behind(tmp_path):
    """No table map names the key, so that only CREATE TABLE shows it."""
    steps = [SHOP % "account", *transfers(30, 4), SHOP % "basket"]
    steps += [Txn({("basket", at % 4): (at % 4, "bob", at)}) for at in range(1, 40)]
    log = shop_log(tmp_path / "bin.000001", *steps)
    how = verified_in_parts([log], [log], parts=6)
    assert how.in_one_piece == ""
    assert how.again >= 8, "the first reading of these parts lacked a definition"


def test_table_that_the_opening_lacks_needs_no_second_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(in_parts, "OPENING_BYTES", 800)
    steps = [SHOP % "account", SHOP % "basket", *transfers(20, 4)]
    steps += [Txn({("basket", at % 4): (at % 4, "bob", at)}) for at in range(1, 60)]
    log = shop_log(tmp_path / "bin.000001", *steps)
    how = verified_in_parts([log], [log], parts=6)
    assert (how.in_one_piece, how.again) == ("", 0)


def test_part_that_is_not_taught_gives_another_result(tmp_path, monkeypatch):
    """The control: the definition is needed."""
    monkeypatch.setattr(in_parts, "condensed", lambda lessons, schema: ())
    log = shop_log(tmp_path / "bin.000001", SHOP % "account", *transfers(40, 4))
    assert verified_in_parts([log], [log]).in_one_piece == "shop.account changes midway"


def test_table_emptied_later_is_left_to_the_readable_engine(tmp_path):
    again = [Txn(account(number, 5)) for number in (1, 2, 3)]
    log = shop_log(tmp_path / "bin.000001", SHOP % "account", *transfers(30, 4),
                   "TRUNCATE TABLE account", *again)  # fmt: skip
    assert verified_in_parts([log], [log]).in_one_piece.endswith("a table's rows are replaced")


def test_file_damaged_in_its_middle_is_read_in_one_part(logs, tmp_path):
    data = bytearray(logs["mariadb"].read_bytes())
    third = cut_log([str(logs["mariadb"])], 5)[2][0]
    data[third.begin + 20] ^= 0xFF
    damaged = tmp_path / "damaged.000001"
    damaged.write_bytes(data)
    how = verified_in_parts([logs["mariadb"]], [damaged])
    assert (how.in_one_piece, how.read) == ("", 5 + 1)


def test_wrong_cut_is_repaired(logs, monkeypatch):
    """A row may imitate a transaction, on purpose."""
    real = in_parts.cut_file

    def cut_wrongly(name, block_bytes):
        first, second, *others = real(name, 80_000)
        middle = second.begin - 30
        return [replace(first, end=middle), replace(second, begin=middle), *others]

    monkeypatch.setattr(in_parts, "cut_file", cut_wrongly)
    how = verified_in_parts([logs["mysql"]], [logs["mysql"]])
    assert (how.in_one_piece, how.read) == ("", 2)


def test_relay_logs_are_read_in_one_part(logs, tmp_path):
    """A replica may rotate its relay log inside a transaction."""
    whole = ForgedLog.read(logs["mysql"])
    head, events = whole.events[0], whole.events[1:]
    head.flags |= HeaderFlag.RELAY_LOG
    middle = whole.starts()[len(whole) // 2] - 1
    files = []
    for number, some in enumerate((events[:middle], events[middle:])):
        whole.events = [head, *some]
        files.append(whole.save(tmp_path / f"relay.{number}"))
    how = verified_in_parts([logs["mysql"]], files, by_content=True)
    assert (how.in_one_piece, how.read) == ("", 5 + 1)


def test_parts_are_of_one_size_and_cover_all_files(logs):
    names = [str(logs["mysql"]), str(logs["mariadb"]), str(logs["mysql"])]
    parts = cut_log(names, 4)
    assert len(parts) == 4
    places = [(block.file, block.begin, block.end) for part in parts for block in part]
    for (file, _, end), (next_file, begin, _) in pairwise(places):
        assert (file, end) == (next_file, begin) or (end is None and begin == 0)
    sizes = [sum((b.end or os.path.getsize(b.file)) - b.begin for b in part) for part in parts]
    assert sum(sizes) == sum(map(os.path.getsize, names))
    assert max(sizes) < 1.5 * min(sizes)


def test_opening_of_a_log_of_several_files_is_read(logs, monkeypatch):
    monkeypatch.setattr(in_parts, "OPENING_BYTES", 20_000)
    names = [str(logs["mysql"]), str(logs["mysql"])]
    log = in_parts.PartedLog(names, None, b"", "", 2)
    (_, first), (_, second) = log.tasks()
    assert first.lessons == ()
    assert any(isinstance(lesson, Statement) for lesson in second.lessons)


def test_one_part_is_not_cut(logs):
    name = str(logs["mysql"])
    assert cut_log([name], 1) == [(Block(file=name, begin=0, end=None),)]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rules": Rules(keys={"shop.account": ("id",)})}, "tables are mapped"),
        ({"engine": "readable"}, "the readable engine is required"),
    ],
    ids=["rules", "engine"],
)
def test_reason_why_logs_are_read_in_one_piece_is_kept(tmp_path, options, reason):
    log = shop_log(tmp_path / "bin.000001", *transfers(10, 4))
    assert verified_in_parts([log], [log], **options).in_one_piece == reason


def test_missing_numba_is_a_reason(logs, monkeypatch):
    monkeypatch.setattr("paraply.verifying.pipeline.find_spec", lambda _: None)
    how = verified_in_parts([logs["mysql"]], [logs["mysql"]])
    assert how.in_one_piece == "the library numba is not installed"


def test_lost_file_of_a_part_is_missed(logs, monkeypatch):
    monkeypatch.setattr(reading, "write", lambda data, path: None)
    with pytest.raises(ParaplyError, match="P328"):
        verified_in_parts([logs["mysql"]], [logs["mysql"]])


def test_command_reads_parts_by_processes(logs, tmp_path, capsys):
    log = str(logs["mysql"])
    reports = [tmp_path / "parts.json", tmp_path / "whole.json"]
    assert main(["verify", log, "--target", log, "--parts", "3", "--json", str(reports[0])]) == 0
    assert "both logs were read in 6 parts by " in capsys.readouterr().err
    assert main(["verify", log, "--target", log, "--json", str(reports[1])]) == 0
    assert reports[0].read_bytes() == reports[1].read_bytes()


def test_command_names_why_logs_are_read_in_one_piece(capsys):
    log = str(BINLOGS / "mysql-9.7.4" / "xa" / "bin.000001")
    main(["verify", log, "--target", log, "--parts", "3"])
    said = capsys.readouterr().err
    assert "both logs were read in one piece: " in said
    assert "the scanner does not read its rows" in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the patch reaches forks only")
def test_killed_reader_ends_the_command_with_70(logs, capsys, monkeypatch):
    def killed(task):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(in_parts, "read_part", killed)
    log = str(logs["mysql"])
    assert main(["verify", log, "--target", log, "--parts", "2"]) == 70
    said = capsys.readouterr().err
    assert f"WorkerLost: the process that worked on {log} from byte " in said
    assert "was ended by SIGKILL" in said


def refuse(item):
    if item == "input":
        raise ParaplyError(UNREADABLE_FILE, where="bin.000001", reason="{odd}")
    if item == "disk":
        raise OSError(28, "No space left on device")
    if item == "bug":
        raise ValueError("not expected")
    return item


def test_processes_raise_what_their_work_raises():
    processes = Processes(2)
    assert sorted(processes.map(refuse, "abc")) == ["a", "b", "c"]
    with pytest.raises(ParaplyError, match=r"P101 bin.000001: .*\{odd\}"):
        list(processes.map(refuse, ["input"]))
    with pytest.raises(OSError, match="No space"):
        list(processes.map(refuse, ["disk"]))
    with pytest.raises(ChildFailure, match="not expected") as failed:
        list(processes.map(refuse, ["bug"]))
    assert failed.value.kind == "ValueError"
    assert "in refuse" in failed.value.story
