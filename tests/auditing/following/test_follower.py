"""Files audited one after the other, with a new process for each batch, are one audit of them."""

from __future__ import annotations

import random
from dataclasses import fields

import pytest

from paraply.auditing.following import judging
from paraply.auditing.following.follower import Follower
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.mining.audit_tables import SCHEMAS, AuditTables
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.logs.row_replay import RowReplay
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.auditing.in_parts.auditing import (
    RECORDINGS,
    contradict,
    forge_conflicts,
    options_by_default,
)
from tests.builders.hot_logs import hot_logs
from tests.builders.log_forger import ForgedLog
from tests.builders.rotated_logs import rotated


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    return hot_logs(folder, seed=5)


def follow(files, place, seed, engine="readable"):
    """Take the files in drawn batches, each by a follower of its own; return it."""
    rng = random.Random(seed)
    request = AuditRequest(files=(), engine=engine)
    at = 0
    while at < len(files):
        end = at + rng.randint(1, 3)
        follower = Follower(str(place), request)
        # Spark repeats files that were committed before a crash.
        follower.take([str(file) for file in files[max(0, at - 1) : end]])
        at = end
    return follower


def assert_equal(found: AuditResult, files, engine="readable"):
    whole = audit(AuditRequest(files=tuple(map(str, files)), engine=engine))
    for each in fields(AuditResult):
        assert getattr(found, each.name) == getattr(whole, each.name), each.name
    return whole


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
@pytest.mark.parametrize("seed", range(2))
def test_sound_log_in_files(logs, dialect, seed, tmp_path, monkeypatch):
    options_by_default(monkeypatch, horizon=Horizon(keys=120, transactions=25))
    files = rotated(ForgedLog.read(logs[dialect]), tmp_path / "logs", 5, seed)
    follower = follow(files, tmp_path / "out", seed)
    whole = assert_equal(follower.result(), files)
    assert whole.conflicting_pairs_ordered > 20
    rows = follower.files()
    assert [row["file"] for row in rows] == [str(file) for file in files]
    assert rows[-1]["transactions_so_far"] == whole.transactions


@pytest.mark.long(each=3)
@pytest.mark.parametrize("engine", ["readable", "compiled"])
@pytest.mark.parametrize("seed", range(2))
def test_log_with_conflicts_in_files(logs, seed, engine, tmp_path):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged", seed)
    files = rotated(ForgedLog.read(forged), tmp_path / "logs", 4, seed)
    follower = follow(files, tmp_path / "out", seed, engine)
    whole = assert_equal(follower.result(), files, engine)
    assert whole.verdict is Verdict.VIOLATED
    rows = AuditTables(str(tmp_path / "out")).rows("violations")
    found = [(row["later_gtid"], row["earlier_gtid"], row["key"]) for row in rows]
    assert found == [(each.later.gtid, each.earlier.gtid, each.key) for each in whole.violations]
    per_file = {row["file"]: row["violations"] for row in follower.files()}
    assert per_file == {
        str(file): sum(each.later.file == str(file) for each in whole.violations) for file in files
    }
    verdicts = {row["file"]: row["verdict"] for row in follower.files()}
    assert {file for file, count in per_file.items() if count} == {
        file for file, verdict in verdicts.items() if verdict == "violated"
    }


@pytest.mark.long(each=3)
@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_log_with_contradictory_rows_in_files(logs, engine, tmp_path):
    torn = contradict(logs["mariadb"], tmp_path / "torn", 1)
    files = rotated(ForgedLog.read(torn), tmp_path / "logs", 4, 1)
    follower = follow(files, tmp_path / "out", 1, engine)
    whole = assert_equal(follower.result(), files, engine)
    assert whole.replay.findings
    rows = AuditTables(str(tmp_path / "out")).rows("findings")
    replayed = [(row["gtid"], row["offset"]) for row in rows if row["table"]]
    assert replayed == [(each.transaction.gtid, each.offset) for each in whole.replay.findings]


RECORDED = sorted(
    folder for folder in RECORDINGS.glob("*/*") if len(list(folder.glob("bin.*"))) > 1
)


@pytest.mark.long(each=5)
@pytest.mark.parametrize(
    "folder", RECORDED, ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def test_recorded_files(folder, tmp_path):
    files = sorted(folder.glob("bin.*"))
    assert_equal(follow(files, tmp_path, 0).result(), files)


PARTIAL_JSON = RECORDINGS / "mysql-9.7.4" / "partial-json" / "bin.000001"
"""Updates of a kind that kernels do not read."""


@pytest.mark.long
@pytest.mark.parametrize("engine", ["auto", "compiled"])
def test_file_with_rows_for_the_readable_code_is_read_from_the_first_on(logs, tmp_path, engine):
    files = rotated(ForgedLog.read(logs["mysql"]), tmp_path / "logs", 3, 0)
    for number, log in enumerate((PARTIAL_JSON.read_bytes(), files[1].read_bytes()), start=4):
        files.append(tmp_path / "logs" / f"binlog.00000{number}")
        files[-1].write_bytes(log)
    follower = follow(files, tmp_path / "out", 0, engine)
    whole = assert_equal(follower.result(), files, "compiled")
    assert whole.left_rows > 0
    assert {row["engine"] for row in follower.files()} == {"compiled"}
    follower = Follower(str(tmp_path / "purged"), AuditRequest(files=(), engine=engine))
    follower.take([str(file) for file in files[:3]])
    files[0].unlink()
    with pytest.raises(ParaplyError, match=r"P746.*binlog.000001 .*is gone"):
        follower.take([str(files[3])])


@pytest.mark.long
def test_file_that_the_compiled_engine_refuses_is_read_from_the_first_on(logs, tmp_path):
    files = rotated(ForgedLog.read(logs["mysql"]), tmp_path / "logs", 3, 0)
    files.append(tmp_path / "logs" / "binlog.000004")
    files[-1].write_bytes(logs["mariadb"].read_bytes())
    follower = follow(files, tmp_path / "out", 0, "auto")
    assert_equal(follower.result(), files, "auto")
    assert [row["engine"] for row in follower.files()] == [*["compiled"] * 3, "readable"]
    with pytest.raises(ParaplyError, match="P308"):
        follow(files, tmp_path / "compiled", 0, "compiled")
    follower = Follower(str(tmp_path / "purged"), AuditRequest(files=()))
    follower.take([str(file) for file in files[:3]])
    files[0].unlink()
    with pytest.raises(ParaplyError, match=r"P746.*binlog.000001 .*is gone"):
        follower.take([str(files[3])])


@pytest.mark.long
def test_state_that_is_lost_between_files_loses_findings(logs, tmp_path, monkeypatch):
    """The control: the state matters."""
    files = rotated(ForgedLog.read(logs["mysql"]), tmp_path / "logs", 3, 0)
    load = judging.load_state

    def forgetful(data):
        state = load(data)
        state.auditor._replay = RowReplay(state.auditor._replay._row_keys)
        return state

    monkeypatch.setattr(judging, "load_state", forgetful)
    with pytest.raises(AssertionError):
        assert_equal(follow(files, tmp_path / "out", 0).result(), files)


def test_file_is_committed_once(logs, tmp_path):
    files = [str(file) for file in rotated(ForgedLog.read(logs["mysql"]), tmp_path / "l", 3, 0)]
    follower = Follower(str(tmp_path / "out"), AuditRequest(files=(), engine="readable"))
    judged = []

    def beside(function, tasks):
        """Let another process be faster with each file."""
        other = Follower(follower.place, AuditRequest(files=(), engine="readable"))
        other.take(files[: len(other.files()) + 1])
        judged.extend(map(function, tasks))
        return judged[-1:]

    slower = Follower(follower.place, AuditRequest(files=(), engine="readable"), beside)
    with pytest.raises(ParaplyError, match="P743"):
        slower.take(files)
    assert len(judged) == 1
    follower.take(files)
    assert [row["number"] for row in follower.files()] == [1, 2, 3]
    assert_equal(follower.result(), files)


@pytest.mark.long
@pytest.mark.parametrize("commits", range(1, 4))
def test_process_killed_between_two_tables_writes_each_row_once(
    logs, tmp_path, monkeypatch, commits
):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged", 0)
    files = [str(file) for file in rotated(ForgedLog.read(forged), tmp_path / "logs", 2, 0)]
    request = AuditRequest(files=(), engine="readable")
    Follower(str(tmp_path / "whole"), request).take(files)
    done = []
    commit = AuditTables._commit

    def killed(self, *arguments):
        if len(done) == commits:
            raise KeyboardInterrupt
        done.append(commit(self, *arguments))

    follower = Follower(str(tmp_path / "killed"), request)
    with monkeypatch.context() as patch:
        patch.setattr(AuditTables, "_commit", killed)
        with pytest.raises(KeyboardInterrupt):
            follower.take(files)
    Follower(str(tmp_path / "killed"), request).take(files)
    whole, again = (AuditTables(str(tmp_path / name)) for name in ("whole", "killed"))
    for table in SCHEMAS:
        assert again.rows(table) == whole.rows(table)
    assert whole.rows("violations")


def test_audit_with_other_options_is_refused(logs, tmp_path):
    files = [str(file) for file in rotated(ForgedLog.read(logs["mysql"]), tmp_path / "l", 2, 0)]
    Follower(str(tmp_path / "out"), AuditRequest(files=(), engine="readable")).take(files[:1])
    other = Follower(str(tmp_path / "out"), AuditRequest(files=(), workers=(2,)))
    with pytest.raises(ParaplyError, match=r"P746.*other options"):
        other.take(files)


def test_missing_file_is_refused(logs, tmp_path):
    files = [str(file) for file in rotated(ForgedLog.read(logs["mysql"]), tmp_path / "l", 3, 0)]
    follower = Follower(str(tmp_path / "out"), AuditRequest(files=(), engine="readable"))
    follower.take(files[:1])
    with pytest.raises(ParaplyError, match=r"P746.*binlog.000003 does not follow .*binlog.000001"):
        follower.take(files[2:])


def test_relay_log_is_refused(tmp_path):
    relay = next(RECORDINGS.glob("*/*/relay*.0*"), None) or next(RECORDINGS.rglob("relay*"))
    follower = Follower(str(tmp_path / "out"), AuditRequest(files=(), engine="readable"))
    with pytest.raises(ParaplyError, match="P747"):
        follower.take([str(relay)])


def test_dump_that_the_log_contradicts_makes_the_verdict_unknown(logs, tmp_path):
    # The second file begins after the CREATE TABLE, so that the dump is believed at first.
    _, *files = rotated(ForgedLog.read(logs["mysql"]), tmp_path / "logs", 3, 0)
    dump = tmp_path / "dump.sql"
    dump.write_text("CREATE TABLE bench.account (id varchar(10) PRIMARY KEY);")
    request = AuditRequest(files=(), engine="readable", schema=str(dump))
    follower = Follower(str(tmp_path / "out"), request)
    follower.take([str(file) for file in files])
    result = follower.result()
    assert result.verdict is Verdict.UNKNOWN
    assert result.unknown_because[0].subject == str(dump)
    assert [row["verdict"] for row in follower.files()] == ["unknown", "unknown"]


@pytest.mark.long
def test_tables_whose_last_commit_the_disk_lost_in_part_are_continued(logs, tmp_path):
    files = rotated(ForgedLog.read(logs["mysql"]), tmp_path / "logs", 3, 0)
    follower = follow(files, tmp_path / "out", seed=0)
    whole = follower.files()
    log = tmp_path / "out" / "files" / "_delta_log"
    for commit in sorted(log.glob("*.json"))[:-1]:
        assert b'"paraply.table"' in commit.read_bytes()
    last = max(log.glob("*.json"))
    # Cut after a line: what is left is whole JSON.
    last.write_bytes(last.read_bytes().rpartition(b"\n")[0])
    again = Follower(str(tmp_path / "out"), AuditRequest(files=()))
    again.sweep()
    assert len(again.files()) == len(files) - 1
    again = follow(files[1:], tmp_path / "out", seed=0)
    assert [row["file"] for row in again.files()] == [row["file"] for row in whole]
    assert_equal(again.result(), files)


@pytest.mark.long
def test_file_that_the_machine_cannot_read_is_audited_at_the_next_start(logs, tmp_path):
    files = rotated(ForgedLog.read(logs["mysql"]), tmp_path / "logs", 3, 0)
    follower = Follower(str(tmp_path / "out"), AuditRequest(files=(), engine="readable"))
    follower.take([str(files[0])])
    kept = files[1].rename(tmp_path / "kept")
    with pytest.raises(ParaplyError, match="P753"):
        follower.take([str(files[1])])
    assert len(follower.files()) == 1
    kept.rename(files[1])
    follower.take([str(file) for file in files])
    assert_equal(follower.result(), files)
