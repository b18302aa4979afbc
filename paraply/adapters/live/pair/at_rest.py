"""Check a replica at the end of a round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from paraply.adapters.live.observed import Tag
from paraply.adapters.live.pair.waits import waits_on
from paraply.adapters.live.target import ROUND_FAILED
from paraply.adapters.servers.replication import applier_error, wait_until_applied
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from paraply.adapters.servers.reachable import Reachable

_CATCH_UP_SECONDS = 60.0


def error_on_the_way(source: Reachable, replica: Reachable) -> str:
    """Wait until a replica has all; return why it stopped, or empty.

    Raises:
        ParaplyError: P621, it did neither.
    """
    try:
        wait_until_applied(source, replica, seconds_max=_CATCH_UP_SECONDS)
    except ParaplyError as reason:
        error = applier_error(replica)
        if not error:
            why = f"{reason}; {waits_on(replica)}"
            raise ParaplyError(ROUND_FAILED, where=replica.name, reason=why) from reason
        return error
    return ""


def differing_tables(one: Reachable, other: Reachable, tables: Sequence[str]) -> frozenset[str]:
    """Return the tables whose checksums differ."""
    return frozenset(table for table in tables if _checksum(one, table) != _checksum(other, table))


def _checksum(server: Reachable, table: str) -> object:
    return server.query(f"CHECKSUM TABLE {table}")[0][1]


def tags_on(server: Reachable, schemas: Iterable[str]) -> frozenset[Tag]:
    """Return the tags on a server."""
    return frozenset(
        int(tag) for schema in schemas for (tag,) in server.query(f"SELECT w FROM {schema}.journal")
    )
