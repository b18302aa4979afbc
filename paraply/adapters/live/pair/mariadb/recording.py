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
from paraply.adapters.live.target import ROUND_FAILED, LiveRequest
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History

REPLICA = "replica1"
RUNS_MAX = 5
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
        self.was_restarted = False
        """Whether an applier began anew on the way: its attempts in flight are no retries."""

    def _begin(self) -> None:
        super()._begin()
        self.source.run([*_GROUPED, *(_SCANNED if self.request.workload == "scans" else ())])

    def _catch_up(self, members: Sequence[Member]) -> list[str]:
        for replica in self.replicas:
            replica.query(f"START {self.applier}")
        repairs = super()._catch_up(members)
        self.was_restarted = bool(repairs)
        return repairs


def record_replica(
    *, mode: str, workload: str = "rows", seed: int = 0, transactions: int = 80, workers: int = 6
) -> History:
    """Return a recorded run of new servers: the replica's attempts, touches and commits.

    A run in which the applier had to be restarted is made again.

    Raises:
        ParaplyError: the applier was restarted in each of ``RUNS_MAX`` runs.
    """
    request = LiveRequest(
        mode=mode, workload=workload, seed=seed, transactions=transactions, workers=workers,
        clients=8,
    )  # fmt: skip
    for _ in range(RUNS_MAX):
        with _BackloggedLab(request) as lab:
            whole = lab.round(1).history
        if not lab.was_restarted:
            return _touches_of(whole)
    reason = f"its applier had to be restarted in each of {RUNS_MAX} runs"
    raise ParaplyError(ROUND_FAILED, where=REPLICA, reason=reason)


def _touches_of(whole: History) -> History:
    return replace(
        whole,
        header=replace(whole.header, subject=whole.header.subject.replace("live", "recorded", 1)),
        transactions=tuple(replace(one, rows=(), statement="") for one in whole.transactions),
        events=tuple(
            event for event in whole.events if event.member == REPLICA and event.kind in TOUCHES
        ),
    ).check()
