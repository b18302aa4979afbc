"""A damaged log beside the text that its server's own program prints of it."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import Installation, find_mariadb, find_mysql
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedKind, LoggedTransaction
from tests.builders.log_forger import ForgedLog
from tests.fuzz.oracle import BrokenError

BINLOGS = Path(__file__).resolve().parents[1] / "fixtures" / "binlogs"
LOG_BYTES_MAX = 16_000
SECONDS_MAX = 60
_QUERY, _TABLE_MAP = 2, 19
"""Not damaged: text shows no table map, and a statement is in a log in several forms."""
_ROWS = {*range(23, 26), *range(30, 33), 39}
_ROW_FIELDS_AT = 10
"""Row images come after the table's number, flags and columns, which decide where the program
prints rows."""
_EQUAL = (
    "ordinal", "kind", "end_offset", "gtid", "server_id", "clock", "commit_id", "domain", "xa_id",
    "complete",
)  # fmt: skip
_OF_XA = ("kind", "xa_id")
_ZERO_IF_ABSENT = ("last_committed", "sequence_number", "committed_at_us")
"""Fields of a GTID event that mysqlbinlog prints as 0 where the event leaves them out."""


@cache
def programs() -> dict[str, Installation]:
    """Return the installed servers by flavour."""
    found = {}
    for folder, find in (("mariadb-10.11.19", find_mariadb), ("mysql-9.7.4", find_mysql)):
        try:
            installation = find()
            installation.binlog_command  # noqa: B018
        except ParaplyError:
            continue
        found[folder] = installation
    return found


def logs() -> list[bytes]:
    """Return small recorded logs of the servers whose program is here."""
    found = (path for folder in programs() for path in sorted((BINLOGS / folder).rglob("bin.0*1")))
    return [path.read_bytes() for path in found if path.stat().st_size < LOG_BYTES_MAX]


def damaged(data: bytes, choice: Random) -> bytes:
    """Flip bits of rows and other events, leave out and repeat transactions; checksums fit."""
    try:
        log = ForgedLog(data)
        for _ in range(1 << choice.randrange(3)):
            _damage(log, choice)
        with tempfile.NamedTemporaryFile() as file:
            log.save(Path(file.name))
            return Path(file.name).read_bytes()
    except (AssertionError, IndexError, struct.error) as error:
        raise ValueError(error) from error


def _damage(log: ForgedLog, choice: Random) -> None:
    starts = [*log.starts(), len(log.events)]
    first = choice.randrange(len(starts) - 1) if len(starts) > 1 else 0
    transaction = slice(starts[first], starts[first + 1]) if len(starts) > 1 else slice(0, 0)
    match choice.randrange(8):
        case 0:
            del log.events[transaction]
        case 1:
            log.events[len(log.events) :] = log.events[transaction]
        case 2:
            kept = _ROWS | {_QUERY, _TABLE_MAP}
            others = [one for one in log.events[1:] if one.code not in kept]
            _flip(choice.choice(others).body, 0, choice)
        case _:
            rows = [event for event in log.events if event.code in _ROWS]
            if rows:
                _flip(choice.choice(rows).body, _ROW_FIELDS_AT, choice)


def _flip(body: bytearray, first: int, choice: Random) -> None:
    if len(body) > first:
        body[choice.randrange(first, len(body))] ^= 1 << choice.randrange(8)


def read(folder: Path) -> str:
    """Read a log and its text; raise where both are understood and differ."""
    (path,) = folder.iterdir()
    binary, codes = _read(read_transactions, path)
    if codes:
        return codes[0]
    flavour = "mariadb-10.11.19" if b"MariaDB" in path.read_bytes()[:100] else "mysql-9.7.4"
    if flavour not in programs():
        return "no program"
    command = (*programs()[flavour].binlog_command, "--no-defaults", "-v")
    done = subprocess.run(
        [*command, "--base64-output=decode-rows", str(path)],
        capture_output=True, timeout=SECONDS_MAX, check=False,
    )  # fmt: skip
    if done.returncode:
        return "refused by the program"
    text_path = folder / "text"
    text_path.write_bytes(done.stdout)
    text, codes = _read(read_text_transactions, text_path)
    if codes:
        return f"text {codes[0]}"
    found = list(differences(binary, text))
    if found:
        raise BrokenError(f"log and text differ: {found[:3]}")
    return "equal"


def _read(
    reader: Callable[..., Iterator[LoggedTransaction]], path: Path
) -> tuple[list[LoggedTransaction], list[str]]:
    report = LogReport()
    transactions = list(reader([str(path)], report=report))
    return transactions, [one.code for one in report.diagnostics()]


def differences(binary: list[LoggedTransaction], text: list[LoggedTransaction]) -> Iterator[str]:
    """Yield in what transactions of a log differ from those of its text."""
    if len(binary) != len(text):
        yield f"{len(binary)} transactions and {len(text)}"
        return
    for one, two in zip(_keyed(binary), _keyed(text), strict=True):
        # mariadb-binlog prints no XA for a group that is flagged as a single DDL statement.
        hidden = _OF_XA if (one.kind, two.kind) == (LoggedKind.XA, LoggedKind.DDL) else ()
        for name in _EQUAL:
            if name not in hidden and getattr(one, name) != getattr(two, name):
                yield f"{one.start}: {name} {getattr(one, name)!r} and {getattr(two, name)!r}"
        for name in _ZERO_IF_ABSENT:
            if (getattr(one, name) or 0) != (getattr(two, name) or 0):
                yield f"{one.start}: {name} {getattr(one, name)!r} and {getattr(two, name)!r}"
        if _rows(one) != _rows(two):
            yield f"{one.start}: rows {_rows(one)} and {_rows(two)}"
        # Text does not show which rows are unchecked.
        elif one.keys != two.keys and not any(row.unchecked for row in one.rows):
            yield f"{one.start}: keys {one.keys} and {two.keys}"


def _keyed(transactions: list[LoggedTransaction]) -> Iterator[LoggedTransaction]:
    return follow(KeyBuilder(SchemaRegistry()), transactions)


def _rows(transaction: LoggedTransaction) -> list[tuple[object, ...]]:
    return [(row.table, row.operation, row.before is None, row.after is None)
            for row in transaction.rows]  # fmt: skip
