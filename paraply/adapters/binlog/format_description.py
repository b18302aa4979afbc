"""The format description event: server and event layout.

Layout: MySQL Internals "FORMAT_DESCRIPTION_EVENT", MariaDB Knowledge Base "5-FORMAT_DESCRIPTION".
The version implies a checksum byte (checksum_version_split and checksum_version_split_mariadb).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.event_types import EventType

HEADER_BYTES = 19
CHECKSUM_BYTES = 4
_FIRST_MYSQL_WITH_CHECKSUM = (5, 6, 1)
_FIRST_MARIADB_WITH_CHECKSUM = (5, 3, 0)
_EVENT_TYPES_MAX_WITHOUT_CHECKSUM = 34
"""Servers without checksums list 27 types, 5.6 lists 35."""


class Checksum(IntEnum):
    """The checksum algorithm of events."""

    NONE = 0
    CRC32 = 1
    UNDEFINED = 255
    """Undecided; events have no checksum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatDescription:
    """A decoded format description event.

    ``created_s`` is non-zero after a server start. ``post_header_lengths[t-1]`` is the fixed length
    of type ``t``.
    """

    server_version: str
    is_mariadb: bool
    created_s: int
    header_length: int
    post_header_lengths: bytes
    checksum: Checksum
    has_checksum_field: bool

    def post_header_length(self, kind: EventType, default: int) -> int:
        """Return a type's fixed length, or the default."""
        index = int(kind) - 1
        return self.post_header_lengths[index] if index < len(self.post_header_lengths) else default


def parse_server_version(text: str) -> tuple[int, ...]:
    """Return a version's leading numbers, or ``(0, 0, 0)``.

    >>> parse_server_version("10.11.19-MariaDB-log")
    (10, 11, 19)
    """
    found = re.match(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})", text)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)


def _is_mariadb(server_version: str) -> bool:
    return "mariadb" in server_version.lower()


def _has_checksum_field(server_version: str) -> bool:
    version = parse_server_version(server_version)
    if _is_mariadb(server_version):
        return version >= _FIRST_MARIADB_WITH_CHECKSUM
    return version >= _FIRST_MYSQL_WITH_CHECKSUM


def parse_format_description(body: bytes) -> FormatDescription:
    """Decode the bytes after the common header.

    Raises ``MalformedError`` for short events, other binlog versions and unknown checksums.
    """
    cursor = Cursor(body)
    binlog_version = cursor.unsigned(2)
    if binlog_version != 4:
        raise MalformedError(f"binlog version {binlog_version} (only version 4 is known)")
    server_version = cursor.take(50).split(b"\0", 1)[0].decode("latin-1")
    created_s = cursor.unsigned(4)
    header_length = cursor.unsigned(1)
    if header_length < HEADER_BYTES:
        raise MalformedError(f"a common header of {header_length} bytes (at least 19 are needed)")
    has_checksum_field = _has_checksum_field(server_version)
    checksum = Checksum.NONE
    lengths = cursor.rest()
    if has_checksum_field:
        if len(lengths) < 1 + CHECKSUM_BYTES:
            raise MalformedError("the checksum algorithm is missing")
        algorithm = lengths[-1 - CHECKSUM_BYTES]
        if algorithm not in (Checksum.NONE, Checksum.CRC32, Checksum.UNDEFINED):
            raise MalformedError(f"checksum algorithm {algorithm} is unknown")
        checksum = Checksum(algorithm)
        lengths = lengths[: -1 - CHECKSUM_BYTES]
    elif len(lengths) > _EVENT_TYPES_MAX_WITHOUT_CHECKSUM:
        # A damaged version must not switch the checksums off.
        raise MalformedError(f"server {server_version!r} does not know {len(lengths)} event types")
    return FormatDescription(
        server_version=server_version,
        is_mariadb=_is_mariadb(server_version),
        created_s=created_s,
        header_length=header_length,
        post_header_lengths=lengths,
        checksum=checksum,
        has_checksum_field=has_checksum_field,
    )
