"""Kernels digest key texts alike exactly where the readable code folds them alike."""

from __future__ import annotations

import pickle
import random
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.compiled import text_kernel as T
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.adapters.binlog.compiled.text_weights import TextWeights, text_weights
from paraply.adapters.binlog.keys.collation_weights import collation_entries
from paraply.adapters.binlog.keys.collations import ASIAN_CHARSETS, fold_of
from tests.adapters.binlog.test_compiled_equals_readable import PRODUCTION_LOADED
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.key_texts import (
    NUMBERS,
    TextColumn,
    byte_strings,
    kernel_digest,
    spellings,
    spelt_log,
)
from tests.builders.odd_tables import join_transactions, overlap

TRICKY = (
    "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_unicode_ci", "utf8mb4_general_ci",
    "utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_nopad_ai_cs", "utf8mb4_uca1400_as_ci",
    "utf8mb4_bin", "utf8mb4_danish_ci", "utf8mb4_hr_0900_as_cs", "utf8mb3_general_ci",
    "latin1_swedish_ci", "latin1_german2_ci", "cp1251_general_ci", "utf8mb4_0900_bin",
    "utf16_unicode_ci", "utf16le_general_ci", "utf32_bin", "ucs2_uca1400_as_cs", "swe7_swedish_ci",
    "utf8mb4_uca1400_nopad_ai_ci", "latin1_nopad_bin",
)  # fmt: skip


@cache
def names_read() -> list[str]:
    """Return the collations whose weights are known; to look takes seconds."""
    return sorted(name for name in NUMBERS if fold_of(name).certain)


def assert_same_classes(rng: random.Random, column: TextColumn) -> tuple[int, int]:
    """Compare drawn texts; return how many were compared, and how many share a class."""
    rule = column.rule()
    assert rule is not None, column
    texts = spellings(rng, column) | byte_strings(rng)
    by_fold, by_digest = defaultdict(set), defaultdict(set)
    for text in texts:
        found, folded = kernel_digest(rule, text), column.readable(text)
        if found is None:
            asian = collation_entries()[column.collation].charset in ASIAN_CHARSETS
            assert folded is None or (asian and not text.isascii()), (column, text)
            continue
        assert folded is not None, (column, text)
        by_fold[folded].add(text)
        by_digest[found].add(text)
    assert sorted(map(sorted, by_digest.values())) == sorted(map(sorted, by_fold.values())), column
    return sum(map(len, by_fold.values())), sum(len(each) > 1 for each in by_fold.values())


def columns(collations):
    return st.builds(
        TextColumn,
        st.sampled_from(collations),
        st.sampled_from(["varchar", "char"]),
        st.sampled_from([0, 0, 1, 2, 3]),
    )


@settings(max_examples=20)
@given(column=columns(TRICKY), seed=st.integers(0, 2**32))
def test_digests_are_equal_if_and_only_if_folds_are(column, seed):
    assert_same_classes(random.Random(seed), column)


@pytest.mark.long
@settings(max_examples=60)
@given(column=columns(TRICKY), seed=st.integers(0, 2**32))
def test_digests_of_many_texts_are_equal_if_and_only_if_folds_are(column, seed):
    assert_same_classes(random.Random(seed), column)


@pytest.mark.long
@settings(max_examples=25)
@given(column=st.deferred(lambda: columns(names_read())), seed=st.integers(0, 2**32))
def test_digests_are_equal_if_and_only_if_folds_are_under_any_collation(column, seed):
    assert_same_classes(random.Random(seed), column)


@pytest.mark.long
def test_drawn_texts_are_often_equal():
    rng = random.Random(1)
    drawn = [assert_same_classes(rng, TextColumn(name)) for name in TRICKY]
    compared, shared = (sum(each) for each in zip(*drawn, strict=True))
    assert compared > 50 * len(TRICKY)
    assert shared > 8 * len(TRICKY)


@pytest.mark.parametrize(
    ("collation", "prefix", "one", "two", "equal"),
    [
        ("utf8mb4_0900_ai_ci", 0, "Résumé", "resume", True),
        ("utf8mb4_0900_as_ci", 0, "Résumé", "resume", False),
        ("utf8mb4_0900_as_ci", 0, "RÉSUMÉ", "re\u0301sume\u0301", True),
        ("utf8mb4_0900_as_cs", 0, "RÉSUMÉ", "résumé", False),
        ("utf8mb4_unicode_ci", 0, "Straße", "STRASSE", True),
        ("utf8mb4_general_ci", 0, "Straße", "Strase", True),
        ("utf8mb4_danish_ci", 0, "aa", "Å", True),
        ("utf8mb4_unicode_ci", 0, "é ", "e", True),
        ("utf8mb4_0900_ai_ci", 0, "é ", "é", False),
        ("utf8mb4_unicode_ci", 2, "éèx", "eey", True),
        ("utf8mb4_bin", 2, "日本語", "日本", True),
        ("utf8mb4_bin", 0, "日本語", "日本", False),
        ("latin1_swedish_ci", 0, "ü", "Y", True),
        ("latin1_german2_ci", 0, "ü", "UE", True),
    ],
)
def test_equality_as_the_servers_define_it(collation, prefix, one, two, equal):
    column = TextColumn(collation, prefix=prefix)
    found = [kernel_digest(column.rule(), column.encoded(text)) for text in (one, two)]
    assert None not in found
    assert (found[0] == found[1]) is equal


@pytest.mark.parametrize(
    "data", [b"\xff", b"a\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x9f\xbf"]
)
@pytest.mark.parametrize("prefix", [0, 1])
def test_ill_formed_text_is_left_also_behind_a_prefix(data, prefix):
    column = TextColumn("utf8mb4_general_ci", prefix=prefix)
    for text in (data, b"ab" + data):
        assert column.readable(text) is None
        assert kernel_digest(column.rule(), text) is None


def test_text_longer_than_the_kernels_room_is_left():
    column = TextColumn("utf8mb4_0900_as_cs", "text")
    assert kernel_digest(column.rule(), "é".encode() * 5_000) is not None
    assert kernel_digest(column.rule(), "é".encode() * 20_000) is None


def test_ascii_texts_load_no_weights(monkeypatch):
    def refuse(weights, wanted):
        raise AssertionError("loaded a block of weights")

    monkeypatch.setattr(TextWeights, "load", refuse)
    for collation in TRICKY:
        if collation in ("utf8mb4_danish_ci", "utf8mb4_hr_0900_as_cs"):
            continue  # Two ASCII letters may weigh as one.
        if not collation.startswith(("utf16", "utf32", "ucs2", "swe7")):
            rule = TextColumn(collation).rule()
            assert kernel_digest(rule, b"Some plain TEXT 42 ") is not None


# How much of what is stored somewhere kernels compare


BLOCKS = {
    "Latin-1": (0xC0, 0xFF), "Latin Extended-A": (0x100, 0x17F), "Greek": (0x391, 0x3C9),
    "Cyrillic": (0x400, 0x45F), "kana": (0x3041, 0x30FA), "CJK": (0x4E00, 0x5FFF),
    "Hangul": (0xAC00, 0xBFFF), "emoji": (0x1F600, 0x1F64F),
}  # fmt: skip


def shares_of_letters(collations) -> dict[str, float]:
    """Return by block which share of letters, alone and in pairs, kernels compare."""
    rng = random.Random(5)
    found = defaultdict(list)
    for collation in collations:
        column = TextColumn(collation)
        rule = column.rule()
        for name, (first, last) in BLOCKS.items():
            letters = [chr(rng.randint(first, last)) for _ in range(30)]
            texts = [one + two for one, two in zip(letters, ["a", *letters], strict=False)]
            for data in filter(None, map(column.encoded, letters + texts)):
                if column.readable(data) is not None:
                    found[name].append(rule is not None and kernel_digest(rule, data) is not None)
    return {name: sum(each) / len(each) for name, each in found.items()}


@pytest.mark.long
def test_kernels_compare_common_letters():
    shares = shares_of_letters(TRICKY[:6])
    assert set(shares) == set(BLOCKS)
    assert min(shares.values()) == 1.0, shares


@pytest.mark.long
def test_kernels_compare_common_letters_under_tables_of_each_kind():
    by_table = {
        collation_entries()[name].table: name
        for name in names_read()
        if name.startswith("utf8mb4_")
    }
    assert len(by_table) > 100
    shares = shares_of_letters([name for _, name in sorted(by_table.items())][::10])
    assert min(shares.values()) == 1.0, shares


def test_kernels_read_most_collations():
    read = {
        (name, kind)
        for name in names_read()
        for kind in ("varchar", "char")
        if TextColumn(name, kind).rule() is not None
    }
    assert len(read) == 2 * len(names_read()), "all whose weights were measured"
    assert len(names_read()) > 0.98 * len(NUMBERS)


# Whole logs


@pytest.mark.long
@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**32),
    dialect=st.sampled_from(["mariadb", "mysql"]),
    collation=st.sampled_from([name for name in TRICKY if name.startswith("utf8mb4_")]),
)
def test_logs_of_any_spellings_give_the_same_result_and_no_table_is_left(
    tmp_path_factory, seed, dialect, collation
):
    rng = random.Random(seed)
    if "_0900_" in collation or "uca1400" in collation:
        dialect = "mysql" if "_0900_" in collation else "mariadb"
    path: Path = tmp_path_factory.mktemp("spelt") / "log.000001"
    names = rng.choice((("tariff",), ("orders", "item"), ("tariff", "orders", "item")))
    log = spelt_log(path, rng, dialect=dialect, collation=collation, names=names)
    if rng.random() < 0.5:
        join_transactions(log, rng, 0.3, PRODUCTION_LOADED)
        log = type(log)(log.data())
    if rng.random() < 0.7:
        overlap(log, dialect, rng.choice((9, 60)), PRODUCTION_LOADED)
    files, left = (str(log.save(path)),), LeftTables()
    readable = audit_by_readable(files)
    compiled = audit_by_leaving(files, None, None, left, transactions_max=rng.choice((40, 8192)))
    assert differences(readable, compiled) == []
    # Another spelling of a referenced value repeats the check, which the readable code judges.
    assert set(left.reasons.values()) <= {
        "repeated foreign key checks",
        *(f"foreign keys with bench.{name}" for name in ("orders", "item", "customer")),
    }


def test_weights_are_those_of_one_process():
    assert text_weights() is text_weights()


def test_weights_that_go_to_another_process_keep_their_lines():
    here = TextWeights()
    lines = [("utf8mb4_0900_ai_ci", "utf_8"), ("latin1_german2_ci", "latin1 latin1"),
             ("utf8mb4_bin", "utf_8")]  # fmt: skip
    numbers = [here.line_of(*line) for line in lines]
    assert numbers == [1, 2, 3]
    here.load(numbers[0] * T.BLOCKS)
    text_weights().line_of("utf8mb4_general_ci", "utf_8")
    there = pickle.loads(pickle.dumps(here))
    assert [there.line_of(*line) for line in lines] == numbers
    for name in ("bytes", "characters", "rules"):
        assert (getattr(there.arrays, name) == getattr(here.arrays, name)).all(), name
    # The lines that the first one gets later leave the second one's as they are.
    assert there.line_of("swe7_swedish_ci", "swe7 swe7") == 4
    assert here.line_of("cp1251_general_ci", "cp1251 cp1251") == 4
