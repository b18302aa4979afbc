"""What ``paraply audit --spark`` writes, and what it refuses."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from paraply.auditing.at_scale import DIFFERENCES, audit_in_parts
from paraply.auditing.on_spark import SparkRequest, audit_on_spark
from paraply.auditing.pipeline import AuditRequest
from paraply.cli import main
from paraply.mining.engines import InProcess
from paraply.vocabulary.errors import ParaplyError
from tests.auditing.in_parts.auditing import RECORDINGS, forge_conflicts


def test_command_writes_the_violations_and_exits_1(logs, tmp_path, capsys):
    forged = forge_conflicts(logs["mysql"], tmp_path / "forged.000001", 2)
    out = tmp_path / "out"
    assert main(["audit", "--spark", "--master", "none", "--out", str(out), str(forged)]) == 1
    assert pq.read_table(out / "violations.parquet").num_rows > 0
    assert DIFFERENCES[0].split(":")[0] not in capsys.readouterr().out  # One part: no difference.


def test_standard_input_is_refused_with_the_way_out():
    with pytest.raises(ParaplyError, match="P329"):
        audit_in_parts(AuditRequest(files=("-",)))


def test_log_that_the_engine_asked_for_cannot_audit_is_refused():
    folders = (RECORDINGS / "mysql-9.7.4" / "xa", RECORDINGS / "mariadb-10.11.19" / "xa")
    files = tuple(str(folder / "bin.000001") for folder in folders)
    with pytest.raises(ParaplyError, match="P308"):
        audit_in_parts(AuditRequest(files=files, engine="compiled"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["t.parquet"], "audited with --spark"),
        (["log.000001", "--master", "local[2]"], "--master goes with --spark"),
        (["log.000001", "--part-megabytes", "64"], "--part-megabytes goes with --spark"),
        (["log.000001", "--out", "out"], "--out goes with --spark"),
    ],
)
def test_what_needs_spark_is_refused_without_it(words, said, capsys):
    assert main(["audit", *words]) == 3
    assert said in capsys.readouterr().err


class Elsewhere(InProcess):
    """Stands for a cluster."""

    is_local = False


def test_cluster_needs_a_folder_that_its_workers_reach(logs, tmp_path, monkeypatch):
    monkeypatch.setattr("paraply.mining.workers.engine_of", lambda files, master: Elsewhere())
    request = AuditRequest(files=(str(logs["mysql"]),))
    with pytest.raises(ParaplyError, match="P328"):
        audit_on_spark(request, SparkRequest(master="spark://host:7077"))
    out = tmp_path / "new" / "out"
    found, _ = audit_on_spark(request, SparkRequest(master="spark://host:7077", out=str(out)))
    assert found.result.transactions > 0
    assert [path.name for path in out.iterdir()] == ["violations.parquet"]


def test_folder_that_is_a_file_is_refused(logs, tmp_path):
    (tmp_path / "taken").write_text("")
    request = AuditRequest(files=(str(logs["mysql"]),))
    with pytest.raises(ParaplyError, match="P302"):
        audit_on_spark(request, SparkRequest(out=str(tmp_path / "taken")))


def test_options_of_parts_are_checked(logs, tmp_path, capsys):
    assert main(["audit", "--out", str(tmp_path), str(logs["mysql"])]) == 3
    assert "--out goes with --spark" in capsys.readouterr().err
    assert main(["audit", "--spark", "--part-megabytes", "0", str(logs["mysql"])]) == 3
