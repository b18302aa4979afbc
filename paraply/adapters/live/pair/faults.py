"""Faults of a source-replica pair, at random moments of a round."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from paraply.adapters.live.observed import Member, Restart
from paraply.adapters.live.pair.lab import Fault, Inject, PairLab
from paraply.adapters.live.pair.waits import waits_on
from paraply.adapters.live.tails import cut_tail
from paraply.adapters.live.target import ROUND_FAILED
from paraply.adapters.live.workload import ACCOUNTS, HOT_ROWS, Clients, schema_name
from paraply.adapters.servers import wait_until_applied
from paraply.adapters.servers.binlog_dump import log_end
from paraply.adapters.servers.replication import applied_place
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from paraply.adapters.servers.server import Server

_REPEATS = 3
_HOLD_S = 1.0
_WAITS_FOR_ITS_TURN = ("Waiting for prior transaction", "Waiting for preceding transaction")
_WAITER_TRIES, _WAITER_PATIENCE_S = 6, 3.0
_STOP_SECONDS_MAX = 120
_STOP_AFTER_KILL_SECONDS_MAX = 10
"""A kill may prevent the applier's stop."""
_PATIENCE_S = 60.0


def repeat_fault(
    lab: PairLab, clients: Clients, dice: random.Random, fault: Callable[[], object]
) -> None:
    """Inject a fault at random moments, at least once."""
    share = lab.request.transactions // (_REPEATS + 1)
    began = len(clients.load.confirmed)
    for number in range(1, _REPEATS + 1):
        clients.wait_for(began + number * share, lab.request.duration_s / _REPEATS)
        if number > 1 and clients.have_ended:
            break
        time.sleep(dice.random() * 0.05)
        fault()


def restart_of(lab: PairLab, *, is_crash: bool) -> Restart:
    """Return the first replica's state at rest."""
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


def kill_replica(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Kill the first replica, and restart it."""
    notes: list[str] = []

    def fault() -> None:
        lab.replicas[0].kill()
        _come_back(lab, members, notes)

    repeat_fault(lab, clients, dice, fault)
    return notes


def cut_relay_log(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Cut the relay log's unsynced end, which the replica must refetch."""
    replica = lab.replicas[0]
    notes: list[str] = []

    def fault() -> None:
        replica.kill()
        lost = cut_tail(sorted(replica.datadir.glob("*relay-bin.[0-9]*"))[-1], dice)
        notes.append(f"{lost} bytes of the relay log were lost")
        _come_back(lab, members, notes)

    repeat_fault(lab, clients, dice, fault)
    return notes


def cut_source_log(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Cut the end of the source's log (sync_binlog=0), but not of its engine.

    The first replica has part of it and requests what follows. The load continues without limit
    until the source reuses all lost GTIDs.
    """
    share = lab.request.transactions // 4
    with clients.going_on():
        clients.wait_for(share, lab.request.duration_s / 2)
        wait_until_applied(lab.source, lab.replicas[0])
        lab.source.kill()
        end = applied_place(lab.replicas[0])
        lost = cut_tail(lab.source.datadir / end.file, dice, end=end.offset)
        lab.source.start()
        clients.wait_for(len(clients.load.confirmed) + share, lab.request.duration_s)
    return (f"{lost} bytes of the source's log were lost",)


def _come_back(lab: PairLab, members: Sequence[Member], notes: list[str]) -> None:
    replica = lab.replicas[0]
    replica.start()
    members[0].restarts.append(restart_of(lab, is_crash=True))
    notes += filter(None, [lab.start_applier(replica)])


def stop_and_start(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Stop and start the first replica's applier."""
    repeat_fault(lab, clients, dice, lambda: _stop_and_start(lab, members, _STOP_SECONDS_MAX))
    return ()


def _stop_and_start(lab: PairLab, members: Sequence[Member], seconds_max: int) -> None:
    replica = lab.replicas[0]
    replica.query(f"STOP {lab.applier}", read_timeout=seconds_max)
    members[0].restarts.append(restart_of(lab, is_crash=False))
    replica.query(f"START {lab.applier}")


def kill_waiter(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Kill a worker that waits for its turn to commit.

    An applier that then cannot stop requires a kill of the replica.
    """
    replica = lab.replicas[0]
    killed = 0
    notes: list[str] = []

    def fault() -> None:
        nonlocal killed
        struck = None
        for _ in range(_WAITER_TRIES):
            # A cold row: later transactions may not require it.
            with _held_row(lab, dice.randint(HOT_ROWS + 1, ACCOUNTS)):
                waiter = _waiter(replica)
                if waiter is not None and _kill(replica, waiter):
                    killed += 1
                    struck = waiter
                    break
        try:
            _stop_and_start(lab, members, _STOP_AFTER_KILL_SECONDS_MAX)
        except ParaplyError as reason:
            what = f"after KILL {struck} of a worker" if struck else "with no worker killed"
            notes.append(
                f"{replica.name}, {what}, did not stop within {_STOP_AFTER_KILL_SECONDS_MAX} s and"
                f" was killed: {waits_on(replica)} ({reason})"
            )
            replica.kill()
            _come_back(lab, members, notes)

    repeat_fault(lab, clients, dice, fault)
    done = counted(
        killed, "worker that waited for its turn was killed",
        "workers that waited for their turn were killed",
    )  # fmt: skip
    return (done, *notes)


def _waiter(replica: Server) -> int | None:
    deadline = time.monotonic() + _WAITER_PATIENCE_S
    while time.monotonic() < deadline:
        # Columns: id, user, host, database, command, seconds, state, statement.
        for row in replica.query("SHOW PROCESSLIST"):
            if str(row[6]).startswith(_WAITS_FOR_ITS_TURN):
                return int(row[0])
        time.sleep(0.02)
    return None


def _kill(server: Server, session: int) -> bool:
    try:
        server.query(f"KILL {session}")
    except ParaplyError:
        return False
    return True


def forging(forge: Callable[[Path], int], done: str) -> Inject:
    """Return a fault that changes the source's log before replicas receive it.

    ``forge`` changes one file and returns the changed transactions, ``done`` describes them. The
    fault must begin with stopped replicas.
    """

    def inject(
        lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
    ) -> Sequence[str]:
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
    """Kill the source and restart it."""

    def fault() -> None:
        lab.source.kill()
        lab.source.start()

    repeat_fault(lab, clients, dice, fault)
    return ()


def freeze_replica(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Freeze the first replica for a while."""
    replica = lab.replicas[0]

    def fault() -> None:
        replica.freeze()
        try:
            time.sleep(dice.random() * _HOLD_S)
        finally:
            replica.thaw()

    repeat_fault(lab, clients, dice, fault)
    return ()


def hold_rows(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Lock a hot row, so that later workers queue."""

    def fault() -> None:
        with _held_row(lab, dice.randint(1, HOT_ROWS)):
            time.sleep(_HOLD_S)

    repeat_fault(lab, clients, dice, fault)
    return ()


@contextmanager
def _held_row(lab: PairLab, row: int) -> Iterator[None]:
    with lab.replicas[0].connect(autocommit=False) as gate, gate.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {schema_name(0)}.account WHERE id = {row} FOR UPDATE")
        try:
            yield
        finally:
            gate.rollback()


def cut_network(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Drop packets, break the connection, then reconnect."""
    link = lab.link
    if link is None:
        raise ValueError("the first replica follows its source over no link")

    def fault() -> None:
        try:
            link.silence()
            time.sleep(dice.random() * _HOLD_S)
            link.cut()
            time.sleep(dice.random() * _HOLD_S / 2)
        finally:
            link.mend()

    repeat_fault(lab, clients, dice, fault)
    return ()


def flush_relay_logs(
    lab: PairLab, clients: Clients, members: Sequence[Member], dice: random.Random
) -> Sequence[str]:
    """Rotate the first replica's relay log."""
    replica = lab.replicas[0]
    repeat_fault(lab, clients, dice, lambda: replica.run(["FLUSH NO_WRITE_TO_BINLOG RELAY LOGS"]))
    return ()


def wait_until(condition: Callable[[], bool], what: str, server: Server) -> None:
    """Wait for the condition; ``ParaplyError`` P621 after a minute."""
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
    Fault(name="kill-waiter", inject=kill_waiter,
          meaning="a worker that waits for its turn to commit is killed (KILL), and the applier is"
          " started again"),
    Fault(name="cut-network", inject=cut_network, needs_link=True,
          meaning="packets between source and replica are lost, then the connection is"),
    Fault(name="stop-start", inject=stop_and_start,
          meaning="the applier is stopped and started in the middle of the load"),
    Fault(name="flush-relay-logs", inject=flush_relay_logs,
          meaning="FLUSH RELAY LOGS in the middle of the load"),
)  # fmt: skip


def by_name(*faults: Fault) -> dict[str, Fault]:
    """Return family and common faults by name."""
    return {fault.name: fault for fault in (*faults, *BLOWS)}
