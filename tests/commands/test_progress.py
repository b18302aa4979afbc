from __future__ import annotations

import io

from rich.console import Console

from paraply.progress import DELAY_S, progress


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=60)


def test_quick_work_draws_nothing():
    console = terminal()
    with progress("reading", total=10, console=console, clock=lambda: 0.0) as advance:
        advance(10)
    assert console.file.getvalue() == ""


def test_bar_appears_once_the_delay_has_passed():
    console, times = terminal(), iter([0.0, DELAY_S - 0.1, DELAY_S])
    with progress("reading", total=10, console=console, clock=lambda: next(times)) as advance:
        advance(1)
        assert console.file.getvalue() == ""
        advance(5)
    assert "reading" in console.file.getvalue()


def test_nothing_is_drawn_where_there_is_no_terminal():
    console, times = Console(file=io.StringIO()), iter([0.0, 60.0])
    with progress("reading", total=10, console=console, clock=lambda: next(times)) as advance:
        advance(5)
    assert console.file.getvalue() == ""


def test_terminal_is_given_back_when_the_work_fails():
    console, times = terminal(), iter([0.0, 60.0])
    try:
        with progress("reading", console=console, clock=lambda: next(times)) as advance:
            advance(5)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert "\x1b[?25h" in console.file.getvalue()
