"""Records of third-party appliers: what is as declared, and what the page shows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import ci.programs.__main__ as programs
from ci.pages.programs import healthy, readers, results
from ci.programs.__main__ import sentence
from ci.programs.program import Record
from ci.programs.readers import Readers

RECORD = Record(
    program="p", version="1", seed=1, transactions=10, faults="kill -9", required="prefix",
    expected="holds", verdict="holds", level="prefix", end="equal", prefixes=10, commits=10, torn=0,
    went_back=0, repeated=0, witness="",
)  # fmt: skip


@pytest.mark.parametrize(
    ("crashes", "lost"),
    [([], []), ([(5, 5)], []), ([(5, 2), (7, 7), (9, 8)], [3, 1]), ([(5, 6)], [])],
)
def test_reader_goes_back_where_it_sees_fewer_transactions(crashes, lost):
    seen = Readers()
    for before, after in crashes:
        seen.note(before=before, after=after)
    assert (seen.rounds, seen.lost) == (len(crashes), lost)


@pytest.mark.parametrize(
    ("changes", "is_as_expected"),
    [
        ({}, True),
        ({"verdict": "violated"}, False),
        ({"verdict": "unknown"}, False),
        ({"expected": "violated", "verdict": "violated"}, True),
        ({"expected": "violated"}, False),
        ({"reader_rounds": 3, "reader_went_back": 1}, True),
        ({"reader_rounds": 3, "reader_went_back": 1, "readers_stay": True}, False),
        ({"reader_rounds": 3, "readers_stay": True}, True),
    ],
)
def test_record_is_as_declared(changes, is_as_expected):
    record = replace(RECORD, **changes)
    assert record.is_as_expected == is_as_expected
    assert ("was expected" in sentence(record)) == (not is_as_expected)


def test_large_runs_are_kept_beside_small_ones_and_their_alarms_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "RECORDS", tmp_path / "records.jsonl")
    healthy_run = replace(RECORD, faults="")
    large = replace(healthy_run, transactions=125_000)
    alarm = replace(large, program="q", verdict="violated")
    for record in (healthy_run, large, alarm, replace(large, seed=2)):
        programs.publish([record])
    assert [(one.program, one.seed) for one in programs.stored()] == [("p", 1), ("p", 2), ("q", 1)]
    lines = list(healthy(programs.stored()))
    assert lines[-1] == "250,000 transactions of healthy replicas, 1 false alarm."
    assert sum(line.startswith("| `") for line in lines) == 2
    program = SimpleNamespace(name="p")
    assert programs.is_stored(program, False, 125_000)
    assert not programs.is_stored(program, False, 125_001)
    assert not programs.is_stored(program, True, 1)


def test_page_shows_what_readers_and_snapshots_showed():
    record = replace(
        RECORD, reader_rounds=3, reader_went_back=2, reader_lost_max=13, snapshots=4, initial_copy=2
    )
    assert readers(record) == "2 of 3, at most 13 transactions"
    assert readers(replace(record, reader_went_back=0)) == "0 of 3"
    assert readers(RECORD) == "-"
    lines = list(results([record]))
    header, _, row = (line.strip("| ").split(" | ") for line in lines if line.startswith("| "))
    shown = dict(zip(header, row, strict=True))
    assert shown["snapshot order"] == "4"
    assert lines[-1] == "- `p`, kill -9: 2 target transactions are of the initial copy."
