"""Options of a client workload."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class IsolationLevel(Enum):
    """The SQL isolation levels."""

    READ_UNCOMMITTED = "read-uncommitted"
    READ_COMMITTED = "read-committed"
    REPEATABLE_READ = "repeatable-read"
    SERIALIZABLE = "serializable"

    @property
    def sql(self) -> str:
        """Return the level as SQL spells it."""
        return self.value.upper().replace("-", " ")


class Route(Enum):
    """The server of a read-only transaction."""

    SOURCE = "source"
    """The server that the client writes to."""
    REPLICA = "replica"
    """Another server."""
    ANY = "any"
    """Any server, chosen for each transaction."""


LIST_APPEND, RW_REGISTER, BANK, LONG_FORK = "list-append", "rw-register", "bank", "long-fork"
SET, COUNTER = "set", "counter"
CLIENT_WORKLOADS = {
    LIST_APPEND: "transactions read lists and append unique elements",
    RW_REGISTER: "transactions read registers and write unique values",
    BANK: "transfers between accounts, computed by the client, and reads of all accounts",
    LONG_FORK: "transactions write one register each, others read a group of registers",
    SET: "transactions add unique elements to sets and read whole sets",
    COUNTER: "transactions increment counters and read them",
}

NO_WAIT = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What clients do, at which level, and where they read."""

    workload: str = LIST_APPEND
    isolation: IsolationLevel = IsolationLevel.REPEATABLE_READ
    reads: Route = Route.SOURCE
    wait: str = NO_WAIT
    """The target's switch that makes reads wait."""
    keys: int = 6
    """Keys in use at one time; accounts of a bank."""
    operations: int = 4
    """Most operations of a transaction."""
    read_only: float = 0.3
    """Share of read-only transactions, 0 to 1."""
