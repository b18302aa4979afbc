"""Logs that a live run wrote, decoded by us and printed by the server's own program."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from adapters.binlog.report import LogReport
from adapters.binlog.text.dump import read_text_transactions
from adapters.binlog.transactions import read_transactions
from adapters.servers.server import Server
from vocabulary.log import LoggedTransaction

FIELDS = (
    "ordinal", "kind", "gtid", "server_id", "last_committed", "sequence_number",
    "clock", "commit_id", "domain", "flags", "statements", "xa_id", "complete",
)  # fmt: skip


def compare_with_own_tool(server: Server, logs: Iterable[Path], folder: Path) -> int:
    """Compare every transaction of every log, rows included; return how many there were.

    Values are compared too: numbers and short text, which both print alike.
    """
    compared = 0
    for log in logs:
        text = server.tool_output(
            server.installation.binlog_command, "--base64-output=DECODE-ROWS", "-vv", str(log)
        )
        dump = folder / f"{server.name}-{log.name}.txt"
        dump.write_bytes(text)
        report = LogReport()
        binary = list(read_transactions([str(log)]))
        printed = list(read_text_transactions([str(dump)], report=report))
        assert [d.text for d in report.diagnostics()] == [], log.name
        assert len(binary) == len(printed), log.name
        for ours, theirs in zip(binary, printed, strict=True):
            assert ours.start.offset == theirs.start.offset, log.name
            # What a relay log's events say of their end is their place in the source's log.
            assert "relay" in log.name or ours.end_offset == theirs.end_offset, log.name
            for name in FIELDS:
                assert getattr(ours, name) == getattr(theirs, name), (log.name, ours.start, name)
            assert plain_rows(ours) == plain_rows(theirs), (log.name, ours.start)
        compared += len(binary)
    return compared


def plain_rows(logged: LoggedTransaction) -> list[tuple[object, ...]]:
    """Return the row changes; a printed text does not tell its character set, so bytes are text."""
    return [
        (row.table, row.operation, *(image and tuple(map(_plain, image)) for image in images))
        for row in logged.rows
        for images in [(row.before, row.after)]
    ]


def _plain(value: object) -> object:
    return value.decode("utf-8") if isinstance(value, bytes) else value
