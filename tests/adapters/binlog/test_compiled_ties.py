"""Kernels judge rows of tables that foreign keys tie in any way as the readable code does."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled import stream
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled import replay as compiled_replay
from tests.adapters.binlog.test_compiled_ranges import some_selection, transactions_of
from tests.auditing.in_parts.test_left_tables import in_parts
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.tied_tables import draw_tied_log

DIALECTS = ("mariadb", "mysql")


def compared(path, options=None, selection=None, **sizes):
    """Return the readable result, and in what kernels differ, which judge all rows."""
    left = LeftTables()
    readable = audit_by_readable((str(path),), None, options, selection)
    compiled = audit_by_leaving((str(path),), None, options, left, selection, **sizes)
    assert left.reasons == {}
    return readable.result, differences(readable, compiled)


def assert_alike(folder, dialect, seed):
    """Compare the engines on a drawn log and on a drawn part of it."""
    rng = random.Random(seed)
    path = draw_tied_log(folder / f"{dialect}.000001", dialect, rng)
    options = AuditOptions(
        replay_rows_max=rng.choice((9, 10_000)), violations_max=rng.choice((7, 1_000))
    )
    result, found = compared(path, options, transactions_max=rng.choice((3, 8192)))
    assert found == []
    part = some_selection(transactions_of([path]), rng)
    assert compared(path, options, part)[1] == []
    return path, result


def test_drawn_ties_give_the_same_result(tmp_path):
    drawn = [assert_alike(tmp_path, dialect, seed) for seed in range(5) for dialect in DIALECTS]
    results = [result for _, result in drawn]
    found = [violation for result in results for violation in result.violations]
    kinds = {violation.index.partition("(")[0] for violation in found}
    assert {"PRIMARY", "REFERENCES", "NEW REFERENCES", "MOVED REFERENCES"} <= kinds
    assert {violation.certain for violation in found} == {True, False}
    reasons = [each.reason for result in results for each in result.unknown_because]
    assert any("overlap another that changes" in reason for reason in reasons)
    assert any(result.replay.rows_in_doubt for result in results)


@pytest.mark.long
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), dialect=st.sampled_from(DIALECTS))
def test_any_ties_give_the_same_result(tmp_path_factory, seed, dialect):
    path, _ = assert_alike(tmp_path_factory.mktemp("ties"), dialect, seed)
    in_parts([path], AuditOptions(), random.Random(seed))


def without_flag(flag):
    return lambda line: replace(line, flags=line.flags & ~flag)


def without_names(role):
    return lambda line: replace(line, names=()) if line.role == role else line


LINES = {
    "below": without_flag(L.BELOW),
    "keeps_deletes": without_flag(L.KEEPS_DELETES),
    "always_keeps": without_flag(L.ALWAYS_KEEPS),
    "follows": without_flag(L.FOLLOWS),
    "surely_checked": without_flag(L.SURELY_CHECKED),
    "followed": without_flag(L.FOLLOWED),
    "taken": without_names(L.UNIQUE),
    "without_parent": without_names(L.CHILD),
    "below_a_parent": without_names(L.PARENT),
}


def is_told_apart(folder, seeds=40):
    for seed in range(seeds):
        for dialect in DIALECTS:
            path = draw_tied_log(folder / f"{dialect}.000001", dialect, random.Random(seed))
            if compared(path)[1]:
                return True
    return False


@pytest.mark.parametrize("change", LINES.values(), ids=LINES.keys())
def test_what_is_left_out_of_a_tie_is_noticed(tmp_path, monkeypatch, change):
    real = stream.scan_plan

    def faulty(*given):
        plan = real(*given)
        return None if plan is None else tuple(map(change, plan))

    monkeypatch.setattr(stream, "scan_plan", faulty)
    assert is_told_apart(tmp_path)


@pytest.mark.parametrize("field", ["deletes", "moves"])
def test_what_is_left_out_of_a_cascade_is_noticed(tmp_path, monkeypatch, field):
    real = compiled_replay.reached_below

    def faulty(*given, **named):
        return (each._replace(**{field: False}) for each in real(*given, **named))

    monkeypatch.setattr(compiled_replay, "reached_below", faulty)
    assert is_told_apart(tmp_path)
