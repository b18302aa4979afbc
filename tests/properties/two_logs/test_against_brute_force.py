"""The judge of two logs against exhaustive search.

``python -m tests.properties.two_logs.against_brute_force --cases 100000`` is the long run.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.two_logs.against_brute_force import differences, wrong_cases
from tests.properties.two_logs.small_histories import history

CASES = 1_500


@pytest.mark.long
def test_rule_and_fast_twin_find_what_exhaustive_search_finds():
    levels: Counter = Counter()
    assert list(wrong_cases(CASES, 2, levels)) == []
    assert sum(levels.values()) == CASES
    reached = Counter(level for _, level in levels.elements())
    assert min(reached.values()) >= 3, reached
    assert len(reached) == 7, "a level that no case reached was not tested"


@pytest.mark.long
@given(st.randoms(use_true_random=False))
def test_no_drawn_history_divides_the_judges(chance: Random):
    source, target, _ = history(chance)
    assert differences(source, target) == []
