"""Spark runs the same function on the same batches: the same table, whoever dies on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec

import psutil
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from paraply.conforming.child_systems import ChildCommand, children_of
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.mining import engines
from paraply.mining.campaign import StopWhen, read_campaign, run_campaign
from paraply.mining.clusters import clusters_of, distinct, minimise_all
from paraply.mining.engines import InProcess, OnSpark
from paraply.mining.findings import Found, Merged, findings_of_batches, merged_on_spark
from paraply.mining.plan import Plan
from paraply.mining.rounds import BatchTask, Round, Wanted
from paraply.mining.session import spark_session
from paraply.mining.store import DiskStore
from paraply.mining.worker_daemon import without_sparks_archives
from paraply.vocabulary.errors import ParaplyError
from tests.mining.campaigns import rows_of, small_plan

# With --dist loadgroup one process runs them all, and starts one JVM.
pytestmark = pytest.mark.xdist_group("spark")

PLAN = small_plan(histories=60, batch=10)
SMALLER = small_plan(histories=20, batch=10)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    return run_campaign(PLAN, str(folder), InProcess()), rows_of(folder, PLAN)


@pytest.fixture(scope="module")
def engine(spark):
    return OnSpark("local[2]", spark)


@pytest.mark.parametrize("plan", [SMALLER, pytest.param(PLAN, marks=pytest.mark.long(each=1))])
def test_spark_writes_the_table_of_one_process(tmp_path, engine, plan):
    here, there = (str(tmp_path / name) for name in ("here", "there"))
    progress, on_spark = run_campaign(plan, here, InProcess()), run_campaign(plan, there, engine)
    assert on_spark.is_complete
    assert rows_of(there, plan) == rows_of(here, plan)
    assert on_spark.per_system == progress.per_system


@pytest.mark.long
def test_task_whose_worker_dies_is_run_again(tmp_path, engine):
    seen = tmp_path / "seen"

    def dies_the_first_time(number):
        import os

        if number == 3 and not seen.exists():
            seen.write_text("")
            os._exit(1)
        return number

    assert sorted(engine.map(dies_the_first_time, range(8))) == list(range(8))
    assert seen.exists()


@pytest.mark.long
def test_worker_does_not_look_for_garbage_in_what_it_has_loaded(engine):
    def frozen(_):
        import gc

        return gc.get_freeze_count()

    list(engine.map(frozen, range(4)))
    assert max(engine.map(frozen, range(4))) > 1_000


@pytest.mark.long
def test_workers_are_forked_from_a_process_that_has_loaded_paraply(engine):
    def loaded_by_the_daemon(_):
        import os

        import psutil

        return " ".join(each.path for each in psutil.Process(os.getppid()).memory_maps())

    (libraries,) = engine.map(loaded_by_the_daemon, [0])
    for name in ("pyarrow/lib", "pandas/_libs"):
        assert name in libraries


@pytest.mark.long
def test_workers_import_the_installed_pyspark_and_not_an_archive_of_it(engine):
    def imported(_):
        import py4j
        import pyspark

        files = [pyspark.__file__, py4j.__file__]
        return files, [place for place in sys.path if os.path.isfile(place)]

    ((files, archives),) = engine.map(imported, [0])
    here = [find_spec(name).origin for name in ("pyspark", "py4j")]
    assert list(map(os.path.realpath, files)) == list(map(os.path.realpath, here))
    assert archives == []


@pytest.mark.parametrize(
    ("installed", "home", "is_kept"),
    [
        (("pyspark", "py4j"), "environment/pyspark", False),
        (("pyspark", "py4j"), "opt/spark", True),
        (("pyspark",), "environment/pyspark", True),
        (("py4j",), "environment/pyspark", True),
    ],
)
def test_archive_of_spark_stays_where_it_is_the_only_copy(tmp_path, installed, home, is_kept):
    environment = tmp_path / "environment"
    for name in installed:
        (environment / name).mkdir(parents=True)
        (environment / name / "__init__.py").touch()
    archive, ours = tmp_path / home / "python" / "lib" / "pyspark.zip", tmp_path / "paraply.zip"
    archive.parent.mkdir(parents=True)
    archive.touch()
    ours.touch()
    path = [str(place) for place in (archive, ours, environment, tmp_path / "missing")]
    assert without_sparks_archives(path) == path[not is_kept :]


@pytest.mark.long
def test_campaign_begun_in_one_process_resumes_on_spark(tmp_path, local, engine):
    _, rows = local
    run_campaign(PLAN, str(tmp_path), InProcess(), time_limit_s=0.0)
    (damaged,) = (tmp_path / "rows").glob("*.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-1])
    progress = run_campaign(PLAN, str(tmp_path), engine, resume=True)
    assert damaged.name in progress.remarks[0]
    assert rows_of(tmp_path, PLAN) == rows


def test_guard_of_the_spark_context_guards(spark, without_rdd):
    with pytest.raises(AssertionError, match="uses the Spark context"):
        spark.sparkContext  # noqa: B018


def test_round_is_whole_if_every_system_runs_all_of_its_batches():
    two = (Wanted(system=0, turn=3), Wanted(system=1, turn=2))
    assert Round(first=6, end=9, width=2, wanted=two).is_whole
    assert not Round(first=4, end=9, width=2, wanted=two).is_whole
    assert not Round(first=6, end=9, width=2, wanted=two[:1]).is_whole
    guided = (two[0], Wanted(system=1, turn=2, known=b"{}"))
    assert not Round(first=6, end=9, width=2, wanted=guided).is_whole


@pytest.mark.long
@pytest.mark.parametrize("is_guided", [False, True])
def test_no_spark_context_is_needed(tmp_path, engine, without_rdd, is_guided):
    plan = small_plan(histories=40, batch=10, is_guided=is_guided)
    tables, found = [], []
    for name, one in (("here", InProcess()), ("there", engine)):
        progress = run_campaign(plan, str(tmp_path / name), one)
        assert progress.is_complete
        tables.append(rows_of(tmp_path / name, plan))
        found.append(progress.per_system)
    assert tables[0] == tables[1]
    assert found[0] == found[1]


@pytest.mark.long
def test_table_is_read_by_others_without_our_code(tmp_path, spark):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    run_campaign(small_plan(histories=20, batch=5), str(tmp_path), InProcess(), time_limit_s=0.0)
    progress = run_campaign(
        small_plan(histories=20, batch=5), str(tmp_path), InProcess(), resume=True
    )
    (tmp_path / "rows" / "left-by-a-killed-task.parquet").write_bytes(b"nothing of ours")
    table = DeltaTable(str(tmp_path / "rows"))
    runs = table.to_pandas()[["system", "run"]].values.tolist()
    assert len(runs) == progress.histories == 60
    query = "SELECT system, run FROM rows ORDER BY system, run"
    with duckdb.connect() as connection:
        connection.register("rows", table.to_pyarrow_dataset())
        assert connection.execute(query).fetchall() == sorted(map(tuple, runs))
    spark.read.parquet(*table.file_uris()).createOrReplaceTempView("rows")
    assert list(map(tuple, spark.sql(query).collect())) == sorted(map(tuple, runs))


@pytest.mark.long
def test_stop_rule_gives_the_same_on_spark(tmp_path, engine):
    plan = small_plan(histories=60, batch=5, subjects=("write_sets",))
    tables = []
    for name, one in (("here", InProcess()), ("there", engine)):
        progress = run_campaign(plan, str(tmp_path / name), one, stop_when=StopWhen.FOUND)
        assert progress.batches < plan.batches
        tables.append(rows_of(tmp_path / name, plan))
        again = run_campaign(plan, str(tmp_path / name), one, resume=True)
        assert again.is_complete
        assert again.batches == plan.batches
    assert tables[0] == tables[1]


@pytest.mark.long
def test_findings_merged_by_spark_are_those_merged_by_python(spark, tmp_path):
    plan = small_plan(histories=30, batch=10)
    task = BatchTask(plan=plan, place=str(tmp_path))
    tables = [findings_of_batches(task, [(number, None)]) for number in range(plan.batches)]
    here: dict = {}
    for table in tables:
        one = Merged()
        one.add(table)
        for system, found in one.systems.items():
            here.setdefault(system, Found()).take(found)
    there = Merged()
    frame = spark.createDataFrame(pa.concat_tables(tables))
    there.add(merged_on_spark(frame).toArrow())
    assert there.systems.keys() == here.keys()
    for system, found in here.items():
        assert there.systems[system].counts == found.counts
        assert there.systems[system].batches == found.batches == 3
        assert there.systems[system].rows == found.rows == 30
    assert len(there.files) == plan.batches


def test_folder_that_workers_do_not_see_is_refused(tmp_path, engine, monkeypatch):
    engine.is_local = False
    try:
        assert engine.reached(str(tmp_path)) == str(tmp_path)
        assert list(tmp_path.iterdir()) == []
        monkeypatch.chdir(tmp_path)
        assert engine.reached("out/mine") == str(tmp_path / "out/mine")
        # A store that only this process has: what workers see at the same path is another.
        mine = {}
        real = engines.store_at

        class Elsewhere(DiskStore):
            def write(self, name, data):
                mine[name] = data

            def read(self, name):
                return mine.get(name)

        monkeypatch.setattr(engines, "store_at", lambda url: Elsewhere(url))
        with pytest.raises(ParaplyError, match="P733"):
            engine.reached(str(tmp_path / "elsewhere"))
        assert real is not engines.store_at
    finally:
        engine.is_local = True


def test_place_that_workers_cannot_write_is_refused(tmp_path, engine, monkeypatch):
    monkeypatch.setattr(engine, "is_local", False)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ParaplyError, match="P721"):
        engine.reached(str(file))


@pytest.mark.long
def test_minimising_on_spark_finds_what_one_process_finds(local, engine):
    progress, _ = local
    clusters = clusters_of(progress)[:3]
    assert clusters
    here, there = (
        distinct(minimise_all(PLAN, clusters, one, smallest_of_system))
        for one in (InProcess(), engine)
    )
    assert [(one.digest, one.choices) for one in here] == [
        (one.digest, one.choices) for one in there
    ]
    assert all(one.is_confirmed for one in there)


@pytest.mark.long
def test_items_are_taken_from_their_source_as_they_are_needed(engine):
    taken = []

    def source():
        for number in range(10_000):
            taken.append(number)
            yield number

    results = engine.map(lambda number: number * 2, source())
    assert next(results) % 2 == 0
    results.close()
    assert len(taken) < 200


def test_spark_session_is_shared_and_asked_for_only_once(spark):
    assert spark_session("local[2]") is spark


@pytest.mark.long
def test_children_are_explored_on_spark_as_in_one_process(tmp_path, engine):
    command = ChildCommand(applier="paraply.adapters.conformance.rules.correct:Serial")
    systems = children_of(command, ["B-random"], seed=1)
    plan = Plan(systems=systems, histories=4, seed=1, batch_histories=2)
    tables = []
    for name, one in (("here", InProcess()), ("there", engine)):
        run_campaign(plan, str(tmp_path / name), one)
        tables.append(rows_of(tmp_path / name, plan))
    assert tables[0] == tables[1]
    assert len(tables[0]) == 4


@pytest.mark.long
def test_campaign_whose_java_is_killed_ends_with_exit_code_70_and_keeps_what_it_has(tmp_path):
    folder, report = tmp_path / "campaign", tmp_path / "report.json"
    words = ["mine", "--subjects", "applier:logical_clock", "--histories", "100000"]
    words += ["--batch", "100", "--master", "local[1]", "--out", str(folder), "--json", str(report)]
    child = subprocess.Popen(
        [sys.executable, "-m", "paraply", *words], stderr=subprocess.PIPE, text=True
    )
    while not list(folder.rglob("*.parquet")):
        assert child.poll() is None, child.communicate()
        time.sleep(0.2)
    for below in psutil.Process(child.pid).children(recursive=True):
        if below.name() == "java":
            below.kill()
    _, printed = child.communicate()
    assert child.returncode == 70, printed
    lines = [one for one in printed.splitlines() if "error" in one.lower()]
    assert len(lines) == 1, printed
    line = lines[0]
    assert "SparkLostError: the session of Spark, local[1,4] was lost" in line
    assert "Traceback" not in printed
    assert json.loads(report.read_text())["verdict"] == "error"
    assert not read_campaign(str(folder)).is_complete
