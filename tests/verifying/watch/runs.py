"""Runs a watch over two files as if they were growing logs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from paraply.adapters.servers.binlog_stream import EventStream
from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch, WatchRequest
from tests.verifying.watch.sent_logs import SentLog

SECONDS_MAX = 60


def request_of(
    source: EventStream,
    target: EventStream,
    folder: Path,
    *,
    options: PairOptions | None = None,
    has_state: bool = True,
) -> WatchRequest:
    return WatchRequest(
        pairs=[(source, target)],
        options=options or PairOptions(),
        state=folder / "state.json" if has_state else None,
        findings=folder / "findings.jsonl",
        save_every_s=3600,
    )


def run_until(watch: Watch, is_done: Callable[[Watch], bool]) -> Watch:
    """Run to the condition, without saving the state unless the test does so."""
    deadline = time.monotonic() + SECONDS_MAX
    try:
        while not is_done(watch):
            assert time.monotonic() < deadline, watch.snapshots()
            if not watch.work():
                with watch._changed:
                    watch._changed.wait(0.02)
    finally:
        watch.end()
    return watch


def judged(target: SentLog) -> Callable[[Watch], bool]:
    """Whether all transactions of the target's log were judged."""
    return lambda watch: all(name in watch.pairs[0].state().target_after for name in target.gtids)


def findings_of(folder: Path) -> list[str]:
    return (folder / "findings.jsonl").read_text().splitlines()
