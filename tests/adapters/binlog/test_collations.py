"""Folds of text: equal if and only if the servers hold the texts equal."""

from __future__ import annotations

import random
from collections import defaultdict
from contextlib import suppress
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.charsets import codec_of
from paraply.adapters.binlog.keys import collations
from paraply.adapters.binlog.keys.collation_names import default_collation, settled_collation
from paraply.adapters.binlog.keys.collation_weights import (
    UnmeasuredCharacter,
    byte_characters,
    collation_entries,
    weight_table,
)
from paraply.adapters.binlog.keys.collations import COARSE_FOLD, fold_of, is_exact, text_of
from paraply.adapters.binlog.schema.ddl import CharacterOptions

MEASURED = sorted(
    name for name, entry in collation_entries().items() if entry.table not in (None, "identity")
)
TABLES = sorted({collation_entries()[name].table for name in MEASURED})


def collation_with(table):
    """Return the name of one collation that weighs by this table."""
    return next(name for name in MEASURED if collation_entries()[name].table == table)


# What the servers' manuals and bug reports say


@pytest.mark.parametrize(
    ("collation", "one", "two", "equal"),
    [
        ("utf8mb4_general_ci", "ß", "s", True),
        ("utf8mb4_general_ci", "ß", "ss", False),
        ("utf8mb4_unicode_ci", "ß", "ss", True),
        ("utf8mb4_0900_ai_ci", "ß", "ss", True),
        ("utf8mb4_0900_ai_ci", "Résumé", "resume", True),
        ("utf8mb4_0900_as_ci", "Résumé", "resume", False),
        ("utf8mb4_0900_as_ci", "RÉSUMÉ", "résumé", True),
        ("utf8mb4_0900_as_cs", "RÉSUMÉ", "résumé", False),
        ("utf8mb4_0900_ai_ci", "a", "a ", False),
        ("utf8mb4_unicode_ci", "a", "a  ", True),
        ("utf8mb4_bin", "a", "a ", True),
        ("utf8mb4_bin", "a", "A", False),
        ("utf8mb4_0900_bin", "a", "a ", False),
        ("utf8mb4_general_ci", "😀", "𝄞", True),
        ("utf8mb4_0900_ai_ci", "😀", "𝄞", False),
        ("utf8mb4_danish_ci", "aa", "å", True),
        ("utf8mb4_german2_ci", "ä", "ae", True),
        ("utf8mb4_unicode_ci", "ä", "ae", False),
        ("latin1_swedish_ci", "ü", "y", True),
        ("latin1_german2_ci", "ü", "ue", True),
        ("latin1_bin", "ü", "u", False),
        ("utf8mb4_turkish_ci", "I", "i", False),
        ("utf8mb4_uca1400_ai_ci", "Ł", "l", True),
        ("utf8mb4_nopad_bin", "a", "a ", False),
        ("utf8mb4_unicode_nopad_ci", "a", "a ", False),
        ("utf8mb3_general_ci", "É", "e", True),
        ("utf8mb4_uca1400_nopad_ai_cs", "ê", "e", True),
        ("utf8mb4_uca1400_nopad_ai_cs", "ê", "E", False),
        ("utf8mb4_uca1400_nopad_ai_cs", "e ", "e", False),
    ],
)
def test_equality_as_the_servers_define_it(collation, one, two, equal):
    fold = fold_of(collation)
    assert fold.certain
    assert (fold(one) == fold(two)) is equal


def test_tab_is_not_padding():
    for collation in ("utf8mb4_general_ci", "utf8mb4_unicode_ci", "latin1_swedish_ci"):
        assert fold_of(collation)("a\t") != fold_of(collation)("a")


def test_a_character_without_a_measured_weight_cannot_be_compared():
    assert fold_of("latin1_swedish_ci")("中") is None


@pytest.mark.parametrize("collation", ["", "no_such_ci", "latin2_czech_cs", "utf8mb4_croatian_ci"])
def test_unknown_and_ambiguous_collations_get_the_coarse_fold(collation):
    assert fold_of(collation) is COARSE_FOLD


# Every measured collation


@pytest.mark.long(quick=16)
@pytest.mark.parametrize("table", TABLES)
def test_characters_fold_alike_if_and_only_if_they_weigh_alike(table):
    weights = weight_table(table)
    collation = collation_with(table)
    fold = fold_of(collation)
    by_rule = defaultdict(set)
    by_fold = defaultdict(set)
    for character in chosen_characters(weights):
        # A digit after it, which joins in no contraction, keeps a space from being padding.
        by_rule[rule(weights, collation, character + "7")].add(character)
        by_fold[fold(character + "7")].add(character)
    assert None not in by_fold
    assert sorted(map(sorted, by_rule.values())) == sorted(map(sorted, by_fold.values()))
    assert len(by_fold) > 20


def chosen_characters(weights):
    """Return Latin whole and a sample of the rest: all of every table would take minutes."""
    codes = {*range(0x180), *random.Random(0).sample(range(0x180, 0x30000), 200)}
    found = []
    for character in map(chr, sorted(codes)):
        with suppress(UnmeasuredCharacter):
            weights[character]
            found.append(character)
    return found


def rule(weights, collation, text):
    """Return the comparable form by the rule of the data's README, written out once more."""
    levels = [
        b"".join(weights[c][level] for c in text if weights[c][level:])
        for level in range(len(weights[" "]))
    ]
    for level, space in enumerate(weights[" "]):
        pads = collation_entries()[collation].pads or (level and "uca1400" in collation)
        while pads and space and levels[level].endswith(space):
            levels[level] = levels[level].removesuffix(space)
    return tuple(levels)


@pytest.mark.long
@given(st.data())
def test_fold_is_the_weights_of_the_characters_strung_together(data):
    collation = data.draw(st.sampled_from(["utf8mb4_0900_as_cs", "utf8mb4_unicode_ci"]))
    weights = weight_table(collation)
    alphabet = st.characters(min_codepoint=0x20, max_codepoint=0x17F)
    one, two = (data.draw(st.text(alphabet, max_size=6)) for _ in "12")
    fold = fold_of(collation)
    same = rule(weights, collation, one) == rule(weights, collation, two)
    assert (fold(one) == fold(two)) is same
    assert fold(one) == fold(one[:3] + one[3:])


# The coarse fold


ASCII = [chr(code) for code in range(128)]


OFTEN = (
    "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_0900_ai_ci", "utf8mb4_danish_ci",
    "utf8mb4_spanish2_ci", "utf8mb4_uca1400_ai_ci", "latin1_swedish_ci", "latin1_german2_ci",
)  # fmt: skip


@cache
def ascii_patterns():
    """Return one collation for each way in which the tables weigh ASCII text."""
    patterns = {}
    for table in TABLES:
        weights = weight_table(table)
        single = tuple(weights.get(c) or fold_of(collation_with(table))(c + "7") for c in ASCII)
        pairs = tuple(sorted(item for item in weights.contractions.items() if item[0].isascii()))
        patterns.setdefault((single, pairs), collation_with(table))
    return sorted(patterns.values())


TEXTS = ["", *ASCII, *map("".join, product("abcdefghijklmnopqrstuvwxyzAC `~@\x01", repeat=2))]
"""Contractions of upper case letters fold as those of lower case where case counts for nothing."""


def texts_merged_by(collation, texts=TEXTS):
    """Return the ASCII texts of at most two characters, in sets that the collation merges."""
    fold = fold_of(collation)
    merged = defaultdict(set)
    for text in texts:
        folded = fold(text)
        if folded is not None:
            merged[folded].add(text)
    return [texts for texts in merged.values() if len(texts) > 1]


@pytest.mark.parametrize("collation", OFTEN)
def test_coarse_fold_never_splits_what_a_collation_merges(collation):
    for texts in texts_merged_by(collation):
        assert len({COARSE_FOLD(text) for text in texts}) == 1, sorted(texts)


@pytest.mark.long
def test_coarse_fold_never_splits_what_any_measured_collation_merges():
    for collation in ascii_patterns():
        test_coarse_fold_never_splits_what_a_collation_merges(collation)


@pytest.mark.long
def test_every_class_of_the_coarse_fold_is_needed():
    """Taking any class out splits what some collation merges."""
    needed = set()
    for collation in ascii_patterns():
        for texts in texts_merged_by(collation, ["", *ASCII, "c7", "ch7"]):
            letters = {text.lower() for text in texts if len(text) == 1}
            needed |= letters if len(letters) > 1 or "" in texts else set()
            needed |= set("h") if {"c7", "ch7"} <= {text.lower() for text in texts} else set()
    # Tabs and line ends are dropped as control characters, though none of them needs it.
    needed |= set("\t\n\v\f\r")
    assert needed >= {*collations.COARSE_CLASSES, *collations.COARSE_DROPPED}


@given(st.text(st.characters(max_codepoint=127), max_size=12), st.sampled_from(TABLES))
def test_coarse_fold_merges_texts_that_differ_by_case_padding_and_control_characters(text, table):
    assert COARSE_FOLD(text) == COARSE_FOLD(text.swapcase()) == COARSE_FOLD(text + "  ")
    assert COARSE_FOLD(text) == COARSE_FOLD("\x01" + text)
    collation = collation_with(table)
    if fold_of(collation)(text) == fold_of(collation)(text.upper()) is not None:
        assert COARSE_FOLD(text) == COARSE_FOLD(text.upper())


def test_coarse_fold_does_not_answer_outside_ascii():
    assert COARSE_FOLD("é") is None


def test_mutant_coarse_fold_that_keeps_letters_apart_is_caught(monkeypatch):
    monkeypatch.setattr(collations, "_COARSE", collations._COARSE | {ord("Y"): "y", ord("y"): "y"})
    with pytest.raises(AssertionError):
        test_coarse_fold_never_splits_what_a_collation_merges("utf8mb4_lithuanian_ci")


# Character sets


@pytest.mark.parametrize("charset", ["latin1", "latin2", "cp1251", "koi8r", "ascii", "cp850"])
def test_bytes_become_the_characters_that_the_server_gives_them(charset):
    decode = text_of(charset)
    for byte, character in enumerate(byte_characters(charset)):
        assert decode(bytes((byte,))) == (character or None)


def test_python_codecs_agree_with_the_servers_or_give_characters_without_a_weight():
    """The reader of logs decodes by Python's codecs; a disagreement must not go unnoticed."""
    for charset in ("latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1257", "koi8r"):
        for byte, character in enumerate(byte_characters(charset)):
            try:
                decoded = bytes((byte,)).decode(codec_of(charset))
            except UnicodeDecodeError:
                continue
            assert decoded == character, (charset, byte)


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("utf8mb4", "é😀".encode(), "é😀"),
        ("utf8mb4", b"\xff", None),
        ("ucs2", "é".encode("utf-16-be"), "é"),
        ("", b"abc", "abc"),
        ("", b"\xe9", None),
        ("no_such", b"\xe9", None),
        ("sjis", "あ".encode("shift_jis"), "あ"),
        ("dec8", b"\xe9", "é"),
    ],
)
def test_decoding(charset, data, text):
    assert text_of(charset)(data) == text


def test_asian_charsets_are_exact_for_ascii_only():
    assert is_exact("sjis_japanese_ci", "abc")
    assert not is_exact("sjis_japanese_ci", "あ")


# Names


def test_default_collations_are_those_that_both_servers_measured():
    defaults = defaultdict(set)
    from paraply.adapters.binlog.keys.collation_weights import _catalogue

    for server in _catalogue()["servers"].values():
        for name, facts in server["collations"].items():
            if facts["default"]:
                defaults[facts["charset"]].add(name)
    for charset, names in defaults.items():
        expected = names.pop() if len(names) == 1 else ""
        assert default_collation(charset) == expected, charset


@pytest.mark.parametrize(
    ("given_options", "table", "settled"),
    [
        (("", ""), ("latin1", "latin1_bin"), ("latin1", "latin1_bin")),
        (("utf8", ""), ("", ""), ("utf8mb3", "")),
        (("ascii", ""), ("", ""), ("ascii", "ascii_general_ci")),
        (("utf8mb4", ""), ("", ""), ("utf8mb4", "")),
        (("", "utf8_unicode_ci"), ("", ""), ("utf8mb3", "utf8mb3_unicode_ci")),
        (("utf8mb4", "uca1400_ai_ci"), ("", ""), ("utf8mb4", "utf8mb4_uca1400_ai_ci")),
        (("", "uca1400_ai_ci"), ("", ""), ("", "")),
        (("latin1", ""), ("utf8mb4", "utf8mb4_bin"), ("latin1", "latin1_swedish_ci")),
        (("default", ""), ("latin1", "latin1_bin"), ("latin1", "latin1_bin")),
    ],
)
def test_column_options_are_settled_by_those_of_the_table(given_options, table, settled):
    charset, collation = given_options
    found = settled_collation(
        CharacterOptions(charset=charset, collation=collation),
        CharacterOptions(charset=table[0], collation=table[1]),
    )
    assert found == settled
