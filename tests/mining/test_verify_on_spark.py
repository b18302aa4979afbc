"""Parts of two logs that Spark's workers read give the report of logs read in one piece."""

from __future__ import annotations

import pytest

from paraply.cli import main
from paraply.mining.engines import InProcess, OnSpark
from paraply.reporting.verify.json_form import verify_json
from paraply.verifying.pipeline import InParts, VerifyRequest, verify
from tests.builders.hot_logs import hot_log


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return str(hot_log(tmp_path_factory.mktemp("logs") / "bin.000001", size_bytes=200_000, seed=3))


@pytest.mark.long
def test_spark_reads_parts_as_one_process_does_without_a_context(log, tmp_path, spark, without_rdd):
    out = tmp_path / "out"
    out.mkdir()
    request = VerifyRequest(source=(log,), target=(log,))
    engine = OnSpark("local[2]", spark)
    how = InParts(parts=3, map_parts=engine.map, folder=engine.reached(str(out)))
    assert verify_json(verify(request, in_parts=how)) == verify_json(verify(request))
    assert (how.in_one_piece, how.read) == ("", 6)
    assert list(out.iterdir()) == []


def test_command_reads_by_the_engine_of_the_master(log, tmp_path, capsys):
    out, report = tmp_path / "new" / "out", tmp_path / "report.json"
    command = ["verify", log, "--target", log]
    options = ["--spark", "--master", "none", "--parts", "2", "--out", str(out)]
    assert main([*command, *options, "--json", str(report)]) == 0
    assert "both logs were read in 4 parts by this process" in capsys.readouterr().err
    assert main([*command, "--json", str(tmp_path / "whole.json")]) == 0
    assert report.read_bytes() == (tmp_path / "whole.json").read_bytes()


@pytest.mark.parametrize("option", ["--master=local[2]", "--out=out"])
def test_options_of_spark_are_refused_without_it(log, option, capsys):
    assert main(["verify", log, "--target", log, option]) == 3
    assert f"{option.partition('=')[0]} goes with --spark" in capsys.readouterr().err


class Elsewhere(InProcess):
    """Stands for a cluster."""

    is_local = False


def test_cluster_needs_a_folder_that_its_workers_reach(log, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("paraply.mining.workers.engine_of", lambda files, master: Elsewhere())
    command = ["verify", log, "--target", log, "--spark", "--master", "spark://host:7077"]
    assert main(command) == 3
    assert "P328" in capsys.readouterr().err
    assert main([*command, "--out", str(tmp_path)]) == 0
