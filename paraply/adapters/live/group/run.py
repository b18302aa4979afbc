"""Run a three-member group: load, a departure and return, garbage collections."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.group_wire.capture import Capture
from paraply.adapters.group_wire.logged import LoggedContents
from paraply.adapters.group_wire.observe import observe_group
from paraply.adapters.live.group.clients import NO_CLIENTS, GroupClients
from paraply.adapters.live.group.departure import Departure
from paraply.adapters.live.group.members import NOTHING_SEEN, GroupSeen
from paraply.adapters.live.group.steps import JOURNAL, SCHEMA, GroupWorkload, workload_named
from paraply.adapters.live.group.target import CUT, MIXED
from paraply.adapters.live.group.workload import Load, Writer
from paraply.adapters.live.observed import Snapshot
from paraply.adapters.live.readers import JournalReader
from paraply.adapters.live.target import Say
from paraply.adapters.servers.group_replication import APPLIER_CHANNEL, GROUP_NAME, GroupReplication
from paraply.adapters.servers.installation import Installation
from paraply.adapters.servers.room import ServerRoom
from paraply.adapters.servers.server import Server
from paraply.vocabulary.group_trace import GroupTrace, MemberUuid

_PHASE_SECONDS_MAX = 120.0
MEMBERS = 3
_COLLECTION_SECONDS_MAX = 75.0
"""Members report their executed sets once a minute."""
_READ_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRun:
    """A recorded run and server statistics."""

    trace: GroupTrace
    outcomes: Mapping[str, int]
    conflicts_detected: Mapping[str, int]
    """COUNT_CONFLICTS_DETECTED since the last join, by server UUID."""
    checksums: Mapping[str, frozenset[int]]
    """By table; members that agree share one."""
    clients: GroupClients = NO_CLIENTS
    seen: GroupSeen = NOTHING_SEEN
    struck: str = ""
    """The member that left and returned."""
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
    workload: str = MIXED,
    say: Say = lambda _: None,
) -> GroupRun:
    """Run a group of three and return the observations.

    Member ``struck`` (from 0) leaves under load (``departure``: in order, if empty) and returns.
    The load then slows until ``collections`` periodic garbage collections are over. ``writers`` are
    clients per member and wait at the end of each stage's share.

    Raises:
        ParaplyError: P60x, the group cannot run; P64x, it is not observable.
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
    does = workload_named(workload)
    readers = {one.server_uuid: _reader(one, does) for one in group.members}
    with Capture(room.directory / "group.capture", group.ports, switch) as capture:
        group.bootstrap()
        first.run(does.statements)
        group.wait_until_equal()
        if not is_multi_primary:
            load.paused = {one.name for one in group.members[1:]}
        threads = [
            Writer(member, number, seed, load, does)
            for member in group.members
            for number in range(writers)
        ]
        for thread in threads:
            thread.start()
        for reader in readers.values():
            reader.start()
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
            snapshots = {uuid: reader.stop() for uuid, reader in readers.items()}
        group.wait_until_equal()
        conflicts = _conflicts(witness)
        checksums = {
            table: frozenset(
                int(member.query(f"CHECKSUM TABLE {table}")[0][1]) for member in group.members
            )
            for table in does.tables
        }
        time.sleep(0.5)  # The last decisions are still in transit.
    trace = observe_group(
        capture.path,
        [_logs(member, saved if member is leaver else ()) for member in group.members],
        server_version=installation.version_text,
        group_name=GROUP_NAME,
        block_size=_block_size(first),
        is_multi_primary=is_multi_primary,
    )
    seen = _seen(group, does, witness, snapshots)
    return GroupRun(
        trace=trace,
        outcomes=dict(load.outcomes),
        conflicts_detected=conflicts,
        checksums=checksums,
        clients=_clients(group, load, departed, seen),
        seen=seen,
        struck=leaver.name,
        notes=departed.notes,
    )


def _reader(member: Server, does: GroupWorkload, *, session: str = "reader") -> JournalReader:
    reader = JournalReader(member, [SCHEMA], session=session, tables=does.read_tables)
    reader.pause_s = _READ_PAUSE_S
    return reader


def _seen(
    group: GroupReplication,
    does: GroupWorkload,
    witness: Server,
    snapshots: Mapping[MemberUuid, Sequence[Snapshot]],
) -> GroupSeen:
    finals = {}
    for member in group.members:
        with member.connect() as connection, connection.cursor() as cursor:
            final = _reader(member, does, session="final").read(cursor)
            finals[member.server_uuid] = final
    return GroupSeen(
        statements=does.statements,
        witness=witness.server_uuid,
        logs={
            one.server_uuid: list(read_transactions([str(file) for file in one.binary_logs()]))
            for one in group.members
        },
        snapshots=snapshots,
        finals=finals,
    )


def _clients(
    group: GroupReplication, load: Load, departed: Departure, seen: GroupSeen
) -> GroupClients:
    """Uses the log of a member that never left."""
    rows = (
        (change.after[0], one.gtid)
        for one in seen.logs[seen.witness]
        for change in one.rows
        if change.table == JOURNAL and change.after is not None
    )
    return GroupClients(
        confirmed={one.server_uuid: load.confirmed.get(one.name, []) for one in group.members},
        gtids={tag: gtid for tag, gtid in rows if isinstance(tag, int)},
        journals={uuid: final.tags or frozenset() for uuid, final in seen.finals.items()},
        executed={uuid: final.gtid_position for uuid, final in seen.finals.items()},
        cut_off=departed.member.server_uuid if departed.how == CUT else "",
        confirmed_while_cut_off=departed.confirmed_while_cut_off,
    )


def _saved_relay_logs(member: Server, folder: Path) -> list[Path]:
    """A member restarts its relay logs after a crash."""
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
