"""Weights of characters for kernels, loaded in blocks when a text first needs them.

They say the same as the fold of a collation (``keys/collations.py``). A log of ASCII texts loads no
block.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.charsets import codec_of, collation_of, text_decoder
from paraply.adapters.binlog.column_types import WireColumn
from paraply.adapters.binlog.compiled import text_kernel as T
from paraply.adapters.binlog.keys.collation_names import charset_of
from paraply.adapters.binlog.keys.collation_weights import (
    UnmeasuredCharacter,
    Weight,
    WeightTable,
    byte_characters,
)
from paraply.adapters.binlog.keys.collations import ASIAN_CHARSETS, Fold, fold_of, text_of
from paraply.vocabulary.schema import Column

ASCII = "ascii"
_CODECS = {
    "utf_8": T.UTF8, "utf_16_be": T.UTF16_BE, "utf_16_le": T.UTF16_LE, "utf_32_be": T.UTF32_BE,
}  # fmt: skip
_ASCII = bytes(range(128))
_WIDTHS_MAX = (3, 2, 2)
"""Bytes of a unit, by level."""


def decoding_of(column: Column, wire: WireColumn) -> str | None:
    """Return how kernels decode texts: a codec, ASCII, or the character sets' names.

    The second set is that of bytes which the log's set lacks. None if kernels decode nothing.
    """
    found = collation_of(wire.collation) if wire.collation is not None else None
    logged = found.charset if found is not None and found.codec else ""
    codec = codec_of(logged or column.charset)
    is_certain = charset_of(column.collation) not in ASIAN_CHARSETS
    if codec in _CODECS and is_certain:
        return codec
    is_short = found is None or found.character_bytes_max == 1
    if is_certain and is_short and (logged or byte_characters(column.charset)):
        return f"{logged} {column.charset}"
    # What the servers hold equal beyond ASCII is not certain.
    reads_ascii = text_of(column.charset)(_ASCII) == _ASCII.decode("ascii") and text_decoder(
        wire.collation
    )(_ASCII) in (_ASCII, _ASCII.decode("ascii"))
    return ASCII if reads_ascii else None


def is_decoded(decoding: str) -> bool:
    """Return whether ASCII characters are not bytes of their codes."""
    return _characters(decoding)[:128] != (*range(128),)


@cache
def _characters(decoding: str) -> tuple[int, ...]:
    """Return codes by byte, -1 where what the readable code decodes depends on other bytes."""
    if decoding == ASCII or decoding in _CODECS:
        known = 128 if decoding in (ASCII, "utf_8") else 0
        return (*range(known), *[-1] * (256 - known))
    logged, _, charset = decoding.partition(" ")
    table = byte_characters(charset) or ("",) * 256
    number = next((number for number in range(1, 256) if _charset_of(number) == logged), None)
    decode = text_decoder(number if logged else None)
    by_codec = [decode(bytes((byte,))) for byte in range(256)]
    texts = [text for text in by_codec if isinstance(text, str)]
    if len(texts) < 256:
        texts = [
            other if isinstance(text, bytes) or text == other else ""
            for text, other in zip(by_codec, table, strict=True)
        ]
    return tuple(ord(text) if text else -1 for text in texts)


def _charset_of(number: int) -> str:
    found = collation_of(number)
    return found.charset if found is not None else ""


def has_weights(collation: str) -> bool:
    """Return whether kernels can compare texts under a collation."""
    fold = fold_of(collation)
    if not fold.certain:
        return False
    return fold.table is None or _levels_of(fold.table) is not None


def _levels_of(table: WeightTable) -> list[int] | None:
    """Return the levels on which the space, and so each letter, has units of a known width."""
    widths = [len(level) for level in table[" "]]
    levels = [level for level, width in enumerate(widths) if width]
    if levels[:1] != [0] or len(levels) > T.LEVELS_MAX:
        return None
    fits = all(widths[level] <= most for level, most in zip(levels, _WIDTHS_MAX, strict=False))
    return levels if fits else None


class TextWeights:
    """The weights in use in this process, as arrays that grow."""

    def __init__(self) -> None:
        self.arrays = T.Texts(
            bytes=np.zeros((1, 257), np.uint64),
            characters=np.zeros((1, 256), np.int64),
            rules=np.zeros((1, T.RULE_COLUMNS), np.int64),
            blocks=np.zeros((1, T.BLOCKS), np.int64),
            weights=np.zeros((1, T.BLOCK), np.uint64),
            units=np.zeros(1, np.uint32),
            pairs=np.zeros(0, np.uint64),
            pair_weights=np.zeros(0, np.uint64),
        )
        self._lines: dict[tuple[str, str], int] = {}
        self._folds: list[Fold | None] = [None]
        self._units = [0]
        self._known: list[dict[Weight, int]] = [{}]
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # Descriptors hold the numbers of lines, which must be the same after loading.
        return weights_with, (tuple(self._lines),)

    def line_of(self, collation: str, decoding: str) -> int:
        """Return the number of a collation's line, adding new ones."""
        with self._lock:
            line = self._lines.get((collation, decoding))
            if line is None:
                line = self._lines[collation, decoding] = self._add(collation, decoding)
            return line

    def load(self, wanted: int) -> None:
        """Load the block of weights that a kernel asked for."""
        line, block = divmod(wanted, T.BLOCKS)
        with self._lock:
            if self.arrays.blocks[line, block]:
                return
            first = block << T.BLOCK_BITS
            fold = self._folds[line]
            assert fold is not None
            if fold.table is None:
                found = np.arange(first, first + T.BLOCK, dtype=np.uint64) | np.uint64(T.PLAIN)
            else:
                found = np.array(
                    self._weights(line, fold.table, range(first, first + T.BLOCK)), np.uint64
                )
            blocks = self.arrays.blocks.copy()  # Kernels may be reading with the other arrays.
            blocks[line, block] = len(self.arrays.weights)
            weights = _longer(self.arrays.weights, [found])
            self.arrays = self._with_units()._replace(weights=weights, blocks=blocks)

    def _add(self, collation: str, decoding: str) -> int:
        line = len(self._folds)
        fold = fold_of(collation)
        self._folds.append(fold)
        self._known.append({})
        rule = np.zeros(T.RULE_COLUMNS, np.int64)
        rule[T.X_DECODING] = _CODECS.get(decoding, T.BY_TABLE)
        rule[T.X_PADS] = (1 if fold.pads else 0) | (0b110 if fold.pads_above else 0)
        pairs: dict[str, Weight] = {} if fold.table is None else fold.table.contractions
        space = T.PLAIN | ord(" ")
        rule[T.X_LEVELS] = 1
        if fold.table is not None:
            levels = _levels_of(fold.table)
            assert levels is not None, collation
            rule[T.X_LEVELS] = len(levels)
            space = self._weight(line, fold.table[" "])
        rule[T.X_SPACE : T.X_SPACE + 3] = _units_of_plain(space)
        rule[T.X_PAIRS] = len(self.arrays.pairs)
        rule[T.X_PAIRS_END] = len(self.arrays.pairs) + len(pairs)
        numbers = sorted((ord(pair[0]) << 21 | ord(pair[1]), pair) for pair in pairs)
        joint = [self._weight(line, pairs[pair]) for _, pair in numbers]
        characters = _characters(decoding)
        new = (
            ("bytes", self._bytes(line, fold, characters, space, pairs)),
            ("characters", np.array(characters, np.int64)),
            ("rules", rule),
            ("blocks", np.zeros(T.BLOCKS, np.int64)),
        )
        grown = {name: _longer(getattr(self.arrays, name), [row]) for name, row in new}
        self.arrays = self._with_units()._replace(
            **grown,
            pairs=_longer(self.arrays.pairs, [number for number, _ in numbers]),
            pair_weights=_longer(self.arrays.pair_weights, joint),
        )
        return line

    def _bytes(
        self, line: int, fold: Fold, characters: tuple[int, ...], space: int, pairs: Iterable[str]
    ) -> NDArray[np.uint64]:
        """Return the weights of bytes that are one character of one unit per level, or of none."""
        codes = [code for code in characters if code >= 0]
        alphabet = frozenset(map(chr, codes))
        joining = {ord(pair[0]) for pair in pairs if pair[1] in alphabet}
        if fold.table is None:
            weights = [T.PLAIN | code for code in codes]
        else:
            weights = self._weights(line, fold.table, codes)
        by_code = dict(zip(codes, weights, strict=True))
        found = np.full(257, T.OTHER, np.uint64)
        for byte, code in enumerate(characters):
            weight = by_code.get(code, T.OTHER) & ~T.STARTS
            is_plain = weight == 0 or weight & T.PLAIN
            # Level by level, what weighs on the first like a space may be padding there only.
            is_padding = weight != space and _units_of_plain(weight)[0] == _units_of_plain(space)[0]
            if is_plain and code not in joining and (weight == 0 or not is_padding):
                found[byte] = weight
        found[256] = space
        return found

    def _weights(self, line: int, table: WeightTable, codes: Iterable[int]) -> list[int]:
        found = []
        starts = table.contraction_starts
        for code in codes:
            character = chr(code)
            try:
                weight = self._weight(line, table[character])
            except UnmeasuredCharacter:
                weight = T.OTHER
            found.append(weight | T.STARTS if character in starts else weight)
        return found

    def _weight(self, line: int, weight: Weight) -> int:
        known = self._known[line].get(weight)
        if known is None:
            known = self._number(line, weight)
            if not known & T.SEQUENCE:  # Few characters share these, and CJK has many.
                self._known[line][weight] = known
        return known

    def _number(self, line: int, weight: Weight) -> int:
        fold = self._folds[line]
        assert fold is not None
        assert fold.table is not None
        levels = _levels_of(fold.table)
        space = fold.table[" "]
        assert levels is not None
        units: list[tuple[int, ...]] = []
        for level, text in enumerate(weight):
            width = len(space[level]) if level in levels else 0
            if text and (not width or len(text) % width):
                return T.OTHER
            if width:
                units.append(
                    tuple(
                        int.from_bytes(text[at : at + width], "big")
                        for at in range(0, len(text), width)
                    )
                )
        units += [()] * (len(levels) - len(units))  # It adds nothing on levels that it lacks.
        if not any(units):
            return 0
        if all(len(each) == 1 for each in units):
            shifts = (0, 24, 40)
            return T.PLAIN | sum(each[0] << at for each, at in zip(units, shifts, strict=False))
        place = len(self._units)
        self._units += [number for each in units for number in (len(each), *each)]
        return T.SEQUENCE | place

    def _with_units(self) -> T.Texts:
        return self.arrays._replace(units=np.array(self._units, np.uint32))


@lru_cache(maxsize=16)
def weights_with(lines: tuple[tuple[str, str], ...]) -> TextWeights:
    """Return weights in whose order of lines these pairs of collation and decoding come first."""
    found = TextWeights()
    for line in lines:
        found.line_of(*line)
    return found


def text_weights() -> TextWeights:
    """Return the weights that new descriptors of this process share."""
    return weights_with(())


def _units_of_plain(weight: int) -> tuple[int, int, int]:
    return weight & 0xFFFFFF, weight >> 24 & 0xFFFF, weight >> 40 & 0xFFFF


def _longer(array: NDArray[Any], more: Sequence[Any]) -> NDArray[Any]:
    return np.concatenate((array, np.array(more, array.dtype))) if len(more) else array
