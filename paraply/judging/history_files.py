"""Detect and read history files of paraply, Jepsen and Elle."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from paraply.adapters.elle.histories import BankHistory, client_history, with_log
from paraply.adapters.elle.operations import read_operations
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import bounded_lines, read_histories

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
    path = Path(name)
    if path.is_dir() or _is_parquet(path):
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
    is_json = inside[:1] in ('"', "}") if inside else path.suffix != ".edn"
    return FileKind.JSON if is_json else FileKind.EDN


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    except OSError:
        return False  # Reading it as text reports the reason.


def own_histories(name: str, kind: FileKind) -> Iterator[History]:
    """Yield our own histories; P360 if none."""
    if kind is FileKind.PARQUET:
        # Imported late: Arrow takes half a second to load.
        from paraply.adapters.history_parquet import read_parquet

        # One file represents the folder: all three belong together.
        path = Path(name)
        found = read_parquet(path if path.is_dir() else path.parent)
    else:
        found = _from_lines(name)
    first = next(found, None)
    if first is None:
        raise ParaplyError(HISTORY_NOT_READ, where=name, reason="it holds no history")
    yield from itertools.chain([first], found)


def _from_lines(name: str) -> Iterator[History]:
    try:
        with Path(name).open(encoding="utf-8") as stream:
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
        with Path(name).open(encoding="utf-8") as stream:
            text = stream.read(characters_max + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise _not_read(name, error) from None
    if len(text) > characters_max >= CHARACTERS_MAX:
        reason = f"it is longer than {CHARACTERS_MAX:,} characters"
        raise ParaplyError(HISTORY_NOT_READ, where=name, reason=reason)
    return text


def _not_read(name: str, error: OSError | UnicodeDecodeError) -> ParaplyError:
    reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return ParaplyError(HISTORY_NOT_READ, where=name, reason=reason or str(error))
