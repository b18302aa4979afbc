"""GTID sets of a recorded run, for the certifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import cast

from paraply.reference_impl.certification.gtids import GROUP_NAME, Gtid
from paraply.vocabulary.gtid_set import Gtid as RecordedGtid
from paraply.vocabulary.gtid_set import GtidSet, GtidSource
from paraply.vocabulary.intervals import IntervalSet


class RecordedSet(AbstractSet[Gtid]):
    """A recorded GTID set as intervals, to save memory."""

    __slots__ = ("group_name", "held")

    def __init__(self, held: GtidSet, group_name: str) -> None:
        self.held = held
        self.group_name = group_name

    def _source(self, source: str) -> GtidSource:
        uuid, _, tag = source.partition(":")
        return GtidSource(self.group_name if uuid == GROUP_NAME else uuid, tag)

    def _recorded(self, other: object) -> GtidSet:
        if isinstance(other, RecordedSet):
            return other.held
        gtids = cast("Iterable[Gtid]", other)
        return GtidSet.of(RecordedGtid(self._source(g.source), g.number) for g in gtids)

    def numbers(self) -> IntervalSet:
        """Return the group's untagged GTID numbers."""
        return self.held.numbers_of(GtidSource(self.group_name))

    def __contains__(self, gtid: object) -> bool:
        return isinstance(gtid, Gtid) and RecordedGtid(self._source(gtid.source), gtid.number) in (
            self.held
        )

    def __iter__(self) -> Iterator[Gtid]:
        for interval in self.held:
            name = source_name(interval.source, self.group_name)
            for number in range(interval.first, interval.last + 1):
                yield Gtid(name, number)

    def __len__(self) -> int:
        return len(self.held)

    def __hash__(self) -> int:
        return hash(self.held)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedSet) and self.held == other.held

    def __le__(self, other: object) -> bool:
        return self.held <= self._recorded(other)

    def __lt__(self, other: object) -> bool:
        return self.held < self._recorded(other)

    def __or__(self, other: object) -> RecordedSet:
        return RecordedSet(self.held | self._recorded(other), self.group_name)

    def __and__(self, other: object) -> RecordedSet:
        return RecordedSet(self.held & self._recorded(other), self.group_name)


def source_name(source: GtidSource, group_name: str) -> str:
    """Return a source's certifier name."""
    uuid = GROUP_NAME if source.uuid == group_name else source.uuid
    return ":".join(filter(None, (uuid, source.tag)))
