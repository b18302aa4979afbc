"""Logs that a live run wrote, decoded by us and printed by the server's own program."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers.server import Server
from paraply.vocabulary.log import ABSENT, LoggedTransaction, RowImage
from tests.live.runs import PATIENCE_S

FIELDS = (
    "ordinal", "kind", "gtid", "server_id", "last_committed", "sequence_number",
    "clock", "commit_id", "domain", "flags", "statements", "xa_id", "complete",
)  # fmt: skip


def compare_logs_of(server: Server, folder: Path) -> int:
    """Compare all binary and relay logs that a server has on disk, running or not."""
    logs = [
        *sorted(server.datadir.glob("bin.[0-9]*")),
        *sorted(server.datadir.glob("*relay*.[0-9]*")),
    ]
    return compare_with_own_tool(
        server, [log for log in logs if log.suffix[1:].isdigit() and log.stat().st_size], folder
    )


def compare_with_own_tool(server: Server, logs: Iterable[Path], folder: Path) -> int:
    """Compare every transaction of every log, rows included; return how many there were.

    Values are compared too: numbers and short text, which both print alike. Of a log that a crash
    or a fault cut off, what is whole is compared.
    """
    compared = 0
    for log in logs:
        found, said = LogReport(), LogReport()
        binary = list(read_transactions([str(log)], report=found))
        text = printed_by(server, log, may_fail=not is_whole(found, binary))
        dump = folder / f"{server.name}-{log.name}.txt"
        dump.write_bytes(text)
        printed = list(read_text_transactions([str(dump)], report=said))
        dump.unlink()
        if is_whole(found, binary):
            assert [d.text for d in said.diagnostics()] == [], log.name
            assert len(binary) == len(printed), log.name
        else:
            binary, printed = (
                [one for one in all_of if one.complete] for all_of in (binary, printed)
            )
            assert len(binary) <= len(printed), log.name
        for ours, theirs in zip(binary, printed, strict=False):
            assert ours.start.offset == theirs.start.offset, log.name
            # What a relay log's events say of their end is their place in the source's log.
            assert "relay" in log.name or ours.end_offset == theirs.end_offset, log.name
            for name in FIELDS:
                assert getattr(ours, name) == getattr(theirs, name), (log.name, ours.start, name)
            assert plain_rows(ours) == plain_rows(theirs), (log.name, ours.start)
        compared += len(binary)
    return compared


def printed_by(server: Server, log: Path, *, may_fail: bool) -> bytes:
    """Return what the server's own program prints of a log.

    Of one that was cut off it prints what is whole and fails; told to go on all the same
    (``--force-read``), MariaDB's never ends.
    """
    command = server.installation.binlog_command
    options = ("--base64-output=DECODE-ROWS", "-vv", str(log))
    if not may_fail:
        return server.tool_output(command, *options)
    return subprocess.run(
        [*command, "--no-defaults", *options], capture_output=True, timeout=PATIENCE_S, check=False
    ).stdout


def is_whole(report: LogReport, read: list[LoggedTransaction]) -> bool:
    """Return whether a log ends where it should, as far as we can tell."""
    return not report.diagnostics() and all(one.complete for one in read)


def plain_rows(logged: LoggedTransaction) -> list[tuple[object, ...]]:
    """Return the row changes; a printed text does not tell its character set, so bytes are text."""
    return [
        (row.table, row.operation, *(image and _shown(image) for image in images))
        for row in logged.rows
        for images in [(row.before, row.after)]
    ]


def _shown(image: RowImage) -> tuple[object, ...]:
    """Return an image's values; a printed text leaves out those at its end that are absent."""
    values = list(map(_plain, image))
    while values and values[-1] is ABSENT:
        values.pop()
    return tuple(values)


def _plain(value: object) -> object:
    return value.decode("utf-8") if isinstance(value, bytes) else value
