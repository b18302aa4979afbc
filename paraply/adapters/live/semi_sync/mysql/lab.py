"""MySQL semi-synchronous replication.

Its snapshots have no place in the log. A query before each read returns the executed set, which the
read must show.
"""

from __future__ import annotations

from collections.abc import Iterator

from paraply.adapters.live.semi_sync.history import Moment, MomentKind
from paraply.adapters.live.semi_sync.lab import ALONE_MS, SemiSyncLab, rounds_of
from paraply.adapters.live.semi_sync.loss import MYSQL_WAYS
from paraply.adapters.live.target import LiveRequest, LiveRound
from paraply.adapters.live.workload import schema_name
from paraply.adapters.servers import find_mysql
from paraply.adapters.servers.replication import executed_position


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield rounds, each on its own servers."""
    return rounds_of(request, MysqlSemiSyncLab)


class MysqlSemiSyncLab(SemiSyncLab):
    """A source, an acknowledging replica, and readers."""

    target = "mysql-semisync"
    plugin = "rpl_semi_sync_source"
    applier = "REPLICA"
    waiting = "Waiting for semi-sync ACK"
    find = staticmethod(find_mysql)
    ways = MYSQL_WAYS

    def _source_options(self) -> tuple[str, ...]:
        return (
            "--plugin-load-add=semisync_source.so",
            "--loose-rpl-semi-sync-source-enabled=1",
            f"--loose-rpl-semi-sync-source-wait-point={self.request.mode}",
            f"--loose-rpl-semi-sync-source-timeout={ALONE_MS}",
        )

    def _replica_options(self) -> tuple[str, ...]:
        return (
            "--plugin-load-add=semisync_replica.so",
            "--loose-rpl-semi-sync-replica-enabled=1",
            f"--replica-parallel-workers={self.request.workers}",
            "--skip-replica-start",
        )

    def _discard_relay_log(self) -> None:
        self.replica.stop()
        self.replica.options = (*self.replica.options, "--relay-log-recovery=ON")
        self.replica.start()
        self.replica.query("START REPLICA")

    def read(self) -> None:
        """Read the source's executed set, then journal."""
        executed = executed_position(self.source)
        rows = self.source.query(f"SELECT w FROM {schema_name(0)}.journal", read_timeout=20)
        tags = frozenset(int(tag) for (tag,) in rows)
        self.moments.append(Moment(kind=MomentKind.READ, tags=tags, executed=executed))
