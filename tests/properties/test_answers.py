"""Judges answer as they did when somebody last looked: no verdict changes silently."""

from __future__ import annotations

import json

import pytest

from tests.properties.answers import ANSWERS, digests, groups

EXPECTED = json.loads(ANSWERS.read_text(encoding="utf-8"))
GROUPS = groups()
REMEDY = "if this is meant, run python -m tests.properties.answers"


@pytest.mark.parametrize("name", sorted(GROUPS))
def test_answers_are_those_that_were_stored(name):
    cases, expected = GROUPS[name], EXPECTED[name].split()
    found = digests(cases).split()
    assert len(found) == len(expected), REMEDY
    for (case, answer), one, other in zip(cases, found, expected, strict=True):
        assert one == other, f"{case}: {answer()}; {REMEDY}"


def test_every_group_has_stored_answers():
    assert EXPECTED.keys() == GROUPS.keys()
