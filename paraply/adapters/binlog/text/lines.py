"""Numbered, bounded lines of a text dump."""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.adapters.binlog.source import Source
from paraply.vocabulary.errors import ParaplyError, register

TEXT_LINE_TOO_LONG = register(
    "P121",
    "a line is longer than {bytes_max} bytes",
    "this is not the output of mysqlbinlog -v, or holds BINLOG statements: "
    "print it with --base64-output=DECODE-ROWS",
)
NOT_A_TEXT_DUMP = register(
    "P122",
    "is not the output of mysqlbinlog: no event header in the first {lines} lines",
    "give the output of mysqlbinlog -v --base64-output=DECODE-ROWS, or the binary log itself",
)
TEXT_WITHOUT_ROWS = register(
    "P123",
    "rows of {table} are not printed",
    "print them with mysqlbinlog -v --base64-output=DECODE-ROWS, or give the binary log itself",
)
MALFORMED_TEXT = register(
    "P124",
    "{what} is not understood: {text}",
    "nothing is known of this row; give the binary log itself",
)

LINE_BYTES_MAX = 64 << 20
"""The largest default max_allowed_packet."""
_CHUNK_BYTES = 1 << 16


class Lines:
    """Reads lines without ends; ``number`` is the last."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.number = 0

    @property
    def where(self) -> str:
        """Return ``file:line`` of the last line."""
        return f"{self.source.name}:{self.number}"

    def __iter__(self) -> Iterator[bytes]:
        pieces: list[bytes] = []
        length = 0
        while chunk := self.source.read(_CHUNK_BYTES):
            first, *others = chunk.split(b"\n")
            pieces.append(first)
            length += len(first)
            if length > LINE_BYTES_MAX:
                self.number += 1
                raise ParaplyError(TEXT_LINE_TOO_LONG, where=self.where, bytes_max=LINE_BYTES_MAX)
            if not others:
                continue
            for line in (b"".join(pieces), *others[:-1]):
                self.number += 1
                yield line.removesuffix(b"\r")
            pieces, length = [others[-1]], len(others[-1])
        last = b"".join(pieces)
        if last:
            self.number += 1
            yield last


@dataclass(frozen=True, slots=True)
class TextHeader:
    """One header line; ``kind`` follows the position."""

    timestamp_s: int
    server_id: int
    end_position: int
    kind: str
    rest: str


_HEADER = re.compile(
    rb"#(\d\d)(\d\d)(\d\d) +(\d{1,3}):(\d\d):(\d\d) server id (\d{1,10}) +end_log_pos (\d{1,20})"
    rb"(?: CRC32 0x[0-9a-f]+)?[ \t]+(.*)"
)
_KIND = re.compile(r"[A-Za-z0-9_-]+(?: PREPARE)?")


def parse_header(line: bytes) -> TextHeader | None:
    """Parse a header line (UTC), if one."""
    if not line.startswith(b"#"):
        return None
    found = _HEADER.match(line)
    if found is None:
        return None
    year, month, day, hour, minute, second, server_id, end = map(int, found.groups()[:8])
    text = found[9].decode("utf-8", "replace")
    kind = _KIND.match(text)
    name = kind[0] if kind else ""
    moment = (2000 + year, month, day, hour, minute, second)
    in_range = 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61
    seconds = timegm(moment) if in_range else 0
    if year >= 70:  # two digits: a log of 1999 cannot be, one without a time is of 1970
        seconds = 0
    return TextHeader(seconds, server_id, end, name, text[len(name) :].strip())
