"""The servers of a client run, with their log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from paraply.adapters.live.clients.options import NO_WAIT
from paraply.adapters.live.nemeses.field import Field
from paraply.adapters.live.target import UNKNOWN_CHOICE
from paraply.adapters.servers.reachable import Reachable
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A switch that makes reads wait."""

    meaning: str
    session: str = ""
    """A statement for each session."""
    for_gtids: bool = False
    """Whether readers first wait for the source's GTIDs."""


NOTHING_AWAITED = Wait(meaning="the server's default")
GTID_WAIT = Wait(
    meaning="a read waits for the source's GTIDs (MASTER_GTID_WAIT, WAIT_FOR_EXECUTED_GTID_SET)",
    for_gtids=True,
)
_ASYNCHRONOUS = {NO_WAIT: NOTHING_AWAITED, "gtid-wait": GTID_WAIT}
WAITS: Mapping[str, Mapping[str, Wait]] = {
    **dict.fromkeys(("mariadb", "mysql", "existing"), _ASYNCHRONOUS),
    "mariadb-semisync": {NO_WAIT: NOTHING_AWAITED},
    "mysql-semisync": {NO_WAIT: NOTHING_AWAITED},
    "galera": {
        NO_WAIT: NOTHING_AWAITED,
        "sync-wait": Wait(
            meaning="wsrep_sync_wait=15", session="SET SESSION wsrep_sync_wait = 15"
        ),
    },
    "mysql-gr": {
        NO_WAIT: NOTHING_AWAITED,
        **{
            word.lower().replace("_", "-"): Wait(
                meaning=f"group_replication_consistency={word}",
                session=f"SET SESSION group_replication_consistency = '{word}'",
            )
            for word in (
                "EVENTUAL", "BEFORE_ON_PRIMARY_FAILOVER", "BEFORE", "AFTER", "BEFORE_AND_AFTER",
            )
        },
    },
}  # fmt: skip
"""By target; the first is the default."""


def wait_named(target: str, name: str) -> Wait:
    """Return a target's switch; ``ParaplyError`` P620 if unknown."""
    known = WAITS[target]
    if name not in known:
        raise ParaplyError(
            UNKNOWN_CHOICE, target=target, what="wait", given=name, known=", ".join(known)
        )
    return known[name]


@dataclass(slots=True, kw_only=True)
class Site:
    """Servers that accept clients, and the log that orders versions."""

    version_text: str
    schema: str
    writers: Sequence[Reachable]
    """Each client writes to one of them; a fail-over replaces them."""
    others: Sequence[Reachable] = ()
    """Servers that clients only read."""
    log: Callable[[], Sequence[LoggedTransaction]]
    """Returns the transactions in the order of versions, after the load."""
    readers: int = 0
    """Clients that only read, so that some still work while commits wait."""
    at_rest: Callable[[], None] = lambda: None
    """Waits until all servers have applied all."""
    field: Field | None = None
    """The members that a plan of nemeses strikes."""
    midway: Callable[[], Sequence[str]] | None = None
    """Done to the servers at half of the load; returns notes."""

    @property
    def servers(self) -> list[Reachable]:
        """Return all servers that accept reads."""
        return [*self.writers, *self.others]
