"""Blows that fall on any pair of servers, of either family, at moments spread over a round."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.live.observed import Member, Restart
from adapters.live.pair import Fault, Inject, PairLab
from adapters.live.target import ROUND_FAILED
from adapters.live.workload import HOT_ROWS, Clients, schema_name
from adapters.servers.binlog_dump import log_end
from vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from adapters.servers.server import Server

_STRIKES = 3
"""How often a fault strikes in a round."""
_HOLD_S = 1.0
_PATIENCE_S = 60.0


def strike(lab: PairLab, clients: Clients, dice: random.Random, blow: Callable[[], object]) -> None:
    """Strike at moments spread over the round, none of them foreseeable to the servers."""
    share = lab.request.transactions // (_STRIKES + 1)
    began = len(clients.load.confirmed)
    for number in range(1, _STRIKES + 1):
        if not clients.wait_for(began + number * share, lab.request.duration_s / _STRIKES):
            break
        time.sleep(dice.random() * 0.05)
        blow()


def restart_of(lab: PairLab, *, is_crash: bool) -> Restart:
    """Look at the first replica while its applier stands still."""
    replica = lab.replicas[0]
    end = log_end(replica)
    return Restart(
        file=end.file,
        offset=0 if is_crash else end.offset,
        tags=lab.tags(replica),
        gtid_position=lab.position(replica),
        position_before=lab.stated_position(replica),
        is_crash=is_crash,
    )


def stop_and_start(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Stop the first replica's applier in good order, and let it go on."""
    replica = lab.replicas[0]

    def blow() -> None:
        replica.query(f"STOP {lab.applier}")
        members[0].restarts.append(restart_of(lab, is_crash=False))
        replica.query(f"START {lab.applier}")

    strike(lab, clients, dice, blow)
    return ()


def forging(forge: Callable[[Path], int], done: str) -> Inject:
    """Return what changes the source's log before any replica has received the round.

    ``forge`` changes one file of it and says how many transactions it changed, ``done`` what
    became of those.
    """

    def inject(
        lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
    ) -> Sequence[str]:
        for replica in lab.replicas:
            replica.query(f"STOP {lab.applier}")
        clients.wait(lab.request.duration_s)
        clients.stop()
        files = lab.log_files(lab.source)
        lab.source.stop()
        forged = sum(map(forge, files))
        lab.source.start()
        for replica in lab.replicas:
            replica.query(f"START {lab.applier}")
        return (f"{forged} transactions {done}",)

    return inject


def kill_source(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Kill the source and start it again."""

    def blow() -> None:
        lab.source.kill()
        lab.source.start()

    strike(lab, clients, dice, blow)
    return ()


def freeze_replica(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Stop the first replica in its tracks, and let it go."""
    replica = lab.replicas[0]

    def blow() -> None:
        replica.freeze()
        try:
            time.sleep(dice.random() * _HOLD_S)
        finally:
            replica.thaw()

    strike(lab, clients, dice, blow)
    return ()


def hold_rows(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Stall the worker that needs a hot row, and let those behind it run into the gate."""
    replica = lab.replicas[0]

    def blow() -> None:
        row = dice.randint(1, HOT_ROWS)
        with replica.connect(autocommit=False) as gate, gate.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {schema_name(0)}.account WHERE id = {row} FOR UPDATE")
            time.sleep(_HOLD_S)
            gate.rollback()

    strike(lab, clients, dice, blow)
    return ()


def cut_network(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Lose all packets for a while, then break the connection, and let it be made again."""
    link = lab.link
    if link is None:
        raise ValueError("the first replica follows its source over no link")

    def blow() -> None:
        try:
            link.silence()
            time.sleep(dice.random() * _HOLD_S)
            link.cut()
            time.sleep(dice.random() * _HOLD_S / 2)
        finally:
            link.mend()

    strike(lab, clients, dice, blow)
    return ()


def flush_relay_logs(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Let the first replica go on in a new relay log."""
    replica = lab.replicas[0]
    strike(lab, clients, dice, lambda: replica.run(["FLUSH NO_WRITE_TO_BINLOG RELAY LOGS"]))
    return ()


def wait_until(condition: Callable[[], bool], what: str, server: Server) -> None:
    """Return once the condition holds; ``ParaplyError`` P621 if it does not within a minute."""
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise ParaplyError(ROUND_FAILED, where=server.name, reason=f"no {what} came")
        time.sleep(0.02)


BLOWS: tuple[Fault, ...] = (
    Fault(name="kill-source", inject=kill_source, workload="rows",
          meaning="the source is killed (SIGKILL) and started again, three times"),
    Fault(name="freeze-replica", inject=freeze_replica,
          meaning="the first replica is stopped in its tracks and let go (SIGSTOP, SIGCONT)"),
    Fault(name="hold-rows", inject=hold_rows,
          meaning="a session on the replica holds a hot row that the workers need"),
    Fault(name="cut-network", inject=cut_network, needs_link=True,
          meaning="packets between source and replica are lost, then the connection is"),
    Fault(name="stop-start", inject=stop_and_start,
          meaning="the applier is stopped and started in the middle of the load"),
    Fault(name="flush-relay-logs", inject=flush_relay_logs,
          meaning="FLUSH RELAY LOGS in the middle of the load"),
)  # fmt: skip
"""The faults that every pair can have."""


def by_name(*faults: Fault) -> dict[str, Fault]:
    """Return faults of one family, and those that every pair can have, by their names."""
    return {fault.name: fault for fault in (*faults, *BLOWS)}
