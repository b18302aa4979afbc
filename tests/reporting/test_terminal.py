from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from paraply.reporting.pictures.charts import bar, curve, resampled
from paraply.reporting.terminal import render_terminal
from tests.builders.audit_results import violated_result
from tests.builders.audit_situations import EVERY_SITUATION, HOSTILE

ANSI = re.compile(r"\x1b\[[0-9;]*m")
GREEN = re.compile(r"\x1b\[(?:\d+;)*32(?:;\d+)*m")


@pytest.mark.parametrize("situation", EVERY_SITUATION)
@pytest.mark.parametrize("plain", [False, True], ids=["drawn", "plain"])
@pytest.mark.parametrize("width", [40, 61, 80, 200])
def test_report_wraps_at_the_width(situation, plain, width):
    text = render_terminal(EVERY_SITUATION[situation](), width=width, colour=False, plain=plain)
    if width < 80 and not plain:
        # Tables of numbers are not squeezed below what keeps them readable; prose is.
        text = "\n".join(line for line in text.splitlines() if not re.search(r"\d  +\S", line))
    assert [line for line in text.splitlines() if cell_len(line) > width] == []


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_report_in_a_pipe_has_no_control_character(situation):
    text = render_terminal(EVERY_SITUATION[situation](), width=100, colour=False)
    assert [c for c in text if not c.isprintable() and c != "\n"] == []


def test_hostile_log_cannot_send_escape_sequences_to_a_terminal():
    text = render_terminal(EVERY_SITUATION["hostile"](), width=100, colour=True)
    assert HOSTILE not in text
    assert [c for c in ANSI.sub("", text) if not c.isprintable() and c != "\n"] == []


def test_hostile_text_is_shown_rather_than_dropped():
    text = render_terminal(EVERY_SITUATION["hostile"](), width=400, colour=False)
    assert r"\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>" in text


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_colours_change_nothing_that_is_said(situation):
    result = EVERY_SITUATION[situation]()
    coloured = render_terminal(result, width=90, colour=True)
    assert "\x1b[" in coloured
    # Trailing spaces under a colour cannot be cut off.
    stripped = [line.rstrip() for line in ANSI.sub("", coloured).splitlines()]
    assert stripped == render_terminal(result, width=90, colour=False).splitlines()


@pytest.mark.parametrize("situation", ["empty", "truncated"])
def test_unknown_verdict_is_never_green(situation):
    result = EVERY_SITUATION[situation]()
    result.parallelism = []
    assert not GREEN.search(render_terminal(result, width=80, colour=True))


def test_verdict_that_holds_is_green():
    assert GREEN.search(render_terminal(EVERY_SITUATION["holds"](), width=80, colour=True))


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_plain_report_is_ascii_in_reading_order(situation):
    result = EVERY_SITUATION[situation]()
    text = render_terminal(result, width=72, colour=False, plain=True)
    assert text.isascii()
    assert text.startswith(f"Verdict: {result.verdict.word}.\n")


def test_plain_report_says_the_numbers_that_a_chart_draws():
    text = render_terminal(violated_result(), width=500, colour=False, plain=True)
    assert "logical-clock; 1: 1.00; 2: 1.51; 4: 2.03" in text
    assert "2-3: 390; 4-7: 620" in text


def test_both_transactions_of_a_violation_are_named_with_place_and_timestamp():
    text = render_terminal(violated_result(), width=200, colour=False)
    for part in (
        "3e11fa47-71ca-11e1-9e33-c80aa9429562:411  binlog.000007:128429  "
        "last_committed=408 sequence_number=411",
        "3e11fa47-71ca-11e1-9e33-c80aa9429562:412  binlog.000007:128741",
        "B waits for sequence numbers up to 408 (its last_committed); A has 411.",
        "uk_number('A-1007')",
        "stop with a duplicate key.",
    ):
        assert part in text


def test_violations_past_the_first_five_are_counted():
    result = violated_result()
    result.violations = result.violations * 4
    result.violations_dropped = 1_000
    text = render_terminal(result, width=100, colour=False)
    assert "and 1,003 more such pairs" in text
    assert "1,008 pairs of conflicting transactions" in text


def test_curve_of_zeros_is_a_flat_line():
    assert curve([0, 0, 0], width=3) == "▁▁▁"


def test_curve_reaches_the_top_at_its_maximum_and_the_bottom_at_zero():
    assert curve([0, 4, 8], width=3) == "▁▅█"


def test_curve_longer_than_the_width_is_averaged():
    assert resampled([1, 3, 5, 7], width=2) == [2, 6]


def test_smallest_value_still_shows_as_a_bar():
    assert bar(1, top=1_000_000, width=20) == "▏"


def test_largest_value_fills_the_width():
    assert bar(7, top=7, width=20) == "█" * 20
