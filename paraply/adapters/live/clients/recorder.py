"""Record operations in Jepsen's form.

The number of an invocation, from 1, is the tag of its transaction in the journal, and its number
in the client history.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from paraply.adapters.elle.histories import BankHistory, client_history
from paraply.adapters.elle.operations import Operation, OperationType
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


class Recorder:
    """The operations of all clients, in the order in which they were recorded."""

    def __init__(self) -> None:
        self.operations: list[Recorded] = []
        self.servers: list[str] = []
        """By transaction, in order of invocation."""
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

    def _add(
        self, kind: OperationType, function: str, process: int, value: Any, server: str, error: str
    ) -> None:
        elapsed = time.monotonic_ns() - self._began_ns
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
