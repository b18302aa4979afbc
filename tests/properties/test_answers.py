"""Judges answer as they did when somebody last looked: no verdict changes silently."""

from __future__ import annotations

import json

import hypothesis
import pytest

from tests.properties.answers import ANSWERS, DRAWN, digests, groups

EXPECTED = json.loads(ANSWERS.read_text(encoding="utf-8"))
REMEDY = "if this is meant, run python -m tests.properties.answers"


def assert_stored(name, each=1):
    """Ask again every n-th case of a group."""
    if "Hypothesis" in name and not name.endswith(DRAWN):
        pytest.skip(f"Hypothesis {hypothesis.__version__} draws others than{name.split(',')[-1]}")
    cases, expected = groups()[name], EXPECTED[name].split()
    assert len(cases) == len(expected), REMEDY
    cases, expected = cases[::each], expected[::each]
    found = digests(cases).split()
    for (case, answer), one, other in zip(cases, found, expected, strict=True):
        assert one == other, f"{case}: {answer()}; {REMEDY}"


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_tenth_answer_is_the_one_that_was_stored(name):
    assert_stored(name, each=10)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_answers_are_those_that_were_stored(name):
    assert_stored(name)


def test_every_group_has_stored_answers():
    assert {name.partition(", drawn")[0] for name in groups()} == {
        name.partition(", drawn")[0] for name in EXPECTED
    }
