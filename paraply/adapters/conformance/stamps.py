"""The source's timestamps, last_committed and sequence_number, by configuration."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from random import Random

from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.timestamps import LogicalTimestamp, SequenceNumber

_GAP_CHANCE = 0.3
_GAP_MAX = 3
_SESSIONS = 3


class Stamps(Enum):
    """Configurations of a log's timestamps."""

    WRITESET = "WRITESET"
    COMMIT_ORDER = "COMMIT_ORDER"
    WRITESET_SESSION = "WRITESET_SESSION"
    FILTERED = "WRITESET, filtered"
    """Numbers are missing, even ones in last_committed."""
    MERGED = "WRITESET, merged"
    """Numbers continue across files, with barriers between."""

    @classmethod
    def of_seed(cls, seed: int) -> Stamps:
        """Return the seed's stamps."""
        members = tuple(cls)
        return members[seed % len(members)]


class SourceClock:
    """The dependency tracker of a serial MySQL source.

    Only a file's first transaction has last_committed=0: WRITESET history begins with 1 after a
    rotation.
    """

    def __init__(self, stamps: Stamps = Stamps.WRITESET) -> None:
        self.number = 0
        self.group = 0
        self._stamps = stamps
        self._floor = 1
        self._writers: dict[ConflictKey, int] = {}
        self._readers: dict[ConflictKey, int] = {}
        self._sessions: dict[str, int] = {}
        self._group_first = 0

    def rotated(self) -> SourceClock:
        """Return the next file's clock; merged clocks continue."""
        if self._stamps is Stamps.MERGED:
            self._floor = max(self._floor, self.number)
            return self
        clock = SourceClock(self._stamps)
        clock.group = self.group
        return clock

    def stamp(self, logged: LoggedTransaction | None, session: str) -> LogicalTimestamp:
        """Return the next timestamp; None is a barrier."""
        gap = self._gap()
        self.number += gap + 1
        number = self.number
        if logged is None or not _is_decided_by_keys(logged):
            last_committed = number - 1
            self._floor = number
        else:
            last_committed = max(self._floor, self._newest(logged))
            if gap and number % 2:  # It conflicts with the filtered transaction, too.
                last_committed = max(last_committed, number - gap)
            self._remember(logged.keys, logged.shared_keys)
        if self._stamps is Stamps.WRITESET_SESSION:
            session = session or str(number % _SESSIONS)
            last_committed = max(last_committed, self._sessions.get(session, 0))
            self._sessions[session] = number
        last_committed = min(last_committed, number - 1)
        if not self._group_first or last_committed >= self._group_first:
            self.group += 1
            self._group_first = number
        if self._stamps is Stamps.COMMIT_ORDER:
            last_committed = self._group_first - 1
        return timestamp(last_committed, number)

    def _newest(self, logged: LoggedTransaction) -> int:
        before = [self._writers.get(key, 0) for key in (*logged.keys, *logged.shared_keys)]
        before += [self._readers.get(key, 0) for key in logged.keys]
        return max(before, default=0)

    def _remember(self, written: Collection[ConflictKey], read: Collection[ConflictKey]) -> None:
        self._writers.update(dict.fromkeys(written, self.number))
        self._readers.update(dict.fromkeys(read, self.number))

    def _gap(self) -> int:
        if self._stamps is not Stamps.FILTERED or not self.number:
            return 0
        random = Random(self.number)
        return random.randint(1, _GAP_MAX) if random.random() < _GAP_CHANCE else 0


def timestamp(last_committed: int, number: int) -> LogicalTimestamp:
    """Return a timestamp of plain numbers."""
    return LogicalTimestamp(
        last_committed=SequenceNumber(last_committed), sequence_number=SequenceNumber(number)
    )


def _is_decided_by_keys(logged: LoggedTransaction) -> bool:
    """Cascades and keyless rows hide conflicts."""
    return bool(logged.keys) and not logged.unkeyed_tables and not logged.reached_tables
