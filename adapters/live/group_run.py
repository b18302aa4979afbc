"""One observed run of a three-member group: load, a member that leaves and returns, collections."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.binlog.transactions import read_transactions
from adapters.group_wire.capture import Capture
from adapters.group_wire.logged import LoggedContents
from adapters.group_wire.observe import observe_group
from adapters.live.group_clients import NO_CLIENTS, GroupClients
from adapters.live.group_departure import Departure
from adapters.live.group_target import CUT
from adapters.live.group_workload import JOURNAL, SCHEMA, TABLES, Load, Writer
from adapters.live.target import Say
from adapters.servers.group_replication import APPLIER_CHANNEL, GROUP_NAME, GroupReplication
from adapters.servers.installation import Installation
from adapters.servers.room import ServerRoom
from adapters.servers.server import Server
from vocabulary.group_trace import GroupTrace

_PHASE_SECONDS_MAX = 120.0
MEMBERS = 3
_COLLECTION_SECONDS_MAX = 75.0
"""Members report their executed sets once a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRun:
    """A recorded run, and what the servers say of it themselves."""

    trace: GroupTrace
    outcomes: Mapping[str, int]
    conflicts_detected: Mapping[str, int]
    """By server UUID: COUNT_CONFLICTS_DETECTED since the member joined last."""
    checksums: Mapping[str, frozenset[int]]
    """By table: the checksums that the members have; one is as it should be."""
    clients: GroupClients = NO_CLIENTS
    struck: str = ""
    """Name of the member that left and returned."""
    notes: tuple[str, ...] = ()


def record_group_run(
    room: ServerRoom,
    installation: Installation,
    *,
    transactions: int = 3_000,
    seed: int = 0,
    is_multi_primary: bool = True,
    collections: int = 1,
    writers: int = 2,
    departure: str = "",
    struck: int = MEMBERS - 1,
    say: Say = lambda _: None,
) -> GroupRun:
    """Run a group of three and return what was observed.

    Under load one member (``struck``, counted from 0) leaves (``departure``: in order, if empty)
    and returns; then the load is throttled until as many periodic garbage collections as asked for
    are over. ``writers`` are clients per member. Each stage has its share of the transactions:
    where it takes longer than those, the writers wait.

    Raises:
        ParaplyError: P60x, the group cannot be run; P64x, it cannot be observed.
    """
    network = room.network(MEMBERS) if departure == CUT else None
    group = GroupReplication.provision(
        room, installation, size=MEMBERS, is_multi_primary=is_multi_primary, network=network
    )
    first, leaver = group.members[0], group.members[struck]
    witness = next(one for one in group.members if one is not leaver)
    load = Load(cap=transactions * 5 // 10)
    departed = Departure(departure, group, leaver, load, network)
    switch = None if network is None else network.switch
    with Capture(room.directory / "group.capture", group.ports, switch) as capture:
        group.bootstrap()
        first.run(SCHEMA)
        group.wait_until_equal()
        if not is_multi_primary:
            load.paused = {one.name for one in group.members[1:]}
        threads = [
            Writer(member, number, seed, load)
            for member in group.members
            for number in range(writers)
        ]
        for thread in threads:
            thread.start()
        try:
            load.wait_until_committed(transactions * 3 // 10, _PHASE_SECONDS_MAX)
            say(f"{load.committed} committed; {leaver.name} leaves")
            departed.leave()
            saved = _saved_relay_logs(leaver, room.directory / "saved")
            further = max(transactions * 5 // 10, load.committed + transactions // 10)
            load.wait_until_committed(further, _PHASE_SECONDS_MAX)
            load.cap = max(transactions * 8 // 10, further + transactions // 10)
            departed.come_back()
            say(f"{load.committed} committed; it is back")
            for number in range(collections):
                portion = transactions * (8 + number) // 10
                load.wait_until_committed(portion, _PHASE_SECONDS_MAX)
                load.pause_s = 0.25
                load.cap = load.committed + transactions // 10
                _wait_for_collection(witness)
                load.pause_s = 0.0
                say(f"{load.committed} committed; garbage was collected")
            load.wait_until_committed(transactions, _PHASE_SECONDS_MAX)
        finally:
            load.ended.set()
            for thread in threads:
                thread.join(30)
        group.wait_until_equal()
        conflicts = _conflicts(witness)
        checksums = {
            table: frozenset(
                int(member.query(f"CHECKSUM TABLE {table}")[0][1]) for member in group.members
            )
            for table in TABLES
        }
        time.sleep(0.5)  # What was decided last is still being told to everyone.
    return GroupRun(
        trace=observe_group(
            capture.path,
            [_logs(member, saved if member is leaver else ()) for member in group.members],
            server_version=installation.version_text,
            group_name=GROUP_NAME,
            block_size=_block_size(first),
            is_multi_primary=is_multi_primary,
        ),
        outcomes=dict(load.outcomes),
        conflicts_detected=conflicts,
        checksums=checksums,
        clients=_clients(group, load, departed, witness),
        struck=leaver.name,
        notes=departed.notes,
    )


def _clients(
    group: GroupReplication, load: Load, departed: Departure, witness: Server
) -> GroupClients:
    """Return what clients were told, by the log of a member that never left the group."""
    rows = (
        (change.after[0], one.gtid)
        for one in read_transactions([str(file) for file in witness.binary_logs()])
        for change in one.rows
        if change.table == JOURNAL and change.after is not None
    )
    return GroupClients(
        confirmed={one.server_uuid: load.confirmed.get(one.name, []) for one in group.members},
        gtids={tag: gtid for tag, gtid in rows if isinstance(tag, int)},
        journals={
            one.server_uuid: frozenset(int(w) for (w,) in one.query(f"SELECT w FROM {JOURNAL}"))
            for one in group.members
        },
        cut_off=departed.member.server_uuid if departed.how == CUT else "",
        confirmed_while_cut_off=departed.confirmed_while_cut_off,
    )


def _saved_relay_logs(member: Server, folder: Path) -> list[Path]:
    """Copy the relay logs of a member: one that comes back from a crash begins them anew."""
    if member.is_running:
        return []
    folder.mkdir()
    return [Path(shutil.copy(file, folder)) for file in _relay_logs(member)]


def _relay_logs(member: Server) -> list[Path]:
    return sorted(member.datadir.glob(f"relay-{APPLIER_CHANNEL}.0*"))


def _logs(member: Server, saved: Sequence[Path]) -> LoggedContents:
    relay = _relay_logs(member)
    there = {file.name: file for file in relay}
    gone = [
        file
        for file in saved
        if file.name not in there or not there[file.name].read_bytes().startswith(file.read_bytes())
    ]
    return LoggedContents(member.server_uuid, member.binary_logs(), [*gone, *relay])


def _block_size(member: Server) -> int:
    return int(member.query("SELECT @@group_replication_gtid_assignment_block_size")[0][0])


def _conflicts(member: Server) -> dict[str, int]:
    rows = member.query(
        "SELECT member_id, count_conflicts_detected"
        " FROM performance_schema.replication_group_member_stats"
    )
    return {str(uuid): int(count) for uuid, count in rows}


def _wait_for_collection(member: Server) -> None:
    def stable() -> object:
        return member.query(
            "SELECT transactions_committed_all_members"
            " FROM performance_schema.replication_group_member_stats"
            f" WHERE member_id = '{member.server_uuid}'"
        )[0][0]

    before = stable()
    deadline = time.monotonic() + _COLLECTION_SECONDS_MAX
    while stable() == before and time.monotonic() < deadline:
        time.sleep(0.3)
