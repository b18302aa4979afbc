"""Reads two logs for the monitors of theorems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise

from paraply.models.recorded.monitored import MonitorFinding
from paraply.models.recorded.two_logs import NOTHING_KNOWN, Status, monitor_orders
from paraply.verifying.inputs import open_log
from paraply.verifying.previous_gtids import had_before
from paraply.verifying.recording import record
from paraply.verifying.result import Names


def monitor_logs(
    source: Sequence[str],
    target: Sequence[str],
    theorems: Sequence[str],
    names: Names | None,
    *,
    is_drained: bool,
) -> list[MonitorFinding]:
    """Return what the monitors of these theorems say of the logs; ``names`` were judged before."""
    with closing(record(open_log(source), None)) as one, closing(
        record(open_log(target), None, is_target=True)
    ) as other:  # fmt: skip
        had = had_before(one.report), had_before(other.report)
        sent = [header for header in one.headers() if not had[1](header.name)]
        done = [header for header in other.headers() if not had[0](header.name)]
        is_whole = all(file.read_to_end for log in (one, other) for file in log.report.files)
        unknown = "" if is_whole else "a log was not read to its end"
        if not (one.has_gtids and other.has_gtids):
            unknown = "the logs do not name their transactions"
    numbers = [number_of(name) for name in source]
    status = Status(
        unknown=unknown,
        in_progress=in_progress(names, is_drained=is_drained),
        is_contiguous=all(later == earlier + 1 for earlier, later in pairwise(numbers)),
        changed=0 if names is None else names.changed,
    )
    return [monitor_orders(name, sent, done, status) for name in theorems]


def number_of(file: str) -> int:
    """Return the number at the end of a log file's name, without a suffix of compression."""
    found = re.findall(r"\.(\d+)(?:\.\w+)?$", file)
    return int(found[0]) if found else -1


def in_progress(names: Names | None, *, is_drained: bool) -> str:
    """Return what a transaction may be that has not come; empty if it can only be passed over."""
    if not is_drained:
        return NOTHING_KNOWN.in_progress
    is_lost = names is not None and names.missing > 0
    return "" if is_lost else "has not come, and may be filtered: it changes no row that is judged"
