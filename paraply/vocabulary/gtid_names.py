"""Growing sets of GTIDs as logs spell them, of MySQL and of MariaDB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paraply.vocabulary.gtid_set import GtidSet, GtidSource
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from paraply.vocabulary.intervals import EMPTY_INTERVALS, IntervalSet


def split_name(name: str) -> tuple[str, int]:
    """Return a GTID's prefix and last number (0 without one)."""
    at = max(name.rfind(":"), name.rfind("-")) + 1
    last = name[at:]
    return (name[:at], int(last)) if last.isdecimal() else (name, 0)


@dataclass(slots=True)
class _Run:
    first: int
    last: int
    domain: str


class GtidNames:
    """A set of GTIDs; memory grows with its intervals.

    MariaDB: ``last`` has each domain's last GTID, and ``floors`` each domain's sequence number up
    to which all names count as held, of whatever server.
    """

    def __init__(self) -> None:
        self.last: dict[str, str] = {}
        self.floors: dict[str, int] = {}
        self._numbers: dict[str, IntervalSet] = {}
        self._runs: dict[str, _Run] = {}
        """Names added one after the other, by prefix; not in ``_numbers`` yet."""
        self._stem = ":"
        """The last prefix."""

    @classmethod
    def of_mysql(cls, gtid_set: str) -> GtidNames:
        """Return a GTID set's names; raises ``ParaplyError`` P001."""
        names = cls()
        parsed = parse_gtid_set(gtid_set)
        for source in parsed.sources:
            names._numbers[":".join([*filter(None, source), ""])] = parsed.numbers_of(source)
        return names

    @classmethod
    def of_mariadb(cls, position: str, floor: str = "") -> GtidNames:
        """Return the names up to a position; ``floor`` holds further ones."""
        names = cls()
        for text, is_last in ((position, True), (floor, False)):
            for gtid in filter(None, (each.strip() for each in text.split(","))):
                domain, _, sequence = gtid.split("-")
                names.floors[domain] = max(int(sequence), names.floors.get(domain, 0))
                if is_last:
                    names.last[domain] = gtid
        return names

    def _split(self, name: str) -> tuple[str, int]:
        stem = self._stem
        if name.startswith(stem):
            last = name[len(stem) :]
            if last.isdecimal():
                return stem, int(last)
        self._stem, number = split = split_name(name)
        if not number:
            self._stem = ":"  # A whole name is no prefix of others.
        return split

    def __contains__(self, name: str) -> bool:
        stem, number = self._split(name)
        run = self._runs.get(stem)
        if run is not None and run.first <= number <= run.last:
            return True
        if number in self._numbers.get(stem, EMPTY_INTERVALS):
            return True
        return bool(self.floors) and number <= self.floors.get(stem.partition("-")[0], -1)

    def add(self, name: str) -> None:
        """Add a GTID."""
        stem, number = self._split(name)
        run = self._runs.get(stem)
        if run is not None and number == run.last + 1:
            run.last = number
        else:
            self._merge(stem)
            domain = stem.partition("-")[0] if stem.count("-") == 2 else ""
            run = self._runs[stem] = _Run(number, number, domain)
        if run.domain:
            self.last[run.domain] = name

    def _merge(self, stem: str) -> None:
        run = self._runs.pop(stem, None)
        if run is not None:
            held = self._numbers.get(stem, EMPTY_INTERVALS)
            added = IntervalSet([(run.first, run.last)])
            self._numbers[stem] = held.add(run.first) if run.first == run.last else held | added

    def _all_numbers(self) -> dict[str, IntervalSet]:
        for stem in list(self._runs):
            self._merge(stem)
        return self._numbers

    def copy(self) -> GtidNames:
        """Return an independent copy."""
        return GtidNames.of_json(self.as_json())

    @property
    def as_mysql(self) -> GtidSet:
        """Return the GTID set."""
        numbers = {}
        for stem, held in self._all_numbers().items():
            uuid, _, tag = stem.rstrip(":").partition(":")
            numbers[GtidSource(uuid, tag)] = held
        return GtidSet(numbers)

    @property
    def as_mariadb(self) -> str:
        """Return each domain's last GTID, as ``@@gtid_slave_pos`` prints them."""
        return ",".join(self.last[domain] for domain in sorted(self.last, key=int))

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        numbers = {
            stem: [list(pair) for pair in held] for stem, held in self._all_numbers().items()
        }
        return {"numbers": numbers, "last": dict(self.last), "floors": dict(self.floors)}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> GtidNames:
        """Return the set of :meth:`as_json`."""
        names = cls()
        names.last = dict(data["last"])
        names.floors = dict(data["floors"])
        names._numbers = {
            stem: IntervalSet((first, last) for first, last in pairs)
            for stem, pairs in data["numbers"].items()
        }
        return names
