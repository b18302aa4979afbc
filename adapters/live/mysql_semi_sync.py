"""MySQL semi-synchronous replication: the same story as MariaDB's, told by other statements.

MySQL has no snapshot that knows its place in the binary log: what reads see is judged by what they
show alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from adapters.live.mysql_semi_sync_target import RESTART, SWITCH_OFF, TIME_OUT
from adapters.live.semi_sync import SemiSyncLab, rounds_of
from adapters.live.semi_sync_told import MomentKind
from adapters.live.semi_sync_ways import Way, restart_source, switch_off, time_out
from adapters.live.target import LiveRequest, LiveRound
from adapters.live.workload import schema_name
from adapters.servers import find_mysql


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield one round after the other, each on servers of its own (``LiveTarget.run``)."""
    return rounds_of(request, MysqlSemiSyncLab)


WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way(name=RESTART, act=restart_source, meaning="the source is killed while a commit waits"),
        Way(
            name=TIME_OUT,
            act=time_out,
            prepare=("SET GLOBAL rpl_semi_sync_source_timeout=3000",),
            meaning="rpl_semi_sync_source_timeout passes",
        ),
        Way(name=SWITCH_OFF, act=switch_off, meaning="rpl_semi_sync_source_enabled=0"),
    )
}


class MysqlSemiSyncLab(SemiSyncLab):
    """A MySQL source, a replica that acknowledges, and readers at the source."""

    target = "mysql-semisync"
    plugin = "rpl_semi_sync_source"
    applier, peer = "REPLICA", "Source"
    waiting = "Waiting for semi-sync ACK"
    find = staticmethod(find_mysql)
    ways = WAYS

    def _source_options(self) -> tuple[str, ...]:
        return (
            "--plugin-load-add=semisync_source.so",
            "--loose-rpl-semi-sync-source-enabled=1",
            f"--loose-rpl-semi-sync-source-wait-point={self.request.mode}",
            "--loose-rpl-semi-sync-source-timeout=10",
        )

    def _replica_options(self) -> tuple[str, ...]:
        return (
            "--plugin-load-add=semisync_replica.so",
            "--loose-rpl-semi-sync-replica-enabled=1",
            f"--replica-parallel-workers={self.request.workers}",
            "--skip-replica-start",
        )

    def read(self) -> None:
        """Read the journal at the source."""
        rows = self.source.query(f"SELECT w FROM {schema_name(0)}.journal", read_timeout=20)
        self.note(MomentKind.READ, (int(tag) for (tag,) in rows))
