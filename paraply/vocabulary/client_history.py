"""What clients of a database did and saw: transactions of reads and writes, from their side.

A history of the other kind (``paraply.vocabulary.history``) is told by the servers. This one is
told by the clients, in the manner of Jepsen: each transaction was invoked, did some accesses, and
came to an end that the client knows or does not know. Every value is written to a key once, so that
a value says who wrote it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from paraply.vocabulary.errors import ParaplyError, register

REPEATED_WRITE = register(
    "P508",
    "the value {value} is written to {key} twice (first {first}): nobody can tell whose was read",
    "record a workload in which every write to a key has a value of its own",
)
LOG_UNLIKE_HISTORY = register(
    "P509",
    "the log does not fit the history: {reason}",
    "give the log of the same run: every committed write once, in commit order",
)

Key = Hashable
"""What is read and written: any value that can be compared; numbers and text in practice."""


class DataType(Enum):
    """What the keys hold, and so what a read tells about the versions before."""

    LIST = "list-append"
    """Lists that are appended to: a read shows the whole order of versions before it."""
    REGISTER = "rw-register"
    """Registers that are overwritten: a read shows one version."""


class AccessKind(Enum):
    """What a transaction did to a key; the words are those of Jepsen's micro-operations."""

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
    """What was written; of a read, what was seen: a tuple for a list, None for nothing yet."""


class Ending(Enum):
    """How a transaction ended, as far as its client knows."""

    COMMITTED = "ok"
    ABORTED = "fail"
    INDETERMINATE = "info"
    """The client was never told; its reads are not known, its writes may have happened."""


class ClientTransaction(NamedTuple):
    """One transaction; T1 is the first that was invoked."""

    number: int
    """From 1, in the order of invocation."""
    ending: Ending
    accesses: tuple[Access, ...]
    """In the order in which they were done; no reads unless it committed."""
    session: str = ""
    """The client that issued it, one transaction after the other; empty where unknown."""
    invoked: int = 0
    """Place of the invocation in the recording."""
    completed: int = 0
    """Place of the completion in the recording."""
    line: int = 0
    """Line of the file that has its completion, from 1; 0 where there is none."""
    label: str = ""
    """What sentences call it, where its number would say nothing."""

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
    """Numbers of the transactions that wrote, in the order of the source's log, if it is known."""
    has_times: bool = True
    """Whether ``invoked`` and ``completed`` say what was over before what began."""


def check_log(history: ClientHistory, *, where: str = "") -> ClientHistory:
    """Return the history if its log, where there is one, lists each committed writer once.

    Raises:
        ParaplyError: P509 where it does not.
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
