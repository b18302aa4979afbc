"""Where in the log a dump says that it was taken (``mysqldump --source-data``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.framing import HEADER, BinlogReader
from paraply.adapters.binlog.source import open_source
from paraply.auditing.dump_age import DumpMoment
from paraply.vocabulary.errors import ParaplyError

_HEAD_BYTES = 64 << 10
"""The place stands before the first table."""
_PLACE = re.compile(
    r"\b(?:MASTER|SOURCE)_LOG_FILE\s*=\s*'([^'\n]+)'\s*,\s*(?:MASTER|SOURCE)_LOG_POS\s*=\s*(\d+)",
    re.IGNORECASE,
)
_COMPRESSED = {".gz", ".zst"}
_BEFORE_ROWS = {
    EventType.FORMAT_DESCRIPTION,
    EventType.PREVIOUS_GTIDS,
    EventType.MARIADB_GTID_LIST,
    EventType.BINLOG_CHECKPOINT,
}
_AFTER_ROWS = {EventType.ROTATE, EventType.STOP}


def told_moment(schema: str, files: Sequence[str]) -> DumpMoment:
    """Return the moment of the log that a dump's own header names, if it is of begin or end.

    The place must be that of the first file before its first transaction, or behind the last
    transaction, also in a later file of the same name. What cannot be read tells nothing.
    """
    if not files or not all(Path(each).is_file() for each in (schema, *files)):
        return DumpMoment.UNKNOWN
    with Path(schema).open("rb") as stream:
        place = _PLACE.search(stream.read(_HEAD_BYTES).decode("utf-8", "replace"))
    if place is None:
        return DumpMoment.UNKNOWN
    name, offset = place[1], int(place[2])
    try:
        if name == _logged_name(files[0]) and offset <= _first_transaction(files[0]):
            return DumpMoment.BEGIN
    except ParaplyError:
        return DumpMoment.UNKNOWN
    last = _logged_name(files[-1])
    is_after = _is_behind_all(files[-1], offset) if name == last else _is_later(name, last)
    return DumpMoment.END if is_after else DumpMoment.UNKNOWN


def _logged_name(file: str) -> str:
    path = Path(file)
    return path.stem if path.suffix in _COMPRESSED else path.name


def _is_later(name: str, last: str) -> bool:
    """Return whether a log has a greater number than another of the same base name."""
    (base, _, number), (last_base, _, last_number) = name.rpartition("."), last.rpartition(".")
    are_numbers = number.isdecimal() and last_number.isdecimal()
    return base == last_base and are_numbers and int(number) > int(last_number)


def _first_transaction(file: str) -> int:
    """Return the offset of a log's first event that is not about the file itself; 0 if none."""
    with open_source(file) as source:
        for header, _ in BinlogReader(source).raw_events():
            if header.type_code not in _BEFORE_ROWS:
                return header.offset
    return 0


def _is_behind_all(file: str, offset: int) -> bool:
    """Return whether an offset of a plain log has at most the file's end event behind it."""
    path = Path(file)
    if path.suffix in _COMPRESSED:
        return False
    rest = path.stat().st_size - offset
    if rest < HEADER.size:
        return rest <= 0
    with path.open("rb") as stream:
        stream.seek(offset)
        _, code, _, length, *_ = HEADER.unpack(stream.read(HEADER.size))
    return code in _AFTER_ROWS and length == rest
