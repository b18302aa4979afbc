"""Character sets by collation number.

Numbers are those of MySQL 9.7, MariaDB 10.11 and 11.8 (``collation_data``). Five Croatian
collations differ and have MySQL's names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

BINARY_COLLATION = 63

_CODECS = {
    "ascii": "ascii",
    "big5": "big5",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "cp932": "cp932",
    "eucjpms": "euc_jp",
    "euckr": "cp949",
    "gb18030": "gb18030",
    "gb2312": "gb2312",
    "gbk": "gbk",
    "greek": "iso8859_7",
    "hebrew": "iso8859_8",
    "hp8": "hp_roman8",
    "koi8r": "koi8_r",
    "koi8u": "koi8_u",
    "latin1": "cp1252",
    "latin2": "iso8859_2",
    "latin5": "iso8859_9",
    "latin7": "iso8859_13",
    "macce": "mac_latin2",
    "macroman": "mac_roman",
    "sjis": "shift_jis",
    "tis620": "tis_620",
    "ucs2": "utf_16_be",
    "ujis": "euc_jp",
    "utf16": "utf_16_be",
    "utf16le": "utf_16_le",
    "utf32": "utf_32_be",
    "utf8mb3": "utf_8",
    "utf8mb4": "utf_8",
}
"""dec8, swe7, armscii8, geostd8 and keybcs2 stay bytes."""

_CHARACTER_BYTES_MAX = {
    "big5": 2,
    "cp932": 2,
    "eucjpms": 3,
    "euckr": 2,
    "gb18030": 4,
    "gb2312": 2,
    "gbk": 2,
    "sjis": 2,
    "ucs2": 2,
    "ujis": 3,
    "utf16": 4,
    "utf16le": 4,
    "utf32": 4,
    "utf8mb3": 3,
    "utf8mb4": 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Collation:
    """A server collation: log number, name, character set."""

    number: int
    name: str
    charset: str

    @property
    def codec(self) -> str:
        """Return the Python codec, empty for bytes."""
        return _CODECS.get(self.charset, "")

    @property
    def character_bytes_max(self) -> int:
        """Return the bytes of the widest character."""
        return _CHARACTER_BYTES_MAX.get(self.charset, 1)


@cache
def _collations() -> dict[int, Collation]:
    path = files("paraply.adapters.binlog") / "collation_data" / "collations.json"
    servers = json.loads(path.read_text(encoding="utf-8"))["servers"]
    return {
        entry["id"]: Collation(number=entry["id"], name=name, charset=entry["charset"])
        for server in ("mariadb-11.8", "mariadb", "mysql")
        for name, entry in servers[server]["collations"].items()
    }


def collation_of(number: int) -> Collation | None:
    """Return the collation with this number."""
    return _collations().get(number)


def codec_of(charset: str) -> str:
    """Return a character set's codec, or empty."""
    return _CODECS.get(charset, "")


def text_decoder(number: int | None) -> Callable[[bytes], str | bytes]:
    """Return a column decoder, which leaves undecodable bytes unchanged."""
    collation = collation_of(number) if number is not None else None
    if collation is None or not collation.codec:
        return _unchanged
    if collation.charset == "latin1":
        return _decode_latin1
    codec = collation.codec

    def decode(data: bytes) -> str | bytes:
        try:
            return data.decode(codec)
        except UnicodeDecodeError:
            return data

    return decode


def _unchanged(data: bytes) -> bytes:
    return data


def _decode_latin1(data: bytes) -> str:
    """latin1 is cp1252, with undefined bytes as control characters."""
    if data.isascii():
        return data.decode("ascii")  # Ten times as fast.
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return "".join(
            chr(byte) if byte in _CP1252_UNDEFINED else bytes((byte,)).decode("cp1252")
            for byte in data
        )


_CP1252_UNDEFINED = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))
