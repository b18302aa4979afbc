"""Selection of judged transactions, by GTIDs and domain."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.gtid_set_text import parse_gtid
from paraply.vocabulary.log import LoggedTransaction

GTID_NOT_SELECTABLE = register(
    "P345",
    "{option} {text}: {reason}",
    "give one GTID as the log has it (uuid:number), or for MariaDB one per domain (0-1-100,1-1-7)",
)
GTID_NOT_IN_LOG = register(
    "P346",
    "no transaction of the input has the GTID {gtid} of {option}",
    "name the file that holds it (SHOW BINLOG EVENTS), or a GTID of the files given",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The judged part; empty values exclude nothing."""

    start_gtid: str = ""
    """First GTID; MariaDB: one per domain, comma-separated."""
    stop_gtid: str = ""
    """Last transaction, likewise."""
    domain: int | None = None

    def __bool__(self) -> bool:
        return bool(self.start_gtid or self.stop_gtid or self.domain is not None)


@dataclass(slots=True)
class Selector:
    """Applies a selection in log order."""

    selection: Selection
    _starts: dict[str, str] = field(init=False)
    _stops: dict[str, str] = field(init=False)
    _ended: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._starts = _by_stream(self.selection.start_gtid, "--start-gtid")
        self._stops = _by_stream(self.selection.stop_gtid, "--stop-gtid")

    def takes(self, txn: LoggedTransaction) -> bool:
        """Return whether to judge the next transaction."""
        stream = "" if txn.domain is None else str(txn.domain)
        if self._starts.get(stream) == txn.gtid:
            del self._starts[stream]
        is_within = stream not in self._starts and stream not in self._ended
        if self._stops.get(stream) == txn.gtid:
            del self._stops[stream]
            self._ended.add(stream)
        wanted = self.selection.domain
        return is_within and (wanted is None or txn.domain == wanted)

    def require_found(self) -> None:
        """Raise ``ParaplyError`` P346 for a missing GTID."""
        for option, left in (("--start-gtid", self._starts), ("--stop-gtid", self._stops)):
            for gtid in left.values():
                raise ParaplyError(GTID_NOT_IN_LOG, gtid=gtid, option=option)


def _by_stream(text: str, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        numbers = part.split("-")
        is_mariadb = len(numbers) == 3 and all(number.isdecimal() for number in numbers)
        stream = numbers[0] if is_mariadb else ""
        if not is_mariadb:
            try:
                part = str(parse_gtid(part))
            except ParaplyError as fault:
                raise ParaplyError(
                    GTID_NOT_SELECTABLE, option=option, text=text, reason=fault.text
                ) from None
        if stream in found:
            reason = f"two GTIDs of {f'domain {stream}' if stream else 'one log'}"
            raise ParaplyError(GTID_NOT_SELECTABLE, option=option, text=text, reason=reason)
        found[stream] = part
    return found
