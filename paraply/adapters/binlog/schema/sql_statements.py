"""Splitting of SQL scripts into statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PIECE = re.compile(
    r"""
    (?P<quoted>`(?:[^`]++|``)*+` | '(?:[^'\\]++|\\.|'')*+' | "(?:[^"\\]++|\\.|"")*+")
  | (?P<comment>/\*(?!M?!(?!99\d{4})).*?\*/ | \#[^\n]* | --(?=[\s\x00]|$)[^\n]*)
  | (?P<space>\s+)
  | (?P<text>\w+|.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DELIMITER = re.compile(r"DELIMITER[ \t]+(\S+)[^\n]*", re.IGNORECASE)


def split_statements(script: str) -> Iterator[tuple[int, str]]:
    """Yield (line from 1, statement), without comments; supports ``DELIMITER``."""
    delimiter = ";"
    pieces: list[str] = []
    position = start = counted = 0
    line = 1
    while position <= len(script):
        ends = position == len(script) or script.startswith(delimiter, position)
        if ends:
            if pieces:
                line += script.count("\n", counted, start)
                counted = start
                yield line, "".join(pieces)
            pieces = []
            position += len(delimiter)
            continue
        if not pieces and (command := _DELIMITER.match(script, position)):
            delimiter = command[1]
            position = command.end()
            continue
        match = _PIECE.match(script, position)
        assert match is not None  # the last alternative takes any character
        if match["comment"] is not None or match["space"] is not None:
            if pieces:
                pieces.append(" ")
        else:
            if not pieces:
                start = position
            pieces.append(match[0])
        position = match.end()
