"""Parse GTIDs and GTID sets.

Like the server, it accepts blanks, extra commas, UUIDs in any case, without hyphens or in braces,
repeated UUIDs, and unordered or overlapping intervals. It rejects reversed intervals, which the
server reads as empty.
"""

from __future__ import annotations

import re
from typing import NoReturn

from paraply.vocabulary.errors import MALFORMED_GTID_SET, ParaplyError
from paraply.vocabulary.gtid_set import GTID_NUMBER_MAX, TAG_LENGTH_MAX, Gtid, GtidSet, GtidSource
from paraply.vocabulary.intervals import IntervalSet

_BLANKS = re.compile(r"\s*")
_SEPARATORS = re.compile(r"[\s,]*")
_UUID = re.compile(
    r"(?:\{(?=[0-9a-f-]{36}\}))?"
    r"([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})(\}?)"
    r"(?![0-9a-z_-])",
    re.IGNORECASE,
)
_TAG = re.compile(rf"[a-z_][a-z0-9_]{{0,{TAG_LENGTH_MAX - 1}}}(?![a-z0-9_])", re.IGNORECASE)
_INTERVAL = re.compile(r"([0-9]{1,19})(?![0-9])(?:\s*-\s*([0-9]{1,19})(?![0-9]))?")
_SHOWN_MAX = 60


def parse_gtid_set(text: str, *, where: str = "") -> GtidSet:
    """Parse a GTID set, perhaps empty; else P001 with the character.

    >>> parse_gtid_set("3e11fa47-71ca-11e1-9e33-c80aa9429562:7:1-5:tag:2").count
    7
    """
    return _Parser(text, where).gtid_set()


def parse_gtid(text: str, *, where: str = "") -> Gtid:
    """Parse ``uuid:7`` or ``uuid:tag:7``; else P001."""
    parser = _Parser(text, where)
    intervals = list(parser.gtid_set())
    if len(intervals) != 1 or intervals[0].first != intervals[0].last:
        parser.refuse("expected exactly one GTID")
    return Gtid(intervals[0].source, intervals[0].first)


class _Parser:
    def __init__(self, text: str, where: str) -> None:
        self._text = text
        self._where = where
        self._at = 0

    def gtid_set(self) -> GtidSet:
        numbers: dict[GtidSource, list[tuple[int, int]]] = {}
        self._skip(_SEPARATORS)
        while self._at < len(self._text):
            self._source(numbers)
            self._skip(_BLANKS)
            if self._text[self._at : self._at + 1] not in ("", ","):
                self.refuse("expected ':' or ','")
            self._skip(_SEPARATORS)
        return GtidSet({source: IntervalSet(pairs) for source, pairs in numbers.items()})

    def _source(self, numbers: dict[GtidSource, list[tuple[int, int]]]) -> None:
        source = GtidSource(self._uuid())
        found = numbers.setdefault(source, [])
        is_open = True
        while self._takes_colon():
            interval = _INTERVAL.match(self._text, self._at)
            if interval:
                found.append(self._interval(interval))
                is_open = False
                continue
            tag = _TAG.match(self._text, self._at)
            if tag is None or (is_open and source.tag):
                self.refuse("expected a number, or a tag of at most 32 characters")
            self._at = tag.end()
            source = GtidSource(source.uuid, tag[0].lower())
            found = numbers.setdefault(source, [])
            is_open = True
        if is_open:
            self.refuse("expected ':' and a number")

    def _uuid(self) -> str:
        match = _UUID.match(self._text, self._at)
        if match is None or (match[0][0] == "{") is not (match[7] == "}"):
            self.refuse("expected a UUID")
        self._at = match.end()
        return "-".join(match.group(1, 3, 4, 5, 6)).lower()

    def _interval(self, match: re.Match[str]) -> tuple[int, int]:
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if not (1 <= first <= GTID_NUMBER_MAX and 1 <= last <= GTID_NUMBER_MAX):
            self.refuse("a number lies outside [1, 2**63-2]")
        if last < first:
            self.refuse("the interval ends before it starts")
        self._at = match.end()
        return first, last

    def _takes_colon(self) -> bool:
        self._skip(_BLANKS)
        if self._text[self._at : self._at + 1] != ":":
            return False
        self._at += 1
        self._skip(_BLANKS)
        return True

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        assert match is not None
        self._at = match.end()

    def refuse(self, reason: str) -> NoReturn:
        start = max(0, self._at - _SHOWN_MAX // 2)
        shown = self._text[start : start + _SHOWN_MAX]
        head = "..." if start else ""
        tail = "..." if start + _SHOWN_MAX < len(self._text) else ""
        raise ParaplyError(
            MALFORMED_GTID_SET,
            where=self._where,
            text=f"{head}{shown}{tail}",
            reason=f"{reason} at character {self._at + 1}",
        )
