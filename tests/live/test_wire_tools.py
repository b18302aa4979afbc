"""pt-archiver, pt-online-schema-change and myloader behind the gate."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ci.programs.loaders import DUMPER, LOADER
from ci.programs.mysql_servers import create, verified
from ci.programs.percona import ARCHIVED, ARCHIVER
from ci.programs.schema_change import KEEP, TOOL
from paraply.adapters.conformance.adversaries import Adversary, OfferKind, SteeredSchedule
from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.adapters.wire.commands import HoldRule
from paraply.adapters.wire.gate import Gate
from paraply.adapters.wire.locks import LockMonitor
from paraply.adapters.wire.program import Program
from paraply.adapters.wire.run import WORKERS, Conductor, Fault, addresses_of
from paraply.adapters.wire.served_log import ServedLog
from paraply.commands.conform_wire import own_target
from paraply.conforming.wire.suite import USER
from paraply.properties.two_logs.judgement import End
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.verdict import Verdict
from tests.live.runs import installed

pytestmark = pytest.mark.live

ROWS, BATCH = 8, 4
CHANGED = 40
"""Enough for several chunks."""
ARCHIVE = [
    ARCHIVER, "--source", f"h=127.0.0.1,P={{source_port}},u={USER},D=shop,t=account",
    "--dest", f"h=127.0.0.1,P={{target_port}},u={USER},D=dw,t=account", "--where", f"id < {ROWS}",
    "--no-check-charset", "--no-version-check", "--for-update", f"--limit={BATCH}",
    "--commit-each",
]  # fmt: skip


class FaultAt(SeededSchedule):
    """Takes the plain offers in order, and a fault at one step."""

    def __init__(self, step: int) -> None:
        super().__init__(0)
        self.step = step

    def choose(self, options, label=""):
        self.step -= 1
        if self.step == 0:
            return next(one for one in options if one.kind.is_fault)
        return options[0]


@pytest.fixture(scope="module")
def server():
    for tool in (ARCHIVER, TOOL, DUMPER, LOADER):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}; run ci/servers --only programs")
    with ServerRoom() as room:
        yield own_target(room, installed(find_mariadb))


@pytest.fixture
def conduct(server, tmp_path):
    def conducted(command, schedule, *faults):
        log = ServedLog.of_files([(path.name, path.read_bytes()) for path in server.binary_logs()])
        with LockMonitor(server) as monitor, Gate(server.port, log, HoldRule()) as gate:
            program = Program(command, addresses_of(gate, USER), tmp_path / "program.log")
            conductor = Conductor(gate, program, monitor, schedule, groups=0, faults=faults)
            return conductor.conduct()

    return conducted


def begin(server, rows, *statements):
    server.run(["DROP DATABASE IF EXISTS shop", "DROP DATABASE IF EXISTS dw", "RESET MASTER"])
    create(server, rows=rows)
    server.run(statements)


def begin_archive(server):
    begin(
        server,
        ROWS,
        "CREATE TABLE shop.archived LIKE shop.account",
        ARCHIVED.format(rows=ROWS),
        "CREATE DATABASE dw",
        "CREATE TABLE dw.account LIKE shop.account",
    )


def source_commit(conduct, server):
    """Return the step of the source's first COMMIT, which follows that of the target."""
    begin_archive(server)
    run = conduct(ARCHIVE, FaultAt(0))
    result = verified(server, server, required="final", maps=("shop.archived=dw.account",))
    assert result.end is End.EQUAL
    assert not run.gave_up
    commits = [
        at for at, text in enumerate(run.trace, 1)
        if text.lower().endswith("commit") and not text.startswith("answer")
    ]  # fmt: skip
    return commits[1]


def test_archiver_loses_no_row_between_its_two_commits(server, conduct):
    step = source_commit(conduct, server)
    for fault in (Fault.KILL, Fault.LOST_BEFORE, Fault.LOST_AFTER):
        begin_archive(server)
        run = conduct([*ARCHIVE, "--replace"], FaultAt(step), fault)
        result = verified(server, server, required="final", maps=("shop.archived=dw.account",))
        print(f"live: {ARCHIVER} behind the gate, {fault.value}: {result.level.word}")
        assert run.faults == 1, run.trace
        assert result.end is End.EQUAL, run.trace


def test_archiver_without_replace_stops_behind_its_own_rows(server, conduct):
    step = source_commit(conduct, server)
    begin_archive(server)
    run = conduct(ARCHIVE, FaultAt(step), Fault.KILL)
    assert "exit code" in run.gave_up
    assert any("Duplicate entry" in line for line in run.stderr)
    # The rows of the batch are in both tables: none is lost.
    assert server.query("SELECT count(*) FROM dw.account") == [(BATCH,)]


@pytest.mark.parametrize("fault", [None, Fault.DEADLOCK], ids=str)
def test_loader_with_four_threads_is_right_or_loud(server, conduct, tmp_path, fault):
    begin(server, 120)
    dump = tmp_path / "dump"
    subprocess.run(
        [DUMPER, "--host=127.0.0.1", f"--port={server.port}", f"--user={USER}",
         "--database=shop", "--rows=30", f"--outputdir={dump}"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    schedule = SteeredSchedule(
        1, Adversary.UNIFORM, workers=WORKERS, transactions=4, steps=4, faults=1
    )
    run = conduct(
        [LOADER, "--host=127.0.0.1", "--port={target_port}", f"--user={USER}", "--threads=4",
         "--enable-binlog", "--database=dw", f"--directory={dump}"],
        schedule, *([fault] if fault else []),
    )  # fmt: skip
    print(f"live: {LOADER} behind the gate, {fault}: {run.gave_up or 'exit code 0'}")
    assert run.overlapped
    if fault is None:
        result = verified(server, server, required="final", maps=("shop.account=dw.account",))
        assert result.end is End.EQUAL
        assert run.exit_code == 0
    else:  # It repeats nothing, and says so.
        assert any("ended with exit code 1" in step for step in run.trace)


CHANGE = [
    TOOL, "--execute", *KEEP, "--alter", "ADD COLUMN note INT", "--chunk-time=0",
    "--chunk-size=5", "--max-load", "", "--critical-load", "", "--no-check-plan",
    "--no-version-check", f"h=127.0.0.1,P={{target_port}},u={USER},D=shop,t=account",
]  # fmt: skip


class Writes(SeededSchedule):
    """Changes a row of the old table before each step, and takes a fault after the first chunk."""

    def __init__(self, server):
        super().__init__(0)
        self.server = server
        self.version = 0

    def choose(self, options, label=""):
        self.version += 1
        row = self.version % CHANGED
        self.server.run([f"UPDATE shop.account SET version = {self.version} WHERE id = {row}"])
        faults = [one for one in options if one.kind is OfferKind.DEADLOCK]
        return faults[0] if faults and self.version > 2 else options[0]


@pytest.mark.parametrize("fault", [None, Fault.DEADLOCK], ids=str)
def test_schema_change_copies_rows_that_change_between_its_chunks(server, conduct, fault):
    begin(server, CHANGED)
    schedule = Writes(server)
    run = conduct(CHANGE, schedule, *([fault] if fault else []))
    result = verified(server, server, required="per-key", maps=("shop.account=shop._account_new",))
    print(f"live: {TOOL} behind the gate, {fault}: {result.level.word}, {schedule.version} writes")
    assert run.exit_code == 0, run.stderr
    assert run.faults == bool(fault)
    assert schedule.version >= CHANGED // 5, "each chunk waits"
    assert result.verdict is Verdict.HOLDS
    assert result.end is End.EQUAL
