"""Galera: what a published report found."""

from __future__ import annotations

import signal

from ci.counterexamples.registry import script
from ci.counterexamples.stage import Stage
from paraply.adapters.live.galera.lab import GaleraLab
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.servers import Flavour

_ROWS = 200


@script("joint-crash", "J1", on=(Flavour.MARIADB,))
def joint_crash(stage: Stage) -> None:
    """Three members with `innodb_flush_log_at_trx_commit=0` confirm rows, and are killed at once.

    Each is started alone. Does any have all confirmed rows?
    """
    request = LiveRequest(mode="multi-master", basedir=stage.installation.basedir)
    lab = GaleraLab(request, stage.room, shows_appliers=False)
    first = lab.members[0]
    first.run(["CREATE DATABASE d", "CREATE TABLE d.p (a INT PRIMARY KEY)"])
    lab.wait_until_at_rest()
    for member in lab.members:
        member.query("SET GLOBAL innodb_flush_log_at_trx_commit=0")
    stage.note(f"three members of {stage.installation.version_text} run")
    with first.connect() as session, session.cursor() as cursor:
        for row in range(_ROWS):
            cursor.execute(f"INSERT INTO d.p VALUES ({row})")
    for member in lab.members:
        member.process.signal(signal.SIGKILL)
    for member in lab.members:
        member.kill()
    stage.note(f"{_ROWS} rows are confirmed, and all members are killed")
    kept = []
    for member in lab.members:
        # Alone: what its engine has is all that a cluster can begin with.
        member.options = tuple(one for one in member.options if not one.startswith("--wsrep"))
        member.start()
        kept.append(int(stage.value(member, "SELECT COUNT(*) FROM d.p")))
        stage.note(f"{member.name}, started alone, has {kept[-1]} rows")
    stage.decide(
        "J1", is_reproduced=max(kept) < _ROWS,
        seen=f"of {_ROWS} confirmed rows the members have {kept}",
    )  # fmt: skip
