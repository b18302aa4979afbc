"""Bring a Galera cluster back after any combination of faults."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from paraply.adapters.live.nemeses.field import query_shortly
from paraply.adapters.live.target import ROUND_FAILED
from paraply.adapters.servers.server import Server
from paraply.vocabulary.errors import ParaplyError

_SETTLE_S = 8.0
"""In which connected members find each other by themselves."""
_PATIENCE_S = 90.0
_PAUSE_S = 0.25
_RECOVER_SECONDS_MAX = 60
_POSITION = re.compile(r"WSREP: Recovered position:? (\S+):(-?\d+)")
_PRIMARY = "Primary"
_BOOTSTRAP = "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'"


class Cluster(Protocol):
    """The interface of the members."""

    members: list[Server]

    def join(self, server: Server) -> Sequence[str]:
        """Start a member until it is synced."""

    def wait_until_synced(self, server: Server) -> None:
        """Wait until a member is synced."""


def view_of(server: Server) -> str:
    """Return a member's component and view size."""
    found = _status(server)
    return f"{found['cluster_status']}, view of {found['cluster_size']}"


def recover(lab: Cluster) -> Sequence[str]:
    """Bring all members into one primary component; return what was done."""
    notes: list[str] = []
    if not any(one.is_running for one in lab.members):
        notes.append(_begin_anew(lab))
    notes += _find_primary(lab)
    for server in lab.members:
        notes += _return(lab, server)
    return notes


def _return(lab: Cluster, server: Server) -> Sequence[str]:
    """Wait for a member that reconnects by itself, or restart it."""
    if server.is_running:
        deadline = time.monotonic() + _SETTLE_S * 2
        while time.monotonic() < deadline:
            found = _status_or_none(server)
            if found is not None and _is_back(found, len(lab.members)):
                return ()
            if found is not None and found["cluster_status"] == "Disconnected":
                break
            # Others may still be down, and join later.
            if found is not None and _is_synced(found):
                return ()
            time.sleep(_PAUSE_S)
        server.kill()
        return (f"{server.name} did not return by itself and was restarted", *lab.join(server))
    return (f"{server.name} was started again", *lab.join(server))


def _is_synced(found: dict[str, str]) -> bool:
    return found["cluster_status"] == _PRIMARY and found["local_state_comment"] == "Synced"


def _is_back(found: dict[str, str], size: int) -> bool:
    return _is_synced(found) and found["cluster_size"] == str(size)


def _find_primary(lab: Cluster) -> Sequence[str]:
    """Wait for a primary component; without one, let the most advanced member form it."""
    deadline = time.monotonic() + _SETTLE_S
    while True:
        seen = {
            one.name: found
            for one in lab.members
            if one.is_running and (found := _status_or_none(one)) is not None
        }
        if has_primary(list(seen.values())):
            return ()
        if time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_S)
    alive = [one for one in lab.members if one.name in seen]
    if not alive:
        raise ParaplyError(ROUND_FAILED, where="galera", reason="no member answers")
    first = max(alive, key=lambda one: int(seen[one.name]["last_committed"]))
    if seen[first.name]["cluster_status"] == "Disconnected":
        # Its provider has given up: begin from its data.
        for one in alive:
            one.kill()
        return (_begin_anew(lab),)
    first.query(_BOOTSTRAP)
    lab.wait_until_synced(first)
    return (f"no part was primary: {first.name} was made primary (pc.bootstrap)",)


def has_primary(statuses: Sequence[Mapping[str, str]]) -> bool:
    """Return whether all members of a primary view run and report it.

    A member that was paused still reports the view from before.
    """
    primary = [one for one in statuses if one["cluster_status"] == _PRIMARY]
    return any(int(one["cluster_size"]) <= len(primary) for one in primary)


def _begin_anew(lab: Cluster) -> str:
    """Begin a cluster from the member with the last recovered position."""
    positions = {one.name: _recovered_position(one) for one in lab.members}
    first = max(lab.members, key=lambda one: positions[one.name])
    state = first.datadir / "grastate.dat"
    text = state.read_text(encoding="utf-8")
    state.write_text(text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1"), encoding="utf-8")
    usual = first.options
    first.options = (*usual, "--wsrep-new-cluster")
    try:
        first.start()
    finally:
        first.options = usual
    lab.wait_until_synced(first)
    told = ", ".join(f"{name} {seqno}" for name, seqno in positions.items())
    return f"no member ran: {first.name} began the cluster again (recovered positions: {told})"


def _recovered_position(server: Server) -> int:
    """Return the last seqno in a stopped member's data."""
    done = subprocess.run(
        [*server.command(), "--wsrep-recover", "--log-error="],
        capture_output=True, timeout=_RECOVER_SECONDS_MAX, check=False, cwd=server.directory,
        user=server.run_as, group=server.run_as, extra_groups=() if server.run_as else None,
    )  # fmt: skip
    found = _POSITION.findall((done.stdout + done.stderr).decode(errors="replace"))
    if not found:
        raise ParaplyError(ROUND_FAILED, where=server.name, reason="no position was recovered")
    return int(found[-1][1])


def _status(server: Server) -> dict[str, str]:
    rows = query_shortly(server, "SHOW GLOBAL STATUS LIKE 'wsrep_%'")
    return {str(name).removeprefix("wsrep_"): str(value) for name, value in rows}


def _status_or_none(server: Server) -> dict[str, str] | None:
    import pymysql

    try:
        return _status(server)
    except (ParaplyError, pymysql.MySQLError, OSError):
        return None
