"""A progress bar for terminals, after 2 seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

DELAY_S = 2.0

Advance = Callable[[float], None]


@contextmanager
def progress(
    what: str,
    total: float | None = None,
    *,
    console: Console | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Advance]:
    """Yield a function to call with the amount done.

    ``total`` is None if unknown. The bar needs a terminal on standard error and disappears at the
    end.
    """
    drawn_on = console or Console(file=sys.stderr)
    if not drawn_on.is_terminal:
        yield lambda _: None
        return
    # Imported late: most runs draw no bar.
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        console=drawn_on,
        transient=True,
    )
    started = clock()
    task: TaskID | None = None

    def advance(done: float) -> None:
        nonlocal task
        if task is None:
            if clock() - started < DELAY_S:
                return
            task = bar.add_task(what, total=total)
            bar.start()
        bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if task is not None:
            bar.stop()
