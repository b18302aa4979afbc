"""Three verdicts, of which the gravest wins and silence is unknown."""

from __future__ import annotations

from itertools import product

import pytest

from paraply.vocabulary.verdict import Verdict, combine


def test_no_verdict_at_all_is_unknown():
    assert combine([]) is Verdict.UNKNOWN


@pytest.mark.parametrize(("a", "b"), list(product(Verdict, repeat=2)))
def test_combined_verdict_is_the_graver(a, b):
    assert combine([a, b]) is (a if a > b else b)


def test_verdicts_have_their_word_and_exit_code():
    assert [(v.word, v.exit_code) for v in Verdict] == [
        ("holds", 0),
        ("unknown", 2),
        ("violated", 1),
    ]
