"""How histories are laid out: a terminal's width, colour only there, sentences for a reader."""

import io

import pytest

from paraply.cli import main
from paraply.reporting.history_text import lanes, transaction_table
from paraply.reporting.page import Page, page, page_for, use_page
from paraply.vocabulary.notation_parser import parse_history

HISTORY = parse_history(
    "T1{a} 1<0 | T2{a} 2<1 | begun T1@r1/w1 ; begun T2@r1/w2 ; engine_committed T1@r1/w1"
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def layout():
    before = page()
    yield
    use_page(before)


def test_pipe_gets_one_width_and_no_colour(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    assert page_for(io.StringIO()) == Page(width=100)


def test_terminal_gets_its_width_and_colour(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    assert page_for(Terminal(), {}) == Page(width=70, has_colour=True)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_terminal_that_wants_no_colour_gets_none(environment):
    assert not page_for(Terminal(), environment).has_colour


@pytest.mark.parametrize("width", [60, 80, 140])
def test_lanes_fit_the_page(width):
    use_page(Page(width=width))
    long = parse_history(
        "T1{a} 1<0 | begun T1@r1/w1 ; read @r1 session=c1 [" + " ".join(
            f"table_with_a_name_{n}=T1" for n in range(4)) + "]"
    )  # fmt: skip
    assert max(map(len, lanes(long))) <= width


def test_mark_is_red_only_with_colour():
    marks = {1: "breaks it"}
    assert not any("\x1b" in line for line in lanes(HISTORY, marks))
    use_page(Page(has_colour=True))
    assert any(line.startswith("\x1b[31m") for line in lanes(HISTORY, marks))


def test_plain_lanes_are_sentences_in_order():
    use_page(Page(is_plain=True))
    assert lanes(HISTORY, {1: "breaks it"}) == [
        "Step 1, worker 1: begin T1.",
        "Step 2, worker 2: begin T2.",
        "This breaks it.",
        "Step 3, worker 1: engine commit T1.",
    ]
    assert transaction_table(HISTORY)[1] == ("T2: writes a; last_committed 1, sequence_number 2.")


@pytest.mark.long
def test_plain_of_one_call_does_not_stay_for_the_next(capsys):
    words = ["explore", "applier", "--dialect", "logical_clock_unordered", "--schedules", "40"]
    main([*words, "--plain"])
    assert "Step 1, " in capsys.readouterr().out
    main(words)
    assert "Step 1, " not in capsys.readouterr().out
