"""Collation measurements on one live server by ``WEIGHT_STRING``.

A *weight* is a character's sort key, one byte string per level (1 letters, 2 accents, 3 case).
Strings are equal exactly if concatenated weights are equal at every level (after padding, for PAD
SPACE).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pymysql.cursors

from paraply.adapters.servers import Server

Weight = tuple[bytes, ...]
"""One byte string per level."""

SURROGATES = range(0xD800, 0xE000)
_BATCH = 20_000
_PAIR_WINDOW = 128
"""Most scripts fill blocks of 128; marks from 0300 are crossed with all letters."""
_LETTERLESS = (
    range(0x2190, 0x2C00),  # arrows, mathematics, box drawing, Braille
    range(0x3400, 0xA640),  # ideographs and Yi
    range(0xAC00, 0xD7A4),  # Hangul syllables: they expand, they do not contract
    range(0xD800, 0xFB00),  # surrogates, private use, compatibility ideographs
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCollation:
    """A server's collation; ``pads`` is measured."""

    name: str
    number: int
    charset: str
    pads: bool
    is_default: bool


class Asked:
    """A connection and a table of Unicode characters."""

    def __init__(self, server: Server) -> None:
        self.connection = server.connect()
        version = str(self.one("SELECT VERSION()")[0])
        self.is_mariadb = "MariaDB" in version
        self.version = version
        self._level_expressions: dict[str, tuple[str, ...]] = {}

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """Return all rows of one statement."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def one(self, statement: str) -> tuple[object, ...]:
        """Return the first row of one statement."""
        return self.run(statement)[0]

    def stream(self, statement: str) -> Iterator[tuple[object, ...]]:
        """Yield a statement's rows without buffering."""
        with self.connection.cursor(pymysql.cursors.SSCursor) as cursor:
            cursor.execute(statement)
            yield from cursor

    def load_characters(self) -> None:
        """Create a row per code point without surrogates."""
        self.run("DROP DATABASE IF EXISTS collation_scratch")
        self.run("CREATE DATABASE collation_scratch")
        self.run("USE collation_scratch")
        self.run(
            "CREATE TABLE letter (code INT PRIMARY KEY,"
            " c VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)"
        )
        codes = [code for code in range(0x110000) if code not in SURROGATES]
        for start in range(0, len(codes), _BATCH):
            rows = (f"({c},_utf8mb4 X'{chr(c).encode().hex()}')" for c in codes[start:][:_BATCH])
            self.run("INSERT INTO letter VALUES " + ",".join(rows))

    def collations(self) -> list[ServerCollation]:
        """Return every collation, with padding measured."""
        if self.is_mariadb:
            listed = self.run(
                "SELECT full_collation_name, id, character_set_name, is_default FROM"
                " information_schema.collation_character_set_applicability"
            )
        else:
            listed = self.run(
                "SELECT collation_name, id, character_set_name, is_default"
                " FROM information_schema.collations"
            )
        found = []
        for name, number, charset, is_default in sorted(listed, key=lambda row: str(row[0])):
            text = f"CONVERT('{{}}' USING {charset}) COLLATE `{name}`"
            padded = self.one(f"SELECT {text.format('a')} = {text.format('a ')}")[0]
            found.append(
                ServerCollation(
                    name=str(name),
                    number=int(str(number)),
                    charset=str(charset),
                    pads=bool(padded),
                    is_default=is_default == "Yes",
                )
            )
        return found

    def byte_table(self, charset: str) -> list[int]:
        """Return the code points of bytes, or -1."""
        points: list[int] = []
        for byte in range(256):
            text = f"CONVERT(_{charset} X'{byte:02x}' USING utf32)"
            back = f"CONVERT({text} USING {charset})"
            unicode, same = self.one(f"SELECT HEX({text}), HEX({back}) = '{byte:02X}'")
            points.append(int(str(unicode), 16) if same and unicode else -1)
        return points

    def level_expressions(self, collation: str, charset: str) -> tuple[str, ...]:
        """Return MariaDB's ``LEVEL`` clauses, lowest first.

        In MySQL, a zero unit separates levels instead.
        """
        if not self.is_mariadb:
            return ("",)
        known = self._level_expressions.get(collation)
        if known is None:
            letter = f"CONVERT('é' USING {charset}) COLLATE {collation}"
            whole, *parts = self.one(
                "SELECT "
                + ", ".join(
                    f"LENGTH(WEIGHT_STRING({letter}{level}))"
                    for level in ("", " LEVEL 1", " LEVEL 2", " LEVEL 3")
                )
            )
            first, second, third = (int(str(part)) for part in parts)
            if whole == first:
                known = ("",)
            elif whole == first + second + third:
                known = (" LEVEL 1", " LEVEL 2", " LEVEL 3")
            else:
                known = (" LEVEL 1", " LEVEL 3")
            self._level_expressions[collation] = known
        return known

    def weights(self, collation: str, charset: str, where: str = "TRUE") -> dict[int, Weight]:
        """Return the weight of each character."""
        text = "c" if charset == "utf8mb4" else f"CONVERT(c USING {charset})"
        if charset != "utf8mb4":
            where += f" AND BINARY CONVERT({text} USING utf8mb4) = BINARY c"
        columns = ", ".join(
            f"WEIGHT_STRING({text} COLLATE {collation}{level})"
            for level in self.level_expressions(collation, charset)
        )
        multilevel = not self.is_mariadb and is_multilevel(collation)
        return {
            int(str(code)): split_levels(parts, multilevel)
            for code, *parts in self.stream(f"SELECT code, {columns} FROM letter WHERE {where}")
        }

    def differing(self, collation: str, charset: str, twin: str, twin_charset: str) -> list[int]:
        """Return code points below plane 3 with different weights.

        Between character sets, which share tables, it stops at U+3000 to save time.
        """
        one = "c" if charset == "utf8mb4" else f"CONVERT(c USING {charset})"
        two = "c" if twin_charset == "utf8mb4" else f"CONVERT(c USING {twin_charset})"
        code_max = 0x30000 if charset == twin_charset else 0x3000
        rows = self.run(
            f"SELECT code FROM letter WHERE code < {code_max}"
            f" AND NOT WEIGHT_STRING({one} COLLATE {collation})"
            f" <=> WEIGHT_STRING({two} COLLATE {twin})"
        )
        return [int(str(row[0])) for row in rows]

    def hold_levels(self, weights: dict[int, Weight], codes: Iterable[int]) -> None:
        """Store measured single-character weights for pair queries."""
        self.run("DROP TABLE IF EXISTS held")
        self.run(
            "CREATE TABLE held (code INT PRIMARY KEY, c VARCHAR(1) CHARACTER SET utf8mb4 COLLATE"
            " utf8mb4_bin, l1 VARBINARY(64), l2 VARBINARY(64), l3 VARBINARY(64), l4 VARBINARY(64))"
        )
        rows = []
        for code in codes:
            if code in weights:
                levels = (*weights[code], b"", b"", b"", b"")[:4]
                shown = ",".join(f"X'{level.hex()}'" for level in levels)
                rows.append(f"({code},_utf8mb4 X'{chr(code).encode().hex()}',{shown})")
        for start in range(0, len(rows), _BATCH):
            self.run("INSERT INTO held VALUES " + ",".join(rows[start : start + _BATCH]))

    def pair_weights(self, collation: str, pairs: Iterable[str]) -> dict[str, Weight]:
        """Return weights of utf8mb4 strings."""
        multilevel = not self.is_mariadb and is_multilevel(collation)
        levels = self.level_expressions(collation, "utf8mb4")
        found: dict[str, Weight] = {}
        for text in pairs:
            literal = f"_utf8mb4 X'{text.encode().hex()}' COLLATE {collation}"
            shown = ", ".join(f"WEIGHT_STRING({literal}{level})" for level in levels)
            found[text] = split_levels(self.one(f"SELECT {shown}"), multilevel)
        return found

    def contractions(
        self, collation: str, charset: str, left: str, right: str
    ) -> dict[str, Weight]:
        """Return pairs with weights other than their concatenation.

        ``left`` and ``right`` are SQL conditions over ``{side}.code``.
        """
        pair = "CONCAT(a.c, b.c)"
        if charset != "utf8mb4":
            pair = f"CONVERT({pair} USING {charset})"
        multilevel = not self.is_mariadb and is_multilevel(collation)
        glue = ", X'0000', " if multilevel else ", "
        levels = level_count(collation) if multilevel else 4
        strung = glue.join(f"a.l{level}, b.l{level}" for level in range(1, levels + 1))
        columns = ", ".join(
            f"WEIGHT_STRING({pair} COLLATE {collation}{level})"
            for level in self.level_expressions(collation, charset)
        )
        rows = self.stream(
            f"SELECT a.code, b.code, {columns} FROM held a JOIN held b"
            f" ON {left.format(side='a')} AND {right.format(side='b')}"
            f" WHERE NOT WEIGHT_STRING({pair} COLLATE {collation}) <=> CONCAT({strung})"
        )
        return {
            chr(int(str(a))) + chr(int(str(b))): split_levels(parts, multilevel)
            for a, b, *parts in rows
        }


def is_multilevel(collation: str) -> bool:
    """Return whether MySQL weights separate levels."""
    return "_0900_" in collation and level_count(collation) > 1


def level_count(collation: str) -> int:
    """Return the levels in a MySQL 0900 name."""
    if collation.endswith("_ks"):
        return 4
    return {"_ai_ci": 1, "_as_ci": 2, "_as_cs": 3}.get(collation[-6:], 1)


def split_levels(parts: Sequence[object], separated: bool) -> Weight:
    """Return byte strings per level, split at zero units."""
    fetched = [part if isinstance(part, bytes) else str(part or "").encode() for part in parts]
    if not separated:
        return tuple(fetched)
    (whole,) = fetched
    levels = [bytearray()]
    for start in range(0, len(whole), 2):
        unit = whole[start : start + 2]
        if unit == b"\0\0":
            levels.append(bytearray())
        else:
            levels[-1] += unit
    return tuple(bytes(level) for level in levels)


def pair_windows() -> list[list[int]]:
    """Return letters, marks and numbers by window."""
    windows = []
    for start in (*range(0, 0x10000, _PAIR_WINDOW), *range(0x10000, 0x12000, _PAIR_WINDOW)):
        if any(start in block for block in _LETTERLESS):
            continue
        codes = [
            code
            for code in range(start, start + _PAIR_WINDOW)
            if unicodedata.category(chr(code)) not in {"Cn", "Co", "Cs", "Cc", "So"}
        ]
        if len(codes) > 1:
            windows.append(codes)
    return windows
