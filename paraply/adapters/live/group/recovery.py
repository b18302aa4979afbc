"""Bring a replication group back after any combination of faults."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from paraply.adapters.live.nemeses.field import query_shortly
from paraply.adapters.servers.group_replication import GroupReplication
from paraply.adapters.servers.replication import executed_position
from paraply.adapters.servers.server import Server
from paraply.vocabulary.errors import ParaplyError

OPTIONS = ("--loose-group-replication-member-expel-timeout=0",)
"""Members expel a suspect at once: a strike lasts seconds."""
_READ_ONLY = "--super-read-only=ON"
_STABLE_S = 7.0
"""More than the five seconds before suspicion."""
_SETTLE_S = 10.0
"""In which connected members agree on a view, or expel some."""
_STOP_SECONDS_MAX = 10
_PAUSE_S = 0.25
_VIEW = (
    "SELECT member_id, member_state FROM performance_schema.replication_group_members"
    " ORDER BY member_id"
)


def view_of(server: Server) -> str:
    """Return a member's own state, and how many others it sees in which state."""
    rows = query_shortly(server, _VIEW)
    states = {str(uuid): str(state) for uuid, state in rows}
    own = states.pop(server.server_uuid, "in no group")
    others = ", ".join(sorted(states.values())) or "nobody"
    return f"{own}, sees {others}"


def recover(group: GroupReplication) -> Sequence[str]:
    """Bring all members online in one group; return what was done."""
    notes = []
    survivors = [one for one in group.members if one.is_running]
    for server in group.members:
        if server not in survivors:
            _start_read_only(server)
            notes.append(f"{server.name} was started again")
    if survivors == [*group.members] and _stays_whole(group):
        return notes
    has_quorum = len(survivors) > len(group.members) / 2
    core = _core(group) if has_quorum else []
    if core:
        notes += _rejoin(group, core, [one for one in group.members if one not in core])
        return notes
    for server in group.members:
        notes += _leave(server)
    positions = {one.name: _executed(one) for one in group.members}
    first = max(group.members, key=lambda one: _covers(group, one))
    first.run(
        [
            "SET GLOBAL group_replication_bootstrap_group=ON",
            "START GROUP_REPLICATION",
            "SET GLOBAL group_replication_bootstrap_group=OFF",
        ]
    )
    group.wait_until_online(first, size=1)
    told = ", ".join(f"{name} {position}" for name, position in positions.items())
    notes.append(f"no part had a quorum: {first.name} began the group again (executed: {told})")
    return (*notes, *_rejoin(group, [first], [one for one in group.members if one is not first]))


def _core(group: GroupReplication) -> list[Server]:
    """Return the members that agree on a view whose members are all reachable."""

    def online(server: Server) -> frozenset[str]:
        try:
            rows = query_shortly(server, _VIEW)
        except Exception:  # A struck member fails in many ways.
            return frozenset()
        if {str(state) for _, state in rows} - {"ONLINE", "RECOVERING"}:
            return frozenset()
        return frozenset(str(uuid) for uuid, state in rows if state == "ONLINE")

    found: list[Server] = []

    def is_found() -> bool:
        nonlocal found
        views = {one.server_uuid: online(one) for one in group.members}
        found = [
            one
            for one in group.members
            if one.server_uuid in views[one.server_uuid]
            and all(views[other] == views[one.server_uuid] for other in views[one.server_uuid])
        ]
        return bool(found)

    _eventually(is_found, _SETTLE_S)
    return found


def _rejoin(
    group: GroupReplication, core: Sequence[Server], others: Sequence[Server]
) -> Sequence[str]:
    notes: list[str] = []
    size = len(core)
    for server in others:
        notes += _leave(server)
        size += 1
        group.join(server, size=size)
        notes.append(f"{server.name} joined again")
    return notes


def _leave(server: Server) -> Sequence[str]:
    """Stop a member's replication; kill and restart it where that does not end."""
    import pymysql

    try:
        server.query("STOP GROUP_REPLICATION", read_timeout=_STOP_SECONDS_MAX)
    except (ParaplyError, pymysql.MySQLError, OSError):
        server.kill()
        _start_read_only(server)
        return (f"{server.name} could not leave the group and was restarted",)
    return ()


def _start_read_only(server: Server) -> None:
    """Start a server that clients cannot write to before it is in the group, as the manual advises.

    Otherwise it accepts transactions outside the group, and the group then rejects it.
    """
    if _READ_ONLY not in server.options:
        server.options = (*server.options, _READ_ONLY)
    server.start()


def _covers(group: GroupReplication, server: Server) -> int:
    """Return how many members have executed nothing that this one lacks."""
    return sum(
        int(
            str(
                server.query(f"SELECT GTID_SUBSET('{_executed(other)}', @@GLOBAL.gtid_executed)")[
                    0
                ][0]
            )
        )
        for other in group.members
    )


def _executed(server: Server) -> str:
    return executed_position(server).replace("\n", "")


def _stays_whole(group: GroupReplication) -> bool:
    """Return whether all see all online for longer than it takes to expel a suspect."""
    since = time.monotonic()
    deadline = since + _SETTLE_S + _STABLE_S
    while time.monotonic() < deadline:
        if not _eventually(lambda: _is_whole(group), 0):
            since = time.monotonic()
        elif time.monotonic() - since > _STABLE_S:
            return True
        time.sleep(_PAUSE_S)
    return False


def _is_whole(group: GroupReplication) -> bool:
    whole = {one.server_uuid for one in group.members}
    for server in group.members:
        rows = query_shortly(server, _VIEW)
        if {str(uuid) for uuid, state in rows if state == "ONLINE"} != whole:
            return False
    return True


def _eventually(is_so: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        with suppress(Exception):  # Struck members fail in many ways.
            if is_so():
                return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_S)
