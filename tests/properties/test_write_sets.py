"""Properties of write sets: each holds, breaks, and has an edge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.certification.write_sets import (
    a_null_keeps_two_rows_apart,
    an_update_to_or_from_null_meets_a_key,
    children_share_an_item_with_their_parents,
    equal_keys_share_an_item,
    items_are_shared_for_a_reason,
    whole_values_have_items_of_their_own,
)
from paraply.properties.vocabularies import hashed_items, prefix_keys
from paraply.reference_impl.write_set_subject import CHILDREN, TABLES, WORDS
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def story(text):
    history = history_of(text)
    return replace(history, header=replace(history.header, schema=tuple(TABLES.values())))


def test_rows_with_one_key_that_share_an_item_hold():
    history = story('T1{7} -test.words[1,"C"] | T2{7 8} +test.words[2,"c"]')
    assert verdict(history, equal_keys_share_an_item) is Verdict.HOLDS


def test_bug_86078_rows_equal_by_collation_without_a_common_item_are_reported():
    (breach,) = equal_keys_share_an_item(
        story('T1{1} -test.words[1,"C"] | T2{2} +test.words[2,"c"]')
    )
    assert (breach.table, breach.index) == ("test.words", "uk_word")


def test_bug_111027_rows_equal_in_the_prefix_without_a_common_item_are_reported():
    (breach,) = equal_keys_share_an_item(
        story('T1{1} -test.pairs[1,"abc",1] | T2{2} +test.pairs[2,"abd",1]')
    )
    assert breach.index == "uk_pair"


WHOLE = 'T1{{1 2}} -test.pairs[1,"abc",1] | T2{{{}}} +test.pairs[2,"{}",1]'


@pytest.mark.parametrize(
    ("items", "word", "expected"),
    [
        ("1 2", "abc", Verdict.HOLDS),
        ("1 2", "ABC", Verdict.HOLDS),
        ("1 3", "abd", Verdict.UNKNOWN),
        ("1 3", "abc", Verdict.VIOLATED),
        ("1 3", "ABC", Verdict.VIOLATED),
    ],
)
def test_equal_whole_values_share_an_item_beside_that_of_the_prefix(items, word, expected):
    history = story(WHOLE.format(items, word))
    assert verdict(history, whole_values_have_items_of_their_own) is expected


def test_tables_without_a_key_of_prefixes_have_one_item_for_each_value():
    assert prefix_keys(story(WHOLE.format("1 2", "abc")))
    whole = story('T1{1} -test.words[1,"c"] | T2{1} +test.words[2,"c"]')
    words = replace(whole, header=replace(whole.header, schema=(WORDS,)))
    assert not prefix_keys(words)


def test_value_that_is_its_own_prefix_has_one_item():
    history = story('T1{1} -test.pairs[1,"ab",1] | T2{1} +test.pairs[2,"ab",1]')
    assert verdict(history, whole_values_have_items_of_their_own) is Verdict.UNKNOWN


def test_prefix_without_an_item_is_no_breach_of_the_whole_value():
    history = story('T1{1} -test.pairs[1,"abc",1] | T2{2} +test.pairs[2,"abc",1]')
    assert whole_values_have_items_of_their_own(history) == []


def test_nulls_do_not_meet():
    history = story("T1{1} +test.words[1,null] | T2{2} +test.words[2,null]")
    assert verdict(history, equal_keys_share_an_item) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ('1,"abc",null', '2,"ABD",null', Verdict.HOLDS),
        ("1,null,1", "2,null,1", Verdict.HOLDS),
        ("1,null,1", "2,null,2", Verdict.UNKNOWN),
        ('1,"abc",null', '1,"abc",null', Verdict.UNKNOWN),
        ('1,"abc",1', '2,"xyz",1', Verdict.UNKNOWN),
    ],
)
def test_null_in_one_column_keeps_rows_apart_that_are_equal_in_the_others(first, second, expected):
    history = story(f"T1{{1}} +test.pairs[{first}] | T2{{2}} +test.pairs[{second}]")
    assert verdict(history, a_null_keeps_two_rows_apart) is expected


def test_null_in_a_key_of_one_column_is_another_matter():
    history = story("T1{1} +test.words[1,null] | T2{2} +test.words[2,null]")
    assert verdict(history, a_null_keeps_two_rows_apart) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("update", "other", "expected"),
    [
        ('[1,"abc",null][1,"abc",1]', '2,"abd",1', Verdict.HOLDS),
        ('[1,"abc",1][1,null,1]', '2,"abd",1', Verdict.HOLDS),
        ('[1,"abc",1][1,null,1]', '1,"abc",1', Verdict.UNKNOWN),
        ('[1,"abc",1][1,null,1]', "2,null,1", Verdict.UNKNOWN),
        ('[1,"abc",1][1,"xyz",1]', '2,"abc",1', Verdict.UNKNOWN),
    ],
)
def test_update_to_or_from_null_meets_another_row_by_that_key_alone(update, other, expected):
    history = story(f"T1{{1}} ~test.pairs{update} | T2{{2}} +test.pairs[{other}]")
    assert verdict(history, an_update_to_or_from_null_meets_a_key) is expected


def test_child_that_shares_an_item_with_its_parent_holds():
    history = story('T1{1} +test.words[1,"c"] | T2{1 2} +test.children[2,1]')
    assert verdict(history, children_share_an_item_with_their_parents) is Verdict.HOLDS


def test_child_without_a_common_item_is_reported():
    (breach,) = children_share_an_item_with_their_parents(
        story('T1{1} +test.words[1,"c"] | T2{2} +test.children[2,1]')
    )
    assert (breach.earlier, breach.later) == (1, 2)


def test_child_of_another_parent_is_no_family():
    history = story('T1{1} +test.words[1,"c"] | T2{2} +test.children[2,9]')
    assert verdict(history, children_share_an_item_with_their_parents) is Verdict.UNKNOWN


def test_strangers_without_a_common_item_hold():
    history = story('T1{1} +test.words[1,"c"] | T2{2} +test.pairs[1,"abc",1]')
    assert verdict(history, items_are_shared_for_a_reason) is Verdict.HOLDS


def test_equal_ids_of_two_tables_are_no_reason_to_share_an_item():
    history = story('T1{1 2} +test.words[1,"c"] | T2{2 3} +test.pairs[1,"abc",1]')
    (breach,) = items_are_shared_for_a_reason(history)
    assert str(breach) == "T1 and T2 share an item, but no key and no parent row"


def test_children_of_one_parent_share_its_item():
    history = story("T1{1 7} +test.children[1,5] | T2{2 7} +test.children[2,5]")
    assert verdict(history, items_are_shared_for_a_reason) is Verdict.UNKNOWN


def test_items_that_are_no_hashes_are_not_judged():
    rows = 'T1{%s} +test.words[1,"c"] | T2{%s} +test.pairs[1,"abc",1]'
    assert hashed_items(story(rows % ("7", "8")))
    assert not hashed_items(story(rows % ("7", "a")))


@pytest.mark.parametrize(
    "check",
    [
        equal_keys_share_an_item,
        children_share_an_item_with_their_parents,
        items_are_shared_for_a_reason,
    ],
)
def test_row_that_does_not_fit_its_table_is_unknown(check):
    whole = 'T1{7} +test.words[1,"c"] | T2{7} +test.words[1,"c"] | T3{7} +test.children[1,1]'
    assert verdict(story(f"{whole} | T4{{9}} +test.words[2]"), check) is Verdict.UNKNOWN
    narrow = replace(WORDS, columns=WORDS.columns[:1])
    history = story(whole)
    damaged = replace(history, header=replace(history.header, schema=(narrow, CHILDREN)))
    assert verdict(damaged, check) is Verdict.UNKNOWN
