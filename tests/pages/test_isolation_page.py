"""docs/isolation.md: current, complete, and each example the smallest of its kind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ci.pages.isolation import EXAMPLES, OBJECTS, PAGE, page
from paraply.properties.isolation.counters import LOGGED_INCREMENT
from paraply.properties.isolation.objects import OBJECT_PHENOMENA, judge_objects
from paraply.properties.isolation.phenomena import PHENOMENA
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict


def test_page_is_what_the_code_says(repository):
    assert (repository / PAGE).read_text(encoding="utf-8") == page()


def test_every_phenomenon_has_an_example():
    assert [one.label for one in EXAMPLES] == [one.label for one in PHENOMENA]


def test_every_phenomenon_of_sets_and_counters_has_an_example():
    # A logged increment needs the values of the binary log, which a recording does not have.
    expected = {one.label for one in OBJECT_PHENOMENA if one is not LOGGED_INCREMENT}
    assert {one.label for one in OBJECTS} == expected
    for example in OBJECTS:
        findings = {one.phenomenon.label: one for one in judge_objects(example.history)}
        assert findings[example.label].verdict is Verdict.VIOLATED


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.label)
def test_example_without_one_of_its_transactions_shows_nothing(example):
    assert example.judged().finding(example.label).verdict is Verdict.VIOLATED
    for left_out in range(len(example.does)):
        does = example.does[:left_out] + example.does[left_out + 1 :]
        try:
            result = replace(example, does=does).judged()
        except ParaplyError:
            continue  # Its log has a write that is no longer there.
        verdicts = {one.phenomenon.label: one.verdict for one in result.findings}
        if verdicts["garbage"] is Verdict.VIOLATED:
            continue  # Nobody wrote what is read: no smaller history, but another.
        assert verdicts.get(example.label) is not Verdict.VIOLATED, f"without T{left_out + 1}"


def test_phenomenon_without_its_example_fails_the_build(monkeypatch):
    wrong = replace(EXAMPLES[0], does=("0: [:append x 1]", "1: [:r x [1]]"))
    monkeypatch.setattr("ci.pages.isolation.EXAMPLES", (wrong,))
    with pytest.raises(AssertionError, match="the example of G0 does not show it"):
        page()
