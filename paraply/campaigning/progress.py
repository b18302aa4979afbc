"""Campaign progress on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from paraply.mining.campaign import Progress

REFRESH_S = 0.25


def progress_line(progress: Progress) -> str:
    """Return the progress as one line."""
    found, sought = progress.found
    reached, reachable = progress.reached
    left = progress.histories_planned - progress.histories
    seconds = left / progress.rate if progress.rate > 0 else 0.0
    return (
        f"{progress.histories:,} of {progress.histories_planned:,} histories, "
        f"{progress.rate:,.0f}/s; breaches found {found} of {sought}; "
        f"situations reached {reached} of {reachable}; {clock_text(seconds)} left"
    )


def clock_text(seconds: float) -> str:
    """Return a duration as ``m:ss`` or ``h:mm:ss``."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


@contextmanager
def mining_progress(
    console: Console | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Progress], None]]:
    """Yield a listener that draws on terminals only."""
    drawn_on = console or Console(file=sys.stderr)
    if not drawn_on.is_terminal:
        yield lambda _: None
        return
    drawn_at = 0.0
    with Live(Text(""), console=drawn_on, transient=True, auto_refresh=False) as live:

        def listen(progress: Progress) -> None:
            # Counting situations may outlast a small batch.
            nonlocal drawn_at
            if clock() - drawn_at >= REFRESH_S:
                drawn_at = clock()
                live.update(Text(progress_line(progress)), refresh=True)

        yield listen
