"""Both engines replay binary logs of tables whose foreign keys cascade alike."""

from __future__ import annotations

import random

import pytest

from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.properties.logs.row_replay import ROWS_EXIST
from paraply.vocabulary.verdict import Verdict
from tests.builders.cascading_rows import FAMILIES, CascadingLog, Family, draw_log
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.logged import delete, insert

CASE = [insert("d.p", 1, 0), insert("d.c", 10, 1, 0), delete("d.p", 1, 0)]
NEVER_INSERTED = delete("d.c", 99, 1, 0)
DIALECTS = ("mariadb", "mysql")


def replayed_alike(path):
    """Return the result of the replay, which is both engines', and the left tables."""
    left = LeftTables()
    readable = audit_by_readable((str(path),))
    assert differences(readable, audit_by_leaving((str(path),), None, None, left)) == []
    return readable.result, left


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("on_delete", ["CASCADE", "SET NULL"])
def test_row_that_was_never_inserted_is_missing_after_a_cascade(tmp_path, dialect, on_delete):
    log = CascadingLog(Family(on_delete, "RESTRICT"), [*CASE, NEVER_INSERTED])
    result, left = replayed_alike(log.save(tmp_path / "log.000001", dialect))
    (finding,) = result.replay.findings
    assert (finding.property, finding.table) == (ROWS_EXIST, "d.c")
    assert (result.replay.before_images_unknown, result.replay.rows_in_doubt) == (0, 0)
    assert result.verdict is Verdict.VIOLATED
    assert left.reasons == {}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_row_that_was_never_inserted_is_in_doubt_if_foreign_keys_are_unknown(tmp_path, dialect):
    """Kernels judge it: a table that is emptied is known by its table maps alone."""
    truncates = ["TRUNCATE p", "TRUNCATE c"]
    log = CascadingLog(Family("CASCADE", "RESTRICT"), [*CASE, NEVER_INSERTED])
    path = log.save(tmp_path / "log.000001", dialect, statements=truncates)
    result, left = replayed_alike(path)
    assert left.reasons == {}
    assert (result.replay.before_images_unknown, result.replay.rows_in_doubt) == (0, 1)
    assert result.replay.findings == []
    assert any("foreign keys are unknown" in each.reason for each in result.unknown_because)
    without = CascadingLog(log.family, [*CASE[:2], NEVER_INSERTED])
    path = without.save(tmp_path / "log.000001", dialect, statements=truncates)
    assert [each.property for each in replayed_alike(path)[0].replay.findings] == [ROWS_EXIST]


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(2))
def test_drawn_cascades_give_the_same_result(tmp_path, dialect, seed):
    for family in FAMILIES:
        rng = random.Random(seed)
        log = draw_log(rng, family)
        sound, _ = replayed_alike(log.save(tmp_path / "log.000001", dialect))
        assert sound.replay.findings == []
        assert sound.replay.before_images_unknown == 0
        broken = log.with_gap(rng)
        if broken is None:
            continue
        gapped, at = broken
        replay = replayed_alike(gapped.save(tmp_path / "log.000001", dialect))[0].replay
        assert replay.before_images_unknown == 0
        if not family.may_move(gapped.changes[at].table.removeprefix("d.")):
            assert ROWS_EXIST in [finding.property for finding in replay.findings]
        else:
            assert replay.findings or replay.rows_in_doubt > sound.replay.rows_in_doubt


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(2))
def test_drawn_rows_with_unknown_foreign_keys_give_the_same_result(tmp_path, dialect, seed):
    outcomes = set()
    for family in FAMILIES:
        rng = random.Random(seed)
        log = draw_log(rng, family)
        gapped, _ = log.with_gap(rng) or (log, 0)
        for one in (log, gapped):
            statements = [f"TRUNCATE {name}" for name in "pcg"]
            path = one.save(tmp_path / "log.000001", dialect, statements=statements)
            result, _ = replayed_alike(path)
            assert result.replay.before_images_unknown == 0 or family.key == "nullable"
            assert result.replay.findings == [] or one is gapped
            outcomes.add(result.replay.rows_in_doubt > 0)
    assert outcomes >= {True}
