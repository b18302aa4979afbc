"""Findings as JSON lines, each with the piece of both logs that shows it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from paraply.adapters.binlog.live_events import SentTransaction
from paraply.properties.two_logs.following import Followed, Found, Kind
from paraply.vocabulary.whole_files import appearing, sync_folder

SLICE_BYTES_MAX = 4 << 20
SLICES_MAX = 1_000
"""Per target; later findings have none."""

_LINE_BEGIN = b'{"target": '

WORDS: dict[Kind, str] = {
    Kind.MISSING: "it never came, and later ones did",
    Kind.LATE: "it came after it had counted as missing",
    Kind.ERRANT: "the source's log does not have it",
    Kind.TWICE: "it came again",
    Kind.CHANGED: "it changed other rows",
    Kind.INVERTED: "it came after a later transaction with a common row",
    Kind.NOT_PREFIX: "states of the target that were no state of the source",
    Kind.DOUBT: "it cannot be decided",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding as written; numbers count from 1 for each target."""

    target: str
    number: int
    kind: str
    text: str
    gtid: str = ""
    source_place: str = ""
    target_place: str = ""
    tables: tuple[str, ...] = ()
    other: str = ""
    """The later transaction, or the last one of a stretch."""
    commits: int = 0
    replay: str = ""
    """A command that shows it again, from the pieces of both logs."""

    def as_line(self) -> str:
        """Return one JSON line."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


def _sent(entry: Followed[SentTransaction] | None) -> SentTransaction | None:
    return None if entry is None else entry.content


def finding_of(found: Found[SentTransaction], target: str, number: int, replay: str) -> Finding:
    """Return a finding in words."""
    mine = _sent(found.source)
    theirs = None if found.kind is Kind.MISSING else _sent(found.target)
    shown = mine or theirs
    entry = found.source or found.target
    tables = () if shown is None else tuple(sorted(shown.row_tables))
    other = found.last if found.other is None else found.other.name
    return Finding(
        target=target,
        number=number,
        kind=str(found.kind),
        text=found.text or WORDS[found.kind],
        gtid=found.first if entry is None else entry.name,
        source_place="" if mine is None else str(mine.transaction.start),
        target_place="" if theirs is None else str(theirs.transaction.start),
        tables=tables,
        other=other,
        commits=found.commits,
        replay=replay,
    )


class Piece(NamedTuple):
    """A transaction's events, and the head that makes them a binary log."""

    head: bytes
    events: bytes


def piece_of(sent: SentTransaction) -> Piece:
    """Return a transaction as a piece of a log."""
    return Piece(sent.head, sent.events)


def stem_of(name: str) -> str:
    """Return a server's name as the beginning of file names."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


class Slices:
    """Writes pieces of logs that show findings; ``folder`` None writes none."""

    def __init__(self, folder: Path | None, stem: str) -> None:
        self._folder = folder
        self._stem = stem

    def write(self, number: int, sides: Mapping[str, Sequence[Piece]]) -> list[str]:
        """Write a log for each side; return their names, quoted, or none if one has no piece."""
        if self._folder is None or number > SLICES_MAX or not all(sides.values()):
            return []
        if sum(len(each.events) for side in sides.values() for each in side) > SLICE_BYTES_MAX:
            return []
        return [
            self.keep(f"{number}-{side}.bin", chosen[0].head + b"".join(p.events for p in chosen))
            for side, chosen in sides.items()
        ]

    def keep(self, name: str, content: bytes) -> str:
        """Write a file; return its name, quoted, or an empty text without a folder."""
        if self._folder is None:
            return ""
        path = self._folder / f"{self._stem}-{name}"
        with appearing(path) as part:
            part.write_bytes(content)
        return shlex.quote(str(path))


def pair_replay(
    slices: Slices, number: int, found: Found[SentTransaction], pieces: Mapping[str, Piece]
) -> str:
    """Write the pieces of both logs; return the command, or an empty text.

    ``pieces``: transactions of both logs, by table.
    """
    mine, theirs = _pieces(found, pieces)
    names = slices.write(number, {"source": mine, "target": theirs})
    return f"paraply verify {names[0]} --target {names[1]}" if names else ""


def _pieces(
    found: Found[SentTransaction], pieces: Mapping[str, Piece]
) -> tuple[list[Piece], list[Piece]]:
    mine, theirs, other = (
        None if entry is None else piece_of(entry.content)
        for entry in (found.source, found.target, found.other)
    )
    match found.kind:
        case Kind.CHANGED if mine and theirs:
            return [mine], [theirs]
        case Kind.MISSING if mine and other and theirs:
            return [mine, other], [theirs]
        case Kind.ERRANT if theirs and found.target:
            tables = sorted(found.target.content.tables)
            for piece in filter(None, map(pieces.get, tables)):
                return [piece], [piece, theirs]
        case Kind.TWICE if theirs:
            return [mine or theirs], [theirs, theirs]
        case Kind.INVERTED if mine and theirs and other:
            # The source's copy stands for the target's: only the order is shown.
            return [mine, other], [other, mine]
    return [], []


class FindingsFile:
    """JSON lines, appended.

    A watch that goes on gives the ``length`` that it had saved: lines after it are written again.
    """

    def __init__(self, path: Path | None, length: int | None) -> None:
        self._file = None if path is None else path.open("a+b")
        self.length = 0
        if self._file is None or path is None:
            return
        sync_folder(path.parent)
        self.length = self._file.seek(0, os.SEEK_END)
        if length is not None and length < self.length:
            self._file.seek(length)
            if _LINE_BEGIN.startswith(self._file.read(len(_LINE_BEGIN))):
                self._file.truncate(length)
                self.length = length

    def add(self, finding: Finding) -> None:
        """Append a finding."""
        if self._file is not None:
            self.length += self._file.write(finding.as_line().encode())
            self._file.flush()

    def sync(self) -> None:
        """Wait until the disk has all findings: a state must not count what is lost."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
