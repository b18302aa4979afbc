"""Client histories in the manner of Jepsen.

Each value is written to a key once, so it identifies its writer.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from paraply.vocabulary.errors import ParaplyError, register

REPEATED_WRITE = register(
    "P508",
    "the value {value} is written to {key} twice (first {first}): reads of it are ambiguous",
    "record a workload in which each write to a key has a different value",
)
LOG_UNLIKE_HISTORY = register(
    "P509",
    "the log does not fit the history: {reason}",
    "give the log of the same run: every committed write once, in commit order",
)

Key = Hashable


class DataType(Enum):
    """Determines the information in a read."""

    LIST = "list-append"
    """A read shows the order of all earlier versions."""
    REGISTER = "rw-register"
    SET = "set"
    """A read shows all elements, without their order."""
    COUNTER = "counter"
    """A read shows the sum of all increments."""

    @property
    def has_versions(self) -> bool:
        """Return whether each read identifies one version."""
        return self in (DataType.LIST, DataType.REGISTER)


class AccessKind(Enum):
    """In Jepsen's words."""

    APPEND = "append"
    WRITE = "w"
    READ = "r"
    ADD = "add"
    """An element, to a set."""
    INCREMENT = "inc"
    """A counter, by a positive amount."""


class Access(NamedTuple):
    """One micro-operation."""

    kind: AccessKind
    key: Key
    value: Any
    """A tuple for a list or set, None for no version."""


class Ending(Enum):
    """Outcome at the client."""

    COMMITTED = "ok"
    ABORTED = "fail"
    INDETERMINATE = "info"
    """Without reads; its writes may have happened."""


class ClientTransaction(NamedTuple):
    """T1 is the first invoked."""

    number: int
    ending: Ending
    accesses: tuple[Access, ...]
    """In execution order; uncommitted ones lack reads."""
    session: str = ""
    invoked: int = 0
    completed: int = 0
    line: int = 0
    label: str = ""
    node: str = ""
    """The server, if recorded."""

    @property
    def name(self) -> str:
        """Return its name in messages."""
        return self.label or f"T{self.number}"

    @property
    def writes(self) -> tuple[Access, ...]:
        """Return the accesses that are no reads."""
        return tuple(one for one in self.accesses if one.kind is not AccessKind.READ)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHistory:
    """All transactions of one run."""

    data_type: DataType
    transactions: tuple[ClientTransaction, ...]
    log: tuple[int, ...] | None = None
    """Writers in source log order."""
    has_times: bool = True
    """Whether places give real-time order."""


def check_log(history: ClientHistory, *, where: str = "") -> ClientHistory:
    """Return the history; P509 unless its log lists committed writers once."""
    if history.log is None:
        return history
    listed = set(history.log)
    reason = ""
    if len(listed) < len(history.log):
        reason = "it lists a transaction twice"
    for transaction in history.transactions:
        if transaction.number not in listed:
            if transaction.writes and transaction.ending is Ending.COMMITTED:
                reason = reason or f"it misses {transaction.name}, which committed"
        elif transaction.ending is Ending.ABORTED:
            reason = reason or f"it has {transaction.name}, which was aborted"
    if reason:
        raise ParaplyError(LOG_UNLIKE_HISTORY, where=where, reason=reason)
    return history
