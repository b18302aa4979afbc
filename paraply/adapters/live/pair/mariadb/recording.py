"""Record how a MariaDB replica's workers touch rows and commit, when they find much to do.

The replica is stopped while the source is loaded, so that its workers run side by side afterwards.
Commits at the source wait for each other, so that there are groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paraply.adapters.live.observed import Member
from paraply.adapters.live.pair.lab import Fault
from paraply.adapters.live.pair.mariadb.lab import MariadbLab
from paraply.adapters.live.target import LiveRequest
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History

REPLICA = "replica1"
TOUCHES = frozenset(
    {EventKind.BEGUN, EventKind.ROW_APPLIED, EventKind.ROLLED_BACK, EventKind.ENGINE_COMMITTED}
)
_BACKLOG = Fault(name="backlog", meaning="the replica starts late", begins_stopped=True)
_GROUPED = ("SET GLOBAL binlog_commit_wait_count=4", "SET GLOBAL binlog_commit_wait_usec=30000")
_SCANNED = ("SET GLOBAL tx_isolation='READ-COMMITTED'",)
"""Then a source that scans locks fewer rows than its replica, whose transactions wait."""


class _BackloggedLab(MariadbLab):
    def __init__(self, request: LiveRequest) -> None:
        super().__init__(request)
        self.fault = _BACKLOG

    def _begin(self) -> None:
        super()._begin()
        self.source.run([*_GROUPED, *(_SCANNED if self.request.workload == "scans" else ())])

    def _catch_up(self, members: Sequence[Member]) -> list[str]:
        for replica in self.replicas:
            replica.query(f"START {self.applier}")
        return super()._catch_up(members)


def record_replica(
    *, mode: str, workload: str = "rows", seed: int = 0, transactions: int = 80, workers: int = 6
) -> History:
    """Return a recorded run of new servers: the replica's attempts, touches and commits."""
    request = LiveRequest(
        mode=mode, workload=workload, seed=seed, transactions=transactions, workers=workers,
        clients=8,
    )  # fmt: skip
    with _BackloggedLab(request) as lab:
        whole = lab.round(1).history
    return replace(
        whole,
        header=replace(whole.header, subject=whole.header.subject.replace("live", "recorded", 1)),
        transactions=tuple(replace(one, rows=(), statement="") for one in whole.transactions),
        events=tuple(
            event for event in whole.events if event.member == REPLICA and event.kind in TOUCHES
        ),
    ).check()
