"""Ways to make a transaction visible, or to lose it, that semi-synchronous replication leaves open.

In each one transaction waits for an acknowledgement that cannot come: the only replica does not
receive any more. Then something ends the wait, or the source, or the relay log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.live.semi_sync_told import MomentKind
from adapters.live.strikes import wait_until

if TYPE_CHECKING:
    from adapters.live.semi_sync import SemiSyncLab, Waiter

WAITING = "Waiting for semi-sync ACK from slave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way: what is done while the transaction waits."""

    name: str
    meaning: str
    act: Callable[[SemiSyncLab, Waiter], None]
    receives: bool = False
    """Whether the replica still receives, and only does not apply."""
    waits: bool = True
    """Whether the transaction waits at all, so that one can look while it does."""
    prepare: tuple[str, ...] = ()
    """What is told the source first."""


def _restart(lab: SemiSyncLab, waiter: Waiter) -> None:
    lab.source.kill()
    waiter.end()
    lab.source.start()
    lab.note(MomentKind.RESTARTED)


def _kill(lab: SemiSyncLab, waiter: Waiter, what: str) -> None:
    lab.source.query(f"KILL {what} {waiter.connection_id}")
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note=f"KILL {what}")


def _time_out(lab: SemiSyncLab, waiter: Waiter) -> None:
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="time-out")


def _lose_the_replica(lab: SemiSyncLab, waiter: Waiter) -> None:
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="too few replicas")


def _switch_off(lab: SemiSyncLab, waiter: Waiter) -> None:
    lab.source.query("SET GLOBAL rpl_semi_sync_master_enabled=0")
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="switched off")


def _connect_empty(lab: SemiSyncLab, waiter: Waiter) -> None:
    """Let a replica without any data connect at the end of the log: it counts as a receipt."""
    empty = lab.add_empty_replica()
    file, offset, *_ = lab.source.query("SHOW MASTER STATUS")[0]
    lab.follow_from(empty, str(file), int(offset))
    waiter.end()


def _receive(lab: SemiSyncLab, waiter: Waiter) -> None:
    """Let the wait end as it should: what comes after the loss of the source is the fault."""
    waiter.end()


WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way(name="restart-source", act=_restart,
            meaning="the source is killed while a commit waits, and started again"),
        Way(name="kill-connection", act=lambda lab, one: _kill(lab, one, "CONNECTION"),
            meaning="KILL CONNECTION of the session that waits"),
        Way(name="kill-query", act=lambda lab, one: _kill(lab, one, "QUERY"),
            meaning="KILL QUERY of the session that waits"),
        Way(name="no-replica", act=_lose_the_replica, waits=False,
            prepare=("SET GLOBAL rpl_semi_sync_master_wait_no_slave=0",),
            meaning="the only replica is killed, and rpl_semi_sync_master_wait_no_slave is off"),
        Way(name="time-out", act=_time_out,
            prepare=("SET GLOBAL rpl_semi_sync_master_timeout=3000",),
            meaning="rpl_semi_sync_master_timeout passes"),
        Way(name="switch-off", act=_switch_off,
            meaning="SET GLOBAL rpl_semi_sync_master_enabled=0"),
        Way(name="empty-replica", act=_connect_empty,
            meaning="control: an empty replica connects at the end of the binary log"),
        Way(name="discard-relay-log", act=_receive, receives=True,
            meaning="control: STOP SLAVE, START SLAVE before what was received is applied"),
    )
}  # fmt: skip


def wait_for_waiter(lab: SemiSyncLab, waiter: Waiter) -> None:
    """Return once the transaction waits for its acknowledgement."""

    def is_waiting() -> bool:
        rows = lab.source.query(
            f"SELECT state FROM information_schema.processlist WHERE id = {waiter.connection_id}"
        )
        return bool(rows) and str(rows[0][0]).startswith(WAITING)

    wait_until(is_waiting, "wait for an acknowledgement", lab.source)
    time.sleep(0.05)
