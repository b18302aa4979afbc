"""Recorded group runs survive writing; a file that is none is refused with its line."""

from __future__ import annotations

import json

import pytest

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.group_trace import (
    ExecutedSetDelivered,
    GroupTrace,
    InfoDonated,
    LoggedDecision,
    MemberRecovered,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.group_trace_jsonl import read_group_trace, write_group_trace
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set

GROUP = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
ONE, TWO = (f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2))
EXECUTED = parse_gtid_set(f"{GROUP}:1-5:tag:7")
TRACE = GroupTrace(
    server_version="MySQL 9.7.4",
    group_name=GROUP,
    block_size=1_000_000,
    members=(ONE, TWO),
    steps=(
        ViewInstalled(
            members=(ONE, TWO),
            joined=(TWO,),
            left=(),
            executed={ONE: EXECUTED, TWO: EMPTY_GTID_SET},
        ),
        InfoDonated(extracted=EXECUTED, info={"AAAA": EXECUTED}),
        MemberRecovered(member=TWO),
        TransactionDelivered(
            origin=ONE,
            snapshot=EXECUTED,
            items=("BBBB", "AAAA", "BBBB"),
            decided={
                ONE: LoggedDecision(parse_gtid(f"{GROUP}:6")),
                TWO: LoggedDecision(parse_gtid(f"{GROUP}:6"), 0, 0),
            },
        ),
        TransactionDelivered(
            origin=TWO,
            snapshot=EMPTY_GTID_SET,
            items=(),
            specified=parse_gtid(f"{GROUP}:tag:9"),
            is_create_select=True,
            is_empty=True,
        ),
        ExecutedSetDelivered(sender=TWO, executed=EXECUTED),
    ),
)


@pytest.fixture(params=["run.jsonl", "run.jsonl.gz"])
def file(request, tmp_path):
    path = tmp_path / request.param
    write_group_trace(TRACE, path)
    return path


def test_run_survives_writing_and_reading(file):
    assert read_group_trace(file) == TRACE


def test_same_run_gives_the_same_bytes(file):
    before = file.read_bytes()
    write_group_trace(TRACE, file)
    assert file.read_bytes() == before


def test_file_cut_short_is_refused(file):
    data = file.read_bytes()
    for size in range(0, len(data) - 1, 37):
        file.write_bytes(data[:size])
        with pytest.raises(ParaplyError, match="P530"):
            read_group_trace(file)


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (2, {"view": [7]}),
        (5, {"snapshot": "no set"}),
        (5, {"items": [99]}),
        (7, {"executed_of": None}),
    ],
)
def test_line_that_cannot_be_is_named(tmp_path, line, change):
    path = tmp_path / "run.jsonl"
    write_group_trace(TRACE, path)
    lines = path.read_text().splitlines()
    lines[line - 1] = json.dumps({**json.loads(lines[line - 1]), **change})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ParaplyError, match=rf"P530 .*:{line}:|P0") as caught:
        read_group_trace(path)
    assert caught.value.remedy


def test_version_of_the_future_is_refused(tmp_path):
    path = tmp_path / "run.jsonl"
    write_group_trace(TRACE, path)
    path.write_text(path.read_text().replace('"format_version":1', '"format_version":2'))
    with pytest.raises(ParaplyError, match="P530"):
        read_group_trace(path)


def test_missing_file_is_a_user_error(tmp_path):
    with pytest.raises(ParaplyError, match="P530"):
        read_group_trace(tmp_path / "nothing.jsonl.gz")
