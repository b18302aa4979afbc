"""Comparable text: equal if and only if equal under the server's collation.

Folds with measured weights are exact. The coarse fold for unknown collations merges what any known
one merges: keys become uncertain, but equal texts stay equal. It supports ASCII only, as ä equals
a, ae and æ somewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from paraply.adapters.binlog.charsets import codec_of
from paraply.adapters.binlog.keys.collation_names import charset_of
from paraply.adapters.binlog.keys.collation_weights import (
    UnmeasuredCharacter,
    WeightTable,
    byte_characters,
    collation_entries,
    weight_table,
)

ASIAN_CHARSETS = frozenset(
    {"big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis"}
)
"""Python's and the servers' tables differ."""


class Fold:
    """Text to comparable bytes under one collation.

    ``certain`` is False if different texts may share bytes.
    """

    certain = True
    table: WeightTable | None = None
    pads = True
    pads_above = False
    """Whether padding applies above level one."""

    def __call__(self, text: str) -> bytes | None:
        """Return the comparable form, None if incomparable."""
        raise NotImplementedError


class _IdentityFold(Fold):
    def __init__(self, *, pads: bool) -> None:
        self.pads = pads

    def __call__(self, text: str) -> bytes:
        return (text.rstrip(" ") if self.pads else text).encode("utf-8", "surrogatepass")


class _WeightFold(Fold):
    def __init__(self, table: WeightTable, *, pads: bool, pads_above: bool) -> None:
        self.table = table
        self.pads = pads
        self.pads_above = pads_above
        self._space = table[" "]

    def __call__(self, text: str) -> bytes | None:
        table = self.table
        assert table is not None
        try:
            if table.contraction_starts.isdisjoint(text):
                weights = [table[character] for character in text]
            else:
                weights = self._contracted(table, text)
        except UnmeasuredCharacter:
            return None
        if len(self._space) == 1:
            return self._unpadded(b"".join([weight[0] for weight in weights]), 0)
        # An ignorable character may lack levels: it adds nothing there.
        # A length before each level separates the levels.
        levels = [
            self._unpadded(
                b"".join([weight[level] for weight in weights if len(weight) > level]), level
            )
            for level in range(len(self._space))
        ]
        return b"".join(len(level).to_bytes(4, "big") + level for level in levels)

    def _contracted(self, table: WeightTable, text: str) -> list[tuple[bytes, ...]]:
        weights = []
        position = 0
        while position < len(text):
            pair = table.contractions.get(text[position : position + 2])
            weights.append(pair if pair is not None else table[text[position]])
            position += 1 if pair is None else 2
        return weights

    def _unpadded(self, level: bytes, number: int) -> bytes:
        space = self._space[number]
        if space and (self.pads_above if number else self.pads):
            while level.endswith(space):
                level = level[: -len(space)]
        return level


COARSE_CLASSES = {"j": "i", "y": "i", "~": "i", "v": "u", "n": "m"}
"""Equal in roman_ci (i = j, u = v), lithuanian_ci (i = y), gbk_chinese_ci (y = ~), macce_general_ci
(m = n).
"""
COARSE_DROPPED = " `@ehz\x7f" + "".join(map(chr, range(0x20)))
"""Ignored by some collation: control characters (UCA), h of ch (lithuanian_ci), z = 0x7F
(cp1257_lithuanian_ci), backtick as space (cp1251_ukrainian_ci), e (big5_chinese_ci), @
(geostd8_general_ci). Dropped as padding too.
"""
_COARSE = {
    **{ord(letter.upper()): letter for letter in "abcdefghijklmnopqrstuvwxyz"},
    **{ord(letter.upper()): to for letter, to in COARSE_CLASSES.items()},
    **{ord(letter): to for letter, to in COARSE_CLASSES.items()},
    **{ord(letter): None for letter in COARSE_DROPPED + COARSE_DROPPED.upper()},
}


class _CoarseFold(Fold):
    certain = False

    def __call__(self, text: str) -> bytes | None:
        return text.translate(_COARSE).encode("ascii") if text.isascii() else None


COARSE_FOLD: Fold = _CoarseFold()


@cache
def fold_of(collation: str) -> Fold:
    """Return a collation's fold (not for ``binary``)."""
    entry = collation_entries().get(collation)
    if entry is None or entry.table is None:
        return COARSE_FOLD
    if entry.table == "identity":
        return _IdentityFold(pads=entry.pads)
    # MariaDB pads the higher levels under NO PAD too: 'e' = 'é' in uca1400_nopad_ai_cs.
    pads_above = entry.pads or "_uca1400_" in collation
    return _WeightFold(weight_table(entry.table), pads=entry.pads, pads_above=pads_above)


Decode = Callable[[bytes], str | None]


@cache
def text_of(charset: str) -> Decode:
    """Return a decoder, which returns None for invalid bytes.

    An unknown character set decodes ASCII.
    """
    characters = byte_characters(charset)
    if characters is not None:
        return lambda data: _by_table(characters, data)
    codec = codec_of(charset)
    return (lambda data: _by_codec(codec, data)) if codec else _ascii


def _by_table(characters: tuple[str, ...], data: bytes) -> str | None:
    found = [characters[byte] for byte in data]
    return "".join(found) if all(found) else None


def _by_codec(codec: str, data: bytes) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _ascii(data: bytes) -> str | None:
    return data.decode("ascii") if data.isascii() else None


def is_exact(collation: str, text: str) -> bool:
    """Return whether the fold of ``text`` is exact."""
    if not fold_of(collation).certain:
        return False
    return text.isascii() or charset_of(collation) not in ASIAN_CHARSETS
