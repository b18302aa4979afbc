"""A target that is far behind, and another server behind the address."""

from __future__ import annotations

import random

import pytest

from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch
from paraply.vocabulary.verdict import Verdict
from tests.verifying.watch.runs import findings_of, judged, request_of, run_until
from tests.verifying.watch.test_real_logs import REPLICAS, options_of, streams, watched

WINDOW_BYTES = 20_000


@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_source_is_read_on_only_when_the_target_comes_closer(folder, tmp_path):
    source, target = streams(folder, "none", tmp_path)
    target.held_back.set()
    options = PairOptions(patience=options_of(folder).patience, window_bytes=WINDOW_BYTES)
    watch = Watch(request_of(source, target, tmp_path, options=options))
    (pair,) = watch.pairs
    most = 0
    try:
        while not pair.is_paused:
            watch.work()
        for _ in range(50):
            watch.work()
        snapshot = pair.snapshot()
        assert snapshot.is_paused
        assert 0 < snapshot.behind < len(source.gtids)
        target.held_back.clear()

        def is_done(watch: Watch) -> bool:
            nonlocal most
            most = max(most, pair.snapshot().kept_bytes)
            return judged(target)(watch)

        run_until(watch, is_done)
    finally:
        watch.end()
    largest = WINDOW_BYTES  # No transaction of these logs is larger than the window.
    assert WINDOW_BYTES < most < WINDOW_BYTES + largest
    assert watch.verdict is Verdict.HOLDS
    assert pair.snapshot().counts.matched == len(target.gtids)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", ["none", "lost", "errant", "swapped"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_fail_over_repeats_no_finding_and_loses_none(folder, fault, side, tmp_path, monkeypatch):
    monkeypatch.setattr("paraply.verifying.watch.reading._RETRY_S", (0.001,))
    monkeypatch.setattr("paraply.verifying.watch.pair._ASK_AFTER_S", 0.01)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for each in (whole, parts):
        each.mkdir()
    uninterrupted = watched(folder, fault, whole)
    chance = random.Random(3)
    source, target = streams(
        folder, fault, parts, breaks_after=lambda: chance.choice((60, 120, 200))
    )
    moving = source if side == "source" else target
    number = 0

    def identity() -> str:
        nonlocal number
        number += 1
        return f"{side} {number // 3}"

    monkeypatch.setattr(moving, "identity", identity)
    watch = Watch(request_of(source, target, parts, options=options_of(folder)))
    run_until(watch, judged(target))
    assert number > 3, "it never moved"
    assert watch.verdict is uninterrupted.verdict
    assert findings_of(parts) == findings_of(whole)
