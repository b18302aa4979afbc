"""The faults of ``docs/semi-sync.md`` and their losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paraply.exploring.state_space import Node, StateSpace, state_space
from paraply.reference_impl.semi_sync.settings import Recovery, WaitPoint
from paraply.reference_impl.semi_sync.subject import SemiSyncSubject
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named
from paraply.vocabulary.history import OptionValue

WAIT_POINTS = (WaitPoint.AFTER_SYNC, WaitPoint.AFTER_COMMIT)
CALM: dict[str, OptionValue] = {
    "reads": 1, "rotations": 0, "source_crashes": 0, "abandons": 0, "source_returns": False,
}  # fmt: skip


def subject_with(mutant: str, **settings: Any) -> SemiSyncSubject:
    """Return the subject with the fault of a mutant, if one is named, and some settings."""
    kind = SemiSyncSubject
    if mutant:
        kind = mutant_named(mutant).module(kind.__module__).SemiSyncSubject
    return kind(**settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault and its least number of ``replicas``."""

    name: str
    seen_on_servers: str
    mutant: str = ""
    recovery: Recovery = Recovery.WAITS
    replicas: int = 1
    options: dict[str, OptionValue] = field(default_factory=dict)

    def space(self, wait_point: WaitPoint) -> StateSpace:
        """Visit every state of the row's scope."""
        subject = subject_with(self.mutant, wait_point=wait_point, recovery=self.recovery)
        workload = Workload(
            transactions=2, members=1 + self.replicas, options={**CALM, **self.options}
        )
        return state_space(subject, workload)


def _given_up(by: str) -> dict[str, OptionValue]:
    return {"abandons": 1, "abandon_by": by}


_GONE: dict[str, OptionValue] = {"replica_crashes": 1, "replicas_return": False}

FAULTS = (
    Fault(name="none", seen_on_servers="control"),
    Fault(name="crash of the source, which withholds what it recovers",
          seen_on_servers="no server: first remedy of MDEV-162", options={"source_crashes": 1}),
    Fault(name="crash of the source, which bars clients until a replica caught up",
          seen_on_servers="by hand: second remedy of MDEV-162", recovery=Recovery.BARRED,
          options={"source_crashes": 1}),
    Fault(name="crash of the source, which opens at once",
          seen_on_servers="a: kill -9, normal restart", recovery=Recovery.COMMITS,
          options={"source_crashes": 1}),
    Fault(name="KILL of the waiter's connection", seen_on_servers="b: KILL CONNECTION",
          options=_given_up("kill_connection")),
    Fault(name="KILL of the waiter's query", seen_on_servers="c: KILL QUERY, client gets OK",
          options=_given_up("kill_query")),
    Fault(name="time-out, and later back on", seen_on_servers="d: time-out",
          options=_given_up("time_out")),
    Fault(name="semi-sync switched off", seen_on_servers="e: SET GLOBAL ..._enabled=0",
          options=_given_up("switch_off")),
    Fault(name="the replica stops and its loss is noticed, wait_no_slave=0",
          seen_on_servers="f: commits at once, status stays ON",
          options={"replica_crashes": 1, "waits_without_replicas": False}),
    Fault(name="the replica stops silently, wait_no_slave=0",
          seen_on_servers="loss of power: only the time-out helps",
          options={**_GONE, "waits_without_replicas": False, "silent_crashes": True}),
    Fault(name="the replica stops permanently, wait_no_slave=1",
          seen_on_servers="the default; stalls until the time-out",
          options={**_GONE}),
    Fault(name="a replica connects at the end of the log",
          seen_on_servers="g: counts as an acknowledgement",
          mutant="connecting_counts_as_acknowledging", options={"replica_crashes": 1}),
    Fault(name="a replica connects with what it has, and that counts",
          seen_on_servers="what a position proves",
          options={"replica_crashes": 1}),
    Fault(name="a replica connects with what it has, and that does not count",
          seen_on_servers="the strict reading; stalls", mutant="connecting_position_is_ignored",
          options={"replica_crashes": 1}),
    Fault(name="a replica restarts without its relay log",
          seen_on_servers="MDEV-4698, GTID mode", mutant="relay_log_is_discarded_at_restart",
          options={"replica_crashes": 1}),
    Fault(name="the promoted replica has not drained its relay log",
          seen_on_servers="STOP SLAVE; START SLAVE, GTID mode",
          mutant="promotion_discards_the_relay_log"),
    Fault(name="the replica promoted is not the most advanced", seen_on_servers="fail-over by hand",
          mutant="any_replica_is_promoted", replicas=2),
    Fault(name="source and a replica are lost together, one must acknowledge",
          seen_on_servers="the text's exception", replicas=2, options={"loses_replicas": 1}),
    Fault(name="source and a replica are lost together, two must acknowledge",
          seen_on_servers="MySQL: wait_for_replica_count=2", replicas=2,
          options={"loses_replicas": 1, "acknowledgements": 2}),
    Fault(name="shutdown, which releases waiters",
          seen_on_servers="MariaDB kills them (MDEV-11853), MySQL switches off",
          options={"shutdowns": 1}),
    Fault(name="shutdown, which waits", seen_on_servers="MariaDB: SHUTDOWN WAIT FOR ALL SLAVES",
          options={"shutdowns": 1, "shutdown_waits": True}),
    Fault(name="a rotation waits for pending XIDs, dump threads need LOCK_log",
          seen_on_servers="MySQL bug 44058, point 5",
          options={"rotations": 1, "rotation_waits": True, "dump_takes_lock_log": True}),
    Fault(name="a rotation waits for pending XIDs, dump threads read up to binlog_end_pos",
          seen_on_servers="MySQL today",
          options={"rotations": 1, "rotation_waits": True}),
    Fault(name="a rotation does not wait", seen_on_servers="MDEV-181",
          options={"rotations": 1}),
    Fault(name="dump threads need LOCK_log, no rotation",
          seen_on_servers="the text's own dump thread, with the text's own chain",
          options={"dump_takes_lock_log": True}),
    Fault(name="sync_binlog=0, and a crash of the source",
          seen_on_servers="the replica is ahead, error 1236",
          options={"sync_binlog": 0, "source_crashes": 1}),
    Fault(name="crash of the source, which truncates and stays the source",
          seen_on_servers="measured; MDEV-33465: replica ahead, error 1236",
          mutant="source_truncates_and_stays",
          options={"source_crashes": 1}),
)  # fmt: skip


def visible_but_lost(space: StateSpace, end: Node) -> bool:
    """Return whether promotion loses data read before."""
    del space
    return end.watch.kept is not None and not end.watch.kept.issuperset(end.watch.seen)


def confirmed_but_lost(space: StateSpace, end: Node) -> bool:
    """Return whether promotion loses a confirmed transaction."""
    del space
    return end.watch.kept is not None and not end.watch.kept.issuperset(end.watch.confirmed)


def stalled(space: StateSpace, end: Node) -> bool:
    """Return whether a client waits forever."""
    return any(end is stall for stall in space.stalls)


LOSSES: tuple[tuple[str, Callable[[StateSpace, Node], bool]], ...] = (
    ("visible but lost", visible_but_lost),
    ("confirmed but lost", confirmed_but_lost),
    ("stalled", stalled),
)


def smallest_losses(space: StateSpace) -> dict[str, Node]:
    """Return each loss with its nearest end."""
    found: dict[str, Node] = {}
    for name, is_lost in LOSSES:
        end = next((end for end in space.ends if is_lost(space, end)), None)
        if end is not None:
            found[name] = end
    return found
