"""The live target ``mariadb-semisync``."""

from __future__ import annotations

from collections.abc import Mapping

from paraply.adapters.live.semi_sync.loss import MARIADB_WAYS, Way
from paraply.adapters.live.target import LiveTarget

_SEEN = "visible_only_after_acknowledgement"
_CONFIRMED = "confirmed_only_after_acknowledgement"
_SEEN_LOST, _CONFIRMED_LOST = "what_was_seen_survives", "what_was_confirmed_survives"
_BY_FAULT = {
    "restart-source": (_SEEN, _SEEN_LOST),
    "empty-replica": (_SEEN, _CONFIRMED, _SEEN_LOST, _CONFIRMED_LOST),
    "discard-relay-log": (_SEEN_LOST, _CONFIRMED_LOST),
}


def documented_of(ways: Mapping[str, Way]) -> dict[str, tuple[str, ...]]:
    """Return the documented breaches by ``mode/way``."""
    return {
        f"{mode}/{name}": (
            # An engine commit before the wait shows the transaction to all sessions.
            (_SEEN, *(one for one in _BY_FAULT.get(name, ()) if one != _SEEN))
            if mode == "AFTER_COMMIT" and way.waits and not way.receives
            else _BY_FAULT.get(name, ())
        )
        for mode in ("AFTER_SYNC", "AFTER_COMMIT")
        for name, way in ways.items()
    }


MARIADB_SEMI_SYNC = LiveTarget(
    name="mariadb-semisync",
    summary="a MariaDB source that waits for one replica to receive, and then is lost",
    module="paraply.adapters.live.semi_sync.lab",
    takes=("workers", "clients", "duration_s"),
    modes=("AFTER_SYNC", "AFTER_COMMIT"),
    workloads=("mixed",),
    faults={way.name: way.meaning for way in MARIADB_WAYS.values()},
    documented=documented_of(MARIADB_WAYS),
    properties=(
        _SEEN,
        _CONFIRMED,
        _SEEN_LOST,
        _CONFIRMED_LOST,
        "waits_are_abandoned_only_for_cause",
        "readers_at_the_source_see_prefixes",
        "snapshots_know_their_place",
        "recovery_decides_by_the_binlog",
        "replicas_receive_prefixes",
        "gtids_are_not_given_twice",
    ),
)
