"""What is done to MySQL servers under load, and what is observed of it at that moment."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.live.forging import forge_last_committed
from adapters.live.observed import Restart
from adapters.live.strikes import (
    cut_network,
    flush_relay_logs,
    freeze_replica,
    hold_rows,
    kill_source,
    strike,
)
from adapters.servers.binlog_dump import log_end
from adapters.servers.replication import executed_position

if TYPE_CHECKING:
    from adapters.live.mysql import MysqlLab
    from adapters.live.observed import Member
    from adapters.live.workload import Clients

Inject = Callable[["MysqlLab", "Clients", Sequence["Member"], random.Random], Sequence[str]]
"""Does it, while the clients run, and returns notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MysqlFault:
    """One thing that can be done to the servers of a round."""

    name: str
    meaning: str
    inject: Inject | None = None
    """None: it is a setting of the replica, and nothing is done under load."""
    is_crash: bool = False
    """Whether a replica is killed: performance_schema is lost with it."""
    workload: str = ""
    needs_link: bool = False
    """Whether the first replica follows its source over a link that can be cut."""


def _restart(lab: MysqlLab, *, is_crash: bool) -> Restart:
    replica = lab.replicas[0]
    end = log_end(replica)
    position = executed_position(replica)
    return Restart(
        file=end.file,
        offset=0 if is_crash else end.offset,
        tags=lab.tags(replica),
        gtid_position=position,
        position_before=position,
        is_crash=is_crash,
    )


def _kill_replica(
    lab: MysqlLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    replica = lab.replicas[0]

    def blow() -> None:
        replica.kill()
        replica.start()
        members[0].restarts.append(_restart(lab, is_crash=True))
        replica.query("START REPLICA")

    strike(lab, clients, dice, blow)
    return ()


def _stop_and_start(
    lab: MysqlLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    replica = lab.replicas[0]

    def blow() -> None:
        replica.query("STOP REPLICA")
        members[0].restarts.append(_restart(lab, is_crash=False))
        replica.query("START REPLICA")

    strike(lab, clients, dice, blow)
    return ()


def _forge(
    lab: MysqlLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Let all transactions of the round seem independent, before any replica has received one."""
    for replica in lab.replicas:
        replica.query("STOP REPLICA")
    clients.wait(lab.request.duration_s)
    clients.stop()
    files = lab.log_files(lab.source)
    lab.source.stop()
    forged = sum(map(forge_last_committed, files))
    lab.source.start()
    for replica in lab.replicas:
        replica.query("START REPLICA")
    return (f"{forged} transactions were made to depend on the first alone",)


COMMIT_ORDER_OFF, FORGED = "commit-order-off", "forged-last-committed"
MYSQL_FAULTS: dict[str, MysqlFault] = {
    fault.name: fault
    for fault in (
        MysqlFault(name=COMMIT_ORDER_OFF,
                   meaning="control: replica_preserve_commit_order=OFF on the replicas"),
        MysqlFault(name=FORGED, inject=_forge, workload="chains",
                   meaning="control: all transactions in the source's log seem independent"),
        MysqlFault(name="kill-replica", inject=_kill_replica, is_crash=True,
                   meaning="the first replica is killed (SIGKILL) and started again, three times"),
        MysqlFault(name="kill-source", inject=kill_source, workload="rows",
                   meaning="the source is killed (SIGKILL) and started again, three times"),
        MysqlFault(name="freeze-replica", inject=freeze_replica,
                   meaning="the first replica is stopped and let go (SIGSTOP, SIGCONT)"),
        MysqlFault(name="hold-rows", inject=hold_rows,
                   meaning="a session on the replica holds a hot row that the workers need"),
        MysqlFault(name="cut-network", inject=cut_network, needs_link=True,
                   meaning="packets between source and replica are lost, then the connection is"),
        MysqlFault(name="stop-start", inject=_stop_and_start,
                   meaning="STOP REPLICA and START REPLICA in the middle of the load"),
        MysqlFault(name="flush-relay-logs", inject=flush_relay_logs,
                   meaning="FLUSH RELAY LOGS in the middle of the load"),
    )
}  # fmt: skip
