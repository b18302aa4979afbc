"""Opens each side's files."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from paraply.adapters.binlog.errors import UNREADABLE_FILE
from paraply.adapters.binlog.input_files import require_consecutive
from paraply.adapters.binlog.source import STANDARD_INPUT, Source, open_source
from paraply.adapters.binlog.text.dump import is_text_dump
from paraply.adapters.postgresql.capture import is_change_stream
from paraply.verifying.errors import MIXED_LOGS
from paraply.vocabulary.errors import ParaplyError

HEAD_BYTES = 1024


class InputKind(Enum):
    """The format of an input file."""

    BINARY = "binary log"
    TEXT = "text dump"
    POSTGRESQL = "change stream of PostgreSQL"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogInput:
    """Files of one side, in reading order."""

    names: tuple[str, ...]
    sources: tuple[str | Source, ...]
    kind: InputKind


def open_log(names: Sequence[str]) -> LogInput:
    """Open the files of one side.

    Raises ``ParaplyError`` P101 (unreadable), P112 (a gap), P374 (mixed kinds).
    """
    require_consecutive(names)
    looked_at = [_look_at(name) for name in names]
    kinds = {kind for _, kind in looked_at}
    if len(kinds) > 1:
        by_kind = {kind: name for name, (_, kind) in zip(names, looked_at, strict=True)}
        one, other = sorted(by_kind, key=lambda kind: kind.value)[:2]
        raise ParaplyError(
            MIXED_LOGS,
            one=by_kind[one],
            is_one=one.value,
            other=by_kind[other],
            is_other=other.value,
        )
    return LogInput(
        names=tuple(names), sources=tuple(source for source, _ in looked_at), kind=kinds.pop()
    )


def is_same_log(one: LogInput, other: LogInput) -> bool:
    """Return whether both sides read the same files."""
    files = [
        {(os.stat(name).st_dev, os.stat(name).st_ino) for name in log.names if _is_regular(name)}
        for log in (one, other)
    ]
    return bool(files[0] & files[1])


def _look_at(name: str) -> tuple[str | Source, InputKind]:
    if name != STANDARD_INPUT and os.path.isdir(name):
        raise ParaplyError(UNREADABLE_FILE, where=name, reason="it is a folder")
    source = open_source(name)
    try:
        head = source.peek(HEAD_BYTES)
    except ParaplyError:
        head = b""  # Damaged from its first byte: the reader reports how.
    kind = (
        InputKind.POSTGRESQL
        if is_change_stream(head)
        else InputKind.TEXT
        if is_text_dump(head)
        else InputKind.BINARY
    )
    if not _is_regular(name):
        return source, kind
    source.close()
    return name, kind


def _is_regular(name: str) -> bool:
    return name != STANDARD_INPUT and stat.S_ISREG(os.stat(name).st_mode)
