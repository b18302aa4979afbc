"""A source, commit groups and replicas in atomic steps.

Groups pass FLUSH, SYNC, ACK and COMMIT under LOCK_log, LOCK_enhanced_semisync and
LOCK_commit_ordered. They wait once, for their last position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from paraply.reference_impl.semi_sync.faults import Faults
from paraply.reference_impl.semi_sync.settings import Abandon
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind, Observation
from paraply.vocabulary.schedule import Schedule


@dataclass
class Cluster(Faults):
    """The whole cluster."""

    applying_is_private: ClassVar[bool] = True
    """Applying is unobservable with retained relay logs."""

    def run(self, schedule: Schedule) -> None:
        """Take all steps; stalled runs record no STOPPED."""
        self.on_start()
        while self.recorder.has_steps_left and (steps := self.steps()):
            self.take(schedule.choose(steps, "step"))
        self.on_end()

    def on_start(self) -> None:
        """Record the start."""
        self.recorder.record(EventKind.STARTED, member=SOURCE)

    def take(self, step: Step) -> None:
        """Take one step."""
        self.recorder.next_step()
        step.act()

    def on_end(self) -> None:
        """Record the end, unless stalled."""
        self.recorder.next_step()
        if not self.recorder.has_steps_left:
            return
        if self.promoted is not None:
            self.recorder.record(EventKind.STOPPED, member=self.promoted.name, note="promoted")
        elif self.is_at_rest and not self.is_lost:
            self.recorder.record(EventKind.STOPPED, member=SOURCE, note="at rest")

    def steps(self) -> list[Step]:
        """Return all steps."""
        progress = list(self.progress_steps())
        return [*progress, *self.other_steps()] if progress else []

    def progress_steps(self) -> Iterator[Step]:
        """Yield progress."""
        if not self.is_lost:
            is_serving = self.is_open and not (self.held_back or self.is_stopping)
            if self.waiting and is_serving and not self.is_stopped:
                yield Step("prepare", self.on_prepare)
            if self.queue and self.may_flush():
                yield Step("flush", self.on_flush)
            for group in self.groups:
                if self.is_waiting(group) and self.may_leave():
                    act = partial(self.give_up, group, Abandon.TOO_FEW_REPLICAS)
                    yield Step(f"group {group.number}: leaves", act)
                yield from self.steps_of(group)
            yield from self.source_steps()
        yield from self.replica_steps()
        if self.is_lost:
            yield from self.succession_steps()

    def succession_steps(self) -> Iterator[Step]:
        """Yield fail-over steps."""
        if self.promoted is None:
            if self.may_promote():
                yield Step("promote", self.on_promoted)
        elif self.settings.source_returns and not self.has_returned:
            for kept in range(self.unsynced + 1):
                yield Step(f"source returns{_keeping(kept)}", partial(self.on_returned, kept))

    @property
    def unsynced(self) -> int:
        """Return the unsynced length."""
        return len(self.binlog.written) - self.binlog.synced

    def other_steps(self) -> Iterator[Step]:
        """Yield reads, faults and administration."""
        if self.is_lost:
            return
        if not self.is_stopped:
            yield from self.steps_of_others()
        is_busy = bool(self.binlog.written or self.queue) and not self.is_stopped
        if self.budget.source_crashes and is_busy:
            for kept in range(self.unsynced + 1):
                yield Step(
                    f"source crashes{_keeping(kept)}", partial(self.on_source_crash, kept), SOURCE
                )
        if self.budget.replica_crashes and self.binlog.written:
            yield from self.replica_crash_steps()
        if self.settings.loses_source and self.visible:
            yield from self.loss_steps()

    def replica_crash_steps(self) -> Iterator[Step]:
        """Yield replica crashes, detected or not."""
        for replica in self.replicas:
            if not replica.is_connected:
                continue
            if not self.settings.silent_crashes:
                yield Step(
                    f"{replica.name} crashes", partial(self.on_replica_crash, replica), replica.name
                )
            if self.settings.silent_crashes or not self.settings.waits_without_replicas:
                act = partial(self.on_replica_crash, replica, is_noticed=False)
                yield Step(f"{replica.name} loses power", act, replica.name)

    def steps_of_others(self) -> Iterator[Step]:
        """Yield reads, administration and time-outs."""
        if self.budget.reads and self.is_open and self.visible:
            yield Step("read", self.on_read)
        if self.budget.rotations and not self.is_rotating and self.lock_log_is_free():
            yield Step("rotate", self.on_rotate)
        if self.budget.shutdowns and not self.is_stopping and self.binlog.written:
            yield Step("shutdown", self.on_shutdown, SOURCE)
        if self.budget.abandons:
            for group in self.groups:
                if self.is_waiting(group):
                    for why in self.settings.abandoning:
                        act = partial(self.on_abandon, group, why)
                        yield Step(f"group {group.number}: {why.value}", act)

    def on_read(self) -> None:
        """Read the source's engine commits."""
        self.budget.reads -= 1
        seen = tuple(Observation(f"r{one}", one) for one in self.visible)
        self.recorder.record(
            EventKind.READ, member=SOURCE, session="reader", observed=seen,
            position=self.snapshot_position(),
        )  # fmt: skip

    def snapshot_position(self) -> str:
        """Return binlog_snapshot_position in transactions; "" for MySQL."""
        if self.settings.staging.is_mysql:
            return ""
        return str(sum(one in self.visible for one in self.binlog.written))


def _keeping(kept: int) -> str:
    return f", {kept} unsynced survive" if kept else ""
