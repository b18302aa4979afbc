"""Numbers agree with their nouns."""

from __future__ import annotations

import pytest

from paraply.vocabulary.counting import Counted, counted


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1_200, "1,200 pairs")]
)
def test_noun_agrees_in_number(number, text):
    assert counted(number, "pair") == text
    assert f"{Counted(number):pair|pairs}" == text


def test_number_without_a_noun_is_formatted_as_any_other():
    assert f"{Counted(1200):,} {Counted(7):03d}" == "1,200 007"
