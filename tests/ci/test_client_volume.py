"""Rounds of client transactions: the second opinion notices a checker that errs."""

from __future__ import annotations

import pytest

from ci import client_volume
from ci.bench.clients import seconds_to_first
from ci.client_volume import second_opinion
from tests.properties.isolation.notation import lists

LOST_UPDATE = ("ax1", "rx1 ax2", "rx1 ax3", "rx123")


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    "texts", [LOST_UPDATE, ("ax1 ay1", "ax2 ay2", "rx12 ry21"), ("rx ay1", "ry ax1", "rx1 ry1")]
)
def test_both_checkers_agree_with_and_without_the_log(texts):
    writers = tuple(number for number, text in enumerate(texts, start=1) if "a" in text)
    assert second_opinion(lists(*texts)) == []
    assert second_opinion(lists(*texts, log=writers)) == []


def test_a_search_that_finds_nothing_is_contradicted(monkeypatch):
    monkeypatch.setattr(client_volume, "CompiledSearch", lambda: lambda *_, **__: [])
    found = second_opinion(lists(*LOST_UPDATE))
    assert "G-single: 0 by kernels, 1 without" in found


def test_a_verdict_that_only_the_log_makes_hold_is_contradicted(monkeypatch):
    judge = client_volume.judge

    def blind(history, *, search):
        return judge(history if history.log is None else lists("ax1", "rx1 ax2"), search=search)

    monkeypatch.setattr(client_volume, "judge", blind)
    found = second_opinion(lists(*LOST_UPDATE, log=(1, 2, 3)))
    assert "P4: holds by the log's order, violated without it" in found


def test_the_time_to_a_violation_ends_with_its_last_transaction():
    at = ((0, 1_000_000_000), (1, 2_000_000_000), (2, 3_000_000_000), (3, 9_000_000_000))
    assert seconds_to_first("P4", lists(*LOST_UPDATE, at=at)) == pytest.approx(3.0)
    assert seconds_to_first("P4", lists("ax1", "rx1 ax2")) is None
