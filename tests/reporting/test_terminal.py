from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from paraply.reporting.pictures.charts import bar, curve, resampled
from paraply.reporting.terminal import render_terminal
from paraply.vocabulary.audit_result import JudgedRange, Reason
from paraply.vocabulary.verdict import Verdict
from tests.builders.audit_results import transaction, violated_result
from tests.builders.audit_situations import EVERY_SITUATION, HOSTILE

ANSI = re.compile(r"\x1b\[[0-9;]*m")
GREEN = re.compile(r"\x1b\[(?:\d+;)*32(?:;\d+)*m")


@pytest.mark.long(quick=4)
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


@pytest.mark.long(quick=3)
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


def test_rows_in_doubt_have_a_line_of_their_own():
    result = violated_result()
    assert "in doubt" not in render_terminal(result, width=500, colour=False, plain=True)
    for rows, words in ((1, "1 row image does not fit"), (1_200, "1,200 row images do not fit")):
        result.replay.rows_in_doubt = rows
        for plain in (False, True):
            assert words in render_terminal(result, width=500, colour=False, plain=plain)


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


@st.composite
def long_results(draw):
    """Results with many findings, long names and large numbers."""
    result = draw(st.sampled_from(sorted(EVERY_SITUATION.items())))[1]()
    letters = st.sampled_from(["a", "long_name_", "words of it ", "\u202e", "\x1b[2J"])

    def text(length):
        return draw(letters) * draw(st.integers(1, length))

    name, words = text(200), text(400)
    evil = replace(transaction(10**18, file=name), gtid=text(80))
    result.violations = [
        replace(each, table=name, key=words, property=name, applier=name, consequence=words,
                earlier=evil, later=evil)
        for each in violated_result().violations
    ] * draw(st.integers(0, 30))  # fmt: skip
    result.blockers = [
        replace(each, name=words, kind=name) for each in violated_result().blockers * 5
    ]
    result.unknown_because += [
        Reason(property=name, reason=words, remedy=f"{number} {words}", subject=f"{name}{number}")
        for number in range(draw(st.integers(0, 30)))
    ]
    result.lint = [replace(each, message=words, rule=name) for each in violated_result().lint] * 20
    result.may_wait = draw(st.sampled_from([0, 10**15]))
    if draw(st.booleans()):
        result.violations = []
    if draw(st.booleans()):
        result.range = JudgedRange(before=10**12, first_gtid=name, last_gtid=name)
    result.verdict = draw(st.sampled_from(Verdict))
    return result


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(long_results(), st.booleans())
def test_report_is_one_screen_whatever_was_found(result, plain):
    text = render_terminal(
        result, width=100, colour=False, plain=plain, details=False, speed="1.0 MB in 2.0 s"
    )
    assert len(text.splitlines()) <= 40
    assert "--details prints every section here, --html FILE and --json FILE keep them" in text


def test_identical_advice_is_given_once():
    result = EVERY_SITUATION["truncated"]()
    result.unknown_because = [
        Reason(
            property="conflicting_transactions_are_ordered",
            reason=f"no key of shop.t{number} is known",
            remedy=f"pass --schema with the definition of shop.t{number}",
            subject=f"shop.t{number}",
        )
        for number in range(20)
    ]
    text = render_terminal(result, width=100, colour=False, details=False)
    assert text.count("pass --schema") == 1
    assert "shop.t0, shop.t1, shop.t2 and 17 more" in text
    details = render_terminal(result, width=100, colour=False)
    assert details.count("To turn unknown into an answer") == 1
