"""The path of one transaction through an audit in parts is as short as ARCHITECTURE.md lists it."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import pytest

import paraply
from paraply.adapters.binlog.blocks import Block
from paraply.adapters.binlog.compiled.batch import Batch
from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.parts import FollowedRows, JudgedPart, PartTask, RowsTask
from paraply.auditing.pipeline import AuditRequest
from paraply.properties.logs.audit import Auditor
from paraply.properties.logs.part_borders import PartBorders, PartLint
from paraply.properties.logs.parts import Part, PartAudit
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replayed_part import ReplayedPart, RowFollower
from paraply.properties.logs.row_replay import RowReplay
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.log import LoggedKind, LoggedTransaction

STOPS_MAX, RETURNS_MAX = 15, 3
ROOT = Path(paraply.__file__).parent
CARRIERS = (
    Block, Batch, LoggedTransaction, PartTask, JudgedPart, Part, PartBorders, RowsTask,
    FollowedRows, ReplayedPart, ReplayBorder, Auditor, PartAudit, PartLint, RowReplay, RowFollower,
    AuditResult,
)  # fmt: skip
"""What contains a transaction, or what was found about it."""


def carries(value):
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, CARRIERS)


def is_of_another_kind(value):
    """Return whether a value is a transaction that changes no rows, such as DDL."""
    return isinstance(value, LoggedTransaction) and value.kind is not LoggedKind.ROWS


@cache
def _module_of(name):
    file = Path(name)
    return str(file.relative_to(ROOT).with_suffix("")) if ROOT in file.parents else None


def module_of(frame):
    return _module_of(frame.f_code.co_filename)


def calling(frame):
    """Return the calling frame in paraply, past comprehensions and other libraries."""
    frame = frame.f_back
    while frame is not None and (module_of(frame) is None or frame.f_code.co_name.startswith("<")):
        frame = frame.f_back
    return frame


def stops_of(run):
    """Return the modules that are handed a transaction by the room of the audit, in order.

    Each pair of modules counts once. Constructors take over nothing.
    """
    found = {}

    def on_call(frame, event, _):
        if event != "call" or frame.f_code.co_name == "__init__":
            return
        callee = module_of(frame)
        caller = calling(frame) if callee else None
        if caller is None or callee.startswith("vocabulary"):
            return
        pair = module_of(caller), callee
        if pair[0] == callee or pair in found or not pair[0].startswith("auditing/"):
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        arguments = [frame.f_locals.get(name) for name in names]
        if any(map(carries, arguments)) and not any(map(is_of_another_kind, arguments)):
            found[pair] = code.co_qualname

    sys.setprofile(on_call)
    try:
        run()
    finally:
        sys.setprofile(None)
    return ["auditing/at_scale", *(callee for _, callee in found)]


def returns_of(stops):
    return [stop for at, stop in enumerate(stops) if stop in stops[:at]]


@pytest.mark.long
@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_one_transaction_passes_few_modules_and_returns_to_fewer(logs, engine):
    request = AuditRequest(files=(str(logs["mysql"]),), engine=engine)
    sizes = PartSizes(block_bytes=60_000, part_blocks=1, approach_blocks=1)
    audits = []
    stops = stops_of(lambda: audits.append(audit_in_parts(request, sizes=sizes)))
    assert audits[0].parts > 2
    assert audits[0].rounds > 0
    assert audits[0].result.engine == engine
    assert {"properties/logs/parts", "auditing/rows_across_parts"} <= {*stops}
    assert len(stops) <= STOPS_MAX, stops
    assert len(returns_of(stops)) <= RETURNS_MAX, stops
    if engine == "readable":
        assert stops == documented_stops()


def documented_stops():
    """Return the modules of the numbered list in ARCHITECTURE.md."""
    text = (Path(__file__).parents[3] / "ARCHITECTURE.md").read_text("utf-8")
    return re.findall(r"^\d+\. `([\w/]+)\.py`", text, re.MULTILINE)


def test_module_that_is_passed_twice_is_a_return():
    assert returns_of(["at_scale", "parts", "audit", "parts", "at_scale"]) == ["parts", "at_scale"]
