"""Trackers under test: source programs that return dependencies.

An applier of ours obeys them, and the suite judges it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraply.adapters.conformance.child import ApplierDiedError, ApplierSilentError, ChildProcess
from paraply.adapters.conformance.messages import init_message, transaction_message
from paraply.adapters.conformance.protocol import Message, ProtocolError, Role
from paraply.adapters.conformance.source import Entry, EntryKind, SourceLog
from paraply.vocabulary.timestamps import waits_for

_HIDDEN = ("lc", "sn", "commit_id")
ANSWERS = frozenset({"timestamps", "depends"})


class TrackerFaultError(Exception):
    """The tracker broke protocol, fell silent or ended."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A timestamp or earlier transactions' ids."""

    last_committed: int = 0
    sequence_number: int = 0
    depends: frozenset[int] | None = None
    """None with timestamps."""


class Tracker:
    """A tracker process; kill it after use."""

    def __init__(self, command: Sequence[str], *, timeout: float = 10.0) -> None:
        self.process = ChildProcess(command, timeout=timeout)
        self.name = ""
        self.features: frozenset[str] = frozenset()
        self._seen: set[int] = set()
        self._last_number = 0

    def init(self, message: Message) -> None:
        """Reset it; ``TrackerFaultError`` if it offers no answers."""
        self._seen.clear()
        self._last_number = 0
        answer = self._ask({**message, "role": Role.TRACKER.value})
        if answer["type"] != "init_ok" or answer["in_reply_to"] != message["msg_id"]:
            raise TrackerFaultError(f"the answer to 'init' is '{answer['type']}'")
        features = answer["features"]
        assert isinstance(features, list)
        self.features = frozenset(map(str, features))
        if len(self.features & ANSWERS) != 1:
            raise TrackerFaultError("a tracker offers 'timestamps' or 'depends', one of them")
        self.name = f"{answer['name']} {answer.get('version', '')}".strip()

    def rotate(self, message: Message) -> None:
        """Announce a new log file."""
        self._last_number = 0
        self._send(message)

    def track(self, message: Mapping[str, Any]) -> Answer:
        """Return a transaction's answer, or raise ``TrackerFaultError``."""
        number = message["id"]
        hidden = {**message, **dict.fromkeys(_HIDDEN)}
        answer = self._ask(hidden)
        expected = "timestamp" if "timestamps" in self.features else "depends"
        if answer["type"] != expected or answer["txn"] != number:
            raise TrackerFaultError(
                f"the answer to transaction {number} is '{answer['type']}' of "
                f"{answer.get('txn')!r}, no '{expected}' of {number}"
            )
        found = self._timestamp(answer) if expected == "timestamp" else self._depends(answer)
        self._seen.add(number)
        return found

    def _timestamp(self, answer: Message) -> Answer:
        lc, sn = answer["lc"], answer["sn"]
        assert isinstance(lc, int)
        assert isinstance(sn, int)
        if not 0 <= lc < sn:
            raise TrackerFaultError(f"last_committed {lc} is not below sequence_number {sn}")
        if sn <= self._last_number:
            raise TrackerFaultError(
                f"sequence_number {sn} follows {self._last_number} in the same file"
            )
        self._last_number = sn
        return Answer(last_committed=lc, sequence_number=sn)

    def _depends(self, answer: Message) -> Answer:
        earlier = answer["on"]
        assert isinstance(earlier, list)
        unknown = [one for one in earlier if one not in self._seen]
        if unknown:
            raise TrackerFaultError(
                f"transaction {answer['txn']} depends on {unknown[0]!r}, which was not sent before"
            )
        return Answer(depends=frozenset(earlier))

    def _ask(self, message: Message) -> Message:
        self._send(message)
        try:
            return self.process.receive()
        except (ApplierDiedError, ApplierSilentError, ProtocolError) as error:
            raise self._fault(error) from None

    def _send(self, message: Message) -> None:
        try:
            self.process.send(message)
        except (ApplierDiedError, ApplierSilentError) as error:
            raise self._fault(error) from None

    def _fault(self, error: Exception) -> TrackerFaultError:
        lines = "; ".join(list(self.process.last_lines)[-3:])
        return TrackerFaultError(f"{error}{f' (its last lines: {lines})' if lines else ''}")


@dataclass(frozen=True, slots=True)
class Precision:
    """The parallelism that a tracker leaves.

    Attributes:
        independent: pairs in one file without a chain of conflicts.
        free: those that the answers let overlap.
        best: those that the best timestamps let overlap.
    """

    independent: int
    free: int
    best: int


def measure_precision(tracker: Tracker, logs: Iterable[SourceLog]) -> Precision:
    """Request timestamps and count overlapping pairs.

    ``best`` is WRITESET with unlimited history.
    """
    independent = free = best = 0
    for log in logs:
        tracker.init(
            init_message(
                1,
                workers=1,
                seed=0,
                schemas=log.database.tables.schemas,
                commit_order=False,
                resume=None,
            )
        )
        for block in _answered_files(tracker, log):
            ordered = _closure(block)
            before = [max(one, default=-1) for one in _direct(block)]
            for later, (_, answer) in enumerate(block):
                for earlier in range(later):
                    if earlier in ordered[later]:
                        continue
                    independent += 1
                    best += before[later] < earlier
                    free += not _waits(block, answer, earlier, later)
    return Precision(independent=independent, free=free, best=best)


_Block = list[tuple[Entry, Answer]]


def _answered_files(tracker: Tracker, log: SourceLog) -> Iterable[_Block]:
    block: _Block = []
    for entry in log.entries:
        if entry.kind is EntryKind.ROTATE:
            yield block
            block = []
            tracker.rotate({"type": "rotate", "file": entry.file})
        elif entry.transaction is not None:
            block.append((entry, tracker.track(transaction_message(entry))))
    yield block


def _direct(block: _Block) -> list[set[int]]:
    return [
        {earlier for earlier in range(later) if _conflict(block[earlier][0], block[later][0])}
        for later in range(len(block))
    ]


def _conflict(earlier: Entry, later: Entry) -> bool:
    first, second = earlier.transaction, later.transaction
    assert first is not None
    assert second is not None
    if not (first.write_set and second.write_set):
        return True
    return bool(
        first.write_set & second.write_set
        or first.write_set & set(later.reads)
        or second.write_set & set(earlier.reads)
    )


def _closure(block: _Block) -> list[set[int]]:
    closed: list[set[int]] = []
    for direct in _direct(block):
        closed.append(direct.union(*(closed[place] for place in direct)))
    return closed


def _waits(block: _Block, answer: Answer, earlier: int, later: int) -> bool:
    if answer.depends is None:
        return waits_for(answer.last_committed, block[earlier][1].sequence_number)
    todo, seen = [later], set[int]()
    places = {int(e.transaction.id): at for at, (e, _) in enumerate(block) if e.transaction}
    while todo:
        for one in block[todo.pop()][1].depends or ():
            place = places.get(one)
            if place is not None and place not in seen:
                seen.add(place)
                todo.append(place)
    return earlier in seen
