"""Ready settings for known programs, after their public documents."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paraply.adapters.wire.commands import HELD, HoldRule
from paraply.adapters.wire.run import PATIENCE_S, Fault
from paraply.conforming.wire.ghost import GhostTable
from paraply.conforming.wire.suite import WireOptions

_CONNECTION_FAULTS = (
    Fault.DEADLOCK,
    Fault.LOCK_TIMEOUT,
    Fault.LOST_BEFORE,
    Fault.LOST_AFTER,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Settings that options replace, and the command that they are made for.

    Attributes:
        hold: regular expression of the commands that wait.
        let_pass: of those that never wait.
        ghost: name of the new table, of a program that copies a table within one server.
        begin: what the program writes once the load may begin.
        required: level of ``paraply verify``.
        compacts: writes only the last of several versions of a row.
        command: words after ``--``.
        note: what a user must know.
    """

    name: str = ""
    hold: str = HELD
    let_pass: str = ""
    ghost: str = ""
    begin: str = ""
    required: str = "atomic"
    compacts: bool = False
    faults: tuple[Fault, ...] = tuple(Fault)
    patience_s: float = 2.0
    server: str = "mysql"
    command: str = ""
    note: str = ""


NO_PROFILE = Profile(server="mariadb", patience_s=PATIENCE_S)
"""What holds without ``--profile``."""


def options_of(profile: Profile) -> WireOptions:
    """Return the options of a run."""
    ghost = GhostTable(pattern=profile.ghost, begin=_pattern(profile.begin))
    return WireOptions(
        faults=profile.faults,
        required=profile.required,
        compacts=profile.compacts,
        patience_s=profile.patience_s,
        rule=HoldRule(
            hold=_pattern(profile.hold),
            let_pass=_pattern(profile.let_pass) if profile.let_pass else None,
        ),
        ghost=ghost if profile.ghost else None,
    )


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.I | re.S)


_GHOST_TABLE = r"\s*(?:/\*.*?\*/\s*)*(?:INSERT|UPDATE|DELETE|REPLACE)\b.*_gho`?\b"

PROFILES = {
    one.name: one
    for one in (
        Profile(
            name="gh-ost",
            hold=rf"{_GHOST_TABLE}|\s*(?:COMMIT|ROLLBACK)\b",
            let_pass=r"_ghc`|insert /\* gh-ost [^*]*\*/ ignore\s+into\b[^;]*\(\s*select\b",
            ghost="_{table}_gho",
            begin="postponing",
            required="per-key",
            faults=_CONNECTION_FAULTS,
            command="gh-ost --host={target_host} --port={target_port} --user={user} "
            "--database={database} --table={table} --alter='ENGINE=InnoDB' --allow-on-master "
            "--execute --postpone-cut-over-flag-file=/tmp/postpone --initially-drop-ghost-table "
            "--initially-drop-socket-file --max-lag-millis=100000 --heartbeat-interval-millis=500 "
            "--skip-metadata-lock-check",
            note="Create the flag file before. Heartbeat and row copy pass; changes to the new "
            "table wait. For a branch with several workers, add `--require atomic`.",
        ),
        Profile(
            name="dtle",
            let_pass=r"`?dtle`?\.",
            command="./start-dtle-job {source_host} {source_port} {target_host} {target_port}",
            note="The script starts a job from the first file, without a full copy, and waits. "
            "Progress is in the target schema `dtle`, written with each transaction.",
        ),
        Profile(
            name="dm",
            let_pass=r"`?dm_meta`?\.",
            required="per-key",
            command="./start-dm-task {source_host} {source_port} {target_host} {target_port}",
            note="`task-mode: incremental` from the first file, `safe-mode: false` (else updates "
            "become REPLACE) and `compact: false`. Workers split transactions by key.",
        ),
        Profile(
            name="vplayer",
            let_pass=r"\b_vt\.vreplication_log\b",
            required="batches",
            command="./start-vreplication {source_host} {source_port} {target_host} {target_port}",
            note="The position in `_vt.vreplication` is written with the rows. Small transactions "
            "may be merged.",
        ),
        Profile(
            name="flink-cdc",
            required="final",
            compacts=True,
            patience_s=10.0,
            command="./submit-job {source_host} {source_port} {target_host} {target_port}",
            note="Start from the earliest offset. The JDBC sink writes changes in batches at each "
            "checkpoint: set its interval below the patience.",
        ),
    )
}
