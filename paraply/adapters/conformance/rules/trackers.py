"""Write-set trackers, correct and faulty.

A user's Python tracker subclasses :class:`TrackingRule`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TextIO

Message = Mapping[str, Any]
Timestamp = tuple[int, int]
"""last_committed and sequence_number."""


class TrackingRule:
    """Returns each transaction's dependencies."""

    name: ClassVar[str] = "tracker"
    answers: ClassVar[str] = "timestamps"
    """Result of ``track``: ``timestamps`` or ``depends`` (ids)."""

    def __init__(self, init: Message) -> None:
        self.schema: Sequence[Mapping[str, Any]] = init["schema"]

    def track(self, transaction: Message) -> Timestamp | Iterable[int]:
        """Return the answer to ``txn``."""
        raise NotImplementedError

    def on_rotated(self, file: str) -> None:
        """Process a new log file."""


class WriteSetTracker(TrackingRule):
    """By keys: last_committed is the file's newest conflict.

    It remembers readers of parent rows apart, because they may overlap.
    """

    name = "write_set_tracker"

    def __init__(self, init: Message) -> None:
        super().__init__(init)
        self.on_rotated("")

    def on_rotated(self, file: str) -> None:
        """Start again: replicas wait between files."""
        del file
        self.number = self.floor = 0
        self.writers: dict[str, int] = {}
        self.readers: dict[str, int] = {}

    def track(self, transaction: Message) -> Timestamp:
        """Look up and remember the keys."""
        self.number += 1
        if self.is_barrier(transaction):
            self.floor = self.number
            return self.number - 1, self.number
        newest = [self.floor]
        keys, reads = self.keys(transaction), transaction["reads"]
        newest += [self.writers.get(key, 0) for key in (*keys, *reads)]
        newest += [self.readers.get(key, 0) for key in keys]
        self.writers.update(dict.fromkeys(keys, self.number))
        self.readers.update(dict.fromkeys(reads, self.number))
        return max(newest), self.number

    def keys(self, transaction: Message) -> Sequence[str]:
        """Return all written keys."""
        found: Sequence[str] = transaction["keys"]
        return found

    def is_barrier(self, transaction: Message) -> bool:
        """Return whether keys miss some conflicts."""
        if transaction["schema"] is not None:
            self.schema = transaction["schema"]
        acted_on = {
            key["parent"]
            for table in self.schema
            for key in table["foreign_keys"]
            if {key["on_delete"], key["on_update"]} & {"CASCADE", "SET NULL"}
        }
        return (
            transaction["kind"] != "rows"
            or not transaction["keys"]
            or any(row["op"] != "I" and row["table"] in acted_on for row in transaction["rows"])
        )


class DependencyTracker(TrackingRule):
    """By keys: all dependencies that newer ones do not cover."""

    name = "dependency_tracker"
    answers = "depends"

    def __init__(self, init: Message) -> None:
        super().__init__(init)
        self.barrier: int | None = None
        self.since: list[int] = []
        self.writer: dict[str, int] = {}
        self.readers: dict[str, list[int]] = {}
        self._barriers = WriteSetTracker(init)

    def track(self, transaction: Message) -> set[int]:
        """Return conflicting writers and readers."""
        number = transaction["id"]
        found = set() if self.barrier is None else {self.barrier}
        if self._barriers.is_barrier(transaction):
            found |= set(self.since)
            self.barrier = number
            self.since, self.writer, self.readers = [], {}, {}
            return found
        for key in (*transaction["keys"], *transaction["reads"]):
            if key in self.writer:
                found.add(self.writer[key])
        for key in transaction["keys"]:
            found |= set(self.readers.pop(key, ()))
            self.writer[key] = number
        for key in transaction["reads"]:
            self.readers.setdefault(key, []).append(number)
        self.since.append(number)
        return found - {number}


class PrimaryKeysOnly(WriteSetTracker):
    """Considers PRIMARY keys alone."""

    name = "tracks_primary_keys_only"

    def keys(self, transaction: Message) -> Sequence[str]:
        """Return the PRIMARY keys."""
        return [key for key in transaction["keys"] if ".PRIMARY" in key or ".*" in key]


class ForgetsParents(WriteSetTracker):
    """Ignores parent rows that children need."""

    name = "tracks_no_parents"

    def track(self, transaction: Message) -> Timestamp:
        """Omit the reads."""
        return super().track({**transaction, "reads": ()})


class NoBarriers(WriteSetTracker):
    """Lets schema changes run beside everything."""

    name = "tracks_no_barriers"

    def is_barrier(self, transaction: Message) -> bool:
        """Return False."""
        del transaction
        return False


class ForgetsReaders(DependencyTracker):
    """Depends on writers alone, so a parent may go too early."""

    name = "tracks_no_readers"

    def track(self, transaction: Message) -> set[int]:
        """Ignore readers."""
        found = super().track(transaction)
        self.readers.clear()
        return found


class OneAfterTheOther(TrackingRule):
    """Makes transactions wait for their predecessor."""

    name = "tracks_serially"
    answers = "depends"

    def track(self, transaction: Message) -> set[int]:
        """Return the predecessor."""
        number = transaction["id"]
        return {number - 1} if number > 1 else set()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerFault:
    """A faulty tracker and its cases."""

    rule: type[TrackingRule]
    case: str
    families: str

    @property
    def name(self) -> str:
        """Return the rule's name."""
        return self.rule.name

    @property
    def what(self) -> str:
        """Return the fault in one line."""
        return (self.rule.__doc__ or "").strip().splitlines()[0]


TRACKER_FAULTS = (
    TrackerFault(rule=PrimaryKeysOnly, case="E-unique-01", families="DEFGIJK"),
    TrackerFault(rule=ForgetsParents, case="F-parent-01", families="FG"),
    TrackerFault(rule=ForgetsReaders, case="F-parent-02", families="FG"),
    TrackerFault(rule=NoBarriers, case="K-ddl-01", families="GHK"),
    TrackerFault(rule=OneAfterTheOther, case="N-parallel-01", families="*"),
)
RIGHT_TRACKERS: tuple[type[TrackingRule], ...] = (WriteSetTracker, DependencyTracker)


def serve_tracker(make: Callable[[Message], TrackingRule], output: TextIO) -> None:
    """Serve the tracker until input ends."""

    def tell(**message: Any) -> None:
        output.write(json.dumps(message) + "\n")
        output.flush()

    for line in sys.stdin:
        message = json.loads(line)
        match message["type"]:
            case "init":
                rule = make(message)
                features = [rule.answers, "reset"]
                tell(
                    type="init_ok", in_reply_to=message["msg_id"], name=rule.name, features=features
                )
            case "rotate":
                rule.on_rotated(message["file"])
            case "txn":
                answer = rule.track(message)
                if rule.answers == "depends":
                    tell(type="depends", txn=message["id"], on=sorted(answer))
                else:
                    last_committed, number = answer
                    tell(type="timestamp", txn=message["id"], lc=last_committed, sn=number)
