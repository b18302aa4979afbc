"""A Galera member loses its network and returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from paraply.adapters.live.observed import CutOff, Snapshot
from paraply.adapters.live.readers import SnapshotReader
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.live.workload import Clients
from paraply.adapters.servers.network import PrivateNetwork
from paraply.adapters.servers.server import Server

CUT, SPLIT = "cut-member", "cut-member-no-quorum"
NEEDS_NETWORK = (CUT, SPLIT)
QUICK = (
    "evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.25S;"
    "evs.suspect_timeout=PT2S;evs.inactive_timeout=PT6S;"
)
"""Members suspect each other before the default five seconds."""
_GO_ON_ALONE = "SET GLOBAL wsrep_provider_options = 'pc.ignore_quorum=true;pc.ignore_sb=true'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """The effect of a fault on the last member."""

    rejoined: str = ""
    """The member, if it returned by state transfer, without a log."""
    cut_off: CutOff | None = None
    notes: tuple[str, ...] = ()


class Cluster(Protocol):
    """The interface of members and network."""

    request: LiveRequest
    members: list[Server]
    network: PrivateNetwork | None

    def wait(self, server: Server, what: str, condition: Callable[[], bool]) -> None:
        """Wait for a condition."""

    def wait_for_size(self, server: Server, size: int) -> None:
        """Wait for a member's view size."""

    def wait_until_synced(self, server: Server) -> None:
        """Wait until a member is synced."""

    def join(self, server: Server) -> Sequence[str]:
        """Start a member until it is synced."""


def cut_off(lab: Cluster, victim: Server, reader: SnapshotReader, clients: Clients) -> Struck:
    """Cut a member off under load, and reconnect it after both parts detect it."""
    if lab.network is None or victim.host is None:
        raise ValueError("the members are in no network that can be cut")
    others = [server for server in lab.members if server is not victim]
    is_split = lab.request.fault == SPLIT
    if is_split:
        victim.query(_GO_ON_ALONE)
    load = clients.load

    def confirmed_alone() -> frozenset[int]:
        return frozenset(load.confirmed_by(victim.name)) - known

    def confirmed_by_others() -> int:
        return sum(len(load.confirmed_by(server.name)) for server in others)

    lab.network.cut(victim.host)
    lab.wait_for_size(victim, 1)
    known = frozenset(load.confirmed_by(victim.name))
    snapshot = _dirty_read(victim, reader)
    for server in others:
        lab.wait_for_size(server, len(others))
    majority = confirmed_by_others()
    refused = load.refused.get(_NOT_PRIMARY, 0)
    clients.wait_for(len(load.confirmed) + lab.request.transactions // 4, lab.request.duration_s)
    if is_split:
        lab.wait(victim, "confirmation of its own", lambda: bool(confirmed_alone()))
    confirmed = confirmed_alone()
    majority = confirmed_by_others() - majority
    refused = load.refused.get(_NOT_PRIMARY, 0) - refused
    notes: Sequence[str] = ()
    if is_split:
        # Two primary components never merge again.
        victim.kill()
        lab.network.mend(victim.host)
        notes = lab.join(victim)
    else:
        lab.network.mend(victim.host)
        lab.wait_until_synced(victim)
    return Struck(
        rejoined=victim.name if is_split else "",
        cut_off=CutOff(file=snapshot.file, offset=snapshot.offset, confirmed=confirmed),
        notes=(
            f"while {victim.name} was cut off it confirmed {len(confirmed)} transactions and"
            f" refused {refused}; the others confirmed {majority}",
            *notes,
        ),
    )


def _dirty_read(victim: Server, reader: SnapshotReader) -> Snapshot:
    with victim.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION wsrep_dirty_reads = ON")
        snapshot = reader.read(cursor)
    reader.snapshots.append(snapshot)
    return snapshot


_NOT_PRIMARY = 1047
