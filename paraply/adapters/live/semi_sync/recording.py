"""Record runs of a semi-synchronous source, whose replica acknowledges over a watched link.

The link withholds what it carries now and then, so that sessions wait for acknowledgements while
others read. The clients, the readers and the link note what they see in one list.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from typing import Any, Protocol

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.observed import Tag
from paraply.adapters.live.pair.faults import wait_until
from paraply.adapters.live.semi_sync.lab import FOR_EVER_MS, SemiSyncLab
from paraply.adapters.live.semi_sync.mysql.lab import MysqlSemiSyncLab
from paraply.adapters.live.semi_sync.sights import (
    DumpReader,
    Sight,
    SightKind,
    seen_history,
)
from paraply.adapters.live.source_log import Keys, source_log
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.live.translation import Run
from paraply.adapters.live.workload import create_statements, schema_name
from paraply.adapters.servers import ServerRoom, replicate, wait_until_applied
from paraply.adapters.servers.replication import begin_binary_log
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History

PLAIN, APART, RESTART, TIME_OUT = "plain", "apart", "restart", "time-out"
SCENARIOS = {
    PLAIN: "the link is silent now and then",
    APART: "acknowledgements reach the source one by one, with pauses between them",
    RESTART: "the source is killed while commits wait, and started again",
    TIME_OUT: "the time-out ends waits, and semi-synchronous replication switches itself off",
}
_JOURNAL = f"{schema_name(0)}.journal"
_FIRST_TAG = 1_000
_TIME_OUT_MS = 300
_SILENT_S = 0.15
"""The longest silence, but for those that a scenario requires."""
_READ_S = 0.02
"""The longest pause between reads."""
_APART_S = 0.03
"""The pause after each acknowledgement, long enough for a client to note its answer."""
_JOIN_S = 60
_TOGETHER_US = 20_000
"""How long a commit waits for the other clients: else few groups have several transactions."""


class _Lab(SemiSyncLab):
    """Servers with a watched link between them."""

    together: tuple[tuple[str, int], ...] = (
        ("binlog_commit_wait_count", 0), ("binlog_commit_wait_usec", _TOGETHER_US)
    )  # fmt: skip
    """Variables that let a commit wait for others; 0 stands for the number of clients."""

    def _connect(self) -> None:
        self.sights: list[Sight] = []
        readers: dict[int, DumpReader] = {}

        def heard(connection: int, is_replica: bool, data: bytes) -> None:
            reader = readers.setdefault(connection, DumpReader())
            self.sights += reader.take(is_replica, data)

        self.link = self.room.link(self.source, heard)
        replicate(self.source, self.replica, port=self.link.port)


class _MysqlLab(_Lab, MysqlSemiSyncLab):
    """The same for MySQL."""

    together = (
        ("binlog_group_commit_sync_no_delay_count", 0),
        ("binlog_group_commit_sync_delay", _TOGETHER_US),
    )

    def _connect(self) -> None:
        super()._connect()
        # An encrypted connection shows no acknowledgement.
        plain = "CHANGE REPLICATION SOURCE TO SOURCE_SSL=0"
        self.replica.run(["STOP REPLICA", plain, "START REPLICA"])


class _Recordable(Protocol):
    def __call__(self, request: LiveRequest, room: ServerRoom) -> _Lab: ...


LABS: dict[str, _Recordable] = {"mariadb": _Lab, "mysql": _MysqlLab}


def record_source(
    flavour: str, *, mode: str, scenario: str = PLAIN, seed: int = 0, transactions: int = 40,
    clients: int = 4, say: Callable[[str], None] = lambda _: None,
) -> History:  # fmt: skip
    """Return a recorded run of new servers."""
    request = LiveRequest(mode=mode, seed=seed, transactions=transactions, workers=2, say=say)
    with ServerRoom() as room:
        return _Recording(LABS[flavour](request, room), scenario, clients).run()


def _until_the_server_ends() -> AbstractContextManager[None]:
    """Let a thread end when the server does, also if it cannot connect."""
    import pymysql

    return suppress(pymysql.MySQLError, OSError, ParaplyError)


class _Recording:
    def __init__(self, lab: _Lab, scenario: str, clients: int) -> None:
        self.lab = lab
        self.scenario = scenario
        self.clients = clients
        self.dice = random.Random(lab.request.seed)
        self._tags = count(_FIRST_TAG)
        self._left = 0
        self._lock = threading.Lock()
        self._shown: set[Tag] = set()
        self._last_file = ""

    def run(self) -> History:
        lab, half = self.lab, self.lab.request.transactions // 2
        mark = begin_binary_log(lab.source)
        if self.clients > 1 and lab.request.mode == "AFTER_COMMIT":
            # There a group is answered as one, or each of its transactions by itself.
            lab.source.run([
                f"SET GLOBAL {name}={value or self.clients}" for name, value in lab.together
            ])  # fmt: skip
        if self.scenario == APART:
            lab.link.space_out(_APART_S)
        self._load(half, None)
        if self.scenario == RESTART:
            # Later this would wait for the session that holds the log's mutex.
            self._last_file = lab.source.binary_logs()[-1].name
            self._load(self.clients, self._restart)
        elif self.scenario == TIME_OUT:
            lab.source.query(f"SET GLOBAL {lab.plugin}_timeout={_TIME_OUT_MS}")
            self._load(self.clients * 3, lambda: None)
            lab.link.mend()
            wait_until_applied(lab.source, lab.replica)
        self._load(half, None)
        wait_until_applied(lab.source, lab.replica)
        return self._told(mark)

    def _load(self, transactions: int, while_silent: Callable[[], None] | None) -> None:
        """Commit transactions, and meanwhile withhold acknowledgements, or all of them."""
        self._left = transactions
        if while_silent is not None:
            self.lab.link.silence()
        writers = [threading.Thread(target=self._write) for _ in range(self.clients)]
        done = threading.Event()
        reader = threading.Thread(target=self._read_until, args=(done,))
        for thread in (*writers, reader):
            thread.start()
        try:
            if while_silent is None:
                while any(thread.is_alive() for thread in writers):
                    self.lab.link.silence(server_speaks=True)
                    done.wait(self.dice.random() * _SILENT_S)
                    self.lab.link.mend()
                    done.wait(self.dice.random() * _SILENT_S)
            else:
                while_silent()
            for thread in writers:
                thread.join(_JOIN_S)
        finally:
            done.set()
            reader.join(_JOIN_S)
        if while_silent is not None and self.scenario == RESTART:
            self._begin_again()

    def _write(self) -> None:
        with _until_the_server_ends(), self._cursor() as cursor:
            while (tag := self._next()) is not None:
                cursor.execute(f"INSERT INTO {_JOURNAL} VALUES ({tag})")
                self._see(SightKind.ANSWERED, {tag})

    def _next(self) -> Tag | None:
        with self._lock:
            self._left -= 1
            return next(self._tags) if self._left >= 0 else None

    def _read_until(self, done: threading.Event) -> None:
        with _until_the_server_ends(), self._cursor() as cursor:
            while not done.wait(self.dice.random() * _READ_S):
                cursor.execute(f"SELECT w FROM {_JOURNAL} WHERE w >= {_FIRST_TAG}")
                self._shows({int(tag) for (tag,) in cursor.fetchall()})

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        with (
            self.lab.source.connect(autocommit=True, read_timeout=_JOIN_S) as connection,
            connection.cursor() as cursor,
        ):
            yield cursor

    def _shows(self, tags: set[Tag]) -> None:
        new = tags - self._shown
        self._shown |= new
        if new:
            self._see(SightKind.READ, new)

    def _see(self, kind: SightKind, tags: set[Tag]) -> None:
        self.lab.sights.append(Sight(kind=kind, tags=frozenset(tags)))

    def _restart(self) -> None:
        """Kill the source while sessions wait."""
        lab = self.lab
        wait_until(
            lambda: any(
                str(row[6]).startswith(lab.waiting) for row in lab.source.query("SHOW PROCESSLIST")
            ),
            "wait for an acknowledgement", lab.source,
        )  # fmt: skip
        lab.source.kill()

    def _begin_again(self) -> None:
        """Start the source when its clients have noted what they saw, and read at once."""
        lab = self.lab
        # Waits after the restart stand, too: the replica is not there at once.
        lab.source.options = (
            *lab.source.options, f"--loose-{lab.plugin.replace('_', '-')}-timeout={FOR_EVER_MS}"
        )  # fmt: skip
        lab.source.start()
        lab.sights.append(Sight(kind=SightKind.RESTARTED, file=self._last_file, note="commits"))
        rows = lab.source.query(f"SELECT w FROM {_JOURNAL} WHERE w >= {_FIRST_TAG}")
        self._shows({int(tag) for (tag,) in rows})
        lab.link.mend()

    def _told(self, mark: str) -> History:
        lab, request = self.lab, self.lab.request
        files = [str(file) for file in lab.source.binary_logs() if file.name >= mark]
        logged = [one for one in read_transactions(files) if one.complete]
        log = source_log(logged, Keys(create_statements(schema_name(0))))
        run = Run(
            subject=f"recorded {lab.target} {lab.installation.version_text}",
            dialect=lab.installation.dialect, seed=request.seed,
            options={"mode": request.mode, "scenario": self.scenario, "acknowledgements": 1,
                     "sync_binlog": 1, "clients": self.clients},
        )  # fmt: skip
        return seen_history(run, log, logged, lab.sights).check()
