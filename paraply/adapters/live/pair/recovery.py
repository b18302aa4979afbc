"""Bring a source and its replicas back after any combination of faults."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from paraply.adapters.live.nemeses.field import SHORTLY, query_shortly
from paraply.adapters.live.pair.faults import wait_until
from paraply.adapters.live.pair.lab import PairLab
from paraply.adapters.servers.replication import applier_error, is_receiving, wait_until_applied
from paraply.adapters.servers.server import Server
from paraply.vocabulary.errors import ParaplyError


def view_of(lab: PairLab, server: Server) -> str:
    """Return whether the source answers, or whether a replica is connected.

    MariaDB's SHOW SLAVE STATUS waits while the relay log has no space.
    """
    query_shortly(server, "SELECT 1")
    if server is lab.source:
        return "answers"
    return "connected" if is_receiving(server, **SHORTLY) else "not connected"


def recover(lab: PairLab) -> Sequence[str]:
    """Restart dead servers and stopped appliers; return what was done."""
    notes: list[str] = []
    if not lab.source.is_running:
        lab.source.start()
        notes.append(f"{lab.source.name} was started again")
    for replica in lab.replicas:
        if not replica.is_running:
            replica.start()
            notes.append(f"{replica.name} was started again")
            notes += filter(None, [lab.start_applier(replica)])
        error = applier_error(replica)
        if error:
            notes.append(f"{replica.name} had stopped, and was started again: {error}")
            replica.query(f"STOP {lab.applier}")
            notes += filter(None, [lab.start_applier(replica)])
        wait_until(partial(is_receiving, replica), "connection to the source", replica)
        try:
            wait_until_applied(lab.source, replica)
        except ParaplyError as reason:
            notes.append(f"{replica.name} does not go on: {reason.text}")
    return notes
