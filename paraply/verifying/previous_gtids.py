"""Transactions before the first log file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paraply.adapters.binlog.report import LogReport
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GtidSet
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set


def before(report: LogReport) -> tuple[Mapping[str, int], GtidSet]:
    """Return what is before the first file: MariaDB's last number by domain, and MySQL's GTIDs.

    Sequence numbers of a domain rise across servers.
    """
    first = next((file for file in report.files if file.events), None)
    if first is None:
        return {}, EMPTY_GTID_SET
    if first.gtid_list is None:
        return {}, parse_gtid_set(first.previous_gtids or "")
    highest: dict[str, int] = {}
    for position in first.gtid_list:
        domain, _, sequence = position.split("-")
        highest[domain] = max(int(sequence), highest.get(domain, 0))
    return highest, EMPTY_GTID_SET


def had_before(report: LogReport) -> Callable[[str], bool]:
    """Return a test for GTIDs before the first file."""
    highest, known = before(report)

    def had(name: str) -> bool:
        if known:
            try:
                return parse_gtid(name) in known
            except ParaplyError:
                return False
        parts = name.split("-")
        return len(parts) == 3 and int(parts[2]) <= highest.get(parts[0], -1)

    return had
