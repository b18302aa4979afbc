"""What is done to MySQL servers under load, and what is observed of it at that moment."""

from __future__ import annotations

import random
from collections.abc import Sequence

from adapters.live.forging import forge_last_committed
from adapters.live.observed import Member
from adapters.live.pair import Fault, PairLab
from adapters.live.strikes import by_name, forging, restart_of, strike
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
MYSQL_FAULTS = by_name(
    Fault(name=COMMIT_ORDER_OFF,
          meaning="control: replica_preserve_commit_order=OFF on the replicas"),
    Fault(name=FORGED, inject=_forge, workload="chains",
          meaning="control: all transactions in the source's log seem independent"),
    Fault(name="kill-replica", inject=_kill_replica, is_crash=True,
          meaning="the first replica is killed (SIGKILL) and started again, three times"),
)  # fmt: skip
