"""Judges answer as they did when somebody last looked: no verdict changes silently."""

from __future__ import annotations

import json

import hypothesis
import pytest

from tests.properties.answers import ANSWERS, DRAWN, digests, drawn_groups, undrawn_groups

EXPECTED = json.loads(ANSWERS.read_text(encoding="utf-8"))
REMEDY = "if this is meant, run python -m tests.properties.answers"


def is_drawn(name):
    return "Hypothesis" in name


def assert_stored(name, each=1):
    """Ask again every n-th case of a group."""
    if is_drawn(name) and not name.endswith(DRAWN):
        pytest.skip(f"Hypothesis {hypothesis.__version__} draws others than{name.split(',')[-1]}")
    of_kind = drawn_groups() if is_drawn(name) else undrawn_groups()
    cases, expected = of_kind[name], EXPECTED[name].split()
    assert len(cases) == len(expected), REMEDY
    cases, expected = cases[::each], expected[::each]
    found = digests(cases).split()
    for (case, answer), one, other in zip(cases, found, expected, strict=True):
        assert one == other, f"{case}: {answer()}; {REMEDY}"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long(each=1)) if is_drawn(name) else name
        for name in sorted(EXPECTED)
    ],
)
def test_every_tenth_answer_is_the_one_that_was_stored(name):
    assert_stored(name, each=10)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_answers_are_those_that_were_stored(name):
    assert_stored(name)


def kinds(names):
    return {name.partition(", drawn")[0] for name in names}


def test_every_group_has_stored_answers():
    assert kinds(undrawn_groups()) == {name for name in EXPECTED if not is_drawn(name)}


@pytest.mark.long
def test_every_drawn_group_has_stored_answers():
    assert kinds(drawn_groups()) == kinds(filter(is_drawn, EXPECTED))
