"""A MySQL Group Replication group of room servers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from paraply.adapters.servers.errors import GROUP_NOT_FORMED, MEMBER_FAILED, SERVER_UNREACHABLE
from paraply.adapters.servers.installation import Flavour, Installation
from paraply.adapters.servers.network import PrivateNetwork
from paraply.adapters.servers.ports import LOOPBACK, free_ports
from paraply.adapters.servers.replication import executed_position
from paraply.adapters.servers.room import ServerRoom
from paraply.adapters.servers.server import Server
from paraply.vocabulary.errors import ParaplyError

GROUP_NAME = str(UUID(int=0xAAAAAAAA_AAAA_4AAA_8AAA_AAAAAAAAAAAA))
"""The source of automatic GTIDs."""

APPLIER_CHANNEL = "group_replication_applier"
_JOIN_SECONDS_MAX = 90
_USER = "repl"
_PASSWORD = secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class MemberView:
    """One row of a member's replication_group_members."""

    uuid: str
    state: str
    """ONLINE, RECOVERING, UNREACHABLE, ERROR or OFFLINE."""
    role: str
    """Multi-primary members are all PRIMARY, others also SECONDARY."""


def member_uuid(number: int) -> str:
    """Return a member's server UUID, from 1."""
    return str(UUID(int=number << 96 | 0x4000_8000_0000_0000_0000))


class GroupReplication:
    """The members of one group; ``members[0]`` bootstraps it.

    ``relay_log_purge=0`` keeps the members' timestamps. No log has snapshots and write sets: see
    ``paraply.adapters.group_wire``.
    """

    def __init__(self, members: Sequence[Server], ports: Sequence[int]) -> None:
        self.members = tuple(members)
        self.ports = tuple(ports)

    @classmethod
    def provision(
        cls,
        room: ServerRoom,
        installation: Installation,
        *,
        size: int = 3,
        is_multi_primary: bool = False,
        options: Sequence[str] = (),
        network: PrivateNetwork | None = None,
    ) -> GroupReplication:
        """Start a group's servers, on hosts of a network if given, without joining.

        Raises:
            ValueError: the server is not a MySQL server.
            ParaplyError: P603 or P604, a server does not start.
        """
        if installation.flavour is not Flavour.MYSQL:
            raise ValueError(f"{installation.version_text} has no Group Replication")
        ports = free_ports(size)
        hosts = [None] * size if network is None else list(network.hosts)
        addresses = [LOOPBACK if host is None else host.address for host in hosts]
        places = [f"{address}:{port}" for address, port in zip(addresses, ports, strict=True)]
        members = [
            room.add(
                installation,
                name=f"member{number}",
                server_uuid=member_uuid(number),
                options=[
                    *_MEMBER_OPTIONS,
                    f"--loose-group-replication-local-address={place}",
                    f"--loose-group-replication-group-seeds={','.join(places)}",
                    f"--loose-group-replication-ip-allowlist={','.join(addresses)}",
                    f"--report-host={address}",
                    *(_MULTI_PRIMARY_OPTIONS if is_multi_primary else ()),
                    *options,
                ],
                host=host,
            )
            for number, (place, address, host) in enumerate(
                zip(places, addresses, hosts, strict=True), 1
            )
        ]
        for member in members:
            member.start()
            prepare(member)
        return cls(members, ports)

    def bootstrap(self) -> None:
        """Bootstrap the first member, and join the others."""
        first, *others = self.members
        first.run(
            [
                "SET GLOBAL group_replication_bootstrap_group=ON",
                "START GROUP_REPLICATION",
                "SET GLOBAL group_replication_bootstrap_group=OFF",
            ]
        )
        self.wait_until_online(first, size=1)
        for count, member in enumerate(others, 2):
            self.join(member, size=count)

    def join(self, member: Server, *, size: int) -> None:
        """Join a member as one of ``size``."""
        member.query("START GROUP_REPLICATION")
        self.wait_until_online(member, size=size)

    def leave(self, member: Server) -> None:
        """Stop a member's replication in order."""
        member.query("STOP GROUP_REPLICATION")

    def view(self, member: Server) -> list[MemberView]:
        """Return one member's view."""
        return [
            MemberView(str(uuid), str(state), str(role))
            for uuid, state, role in member.query(
                "SELECT member_id, member_state, member_role"
                " FROM performance_schema.replication_group_members ORDER BY member_id"
            )
        ]

    def wait_for_primaries(self, member: Server) -> list[MemberView]:
        """Wait for online primaries and return them; P612 on time-out."""

        def primaries() -> list[MemberView]:
            return [
                one for one in self.view(member) if (one.state, one.role) == ("ONLINE", "PRIMARY")
            ]

        self.wait_until(member, lambda _: bool(primaries()))
        return primaries()

    def wait_until(self, member: Server, condition: Callable[[list[MemberView]], bool]) -> None:
        """Wait for a group state; ``ParaplyError`` P612 on time-out."""
        if not _eventually(lambda: condition(self.view(member)), _JOIN_SECONDS_MAX):
            raise self._not_formed(member, len(self.members), _JOIN_SECONDS_MAX)

    def _not_formed(self, member: Server, size: int, seconds_max: float) -> ParaplyError:
        seen = ", ".join(f"{v.uuid[:8]} {v.state}" for v in self.view(member))
        return ParaplyError(
            GROUP_NOT_FORMED, where=member.name, size=size, seconds=seconds_max,
            seen=seen or "nobody",
        )  # fmt: skip

    def wait_until_online(
        self, member: Server, *, size: int, seconds_max: float = _JOIN_SECONDS_MAX
    ) -> None:
        """Wait until the member reports ``size`` online members.

        Raises:
            ParaplyError: P611, the member gave up; P612, the time is over.
        """

        def is_formed() -> bool:
            seen = self.view(member)
            own = next((v for v in seen if v.uuid == member.server_uuid), None)
            if own is not None and own.state == "ERROR":
                raise ParaplyError(
                    MEMBER_FAILED, where=str(member.log), reason=member.process.last_lines()
                )
            return len(seen) == size and all(v.state == "ONLINE" for v in seen)

        if not _eventually(is_formed, seconds_max):
            raise self._not_formed(member, size, seconds_max)

    def wait_until_equal(
        self, members: Sequence[Server] | None = None, *, seconds_max: float = 60
    ) -> str:
        """Return the members' common executed set; writers must have stopped.

        Raises:
            ParaplyError: P612, the time is over.
        """
        asked = self.members if members is None else members
        if not _eventually(lambda: len(set(map(executed_position, asked))) == 1, seconds_max):
            raise ParaplyError(
                GROUP_NOT_FORMED,
                where=asked[0].name,
                size=len(asked),
                seconds=seconds_max,
                seen=" / ".join(map(executed_position, asked)),
            )
        return executed_position(asked[0])


def prepare(member: Server) -> None:
    """Create the recovery account and channel."""
    account = f"'{_USER}'@'{member.address.rpartition('.')[0]}.%'"
    member.run(
        [
            "SET SESSION sql_log_bin=0",
            f"CREATE USER IF NOT EXISTS {account} IDENTIFIED BY '{_PASSWORD}'",
            "GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM"
            f" ON *.* TO {account}",
            f"CHANGE REPLICATION SOURCE TO SOURCE_USER='{_USER}', SOURCE_PASSWORD='{_PASSWORD}'"
            " FOR CHANNEL 'group_replication_recovery'",
        ]
    )


def _eventually(is_so: Callable[[], bool], seconds_max: float) -> bool:
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        try:
            if is_so():
                return True
        except ParaplyError as reason:
            # A returned member may be too busy for a connection.
            if reason.error is not SERVER_UNREACHABLE:
                raise
        time.sleep(0.1)
    return is_so()


_MEMBER_OPTIONS = (
    "--performance-schema=ON",
    "--performance-schema-max-table-instances=500",
    "--plugin-load-add=group_replication.so",
    f"--loose-group-replication-group-name={GROUP_NAME}",
    "--loose-group-replication-start-on-boot=OFF",
    # An expelled member reports ERROR and rejoins on request only.
    "--loose-group-replication-autorejoin-tries=0",
    "--loose-group-replication-recovery-get-public-key=ON",
    # The traffic of the group is read from the loopback interface.
    "--loose-group-replication-ssl-mode=DISABLED",
    "--relay-log=relay",
    "--relay-log-purge=0",
    "--replica-parallel-workers=4",
    "--skip-replica-start",
)
_MULTI_PRIMARY_OPTIONS = (
    "--loose-group-replication-single-primary-mode=OFF",
    "--loose-group-replication-enforce-update-everywhere-checks=ON",
)
