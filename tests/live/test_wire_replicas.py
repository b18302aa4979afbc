"""Real replicas read a served log that is cut, repeated and changed; their own log is judged."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ci.programs.mysql_servers import COMMON, create, load
from ci.programs.program import Task
from ci.programs.replicas import MARIADB, MYSQL
from paraply.adapters.binlog.rewriting import RawEvent, rewritten
from paraply.adapters.servers import Installation, ServerRoom, find_mariadb, find_mysql
from paraply.adapters.servers.replication import replicate, wait_until_applied
from paraply.adapters.servers.server import Server
from paraply.adapters.wire.commands import HoldRule
from paraply.adapters.wire.connection import Connection, Door
from paraply.adapters.wire.gate import Gate
from paraply.adapters.wire.served_log import ServedLog
from paraply.properties.two_logs.judgement import Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.result import VerifyResult
from paraply.vocabulary.verdict import Verdict
from tests.live.runs import installed

pytestmark = pytest.mark.live

TRANSACTIONS, CUTS, SEED = 120, 4, 5
UPDATE_ROWS = {24, 31}
"""Version 1 (MariaDB) and 2 (MySQL)."""
FAMILIES = [
    pytest.param(find_mariadb, (*MARIADB, "--slave-parallel-mode=optimistic"), id="mariadb"),
    pytest.param(find_mysql, (*MYSQL, "--replica-preserve-commit-order=ON"), id="mysql"),
]


class Source:
    """Sends a served log to whoever asks, and cuts some transactions in their middle."""

    def __init__(self, gate: Gate, cuts: int) -> None:
        self.gate = gate
        self.cuts_left = cuts
        self.chance = random.Random(SEED)
        self.stopping = threading.Event()

    def run(self) -> None:
        """Send until the end of the test."""
        while not self.stopping.is_set():
            self.gate.pump(0.005)
            for one in list(self.gate.connections):
                if one.dump is not None and one.dump.remaining:
                    self.send_next(one)

    def send_next(self, one: Connection) -> None:
        assert one.dump is not None
        events = one.dump.take()
        if self.cuts_left and self.chance.random() < 0.1:
            self.cuts_left -= 1
            one.deliver(events[: len(events) // 2])
            one.near.send(b"\x40\x00\x00")  # The begin of a packet.
            self.gate.drop(one)
            return
        one.deliver(events)
        if not one.dump.remaining:
            one.end_of_log()


@contextmanager
def serving(server: Server, files: Sequence[tuple[str, bytes]], cuts: int) -> Iterator[Source]:
    with Gate(server.port, ServedLog.of_files(files), HoldRule()) as gate:
        source = Source(gate, cuts)
        thread = threading.Thread(target=source.run)
        thread.start()
        try:
            yield source
        finally:
            source.stopping.set()
            thread.join()


def applied(
    find: Callable[[], Installation],
    options: tuple[str, ...],
    folder: Path,
    *,
    change: Callable[[RawEvent], bytes] | None = None,
    cuts: int = 0,
) -> VerifyResult:
    """Let a replica read the log, after a change of its events, and judge it by the true log."""
    installation = installed(find)
    with ServerRoom() as room:
        source = room.start(installation, options=COMMON)
        replica = room.start(installation, options=options)
        replicate(source, replica)  # Creates the account, too.
        word = "SLAVE" if replica.is_mariadb else "REPLICA"
        replica.run([f"STOP {word}"])
        create(source)
        load(source, task=Task(folder=folder, seed=SEED, transactions=TRANSACTIONS))
        logs = source.binary_logs()
        files = [(path.name, path.read_bytes()) for path in logs]
        served = [(name, rewritten(data, change)) for name, data in files] if change else files
        with serving(source, served, cuts) as sender:
            if not replica.is_mariadb:
                replica.run(["CHANGE REPLICATION SOURCE TO SOURCE_SSL=0"])
            replicate(source, replica, port=sender.gate.address(Door.SOURCE)[1])
            wait_until_applied(source, replica)
            assert not sender.cuts_left
        return verify(
            VerifyRequest(
                source=tuple(map(str, logs)),
                target=tuple(map(str, replica.binary_logs())),
                required="prefix",
            )
        )


@pytest.mark.parametrize(("find", "options"), FAMILIES)
def test_replica_recovers_from_a_log_that_is_cut(find, options, tmp_path):
    result = applied(find, options, tmp_path, cuts=CUTS)
    print(f"live: {find.__name__} reads a served log, cut {CUTS} times: {result.states}")
    assert result.verdict is Verdict.HOLDS
    assert result.level is Level.PREFIX
    assert result.states.commits > TRANSACTIONS
    assert result.names is not None
    assert result.names.is_faultless


@pytest.mark.parametrize(("find", "options"), FAMILIES)
def test_row_changed_on_its_way_is_named(find, options, tmp_path):
    seen = 0

    def change(event: RawEvent) -> bytes:
        nonlocal seen
        seen += event.code in UPDATE_ROWS
        if event.code not in UPDATE_ROWS or seen != TRANSACTIONS // 2:
            return event.body
        # The last column of the last after image: the version, a BIGINT.
        return event.body[:-8] + (999_999).to_bytes(8, "little")

    result = applied(find, options, tmp_path, change=change)
    assert result.verdict is Verdict.VIOLATED
    assert result.names is not None
    # The next change of the row has another before image, and counts, too.
    assert result.names.changed in {1, 2}
    rows = [found.row for found in result.names.findings if found.row is not None]
    assert (rows[0].column, rows[0].target_value) == ("version", "999999")
