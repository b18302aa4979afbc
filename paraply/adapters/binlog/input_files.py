"""Input files: names, kinds and sizes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraply.adapters.binlog.errors import MIXED_INPUT, NOT_THE_NEXT_FILE, UNREADABLE_FILE
from paraply.adapters.binlog.source import Source, open_source
from paraply.adapters.binlog.text.dump import is_text_dump
from paraply.adapters.remote_files import is_url, path_of, size_of
from paraply.vocabulary.errors import ParaplyError

STANDARD_INPUT = "-"

HEAD_BYTES = 1024
"""First lines identify a text dump."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFiles:
    """One stream's files; single-open ones are open."""

    sources: tuple[str | Source, ...]
    is_text: bool


def open_inputs(names: Sequence[str]) -> InputFiles:
    """Return the files ready to read.

    Raises ``ParaplyError`` P101 for a mistyped name, immediately, P112 for files of one log with a
    gap, and P309 for mixed text dumps and binary logs.
    """
    for name in names:
        _require_readable(name)
    require_consecutive(names)
    looked_at = [_look_at(name) for name in names]
    texts = [name for name, (_, is_text) in zip(names, looked_at, strict=True) if is_text]
    if texts and len(texts) < len(names):
        binary = next(name for name in names if name not in texts)
        raise ParaplyError(MIXED_INPUT, text=texts[0], binary=binary)
    return InputFiles(sources=tuple(source for source, _ in looked_at), is_text=bool(texts))


_NUMBERED = re.compile(r"(.+)\.(\d{6,7})(?:\.gz|\.zst)?")
"""As servers name the files of one log, packed or not."""


def require_consecutive(names: Sequence[str]) -> None:
    """Raise ``ParaplyError`` P112 where two files of one folder and name do not follow each other.

    Rows and clocks of the later one would be judged by those of another time.
    """
    for one, other in pairwise(map(_NUMBERED.fullmatch, names)):
        if one and other and one[1] == other[1] and int(one[2]) + 1 != int(other[2]):
            raise ParaplyError(NOT_THE_NEXT_FILE, where=other[0], previous=one[0])


def bytes_total(names: Sequence[str]) -> int | None:
    """Return the total bytes, None if unknown."""
    total = 0
    for name in names:
        if not _is_regular(name) or name.endswith((".gz", ".zst")):
            return None
        total += size_of(name)
    return total


def _look_at(name: str) -> tuple[str | Source, bool]:
    # Buckets charge by the byte.
    source = open_source(name, buffer_bytes=4 * HEAD_BYTES) if is_url(name) else open_source(name)
    try:
        is_text = is_text_dump(source.peek(HEAD_BYTES))
    except ParaplyError:
        is_text = False  # Damaged from its first byte: the reader of logs will say how.
    if not _is_regular(name):
        return source, is_text
    source.close()
    return name, is_text


def _is_regular(name: str) -> bool:
    if is_url(name):
        return True
    try:
        return name != STANDARD_INPUT and stat.S_ISREG(os.stat(path_of(name)).st_mode)
    except OSError:
        return False


def _require_readable(name: str) -> None:
    if name == STANDARD_INPUT:
        return
    if is_url(name):
        try:
            size_of(name)
        except OSError as fault:
            reason = (fault.strerror or str(fault)).lower()
            raise ParaplyError(UNREADABLE_FILE, where=name, reason=reason) from None
        return
    path = path_of(name)
    reason = (
        "no such file or directory"
        if not os.path.exists(path)
        else "it is a folder"
        if os.path.isdir(path)
        else ""
        if os.access(path, os.R_OK)
        else "permission denied"
    )
    if reason:
        raise ParaplyError(UNREADABLE_FILE, where=name, reason=reason)
