"""GTID sets as bytes: the body of PREVIOUS_GTIDS, and the snapshot of TRANSACTION_CONTEXT.

Little endian. First eight bytes: the highest is the format, 0 plain or 1 with tags. The others
count the sources; with tags only the middle six, and the lowest repeats the format. Each source: 16
bytes of UUID; with tags the tag's length (variable-length number) and bytes; the number of
intervals; each interval's first number and number after its last (8 bytes each).

Source: ``Gtid_set::encode`` of MySQL 5.6 and, for tags, of 8.3.
"""

from __future__ import annotations

import re
import struct
from typing import NoReturn

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.gtid_set import GTID_NUMBER_MAX, TAG_LENGTH_MAX, GtidSet, GtidSource
from paraply.vocabulary.intervals import IntervalSet

MALFORMED_ENCODED_GTID_SET = register(
    "P004",
    "the encoded GTID set is malformed at its byte {offset}: {reason}",
    "the file is damaged, or of a server newer than this program; compare with mysqlbinlog",
)

PLAIN, TAGGED = 0, 1

_TAG = re.compile(rb"[a-z_][a-z0-9_]*")
_U64 = struct.Struct("<Q")
_INTERVAL = struct.Struct("<qq")
_SOURCE_BYTES_MIN = 16 + _U64.size
_SOURCE_BYTES_MIN_TAGGED = _SOURCE_BYTES_MIN + 1


def encode_gtid_set(gtid_set: GtidSet, *, with_tags: bool | None = None) -> bytes:
    """Return a set as bytes, by default with tags if it has any.

    ``with_tags=False`` omits tagged GTIDs, as before 8.3.
    """
    is_tagged = with_tags
    if is_tagged is None:
        is_tagged = any(source.tag for source in gtid_set.sources)
    sources = [source for source in gtid_set.sources if is_tagged or not source.tag]
    count = TAGGED << 56 | len(sources) << 8 | TAGGED if is_tagged else len(sources)
    encoded = bytearray(_U64.pack(count))
    for source in sources:
        encoded += bytes.fromhex(source.uuid.replace("-", ""))
        if is_tagged:
            tag = source.tag.encode("ascii")
            encoded += bytes([len(tag) << 1]) + tag
        numbers = gtid_set.numbers_of(source)
        encoded += _U64.pack(numbers.interval_count)
        for first, last in numbers:
            encoded += _INTERVAL.pack(first, last + 1)
    return bytes(encoded)


def decode_gtid_set(data: bytes | memoryview, *, where: str = "") -> GtidSet:
    """Return the set, within the memory of ``data``; else P004."""
    return _Decoder(bytes(data), where).gtid_set()


class _Decoder:
    def __init__(self, data: bytes, where: str) -> None:
        self._data = data
        self._where = where
        self._at = 0

    def gtid_set(self) -> GtidSet:
        is_tagged, count = self._format_and_count()
        # Do not trust a count before its bytes.
        least = count * (_SOURCE_BYTES_MIN_TAGGED if is_tagged else _SOURCE_BYTES_MIN)
        if least > len(self._data) - self._at:
            self._refuse(f"{count} sources need {least} bytes or more")
        numbers: dict[GtidSource, IntervalSet] = {}
        for _ in range(count):
            source = self._source(is_tagged)
            if source in numbers:
                self._refuse(f"{':'.join(filter(None, source))} comes twice")
            numbers[source] = self._intervals()
        if self._at != len(self._data):
            self._refuse(f"{len(self._data) - self._at} bytes are left over")
        return GtidSet(numbers)

    def _format_and_count(self) -> tuple[bool, int]:
        start = self._at
        (word,) = _U64.unpack(self._take(_U64.size))
        form, low = word >> 56, word & 0xFF
        if form == PLAIN:
            return False, word
        if form != TAGGED or low != TAGGED:
            self._at = start
            self._refuse(f"format {form}, repeated as {low}, is not known")
        return True, word >> 8 & (1 << 48) - 1

    def _source(self, is_tagged: bool) -> GtidSource:
        digits = self._take(16).hex()
        uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        return GtidSource(uuid, self._tag() if is_tagged else "")

    def _tag(self) -> str:
        start = self._at
        (head,) = self._take(1)
        # A variable-length number: lowest bit 0 means one byte.
        length = head >> 1
        if head & 1 or length > TAG_LENGTH_MAX:
            self._at = start
            self._refuse(f"a tag has at most {TAG_LENGTH_MAX} characters")
        tag = self._take(length)
        if tag and not _TAG.fullmatch(tag):
            self._at = start
            self._refuse(f"{tag!r} is not a tag")
        return tag.decode("ascii")

    def _intervals(self) -> IntervalSet:
        start = self._at
        (count,) = _U64.unpack(self._take(_U64.size))
        if count * _INTERVAL.size > len(self._data) - self._at:
            self._at = start
            self._refuse(f"{count} intervals need {count * _INTERVAL.size} bytes")
        pairs = []
        least = 1
        for first, end in _INTERVAL.iter_unpack(self._take(count * _INTERVAL.size)):
            if first < least or end <= first or end > GTID_NUMBER_MAX + 1:
                self._at = start
                self._refuse(f"interval [{first}, {end}) is empty, out of range or out of order")
            least = end + 1
            pairs.append((first, end - 1))
        return IntervalSet(pairs)

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            self._refuse(f"{size} bytes are needed, {len(taken)} are left")
        self._at += size
        return taken

    def _refuse(self, reason: str) -> NoReturn:
        raise ParaplyError(
            MALFORMED_ENCODED_GTID_SET, where=self._where, offset=self._at, reason=reason
        )
