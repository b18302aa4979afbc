"""Answers about the served log, which the server behind the gate does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paraply.adapters.wire.packets import EOF, packed
from paraply.adapters.wire.served_log import ServedLog

_STATUS = re.compile(r"\s*SHOW\s+(?:MASTER|BINARY\s+LOG)\s+STATUS\s*;?\s*$", re.I)
_LOGS = re.compile(r"\s*SHOW\s+(?:BINARY|MASTER)\s+LOGS\s*;?\s*$", re.I)
_VARCHAR, _UTF8MB4 = 0xFD, 45
_BEFORE = "00000000-0000-0000-0000-000000000001:1"
"""A transaction before the served log: Debezium does not start from an empty set."""


def local_answer(text: str, log: ServedLog, *, deprecates_eof: bool) -> bytes | None:
    """Return the raw answer to a question about the log; None for other statements.

    A program that starts at the end of the log starts at the served log's first file.
    """
    first = log.files[0]
    if _STATUS.match(text):
        names = ("File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set")
        return rows_answer(
            names, [(first.name, "4", "", "", _BEFORE)], deprecates_eof=deprecates_eof
        )
    if _LOGS.match(text):
        rows = [(file.name, str(file.size)) for file in log.files]
        return rows_answer(("Log_name", "File_size"), rows, deprecates_eof=deprecates_eof)
    return None


def rows_answer(
    names: Sequence[str], rows: Sequence[Sequence[str]], *, deprecates_eof: bool
) -> bytes:
    """Return a result of text columns as raw packets."""
    payloads = [bytes([len(names)])]
    for name in names:
        texts = [b"def", b"", b"", b"", name.encode(), b""]
        fixed = bytes([0x0C]) + bytes([_UTF8MB4, 0]) + (1024).to_bytes(4, "little")
        fixed += bytes([_VARCHAR, 0, 0, 0, 0, 0])
        payloads.append(b"".join(bytes([len(one)]) + one for one in texts) + fixed)
    end = bytes([EOF, 0, 0, 2, 0])
    if not deprecates_eof:
        payloads.append(end)
    for row in rows:
        payloads.append(b"".join(bytes([len(cell.encode())]) + cell.encode() for cell in row))
    payloads.append(bytes([EOF, 0, 0, 2, 0, 0, 0]) if deprecates_eof else end)
    return b"".join(packed(one, at) for at, one in enumerate(payloads, start=1))
