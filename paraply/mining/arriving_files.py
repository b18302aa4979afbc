"""``format("binlog-files")``: the complete files of a log as they arrive, for streaming queries.

A file is complete once another follows, or once it ends with a ROTATE or STOP event. Files behind a
missing number wait for it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from paraply.vocabulary.errors import ParaplyError, register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark imports this module in several short processes: import log readers lazily.

FORMAT = "binlog-files"
NOT_ONE_LOG = register(
    "P744",
    "the files cannot be followed as one log: {reason}",
    "name the files of one log by a glob like /logs/binlog.*; they end in ascending numbers",
)
CAME_LATE = register(
    "P745",
    "{file} came after {last} was audited",
    "audit the files in one order: begin again with a new --out and a new checkpoint",
)

_NUMBERED = re.compile(r"(.*)\.(\d+)(?:\.gz|\.zst)?")
_TAIL_BYTES = 1 << 10
_EVENT = struct.Struct("<4xB4xII")


@dataclass(frozen=True, slots=True)
class Arrived:
    """What of a folder can be audited, and what waits for what.

    Attributes:
        complete: files to audit now, in order.
        missing: the first missing file; empty if none is.
        waiting: files behind the missing one.
        growing: the newest file, if it is still being written.
    """

    complete: tuple[str, ...] = ()
    missing: str = ""
    waiting: int = 0
    growing: str = ""


def arrived(path: str, first: str = "", last: str = "") -> Arrived:
    """Return the files at ``path`` behind ``last``; those from ``first`` to ``last`` are audited.

    Raises ``ParaplyError`` P744 for files of several logs or without numbers, P745 for a file that
    should have come before ``first``.
    """
    from paraply.mining.binlog_rows import files_at

    try:
        files = files_at(path)
    except ParaplyError:
        return Arrived()  # No log yet.
    numbers = _numbers([*files, *filter(None, (first, last))])
    late = [file for file in files if first and numbers[file] < numbers[first]]
    if late:
        raise ParaplyError(CAME_LATE, file=late[0], last=first)
    fresh = [file for file in files if not last or numbers[file] > numbers[last]]
    complete: list[str] = []
    before = numbers[last] if last else numbers[files[0]] - 1
    for file in fresh:
        if numbers[file] != before + 1:
            waiting = len(fresh) - len(complete)
            return Arrived(tuple(complete), _renumbered(file, before + 1), waiting)
        if file == fresh[-1] and not is_closed(file):
            return Arrived(tuple(complete), growing=file)
        complete.append(file)
        before += 1
    return Arrived(tuple(complete))


def number_of(file: str) -> int:
    """Return the number in a file's name; raises P744 without one."""
    return _numbers([file])[file]


def is_closed(file: str) -> bool:
    """Return whether a plain log ends with a ROTATE or STOP event."""
    from paraply.adapters.binlog.blocks import head_of
    from paraply.adapters.binlog.event_types import EventType
    from paraply.adapters.remote_files import open_range, size_of

    if head_of(file) is None:
        return False
    size = size_of(file)
    with open_range(file, max(0, size - _TAIL_BYTES), size) as log:
        tail = log.read(_TAIL_BYTES)
    for at in range(len(tail) - _EVENT.size):
        code, length, end = _EVENT.unpack_from(tail, at)
        is_last = at + length == len(tail) and end == size % (1 << 32)
        if is_last and code in (EventType.ROTATE, EventType.STOP):
            return True
    return False


def _numbers(files: Sequence[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    stems: dict[str, str] = {}
    for file in dict.fromkeys(files):
        match = _NUMBERED.fullmatch(file)
        if match is None:
            raise ParaplyError(NOT_ONE_LOG, reason=f"{file} has no number at its end")
        found[file] = int(match[2])
        stems.setdefault(match[1], file)
    if len(stems) > 1:
        one, other, *_ = stems.values()
        raise ParaplyError(NOT_ONE_LOG, reason=f"{one} and {other} are of two logs")
    if len({*found.values()}) < len(found):
        raise ParaplyError(NOT_ONE_LOG, reason=f"{files[0]} and others have the same number")
    return found


def _renumbered(file: str, number: int) -> str:
    match = _NUMBERED.fullmatch(file)
    assert match is not None
    return f"{match[1]}.{number:0{len(match[2])}}"


class ArrivingFiles(DataSource):
    """Names of complete files, in order."""

    @classmethod
    def name(cls) -> str:
        """Return the format name."""
        return FORMAT

    def schema(self) -> str:
        """Return the only column."""
        return "file string"

    def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:  # noqa: N802
        """Return the streaming reader."""
        return _Reader(self.options["path"])


class _Reader(SimpleDataSourceStreamReader):
    """Its offset names the first and last file so far, and those of the newest batch.

    So a repeated batch is the same, whatever the folder has by then.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names
        return {"first": "", "last": "", "batch": ""}

    def read(self, start: dict[str, Any]) -> tuple[Iterator[tuple[str]], dict[str, Any]]:
        files = arrived(self._path, start["first"], start["last"]).complete
        if not files:
            return iter(()), start
        first = start["first"] or files[0]
        end = {"first": first, "last": files[-1], "batch": "\n".join(files)}
        return iter([(file,) for file in files]), end

    def readBetweenOffsets(  # noqa: N802
        self, start: dict[str, Any], end: dict[str, Any]
    ) -> Iterator[tuple[str]]:
        return iter([(file,) for file in end["batch"].split("\n") if file])


def register_arriving_files(session: SparkSession) -> None:
    """Register ``format("binlog-files")`` with a session."""
    session.dataSource.register(ArrivingFiles)
