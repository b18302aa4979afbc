"""Key texts for the comparison of kernels with the readable code: spellings that may be equal."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ci.bench import mixes
from paraply.adapters.binlog.charsets import collation_of, text_decoder
from paraply.adapters.binlog.column_types import ColumnType, WireColumn
from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.descriptors import PartRule, part_rule
from paraply.adapters.binlog.compiled.scan_kernel import new_scratch
from paraply.adapters.binlog.compiled.text_kernel import FINE, text_digest
from paraply.adapters.binlog.compiled.text_weights import text_weights
from paraply.adapters.binlog.keys.collation_weights import collation_entries
from paraply.adapters.binlog.keys.collations import fold_of
from paraply.adapters.binlog.keys.values import INCOMPARABLE, folder_of
from paraply.vocabulary.schema import Column, KeyPart
from tests.builders.log_forger import ForgedLog
from tests.builders.odd_tables import production_log, rows_of

NUMBERS = {
    found.name: number
    for number in reversed(range(1, 4096))
    if (found := collation_of(number)) and found.name in collation_entries().keys() - {"binary"}
}
"""Collations that logs may name, with one number of each."""
LETTERS = [
    *"aAeEoOsSzZcChHlLjJn27", *"éÉêßſåÅæÆøöüÖñçčšžžłĳ", *"ａＡ①²ﬁǆǅ", *"αΆςσΣжЖйи",
    *"中文語かがカｶ😀𝄞𝐀", "ch", "dz", "lj", "aa", "ll",
]  # fmt: skip
OTHERS = ["\0", "\t", "~", " ", "\u00a0", "\u00ad", "\u200b", "\u3000", "\ufffd", "\ud7ff"]
MARKS = ["\u0301", "\u0308", "\u030a", "\u030c"]
_ROOM = new_scratch().room


@dataclass(frozen=True)
class TextColumn:
    """A key part of a text column."""

    collation: str
    kind: str = "varchar"
    prefix: int = 0

    @property
    def column(self) -> Column:
        """Return its definition."""
        return Column(
            name="c", type_name=self.kind, collation=self.collation, length=20,
            charset=collation_entries()[self.collation].charset,
        )  # fmt: skip

    def rule(self) -> PartRule | None:
        """Return how kernels read it."""
        kind = ColumnType.STRING if self.kind == "char" else ColumnType.VARCHAR
        wire = WireColumn(kind=kind, size=80, collation=NUMBERS[self.collation])
        return part_rule(KeyPart(column=0, prefix_length=self.prefix), self.column, wire)

    def readable(self, data: bytes) -> object:
        """Return the comparable form of a logged text, None if there is no certain one."""
        value = text_decoder(NUMBERS[self.collation])(data)
        found, is_exact = folder_of(self.column, self.prefix)(value)
        return found if is_exact and found is not INCOMPARABLE else None

    def encoded(self, text: str) -> bytes | None:
        """Return a text as logged, None if the character set lacks a character."""
        found = collation_of(NUMBERS[self.collation])
        assert found is not None
        try:
            return text.encode(found.codec or "latin-1")
        except UnicodeEncodeError:
            return None


def kernel_digest(rule: PartRule, data: bytes) -> int | None:
    """Return a kernel's digest of a logged text, None where kernels leave it."""
    weights = text_weights()
    line = weights.line_of(rule.collation, rule.decoding)
    array = np.frombuffer(data, np.uint8).copy()
    while True:
        with np.errstate(over="ignore"):
            stop, found = text_digest(
                np.uint64(7), array, 0, len(array), rule.length_max, rule.filled, rule.rule,
                line, weights.arrays, _ROOM,
            )  # fmt: skip
        if stop != L.NEED_WEIGHTS:
            return int(found) if stop == FINE else None
        weights.load(int(found))


def spellings(rng: random.Random, column: TextColumn) -> set[bytes]:
    """Return texts of few characters, so that many are equal under some collation."""
    table = fold_of(column.collation).table
    pairs = sorted(table.contractions) if table is not None else []
    pool = rng.sample(LETTERS, 12) + rng.sample(OTHERS, 3) + rng.sample(MARKS, 1)
    pool += rng.sample(pairs, min(len(pairs), 4))
    pool += [chr(rng.randrange(0x20, 0x3000)) for _ in range(4)]
    pool += [chr(rng.choice((0x3000, 0xE000, 0x20000)) + rng.randrange(0x1FFF))]
    pool = [*rng.sample(pool, rng.choice((2, 3, 6))), " "]
    texts = set()
    for _ in range(25):
        text = "".join(rng.choices(pool, k=rng.randrange(6)))
        form = rng.choice(("NFC", "NFD", "NFKD"))
        texts |= {text, unicodedata.normalize(form, text), text.upper(), text.swapcase()}
        texts |= {text + " " * rng.randrange(3)}
    return {data for text in texts if (data := column.encoded(text)) is not None}


def byte_strings(rng: random.Random) -> set[bytes]:
    """Return bytes that an 8-bit character set may read, and another not."""
    pool = [*rng.choices(range(256), k=rng.choice((3, 8))), *b" aA\xc3\xa9"]
    return {bytes(rng.choices(pool, k=rng.randrange(5))) for _ in range(40)}


HEADS = {
    2: ("é", "É", "ê", "ee", "eE", "e ", "Ж", "ж", "ß", "ss", "SS", "ç", "ch", "\0e"),
    3: (
        "税",
        "Ａ",
        "e\u0301",
        "E\u0301",
        "eé",
        "Ée",
        "éE",
        "ça",
        "ßa",
        "ssa",
        "か",
        "が",
        "c\u030c",
    ),
    4: ("😀", "𝄞", "éé", "ee\u0301", "e\u0301e", "ÉÉ", "čč", "ßß", "ssss", "ch\u030c"),
}
"""Spellings by the bytes that they take in UTF-8."""
_NUMBERED = re.compile(rb"[TO]0[0-9]{10}")


def spelt_log(
    path: Path, rng: random.Random, *, dialect: str, collation: str, names: tuple[str, ...]
) -> ForgedLog:
    """Return a log whose key texts have several spellings, under a collation of utf8mb4.

    The byte length of a text stays, so that only its first bytes change.
    """
    number = NUMBERS[collation]
    general = "utf8mb4_general_ci"
    shape = replace(
        mixes.TARIFF, collations=(number,), ddl=mixes.TARIFF.ddl.replace(general, collation)
    )
    log = production_log(path, dialect=dialect, seed=rng.randrange(5), tariff=shape)
    width = rng.choice((2, 3, 4))
    heads = [head.encode() for head in rng.sample(HEADS[width], rng.choice((1, 2, 4)))]
    share = rng.choice((0.02, 0.3, 1.0))

    def spelt(found: re.Match[bytes]) -> bytes:
        text = found[0]
        by_number = random.Random(text).choice(heads)
        head = rng.choice(heads) if rng.random() < share / 10 else by_number
        return head + text[width:] if random.Random(text + b"?").random() < share else text

    for event in rows_of(log, *names):
        event.body[:] = _NUMBERED.sub(spelt, bytes(event.body))
    return log
