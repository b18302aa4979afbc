"""MySQL GTIDs and GTID sets, including tagged ones (8.3): ``uuid:1-5:7``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from paraply.vocabulary.intervals import EMPTY_INTERVALS, IntervalSet

GTID_NUMBER_MAX = (1 << 63) - 2

TAG_LENGTH_MAX = 32


class GtidSource(NamedTuple):
    """Origin of a GTID."""

    uuid: str
    tag: str = ""
    """Lower-case letters, digits and underscore, no digit first."""


@dataclass(frozen=True, slots=True, order=True)
class Gtid:
    """The number is in [1, 2**63-2]."""

    source: GtidSource
    number: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= GTID_NUMBER_MAX:
            raise ValueError(f"a GTID's number lies in [1, 2**63-2]: got {self.number}")

    def __str__(self) -> str:
        return ":".join([*filter(None, self.source), str(self.number)])


class GtidInterval(NamedTuple):
    """Both ends are included."""

    source: GtidSource
    first: int
    last: int


class GtidSet:
    """An immutable set: ``|``, ``&``, ``-``, subset ``<=``.

    Operations are linear in the intervals; lookup is logarithmic. Iteration yields intervals.
    ``len()`` fails above ``sys.maxsize``; :attr:`count` does not.
    """

    __slots__ = ("_numbers",)

    def __init__(self, numbers: Mapping[GtidSource, IntervalSet] | None = None) -> None:
        kept = {source: held for source, held in sorted((numbers or {}).items()) if held}
        for source, held in kept.items():
            least, greatest = held.bounds
            if least < 1 or greatest > GTID_NUMBER_MAX:
                raise ValueError(f"numbers of {source} must lie in [1, 2**63-2]")
        self._numbers = kept

    @classmethod
    def of(cls, gtids: Iterable[Gtid]) -> GtidSet:
        """Return a set of GTIDs."""
        numbers: dict[GtidSource, list[tuple[int, int]]] = {}
        for gtid in gtids:
            numbers.setdefault(gtid.source, []).append((gtid.number, gtid.number))
        return cls({source: IntervalSet(pairs) for source, pairs in numbers.items()})

    @property
    def sources(self) -> tuple[GtidSource, ...]:
        """Return them by UUID, then tag, untagged first."""
        return tuple(self._numbers)

    def numbers_of(self, source: GtidSource) -> IntervalSet:
        """Return one source's numbers."""
        return self._numbers.get(source, EMPTY_INTERVALS)

    def __iter__(self) -> Iterator[GtidInterval]:
        for source, held in self._numbers.items():
            for first, last in held:
                yield GtidInterval(source, first, last)

    @property
    def count(self) -> int:
        """Return the number of GTIDs."""
        return sum(held.count for held in self._numbers.values())

    @property
    def interval_count(self) -> int:
        """Return the number of intervals."""
        return sum(held.interval_count for held in self._numbers.values())

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def __contains__(self, gtid: object) -> bool:
        return isinstance(gtid, Gtid) and gtid.number in self.numbers_of(gtid.source)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GtidSet):
            return NotImplemented
        return self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(tuple(self._numbers.items()))

    def __or__(self, other: GtidSet) -> GtidSet:
        united = dict(self._numbers)
        for source, held in other._numbers.items():
            united[source] = united.get(source, EMPTY_INTERVALS) | held
        return GtidSet(united)

    def __and__(self, other: GtidSet) -> GtidSet:
        return GtidSet({s: held & other.numbers_of(s) for s, held in self._numbers.items()})

    def __sub__(self, other: GtidSet) -> GtidSet:
        return GtidSet({s: held - other.numbers_of(s) for s, held in self._numbers.items()})

    def __le__(self, other: GtidSet) -> bool:
        return all(held <= other.numbers_of(s) for s, held in self._numbers.items())

    def __lt__(self, other: GtidSet) -> bool:
        return self <= other and self != other

    def isdisjoint(self, other: GtidSet) -> bool:
        """Return whether both share nothing."""
        return all(held.isdisjoint(other.numbers_of(s)) for s, held in self._numbers.items())

    def add(self, gtid: Gtid) -> GtidSet:
        """Return the set with ``gtid``."""
        return GtidSet(self._numbers | {gtid.source: self.numbers_of(gtid.source).add(gtid.number)})

    def __str__(self) -> str:
        return self.format(",")

    def format(self, separator: str = ",\n") -> str:
        """Format like ``@@gtid_executed``: one UUID a line.

        Tags follow untagged numbers: ``uuid:1-5:tag:1-3:other:7``.
        """
        lines: dict[str, list[str]] = {}
        for (uuid, tag), held in self._numbers.items():
            words = lines.setdefault(uuid, [uuid])
            if tag:
                words.append(tag)
            words += [f"{first}-{last}" if first < last else f"{first}" for first, last in held]
        return separator.join(":".join(words) for words in lines.values())

    def __repr__(self) -> str:
        return f"<GtidSet {self}>"


EMPTY_GTID_SET = GtidSet()
