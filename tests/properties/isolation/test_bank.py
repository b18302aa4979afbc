"""Totals of a bank: constant, changed, never read; and what they say about each level."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from paraply.properties.isolation import judging
from paraply.properties.isolation.bank import judge_bank
from paraply.properties.isolation.phenomena import LEVELS
from paraply.vocabulary.verdict import Verdict

FORBIDS_SKEW = [one for one in LEVELS if "G-single" in one.forbids]


@pytest.mark.parametrize("expected", [None, 100])
def test_constant_total_holds_and_proves_no_level(expected):
    finding, levels = judge_bank([("r1", 100), ("r2", 100)], expected=expected)
    assert (finding.verdict, finding.breaches, finding.did_occur) == (Verdict.HOLDS, (), True)
    assert finding.phenomenon.label == "bank total"
    assert [one.level for one in levels] == list(LEVELS)
    assert {one.verdict for one in levels} == {Verdict.UNKNOWN}
    assert levels[0].because == ("a bank shows totals, and no versions",)


@pytest.mark.parametrize(
    ("totals", "expected", "found"),
    [
        ([("r1", 100), ("r2", 90), ("r3", 100)], None, [("r2", 90)]),
        ([("r1", 100), ("r2", 90)], 90, [("r1", 100)]),
        ([("r1", 0)], 1, [("r1", 0)]),
    ],
)
def test_changed_total_refutes_levels_that_forbid_read_skew(totals, expected, found):
    finding, levels = judge_bank(totals, expected=expected)
    assert finding.verdict is Verdict.VIOLATED
    assert [(one.reader, one.total) for one in finding.breaches] == found
    right = expected if expected is not None else totals[0][1]
    assert {one.expected for one in finding.breaches} == {right}
    refuted = [one.level for one in levels if one.verdict is Verdict.VIOLATED]
    assert refuted == FORBIDS_SKEW
    assert 0 < len(refuted) < len(LEVELS)
    assert {one.because for one in levels if one.level in refuted} == {("bank total",)}


@pytest.mark.parametrize("expected", [None, 100])
def test_bank_that_nobody_read_is_unknown(expected):
    finding, levels = judge_bank([], expected=expected)
    assert (finding.verdict, finding.did_occur) == (Verdict.UNKNOWN, False)
    assert finding.reason == "no read of the accounts succeeded"
    assert {one.verdict for one in levels} == {Verdict.UNKNOWN}


@pytest.mark.parametrize(("size", "is_loaded"), [(judging.READABLE_MAX, False), (10**9, True)])
def test_kernels_are_loaded_for_large_files_by_a_history_with_a_cycle(size, is_loaded):
    with (
        patch("paraply.properties.isolation.compiled.cycles.find_cycles") as searched,
        patch("paraply.properties.isolation.compiled.sessions.kept_guarantees") as kept,
    ):
        searched.return_value = []
        judging.load_search_for(size)
    assert searched.called is kept.called is is_loaded
