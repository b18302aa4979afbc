"""The row changes in the text that mysqlbinlog -v and mariadb-binlog -v print, for comparison.

Values stay as printed, quotes included; only the ``/* type */`` comments of -vv are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_CHANGE = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `(.*)`\.`(.*)`")
_VALUE = re.compile(r"###   @(\d+)=(.*?)(?: /\* [A-Z].*\*/)?$")


@dataclass
class DumpedRow:
    """One row as printed: column number (from 1) to text, per image."""

    operation: str
    table: str
    before: dict[int, str] = field(default_factory=dict)
    after: dict[int, str] = field(default_factory=dict)


def dumped_rows(text: str) -> Iterator[DumpedRow]:
    """Yield the rows of a dump in order."""
    row: DumpedRow | None = None
    image: dict[int, str] = {}
    for line in text.splitlines():
        if found := _CHANGE.match(line):
            if row:
                yield row
            word, schema, table = found.groups()
            row = DumpedRow(word.split()[0].lower(), f"{schema}.{table}")
        elif row and line.startswith("### WHERE"):
            image = row.before
        elif row and line.startswith("### SET"):
            image = row.after
        elif row and (found := _VALUE.match(line)):
            image[int(found.group(1))] = found.group(2)
    if row:
        yield row
