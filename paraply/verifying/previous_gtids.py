"""Transactions before the first log file."""

from __future__ import annotations

from collections.abc import Callable

from paraply.adapters.binlog.report import LogReport
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set


def had_before(report: LogReport) -> Callable[[str], bool]:
    """Return a test for GTIDs before the first file."""
    first = next((file for file in report.files if file.events), None)
    if first is None:
        return lambda _: False
    if first.gtid_list is not None:
        return _mariadb(first.gtid_list)
    if not first.previous_gtids:
        return lambda _: False
    known = parse_gtid_set(first.previous_gtids)

    def had(name: str) -> bool:
        try:
            return parse_gtid(name) in known
        except ParaplyError:
            return False

    return had


def _mariadb(positions: tuple[str, ...]) -> Callable[[str], bool]:
    """Sequence numbers of a domain rise across servers."""
    highest: dict[str, int] = {}
    for position in positions:
        domain, _, sequence = position.split("-")
        highest[domain] = max(int(sequence), highest.get(domain, 0))

    def had(name: str) -> bool:
        parts = name.split("-")
        return len(parts) == 3 and int(parts[2]) <= highest.get(parts[0], -1)

    return had
