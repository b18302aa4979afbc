"""Record operations in Jepsen's form.

The number of an invocation, from 1, is the tag of its transaction in the journal, and its number
in the client history.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from paraply.adapters.elle.histories import BankHistory, client_history
from paraply.adapters.elle.operations import Operation, OperationType
from paraply.adapters.elle.writing import Text
from paraply.adapters.live.nemeses.running import Deed
from paraply.vocabulary.client_history import ClientHistory


class Recorded(NamedTuple):
    """One invocation or completion."""

    type: OperationType
    function: str
    process: int
    value: Any
    """Micro-operations, a transfer, or balances by account."""
    time_ns: int
    server: str
    error: str = ""


class NemesisMoment(NamedTuple):
    """The start or stop of a nemesis, in the form of an operation."""

    function: str
    value: Mapping[str, Any]
    time_ns: int
    type: OperationType = OperationType.INFO
    process: str = "nemesis"
    server: str = ""
    error: str = ""


def nemesis_start(deed: Deed) -> NemesisMoment:
    """Return a strike's start."""
    value = {"members": deed.victims, "amount": deed.strike.aim.amount, "what": Text(deed.what)}
    return NemesisMoment(f"start-{deed.strike.nemesis}", value, deed.began_ns)


def nemesis_stop(deed: Deed) -> NemesisMoment:
    """Return a strike's end, with the effect."""
    views = tuple(map(Text, deed.views))
    value = {"members": deed.victims, "effect": Text(deed.effect), "views": views}
    return NemesisMoment(f"stop-{deed.strike.nemesis}", value, deed.ended_ns)


class Recorder:
    """The operations of all clients, in the order in which they were recorded."""

    def __init__(self) -> None:
        self.operations: list[Recorded] = []
        self.servers: list[str] = []
        """By transaction, in order of invocation."""
        self._deeds: list[Deed] = []
        self._began_ns = time.monotonic_ns()
        self._lock = threading.Lock()

    def invoke(self, process: int, function: str, value: Any, server: str) -> int:
        """Record an invocation; return its number."""
        with self._lock:
            self._add(OperationType.INVOKE, function, process, value, server, "")
            self.servers.append(server)
            return len(self.servers)

    def complete(
        self,
        kind: OperationType,
        process: int,
        function: str,
        value: Any,
        server: str,
        error: str = "",
    ) -> None:
        """Record a completion."""
        with self._lock:
            self._add(kind, function, process, value, server, error)

    def elapsed_ns(self) -> int:
        """Return nanoseconds since the start."""
        return time.monotonic_ns() - self._began_ns

    def add_nemeses(self, deeds: Iterable[Deed]) -> None:
        """Keep what nemeses did, beside the operations of clients."""
        self._deeds += deeds

    def with_nemeses(self) -> list[Recorded | NemesisMoment]:
        """Return all operations and the nemeses' starts and stops, in order of time."""
        found: list[Recorded | NemesisMoment] = [*self.operations]
        for deed in self._deeds:
            found.append(nemesis_start(deed))
            found.append(nemesis_stop(deed))
        return sorted(found, key=lambda one: one.time_ns)

    def _add(
        self, kind: OperationType, function: str, process: int, value: Any, server: str, error: str
    ) -> None:
        elapsed = self.elapsed_ns()
        self.operations.append(Recorded(kind, function, process, value, elapsed, server, error))

    def count(self, kind: OperationType) -> int:
        """Return the number of operations of a type."""
        return sum(one.type is kind for one in self.operations)

    def errors(self) -> Mapping[str, int]:
        """Return the failures by error."""
        found: dict[str, int] = {}
        for one in self.operations:
            if one.error:
                found[one.error] = found.get(one.error, 0) + 1
        return found

    def history(self, name: str = "") -> ClientHistory | BankHistory:
        """Return what was recorded as a history."""
        return client_history(self._plain(), name=name)

    def _plain(self) -> Iterator[Operation]:
        for line, one in enumerate(self.operations, start=1):
            yield Operation(one.type, one.function, str(one.process), one.value, line, one.server)
