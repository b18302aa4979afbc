"""Reads two logs for the monitors of theorems."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from paraply.models.recorded.monitored import MonitorFinding
from paraply.models.recorded.two_logs import monitor_orders
from paraply.verifying.inputs import open_log
from paraply.verifying.previous_gtids import had_before
from paraply.verifying.recording import record


def monitor_logs(
    source: Sequence[str], target: Sequence[str], theorems: Sequence[str]
) -> list[MonitorFinding]:
    """Return what the monitors of these theorems say of the logs."""
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
    return [monitor_orders(name, sent, done, unknown) for name in theorems]
