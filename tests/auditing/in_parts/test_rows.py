"""Rows are followed from part to part as in one piece."""

from __future__ import annotations

import pytest

from paraply.auditing.at_scale import PartSizes
from paraply.auditing.rows_across_parts import ROUNDS_SIDE_BY_SIDE, RowsAcrossParts
from paraply.properties.logs.compiled.replay import CompiledRowFollower
from paraply.properties.logs.replay_state import ReplayState
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.not_compilable import NotCompilable
from tests.auditing.in_parts.auditing import (
    audit_both,
    contradict,
    differences,
    options_by_default,
    random_sizes,
)


@pytest.mark.long
@pytest.mark.parametrize("rows_max", [60, 1_000_000])
@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_rows_are_followed_across_parts(logs, tmp_path, monkeypatch, engine, rows_max):
    options_by_default(monkeypatch, replay_rows_max=rows_max)
    path = contradict(logs["mariadb"], tmp_path / "contradicted.000001", 3)
    sizes = PartSizes(block_bytes=20_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(path, engine=engine, sizes=sizes)
    assert len(whole.replay.findings) > 5
    assert bool(whole.replay.rows_forgotten) == (rows_max == 60)
    assert differences(whole, parts.result) == []
    assert parts.parts > 5
    assert parts.rounds <= ROUNDS_SIDE_BY_SIDE


@pytest.mark.long
def test_rows_that_are_not_followed_across_parts_hide_contradictions(logs, tmp_path, monkeypatch):
    """The control: a part replayed from nothing cannot know what was there."""
    path = contradict(logs["mariadb"], tmp_path / "contradicted.000001", 3)
    monkeypatch.setattr(RowsAcrossParts, "follow", lambda self, parts, lessons: None)
    sizes = PartSizes(block_bytes=20_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(path, sizes=sizes)
    assert len(parts.result.replay.findings) < len(whole.replay.findings)
    assert parts.result.replay.before_images_unknown > whole.replay.before_images_unknown


@pytest.mark.long
@pytest.mark.parametrize("side_by_side", [0, ROUNDS_SIDE_BY_SIDE])
def test_guess_that_is_wrong_costs_rounds_and_no_finding(logs, tmp_path, monkeypatch, side_by_side):
    path = contradict(logs["mysql"], tmp_path / "contradicted.000001", 5)
    monkeypatch.setattr(ReplayState, "go_on", lambda *arguments: None)
    monkeypatch.setattr("paraply.auditing.rows_across_parts.ROUNDS_SIDE_BY_SIDE", side_by_side)
    sizes = PartSizes(block_bytes=25_000, part_blocks=2, approach_blocks=0)
    whole, parts = audit_both(path, sizes=sizes)
    assert differences(whole, parts.result) == []
    assert parts.rounds >= parts.parts - 1 > 3


@pytest.mark.long
def test_engine_that_cannot_follow_rows_makes_room_for_the_other(logs, monkeypatch):
    def refuse(self, parts):
        raise NotCompilable("for a test")

    monkeypatch.setattr(CompiledRowFollower, "observe_batch", refuse)
    whole, parts = audit_both(logs["mysql"], engine="auto", sizes=random_sizes(0))
    assert parts.result.engine == "readable"
    parts.result.engine = whole.engine
    assert differences(whole, parts.result) == []
    with pytest.raises(ParaplyError, match="P308"):
        audit_both(logs["mysql"], engine="compiled", sizes=random_sizes(0))
