"""Detect and read history files of paraply, Jepsen and Elle."""

from __future__ import annotations

import io
import itertools
import json
import os
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TextIO

from paraply.adapters.elle.histories import BankHistory, client_history, with_log
from paraply.adapters.elle.operations import read_operations
from paraply.adapters.remote_files import is_url, names_in, open_range, open_unbuffered
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import bounded_lines, read_histories
from paraply.vocabulary.input_documents import pieces

HISTORY_NOT_READ = register(
    "P360",
    "the history cannot be read: {reason}",
    "name a file of histories (.jsonl, as paraply writes them), a folder of Parquet files or one "
    "of them, or a history of Jepsen or Elle (.edn, .json)",
)
LOG_NOT_APPLICABLE = register(
    "P361",
    "{option} does not apply to this history: {reason}",
    "leave it out",
)

CHARACTERS_MAX = 1 << 30
"""Client histories are kept in memory."""
HEAD_CHARACTERS = 65_536
HISTORY_BEGINS = "{[(#;"
"""Map, vector or list, tag, remark."""
PARQUET_MAGIC = b"PAR1"


class FileKind(Enum):
    """Content of a path."""

    OURS = "paraply"
    PARQUET = "parquet"
    EDN = "edn"
    JSON = "json"


def kind_of(name: str) -> FileKind:
    """Return the kind by the first line; P360 if unreadable or empty."""
    if is_folder(name) or _is_parquet(name):
        return FileKind.PARQUET
    head = _read(name, HEAD_CHARACTERS).lstrip("\ufeff")
    first_line = next((line for line in head.splitlines() if line.strip()), "")
    if not first_line:
        raise ParaplyError(HISTORY_NOT_READ, where=name, reason="it is empty")
    try:
        value = json.loads(first_line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and "record" in value:
        return FileKind.OURS
    if first_line.lstrip()[0] not in HISTORY_BEGINS:
        reason = f"no history begins with {first_line.strip()[:40]!r}"
        raise ParaplyError(HISTORY_NOT_READ, where=name, reason=reason)
    # In JSON the first key is text; in EDN rarely, and then ":type" is not.
    inside = head.partition("{")[2].lstrip()
    is_json = inside[:1] in ('"', "}") if inside else not name.endswith(".edn")
    return FileKind.JSON if is_json else FileKind.EDN


def is_folder(name: str) -> bool:
    """Return whether a path is a folder, or a URL that of Parquet files."""
    is_there = is_url(name) and any(each.endswith(".parquet") for each in names_in(name))
    return is_there or Path(name).is_dir()


def _is_parquet(name: str) -> bool:
    try:
        with open_unbuffered(name) as stream:
            return stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    except OSError:
        return False  # Reading it as text reports the reason.


def own_histories(name: str, kind: FileKind) -> Iterator[History]:
    """Yield our own histories; P360 if none."""
    if kind is FileKind.PARQUET:
        # Imported late: Arrow takes half a second to load.
        from paraply.adapters.history_parquet import read_parquet

        # One file represents the folder: all three belong together.
        found = read_parquet(name if is_folder(name) else os.path.dirname(name) or ".")
    else:
        found = _from_lines(name)
    first = next(found, None)
    if first is None:
        raise ParaplyError(HISTORY_NOT_READ, where=name, reason="it holds no history")
    yield from itertools.chain([first], found)


def _from_lines(name: str) -> Iterator[History]:
    try:
        with _opened(name) as stream:
            yield from read_histories(bounded_lines(stream), name=name)
    except (OSError, UnicodeDecodeError) as error:
        raise _not_read(name, error) from None


def clients_history(name: str, kind: FileKind, log: str | None) -> ClientHistory | BankHistory:
    """Return a client history, perhaps with the source's log."""
    text = _read(name, CHARACTERS_MAX)
    operations = read_operations(text, is_json=kind is FileKind.JSON, name=name)
    history = client_history(operations, name=name)
    if log is None:
        return history
    if isinstance(history, BankHistory):
        raise ParaplyError(
            LOG_NOT_APPLICABLE, where=name, option="--log", reason="a bank has no versions"
        )
    return with_log(history, _read(log, CHARACTERS_MAX), name=log)


def _read(name: str, characters_max: int) -> str:
    try:
        with _opened(name) as stream:
            text = "".join(pieces(stream, characters_max + 1))
    except (OSError, UnicodeDecodeError) as error:
        raise _not_read(name, error) from None
    if len(text) > characters_max >= CHARACTERS_MAX:
        reason = f"it is longer than {CHARACTERS_MAX:,} characters"
        raise ParaplyError(HISTORY_NOT_READ, where=name, reason=reason)
    return text


def _opened(name: str) -> TextIO:
    return io.TextIOWrapper(open_range(name), encoding="utf-8")


def _not_read(name: str, error: OSError | UnicodeDecodeError) -> ParaplyError:
    reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return ParaplyError(HISTORY_NOT_READ, where=name, reason=reason or str(error))
