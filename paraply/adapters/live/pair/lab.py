"""The common parts of both families' labs and faults."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.observed import Final, Member, Snapshot, Tag
from paraply.adapters.live.pair.at_rest import differing_tables, error_on_the_way, tags_on
from paraply.adapters.live.readers import SnapshotReader
from paraply.adapters.live.source_log import Keys
from paraply.adapters.live.target import LiveRequest, LiveRound
from paraply.adapters.live.workload import TABLES, Clients, create_statements, schema_name
from paraply.adapters.servers import Server, ServerRoom, replicate, wait_until_applied
from paraply.adapters.servers.installation import Installation
from paraply.adapters.servers.link import Link
from paraply.adapters.servers.replication import begin_binary_log
from paraply.vocabulary.log import LoggedTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of a round's servers."""

    name: str
    meaning: str
    inject: Inject | None = None
    """None for a mere replica setting."""
    is_crash: bool = False
    """A crash may lose data outside tables."""
    reuses_gtids: bool = False
    """Makes touches ambiguous."""
    replica_options: tuple[str, ...] = ()
    workload: str = ""
    """Replaces the mixed load."""
    begins_stopped: bool = False
    """Whether replicas receive nothing before ``inject``."""
    needs_link: bool = False


def rounds_of(request: LiveRequest, make: Callable[[LiveRequest], PairLab]) -> Iterator[LiveRound]:
    """Yield rounds, on new servers after a replica stopped."""
    number = 1
    while number <= request.rounds:
        with make(request) as lab:
            while number <= request.rounds and not lab.is_spoilt:
                request.say(f"round {number} of {request.rounds}")
                yield lab.round(number)
                number += 1


class PairLab(ABC):
    """The servers of one run."""

    server_options = (
        "--binlog-row-metadata=FULL",
        "--innodb-flush-log-at-trx-commit=2",
        "--sync-binlog=0",
        "--max-connections=60",
    )
    applier: ClassVar[str]
    """SLAVE or REPLICA."""

    def __init__(
        self,
        request: LiveRequest,
        installation: Installation,
        faults: Mapping[str, Fault],
        *,
        domains: int,
    ) -> None:
        self.request = request
        self.fault = faults.get(request.fault)
        self.installation = installation
        self.room = ServerRoom(keep=request.keep)
        self.source: Server
        self.replicas: list[Server] = []
        self.link: Link | None = None
        self.schemas = [schema_name(domain) for domain in range(domains)]
        self._statements = [one for schema in self.schemas for one in create_statements(schema)]
        self.keys = Keys(self._statements)
        self._marks: dict[str, str] = {}
        self.is_spoilt = False
        """Whether the next round requires new servers."""

    def __enter__(self) -> Self:
        try:
            self._provision()
        except BaseException:
            self.room.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.room.close()

    @property
    def workload(self) -> str:
        """Return the requested or required load."""
        if self.fault is not None and self.fault.workload and self.request.workload == "mixed":
            return self.fault.workload
        return self.request.workload

    def _provision(self) -> None:
        request = self.request
        request.say(f"starting {self.installation.version_text}")
        options = self.server_options
        self.source = self.room.start(self.installation, name="source", options=options)
        if self.fault is not None and self.fault.needs_link:
            self.link = self.room.link(self.source)
        for number in range(1, request.replicas + 1):
            replica = self._started(f"replica{number}", [*options, *self._replica_options()])
            self.replicas.append(replica)
            over = self.link if number == 1 else None
            replicate(self.source, replica, port=0 if over is None else over.port)
        self.source.run(self._statements)
        for replica in self.replicas:
            wait_until_applied(self.source, replica)

    def _started(self, name: str, options: Sequence[str]) -> Server:
        return self.room.start(self.installation, name=name, options=options)

    @abstractmethod
    def _replica_options(self) -> Sequence[str]:
        """Return the further options of replicas."""

    @abstractmethod
    def round(self, number: int) -> LiveRound:
        """Run one round."""

    def start_applier(self, replica: Server) -> str:
        """Restart an applier after a crash; return notes."""
        replica.query(f"START {self.applier}")
        return ""

    @abstractmethod
    def position(self, server: Server) -> str:
        """Return the applier's position in the data."""

    @abstractmethod
    def stated_position(self, server: Server) -> str:
        """Return the position of the next start."""

    @abstractmethod
    def reader(self, server: Server, *, session: str, round_number: int) -> SnapshotReader:
        """Return a server's reader, its only one."""

    @contextmanager
    def _reading(self, members: Sequence[Member], number: int) -> Iterator[None]:
        readers = [self.reader(one, session="reader", round_number=number) for one in self.replicas]
        for reader in readers:
            reader.start()
        try:
            yield
        finally:
            for reader, member in zip(readers, members, strict=True):
                member.snapshots += reader.stop()

    def _snapshot(self, server: Server) -> Snapshot:
        reader = self.reader(server, session="final", round_number=0)
        with server.connect() as connection, connection.cursor() as cursor:
            return reader.read(cursor)

    def _begin(self) -> None:
        # Before the clients start: replicas would receive and apply earlier writes.
        begin = "STOP" if self.fault is not None and self.fault.begins_stopped else "START"
        for replica in self.replicas:
            replica.query(f"{begin} {self.applier}")
        for server in (self.source, *self.replicas):
            self._marks[server.name] = begin_binary_log(server)

    def log_files(self, server: Server) -> list[Path]:
        """Return the round's log files."""
        return [file for file in server.binary_logs() if file.name >= self._marks[server.name]]

    def _log(self, server: Server) -> list[LoggedTransaction]:
        files = [str(file) for file in self.log_files(server)]
        return [one for one in read_transactions(files) if one.complete]

    def tags(self, server: Server) -> frozenset[Tag]:
        """Return the tags on a server."""
        return tags_on(server, self.schemas)

    def _error_on_the_way(self, replica: Server) -> str:
        return error_on_the_way(self.source, replica)

    def _final(self, replica: Server, *, is_whole: bool) -> Final:
        """Stops the applier, so that workers have recorded all."""
        compared = [f"{schema}.{table}" for schema in self.schemas for table in TABLES]
        if not is_whole:
            compared = []
        replica.query(f"STOP {self.applier}")
        return Final(
            snapshot=self._snapshot(replica),
            tags=self.tags(replica),
            gtid_position=self.stated_position(replica),
            differing=differing_tables(replica, self.source, compared),
            compared=tuple(compared),
        )


Inject = Callable[[PairLab, Clients, Sequence[Member], random.Random], Sequence[str]]
"""Injects under load, and returns notes."""
