"""Stale reads, and histories whose writers' reads are left out."""

from __future__ import annotations

import pytest

from paraply.properties.isolation.freshness import judge_freshness
from paraply.properties.isolation.judging import judge
from paraply.properties.isolation.readers_alone import readers_alone
from paraply.vocabulary.verdict import Verdict
from tests.properties.isolation.notation import lists, registers


@pytest.mark.parametrize(
    ("history", "sentence"),
    [
        (lists("ax1", "rx"),
         "T1 wrote 1 to x and had ended when T2 was invoked, which read nothing there"),
        (lists("ax1", "ax2", "rx1"),
         "T2 wrote 2 to x and had ended when T3 was invoked, which read [1] there"),
        (registers("wx1", "rx1 wx2", "rx1", log=(1, 2)),
         "T2 wrote 2 to x and had ended when T3 was invoked, which read 1 there"),
    ],
)  # fmt: skip
def test_read_that_misses_what_had_ended_is_stale(history, sentence):
    finding = judge_freshness(history)
    assert finding.verdict is Verdict.VIOLATED
    assert [str(one).replace("[]", "nothing") for one in finding.breaches] == [sentence]


@pytest.mark.parametrize(
    "history",
    [
        lists("ax1", "rx1"),
        # The append had not ended, so the read may miss it.
        lists("ax1", "ax2", "rx1", at=[(1, 2), (3, 6), (4, 5)]),
        # A read after an own write is judged as internal consistency.
        lists("ax1", "rx1 ax2 rx2", "rx12"),
        registers("wx1", "wx2", "rx2", log=(1, 2)),
    ],
)
def test_read_of_all_that_had_ended_is_fresh(history):
    assert judge_freshness(history).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        (lists("rx"), "no read came after a write of its key had ended"),
        (lists("ax1 info", "rx"), "no read came after a write of its key had ended"),
        (registers("wx1", "rx"), "the order of the source's log is not known"),
    ],
)
def test_without_situation_or_order_freshness_is_unknown(history, reason):
    finding = judge_freshness(history)
    assert (finding.verdict, finding.reason) == (Verdict.UNKNOWN, reason)


def test_reads_of_writers_are_left_out_and_all_else_stays():
    history = lists("ax1", "rx1 ax2", "rx1 ax3", "rx123")
    assert judge(history).finding("P4").verdict is Verdict.VIOLATED
    alone = readers_alone(history)
    assert [len(one.accesses) for one in alone.transactions] == [1, 1, 1, 1]
    assert judge(alone).level("snapshot-isolation").verdict is not Verdict.VIOLATED
    skewed = lists("ax1 ay1", "rx1 ry")
    assert judge(readers_alone(skewed)).finding("G-single").verdict is Verdict.VIOLATED
