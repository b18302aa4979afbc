"""Servers that were there before: judged by what they send, and left as they were."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from paraply.adapters.live.existing.lab import ExistingLab
from paraply.adapters.live.existing.own_schema import drop_schema, has_schema, make_schema
from paraply.adapters.live.existing.target import OF_THE_WORKERS
from paraply.adapters.live.pair.windows import OPTIONS as WINDOW_OPTIONS
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.servers import (
    ServerRoom,
    find_mariadb,
    find_mysql,
    replicate,
    wait_until_applied,
)
from paraply.cli import main
from paraply.vocabulary.errors import ParaplyError
from tests.live.runs import PATIENCE_S

pytestmark = [pytest.mark.live, pytest.mark.long(each=1, by_row=True)]
ACCOUNT = "visitor"
PASSWORD = "pass/word"
SCHEMA = "paraply_live"
FOUND = {"mariadb": find_mariadb, "mysql": find_mysql}
REPLICA_OPTIONS = {
    "mariadb": ["--slave-parallel-threads=4", "--slave-parallel-mode=optimistic"],
    "mysql": [*WINDOW_OPTIONS, "--replica-parallel-workers=4"],
}
RIGHTS = {
    "mariadb": "REPLICATION SLAVE, BINLOG MONITOR, SLAVE MONITOR, PROCESS",
    "mysql": "REPLICATION SLAVE, REPLICATION CLIENT, PROCESS",
}


@pytest.fixture(scope="module", params=sorted(FOUND))
def pair(request):
    """A source and a replica with somebody's data, and an account that may do what is needed."""
    family = request.param
    try:
        installation = FOUND[family]()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {installation.version_text}")
    with ServerRoom() as room:
        source = room.start(installation)
        replica = room.start(installation, options=REPLICA_OPTIONS[family])
        replicate(source, replica)
        source.run(
            [
                f"CREATE USER {ACCOUNT}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
                f"GRANT {RIGHTS[family]} ON *.* TO {ACCOUNT}@'127.0.0.1'",
                f"GRANT ALL ON `paraply\\_live%`.* TO {ACCOUNT}@'127.0.0.1'",
                f"GRANT SELECT ON performance_schema.* TO {ACCOUNT}@'127.0.0.1'",
                f"CREATE DATABASE {SCHEMA}",
                f"CREATE TABLE {SCHEMA}.precious (a INT PRIMARY KEY)",
                f"INSERT INTO {SCHEMA}.precious VALUES (1)",
            ]
        )
        wait_until_applied(source, replica)
        yield source, replica


def names(*servers):
    quoted = PASSWORD.replace("/", "%2F")
    return [f"mysql://{ACCOUNT}:{quoted}@127.0.0.1:{server.port}" for server in servers]


def state(server):
    variables = server.query("SHOW GLOBAL VARIABLES")
    changing = ("gtid", "timestamp", "pseudo", "binlog_snapshot", "rand_seed", "last_gtid")
    return (
        server.query("SHOW DATABASES"),
        server.query(f"SELECT * FROM {SCHEMA}.precious"),
        [row for row in variables if not row[0].startswith(changing)],
        server.query("SELECT user, host FROM mysql.user ORDER BY 1, 2"),
        server.query("SHOW BINARY LOGS")[0][0],
        len(server.query("SHOW BINARY LOGS")),
    )


def test_run_with_few_rights_holds_and_leaves_no_trace(pair, tmp_path, capsys):
    before = [state(server) for server in pair]
    report = tmp_path / "r.json"
    code = main(
        ["live", "--dsn", *names(*pair), "--transactions", "400", "--rounds", "2",
         "--duration", str(PATIENCE_S), "--json", str(report), "--out", str(tmp_path / "found")]
    )  # fmt: skip
    shown = capsys.readouterr()
    (result,) = json.loads(report.read_text())["results"]
    verdicts = {one["name"]: one["verdict"] for one in result["properties"]}
    assert "violated" not in verdicts.values(), shown.out + shown.err
    held = {name for name, verdict in verdicts.items() if verdict == "holds"}
    assert held >= {
        "no_event_is_lost",
        "no_event_is_applied_twice",
        "final_state_is_the_sources",
        "tables_end_as_the_sources",
    }
    # Whether a reader comes in the middle of the load, or two workers meet, takes luck.
    by_luck = {"readers_see_prefixes", "reads_never_go_back"}
    if not pair[0].is_mariadb:
        by_luck |= set(OF_THE_WORKERS)
    assert code == 0 or (code == 2 and not by_luck <= held)
    assert result["evidence"]["unknown_gtids"] == 0
    assert result["transactions"] >= 800
    for text in (shown.out, shown.err, report.read_text()):
        assert "pass" + "/word" not in text
        assert "pass%2Fword" not in text
    wait_until_applied(*pair)
    assert [state(server) for server in pair] == before


@pytest.mark.parametrize("workload", ["set", "counter"])
def test_sets_and_counters_of_servers_that_were_there_remain(pair, workload, tmp_path, capsys):
    before = [state(server) for server in pair]
    report = tmp_path / "r.json"
    code = main(
        ["live", "--dsn", *names(*pair), "--workload", workload, "--reads", "any", "--wait",
         "gtid-wait", "--transactions", "300", "--duration", str(PATIENCE_S), "--seed", "4",
         "--json", str(report), "--out", str(tmp_path / "found"), "--export"]
    )  # fmt: skip
    assert code == 0, capsys.readouterr()
    (result,) = json.loads(report.read_text())["results"]
    status = {(one["view"], one["phenomenon"]): one["status"] for one in result["findings"]}
    lost = {"set": "lost element", "counter": "lost increment"}[workload]
    for label in (lost, "final reads", "stale read", "monotonic reads at one server"):
        assert status["all", label] == "as documented"
    (recording,) = (tmp_path / "found").glob("*.edn")
    (log,) = (tmp_path / "found").glob("*.log.jsonl")
    assert main(["check", str(recording), "--log", str(log)]) == 0
    wait_until_applied(*pair)
    assert [state(server) for server in pair] == before


def test_schema_with_something_of_somebody_in_it_stays(pair):
    source, replica = pair
    name = make_schema(source, [replica])
    assert name == f"{SCHEMA}_2"
    source.query(f"CREATE TABLE {name}.theirs (a INT)")
    assert drop_schema(source, name) == ["theirs"]
    assert has_schema(source, name)
    assert source.query(f"SHOW TABLES IN {name}") == [("theirs",)]
    source.query(f"DROP TABLE {name}.theirs")
    assert drop_schema(source, name) == []
    assert not has_schema(source, name)
    wait_until_applied(source, replica)


def test_schema_of_a_killed_run_is_reported_and_dropped_when_asked(pair, capsys):
    source, replica = pair
    before = state(source)
    left = make_schema(source, [replica])
    request = LiveRequest(
        mode="", servers=tuple(names(*pair)), say=lambda text: print(text, file=sys.stderr)
    )
    with ExistingLab(request) as lab:
        assert lab.schema == f"{SCHEMA}_3"
    assert f"schema {left} is of an earlier run: " in capsys.readouterr().err
    assert has_schema(source, left)
    with ExistingLab(replace(request, drop_leftovers=True)) as lab:
        assert lab.schema == left
    assert f"schema {left} of an earlier run is dropped" in capsys.readouterr().err
    wait_until_applied(*pair)
    assert state(source) == before


def test_name_that_only_a_replica_has_is_not_taken(pair):
    source, replica = pair
    replica.run(["SET SESSION sql_log_bin=0", f"CREATE DATABASE {SCHEMA}_2"])
    try:
        assert make_schema(source, [replica]) == f"{SCHEMA}_3"
        drop_schema(source, f"{SCHEMA}_3")
        wait_until_applied(source, replica)
    finally:
        replica.run(["SET SESSION sql_log_bin=0", f"DROP DATABASE {SCHEMA}_2"])


def test_servers_that_do_not_fit_are_refused_before_anything_is_written(pair, capsys):
    source, replica = pair
    before = state(source)
    for servers, reason in (
        ((source,), "at least one replica"),
        ((source, source), "it follows no source"),
    ):
        assert main(["live", "--dsn", *names(*servers)]) == 3
        assert reason in capsys.readouterr().err
    source.query("SET GLOBAL binlog_row_image=MINIMAL")
    try:
        assert main(["live", "--dsn", *names(source, replica)]) == 3
        assert "binlog_row_image is MINIMAL" in capsys.readouterr().err
    finally:
        source.query("SET GLOBAL binlog_row_image=FULL")
    assert state(source) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_takes_its_schema_away(pair, number, tmp_path):
    source, replica = pair
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "paraply", "live", "--dsn", *names(source, replica),
               "--transactions", "1000000", "--out", str(tmp_path)]  # fmt: skip
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not has_rows(source, f"{SCHEMA}_2.journal") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(number)
        process.wait(PATIENCE_S)
        assert process.returncode == 130
    assert not has_schema(source, f"{SCHEMA}_2")
    wait_until_applied(source, replica)
    assert not has_schema(replica, f"{SCHEMA}_2")


def has_rows(server, table):
    try:
        return bool(server.query(f"SELECT 1 FROM {table} LIMIT 1"))
    except ParaplyError:
        return False
