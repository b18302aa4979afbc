"""Histories of database clients in the manner of Jepsen: transactions of reads and writes.

Each value is written to a key once, so a value identifies its writer.
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
"""A key: any comparable value."""


class DataType(Enum):
    """The type of the values, which determines the information in a read."""

    LIST = "list-append"
    """Append-only lists: a read shows the order of all earlier versions."""
    REGISTER = "rw-register"
    """Registers that are overwritten: a read shows one version."""


class AccessKind(Enum):
    """The kind of an access, in the words of Jepsen's micro-operations."""

    APPEND = "append"
    WRITE = "w"
    READ = "r"


class Access(NamedTuple):
    """One micro-operation."""

    kind: AccessKind
    """What was done."""
    key: Key
    """To which key."""
    value: Any
    """The written or read value: a tuple for a list, None for no version."""


class Ending(Enum):
    """The outcome of a transaction, as its client knows it."""

    COMMITTED = "ok"
    ABORTED = "fail"
    INDETERMINATE = "info"
    """Unknown outcome: without reads; its writes may have happened."""


class ClientTransaction(NamedTuple):
    """One transaction; T1 is the first that was invoked."""

    number: int
    """From 1, in the order of invocation."""
    ending: Ending
    accesses: tuple[Access, ...]
    """In execution order; without reads unless it committed."""
    session: str = ""
    """The client, which runs one transaction at a time; empty if unknown."""
    invoked: int = 0
    """Place of the invocation in the recording."""
    completed: int = 0
    """Place of the completion in the recording."""
    line: int = 0
    """Line of its completion in the file, from 1; 0 if none."""
    label: str = ""
    """Name in messages, if its number means nothing to the reader."""

    @property
    def name(self) -> str:
        """Return what sentences call it."""
        return self.label or f"T{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHistory:
    """All transactions of one run in the order of invocation."""

    data_type: DataType
    transactions: tuple[ClientTransaction, ...]
    log: tuple[int, ...] | None = None
    """Numbers of the writers in the order of the source's log, if known."""
    has_times: bool = True
    """Whether ``invoked`` and ``completed`` give the real-time order."""


def check_log(history: ClientHistory, *, where: str = "") -> ClientHistory:
    """Return the history if its log, if any, lists each committed writer once.

    Raises: ParaplyError: P509 otherwise.
    """
    if history.log is None:
        return history
    listed = set(history.log)
    reason = ""
    if len(listed) < len(history.log):
        reason = "it lists a transaction twice"
    for transaction in history.transactions:
        writes = any(access.kind is not AccessKind.READ for access in transaction.accesses)
        if transaction.number not in listed:
            if writes and transaction.ending is Ending.COMMITTED:
                reason = reason or f"it misses {transaction.name}, which committed"
        elif transaction.ending is Ending.ABORTED:
            reason = reason or f"it has {transaction.name}, which was aborted"
    if reason:
        raise ParaplyError(LOG_UNLIKE_HISTORY, where=where, reason=reason)
    return history
