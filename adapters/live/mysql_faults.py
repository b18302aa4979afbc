"""What is done to MySQL servers under load, and what is observed of it at that moment."""

from __future__ import annotations

import random
from collections.abc import Sequence

from adapters.live.forging import forge_last_committed
from adapters.live.observed import Member
from adapters.live.pair import Fault, PairLab
from adapters.live.strikes import (
    cut_network,
    flush_relay_logs,
    forging,
    freeze_replica,
    hold_rows,
    kill_source,
    restart_of,
    stop_and_start,
    strike,
)
from adapters.live.workload import Clients


def _kill_replica(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    replica = lab.replicas[0]

    def blow() -> None:
        replica.kill()
        replica.start()
        members[0].restarts.append(restart_of(lab, is_crash=True))
        replica.query("START REPLICA")

    strike(lab, clients, dice, blow)
    return ()


_forge = forging(forge_last_committed, "were made to depend on the first alone")

COMMIT_ORDER_OFF, FORGED = "commit-order-off", "forged-last-committed"
MYSQL_FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault(name=COMMIT_ORDER_OFF,
              meaning="control: replica_preserve_commit_order=OFF on the replicas"),
        Fault(name=FORGED, inject=_forge, workload="chains",
              meaning="control: all transactions in the source's log seem independent"),
        Fault(name="kill-replica", inject=_kill_replica, is_crash=True,
              meaning="the first replica is killed (SIGKILL) and started again, three times"),
        Fault(name="kill-source", inject=kill_source, workload="rows",
              meaning="the source is killed (SIGKILL) and started again, three times"),
        Fault(name="freeze-replica", inject=freeze_replica,
              meaning="the first replica is stopped and let go (SIGSTOP, SIGCONT)"),
        Fault(name="hold-rows", inject=hold_rows,
              meaning="a session on the replica holds a hot row that the workers need"),
        Fault(name="cut-network", inject=cut_network, needs_link=True,
              meaning="packets between source and replica are lost, then the connection is"),
        Fault(name="stop-start", inject=stop_and_start,
              meaning="STOP REPLICA and START REPLICA in the middle of the load"),
        Fault(name="flush-relay-logs", inject=flush_relay_logs,
              meaning="FLUSH RELAY LOGS in the middle of the load"),
    )
}  # fmt: skip
