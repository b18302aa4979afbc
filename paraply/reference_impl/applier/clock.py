"""A replica on a simulated clock: every worker makes one step per tick.

A row event and a commit cost one tick each; the coordinator never causes delay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paraply.reference_impl.applier.replica import Replica
from paraply.reference_impl.applier.worker import Stage, Worker

TICKS_MAX = 1_000_000


def ticks_of(replica: Replica, *, shares_syncs: bool = False) -> int:
    """Return the ticks until the end, a failure or a stall.

    With ``shares_syncs`` simultaneous commits share one tick.
    """
    recorder = replica.recorder
    while not replica.has_failed and recorder.now < TICKS_MAX:
        while (free := next(_free_steps(replica), None)) is not None:
            free()
        # All steps of a tick are chosen before the first one runs. Rows precede commits, since a
        # row is locked until its commit ends.
        rows = _acts(replica, Stage.APPLYING)
        ready = [worker for worker in replica.workers if worker.stage is Stage.FINISHED]
        commits = _acts(replica, Stage.FINISHED)
        if not rows and not commits:
            break
        recorder.next_step()
        for act in (*rows, *commits):
            if not replica.has_failed:
                act()
        while shares_syncs and not replica.has_failed:
            following = [
                turn
                for worker in ready
                if worker.stage is Stage.FINISHED and (turn := replica.step_of(worker)) is not None
            ]
            if not following:
                break
            following[0]()
    return recorder.now


def _acts(replica: Replica, stage: Stage) -> list[Callable[[], None]]:
    workers: list[Worker] = [worker for worker in replica.workers if worker.stage is stage]
    return [act for worker in workers if (act := replica.step_of(worker)) is not None]


def _free_steps(replica: Replica) -> Iterator[Callable[[], None]]:
    for step in replica.coordinator_steps():
        yield step.act
    for worker in replica.workers:
        if worker.stage in (Stage.ASSIGNED, Stage.RETRYING, Stage.REPORTING):
            act = replica.step_of(worker)
            if act is not None:
                yield act
