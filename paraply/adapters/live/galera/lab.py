"""Galera: three certifying members with writers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.galera.cut import NEEDS_NETWORK, QUICK, Struck, cut_off
from paraply.adapters.live.galera.history import cluster_history, reference_of
from paraply.adapters.live.galera.log import OPTIONS as LOG_OPTIONS
from paraply.adapters.live.galera.log import PROVIDER_OPTIONS as LOG_PROVIDER_OPTIONS
from paraply.adapters.live.galera.log import provider_log_of
from paraply.adapters.live.galera.windows import NOTHING_SEEN, seen_inside
from paraply.adapters.live.group.confirmations import NOBODY_CUT_OFF
from paraply.adapters.live.observed import Final, Member, Snapshot
from paraply.adapters.live.pair.at_rest import differing_tables, tags_on
from paraply.adapters.live.readers import SnapshotReader
from paraply.adapters.live.source_log import Keys
from paraply.adapters.live.target import HEALTHY, ROUND_FAILED, LiveRequest, LiveRound
from paraply.adapters.live.translation import Run
from paraply.adapters.live.workload import TABLES, Clients, create_statements, schema_name
from paraply.adapters.servers import Server, ServerRoom, find_mariadb
from paraply.adapters.servers.errors import SERVER_NOT_FOUND
from paraply.adapters.servers.ports import LOOPBACK, free_ports
from paraply.adapters.servers.replication import begin_binary_log
from paraply.vocabulary.errors import ParaplyError

MEMBERS = 3
_PROVIDERS = (
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/lib64/galera/libgalera_smm.so",
)
_PATIENCE_S = 90.0
_STARTS_MAX = 6
_SCHEMA = schema_name(0)


def find_provider() -> Path:
    """Return Galera's library; ``ParaplyError`` P601 if missing."""
    for place in _PROVIDERS:
        if Path(place).is_file():
            return Path(place)
    raise ParaplyError(
        SERVER_NOT_FOUND,
        flavour="Galera",
        places=", ".join(_PROVIDERS),
        variable="PATH",
    )


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield rounds on one cluster (``LiveTarget.run``)."""
    find_provider()
    with ServerRoom(keep=request.keep) as room:
        lab = GaleraLab(request, room)
        for number in range(1, request.rounds + 1):
            request.say(f"round {number} of {request.rounds}")
            yield lab.round(number)


class GaleraLab:
    """The members of one cluster."""

    def __init__(
        self,
        request: LiveRequest,
        room: ServerRoom,
        *,
        shows_appliers: bool = True,
        owners: dict[int, int] | None = None,
    ) -> None:
        """``owners`` receives the members' ports, and makes them suspect each other quickly."""
        self.request = request
        self._shows_appliers = shows_appliers
        self.installation = find_mariadb(request.basedir)
        self.keys = Keys(create_statements(_SCHEMA))
        self.members: list[Server] = []
        self._marks: dict[str, str] = {}
        self.log_offsets: dict[str, int] = {}
        free = free_ports(3 * MEMBERS)
        ports = [(free[n], free[n + 1], free[n + 2]) for n in range(0, 3 * MEMBERS, 3)]
        self._is_quick = owners is not None or request.fault in NEEDS_NETWORK
        if owners is not None:
            owners |= {port: member for member, own in enumerate(ports) for port in own}
        self.network = room.network(MEMBERS) if request.fault in NEEDS_NETWORK else None
        hosts = [None] * MEMBERS if self.network is None else list(self.network.hosts)
        self._addresses = [LOOPBACK if host is None else host.address for host in hosts]
        for number in range(MEMBERS):
            request.say(f"starting member {number + 1} of {MEMBERS}")
            server = room.add(
                self.installation,
                name=f"m{number + 1}",
                # One number for all: it is part of the GTIDs, which members must share.
                server_id=1,
                options=self._options(number, ports),
                host=hosts[number],
            )
            self.members.append(server)
            self.join(server)
            if number == 0:
                # Further starts of the first member join as the others do.
                server.options = server.options[:-1]
                server.run(list(create_statements(_SCHEMA)))

    def _options(self, number: int, ports: Sequence[tuple[int, int, int]]) -> list[str]:
        group, ist, sst = ports[number]
        own = self._addresses[number]
        address = ",".join(
            f"{one}:{port}" for one, (port, *_) in zip(self._addresses, ports, strict=True)
        )
        provider = (
            f"gmcast.listen_addr=tcp://{own}:{group};ist.recv_addr={own}:{ist};"
            f"{QUICK if self._is_quick else ''}pc.recovery=false;gcache.size=32M;"
            f"{LOG_PROVIDER_OPTIONS if self._shows_appliers else ''}"
        )
        return [
            "--gtid-strict-mode=OFF",
            "--binlog-row-metadata=FULL",
            "--innodb-autoinc-lock-mode=2",
            "--innodb-flush-log-at-trx-commit=2",
            "--max-connections=60",
            "--wsrep-on=ON",
            f"--wsrep-provider={find_provider()}",
            f"--wsrep-cluster-address=gcomm://{address}",
            f"--wsrep-node-address={own}:{group}",
            f"--wsrep-node-name=m{number + 1}",
            "--wsrep-sst-method=rsync",
            f"--wsrep-sst-receive-address={own}:{sst}",
            f"--wsrep-provider-options={provider}",
            f"--wsrep-slave-threads={self.request.workers}",
            "--wsrep-gtid-mode=ON",
            "--wsrep-gtid-domain-id=7",
            f"--gtid-domain-id={10 + number}",
            *(LOG_OPTIONS if self._shows_appliers else ()),
            *(["--wsrep-new-cluster"] if number == 0 else []),
        ]

    def status(self, server: Server, name: str) -> str:
        """Return a member's ``wsrep_`` status variable."""
        return str(server.query(f"SHOW GLOBAL STATUS LIKE 'wsrep_{name}'")[0][1])

    def wait_until_synced(self, server: Server) -> None:
        """Wait until a member is synced."""
        self.wait(server, "synced state", lambda: self._is_synced(server))

    def _is_synced(self, server: Server) -> bool:
        return self.status(server, "local_state_comment") == "Synced"

    def join(self, server: Server) -> Sequence[str]:
        """Start a member, wait until it is synced, and return notes.

        A member that cannot read the donor's events after its state transfer leaves, and requests a
        restart (10.11.19 with Galera 4: "Unsupported CC action version"). It can stay only after
        further writes.
        """
        notes: list[str] = []
        for _ in range(_STARTS_MAX - 1):
            server.start()
            if self._stays(server):
                return notes
            notes.append(f"{server.name} left after its state transfer, and was started again")
            server.kill()
        server.start()
        self.wait_until_synced(server)
        return notes

    def _stays(self, server: Server) -> bool:
        """Wait until a started member is synced or has left, and return whether it stays."""
        left = False

        def is_settled() -> bool:
            # A member that leaves closes its connections, and may end before it says so.
            nonlocal left
            left = not server.is_running or self.status(server, "cluster_status") == "Disconnected"
            return left or self._is_synced(server)

        self.wait(server, "state to stay in", is_settled)
        return not left

    def wait_for_size(self, server: Server, size: int) -> None:
        """Wait for a member's view size, itself included."""
        self.wait(
            server, f"view of {size}", lambda: self.status(server, "cluster_size") == str(size)
        )

    def wait(self, server: Server, what: str, condition: Callable[[], bool]) -> None:
        """Wait for a condition; ``ParaplyError`` P621 on time-out."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                if condition():
                    return
            except ParaplyError:
                pass  # A joining member refuses statements for a while.
            if time.monotonic() > deadline:
                raise ParaplyError(ROUND_FAILED, where=server.name, reason=f"no {what}")
            time.sleep(0.1)

    # One round

    def round(self, number: int) -> LiveRound:
        """Run one round on all members."""
        request = self.request
        seed = request.seed + number - 1
        for server in self.members:
            self._marks[server.name] = begin_binary_log(server)
            self.log_offsets[server.name] = server.log.stat().st_size
        readers = [SnapshotReader(one, [_SCHEMA]) for one in self.members]
        clients = Clients(
            self.members, workload=request.workload, clients=request.clients, seed=seed,
            round_number=number, transactions=request.transactions,
        )  # fmt: skip
        before = self._counters()
        for reader in readers:
            reader.start()
        struck = Struck()
        try:
            clients.start()
            if request.fault != HEALTHY:
                struck = self._strike(clients, readers[-1], random.Random(seed))
            clients.wait(request.duration_s)
            clients.stop()
            self.wait_until_at_rest()
        finally:
            clients.stop(1.0)
            snapshots = [reader.stop() for reader in readers]
        members = [
            self._observed(server, seen, clients, struck)
            for server, seen in zip(self.members, snapshots, strict=True)
        ]
        return self._told(number, seed, members, clients, before, struck)

    def _strike(self, clients: Clients, reader: SnapshotReader, dice: random.Random) -> Struck:
        victim = self.members[-1]
        clients.wait_for(self.request.transactions // 3, self.request.duration_s)
        time.sleep(dice.random() * 0.05)
        with clients.going_on():  # Members return under load.
            if self.request.fault in NEEDS_NETWORK:
                return cut_off(self, victim, reader, clients)
            if self.request.fault == "freeze-member":
                victim.freeze()
                time.sleep(1.0)
                victim.thaw()
                return Struck()
            victim.kill()
            clients.wait_for(len(clients.load.confirmed) + 50, self.request.duration_s)
            note = f"{victim.name} was killed, and came back over a state transfer"
            return Struck(rejoined=victim.name, notes=(note, *self.join(victim)))

    def wait_until_at_rest(self) -> None:
        """Wait until all members have committed the same."""
        self.wait(self.members[0], "agreement on what was committed last", self._is_at_rest)

    def _is_at_rest(self) -> bool:
        return len({self.status(one, "last_committed") for one in self.members}) == 1

    def _counters(self) -> dict[str, int]:
        names = ("local_cert_failures", "local_bf_aborts", "commit_oooe")
        return {
            name: sum(int(float(self.status(one, name))) for one in self.members) for name in names
        }

    def _observed(
        self, server: Server, seen: list[Snapshot], clients: Clients, struck: Struck
    ) -> Member:
        has_log = server.name != struck.rejoined
        files = [str(file) for file in self.log_files(server)]
        compared = [f"{_SCHEMA}.{table}" for table in TABLES]
        with server.connect() as connection, connection.cursor() as cursor:
            snapshot = SnapshotReader(server, [_SCHEMA], session="final").read(cursor)
        return Member(
            name=server.name,
            # A state transfer brings data without its log: such a member is judged by its data.
            log=[one for one in read_transactions(files) if one.complete] if has_log else (),
            has_log=has_log,
            snapshots=seen if has_log else [],
            confirmed=clients.load.confirmed_by(server.name),
            cut_off=struck.cut_off if server is self.members[-1] else None,
            final=Final(
                snapshot=snapshot,
                tags=tags_on(server, (_SCHEMA,)),
                gtid_position="",
                compared=tuple(compared),
                differing=differing_tables(server, self.members[0], compared),
            ),
        )  # fmt: skip

    def log_files(self, server: Server) -> list[Path]:
        """Return the round's binary log files."""
        return [file for file in server.binary_logs() if file.name >= self._marks[server.name]]

    def _told(
        self,
        number: int,
        seed: int,
        members: Sequence[Member],
        clients: Clients,
        before: dict[str, int],
        struck: Struck,
    ) -> LiveRound:
        request = self.request
        offsets = self.log_offsets
        seen = seen_inside(
            members,
            {one.name: provider_log_of(one.log, offsets[one.name]) for one in self.members},
        )
        history, unknown_gtids = cluster_history(
            Run(
                subject=f"live galera {self.installation.version_text}",
                dialect="galera_4",
                seed=seed,
                options={
                    "mode": request.mode, "fault": request.fault, "workload": request.workload,
                    "workers": request.workers, "clients": request.clients, "round": number,
                },
            ),
            members,
            self.keys,
            seen,
        )  # fmt: skip
        after = self._counters()
        counted = {name: max(0, after[name] - before[name]) for name in after}
        notes = list(struck.notes)
        if counted["commit_oooe"]:
            notes.append("wsrep_commit_oooe is not 0: commits were out of order")
        if unknown_gtids:
            notes.append(f"{unknown_gtids} groups are in one member's log and not in another's")
        notes += [f"{one}: its error log does not go with its binary log" for one in seen.unmatched]
        return LiveRound(
            number=number,
            seed=seed,
            history=history.check(),
            evidence={
                "server": self.installation.version_text,
                "transactions": len(reference_of(members)),
                "confirmed": len(clients.load.confirmed),
                "refused": sum(clients.load.refused.values()),
                "unanswered": len(clients.load.unanswered),
                "reads": sum(len(member.snapshots) for member in members),
                "restarts": int(bool(struck.rejoined)),
                "certification_failures": counted["local_cert_failures"],
                "brute_force_aborts": counted["local_bf_aborts"],
                "unknown_gtids": unknown_gtids,
                "applier_windows": seen.begun,
                "overlapping_windows": seen.overlapping,
            },
            unknown=(
                ({} if struck.cut_off else NOBODY_CUT_OFF)
                | ({} if seen.overlapping else NOTHING_SEEN)
            ),
            notes=tuple(notes),
        )
