"""The server's own text of a binary log, taken apart for comparison with what we decode.

Works on bytes: the programs print strings in the column's character set, whatever it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_CHANGE = re.compile(rb"### (INSERT INTO|UPDATE|DELETE FROM) `(.*)`\.`(.*)`")
_VALUE = re.compile(rb"###   @(\d+)=(.*)$", re.DOTALL)
_MYSQL_GTID = re.compile(
    rb"^#.*\t(?:GTID|Anonymous_GTID)\tlast_committed=(\d+)\tsequence_number=(\d+)"
)
_MARIADB_GTID = re.compile(rb"^#.*\tGTID (\d+-\d+-\d+)(?: cid=(\d+))?")
_GTID_NEXT = re.compile(rb"^SET @@SESSION\.GTID_NEXT= '([^']*)'")


@dataclass
class TwinRow:
    """One row as printed: column number (from 1) to bytes, per image; None where there is none.

    ``stops`` is set where the program gave up: mysqlbinlog prints nothing after a GEOMETRY.
    """

    operation: str
    table: str
    before: dict[int, bytes] | None = None
    after: dict[int, bytes] | None = None
    stops: bool = False


@dataclass
class TwinTransaction:
    """One transaction as printed, from its GTID line on."""

    gtid: str = ""
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_id: int | None = None
    rows: list[TwinRow] = field(default_factory=list)


def read_twin(text: bytes) -> list[TwinTransaction]:
    """Return the transactions of a text twin, in order."""
    transactions: list[TwinTransaction] = []
    image: dict[int, bytes] = {}
    for line in text.split(b"\n"):
        if found := _MYSQL_GTID.match(line):
            transactions.append(
                TwinTransaction(last_committed=int(found[1]), sequence_number=int(found[2]))
            )
        elif found := _MARIADB_GTID.match(line):
            commit_id = int(found[2]) if found[2] else None
            transactions.append(TwinTransaction(gtid=found[1].decode(), commit_id=commit_id))
        elif found := _GTID_NEXT.match(line):
            name = found[1].decode()
            if name not in ("AUTOMATIC", "ANONYMOUS"):
                transactions[-1].gtid = name
        elif found := _CHANGE.match(line):
            table = f"{found[2].decode()}.{found[3].decode()}"
            row = TwinRow(found[1].split()[0].decode().lower(), table)
            transactions[-1].rows.append(row)
        elif line.startswith(b"### WHERE"):
            image = transactions[-1].rows[-1].before = {}
        elif line.startswith(b"### SET"):
            image = transactions[-1].rows[-1].after = {}
        elif b"=!! Don't know how to handle" in line:
            transactions[-1].rows[-1].stops = True
        elif found := _VALUE.match(line):
            image[int(found[1])] = found[2]
    return transactions


_BYTE = rb"\\x([0-9A-Fa-f]{2})"
_ESCAPE = re.compile(_BYTE + rb"|\\(.)", re.DOTALL)


def _byte(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 16)]) if found[1] else found[2]


def unquoted(printed: bytes) -> tuple[bytes, bytes]:
    """Return the two readings of a printed string.

    Both programs print control bytes and quotes as ``\\xHH``; mysqlbinlog also doubles each
    backslash, mariadb-binlog leaves it alone, and so it cannot be told from an escape.
    """
    assert printed[:1] == b"'", printed
    assert printed[-1:] == b"'", printed
    return re.sub(_BYTE, _byte, printed[1:-1]), _ESCAPE.sub(_byte, printed[1:-1])
