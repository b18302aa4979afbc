"""The transactions of each client workload.

A workload plans a transaction from random numbers, and executes it with a cursor. Values are unique
per key, so a read identifies the writer. Keys are replaced after a number of writes: lists stay
short.
"""

from __future__ import annotations

import random
import sys
import threading
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from paraply.adapters.live.clients.options import (
    BANK,
    COUNTER,
    LIST_APPEND,
    LONG_FORK,
    RW_REGISTER,
    SET,
    ClientOptions,
)

Cursor = Any
Micro = tuple[str, int, Any]
"""Function (``append``, ``w``, ``add``, ``inc`` or ``r``), key and value."""
WRITES_PER_KEY_MAX = 24
ELEMENTS_MAX = 100
"""Of a set, before another replaces it."""
OPENING_BALANCE = 100
TRANSFER_MAX = 5
CLIENT_TABLES = ("lists", "registers", "bank", "elements", "counters")


class Plan(NamedTuple):
    """A transaction before it runs."""

    function: str
    value: Any
    is_read_only: bool


def client_schema(schema: str, accounts: int) -> list[str]:
    """Return the statements that create a schema with journal and tables."""
    return [
        f"CREATE DATABASE {schema}",
        f"CREATE TABLE {schema}.journal (w BIGINT PRIMARY KEY) ENGINE=InnoDB",
        *client_tables(schema, accounts),
    ]


def client_tables(schema: str, accounts: int) -> list[str]:
    """Return the statements that create the tables of all workloads."""
    rows = ", ".join(f"({number}, {OPENING_BALANCE})" for number in range(accounts))
    counters = ", ".join(f"({number}, 0)" for number in range(1, accounts + 1))
    return [
        f"CREATE TABLE {schema}.lists (id INT PRIMARY KEY, v TEXT NOT NULL) ENGINE=InnoDB",
        f"CREATE TABLE {schema}.registers (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB",
        f"CREATE TABLE {schema}.bank (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB",
        f"INSERT INTO {schema}.bank VALUES {rows}",
        # No unique key excludes an element that is there twice.
        f"CREATE TABLE {schema}.elements (number BIGINT AUTO_INCREMENT PRIMARY KEY,"
        " id INT NOT NULL, v INT NOT NULL, KEY (id)) ENGINE=InnoDB",
        f"CREATE TABLE {schema}.counters (id INT PRIMARY KEY, v BIGINT NOT NULL) ENGINE=InnoDB",
        f"INSERT INTO {schema}.counters VALUES {counters}",
    ]


class Workload(ABC):
    """Plans and executes transactions."""

    name: ClassVar[str]

    def __init__(self, options: ClientOptions, schema: str) -> None:
        self.options = options
        self.schema = schema

    def plan(self, dice: random.Random, *, is_reader: bool = False) -> Plan:
        """Return the next transaction; readers only read."""
        if is_reader or dice.random() < self.options.read_only:
            return self.reading(dice)
        return self.writing(dice)

    @abstractmethod
    def reading(self, dice: random.Random) -> Plan:
        """Return a read-only transaction."""

    @abstractmethod
    def writing(self, dice: random.Random) -> Plan:
        """Return a transaction that writes."""

    def reading_all(self) -> Plan | None:
        """Return a read of everything, for each server after the load; None if not needed."""
        return None

    @abstractmethod
    def execute(self, cursor: Cursor, plan: Plan) -> Any:
        """Run a transaction's statements; return the value of its completion."""


class _Keys:
    """The keys in use, shared by all clients."""

    def __init__(self, count: int, writes_max: int) -> None:
        self._lock = threading.Lock()
        self._active = list(range(1, count + 1))
        self._next = count + 1
        self._written = dict.fromkeys(self._active, 0)
        self._writes_max = writes_max

    def to_read(self, dice: random.Random) -> int:
        return dice.choice(self._active)

    def every(self) -> list[int]:
        """Return all keys that were ever in use."""
        return list(range(1, self._next))

    def group(self) -> list[int]:
        with self._lock:
            return list(self._active)

    def to_write(self, dice: random.Random) -> tuple[int, int]:
        """Return a key and its next value."""
        with self._lock:
            place = dice.randrange(len(self._active))
            key = self._active[place]
            self._written[key] += 1
            value = self._written[key]
            if value >= self._writes_max:
                self._active[place] = self._next
                self._written[self._next] = 0
                self._next += 1
            return key, value


class _Micros(Workload):
    """Transactions of micro-operations."""

    write: ClassVar[str]

    def __init__(self, options: ClientOptions, schema: str) -> None:
        super().__init__(options, schema)
        self.keys = _Keys(options.keys, WRITES_PER_KEY_MAX)

    def reading(self, dice: random.Random) -> Plan:
        """Return two reads or more."""
        count = dice.randint(2, max(2, self.options.operations))
        return Plan("txn", tuple(self._read(dice) for _ in range(count)), True)

    def writing(self, dice: random.Random) -> Plan:
        """Return reads and at least one write; half of them read first what they write."""
        count = dice.randint(1, self.options.operations)
        kinds = [dice.random() < 0.5 for _ in range(count)]
        kinds[dice.randrange(count)] = True
        micros = tuple(self._write(dice) if is_write else self._read(dice) for is_write in kinds)
        if dice.random() < 0.5:
            written = next(key for name, key, _ in micros if name == self.write)
            micros = (("r", written, None), *micros)
        return Plan("txn", micros, False)

    def _read(self, dice: random.Random) -> Micro:
        return ("r", self.keys.to_read(dice), None)

    def _write(self, dice: random.Random) -> Micro:
        key, value = self.keys.to_write(dice)
        return (self.write, key, value)

    def execute(self, cursor: Cursor, plan: Plan) -> Any:
        """Run each micro-operation as one statement."""
        return tuple(
            (name, key, self.read(cursor, key)) if name == "r" else self._wrote(cursor, key, value)
            for name, key, value in plan.value
        )

    def _wrote(self, cursor: Cursor, key: int, value: int) -> Micro:
        cursor.execute(self.write_statement(key, value))
        return (self.write, key, value)

    @abstractmethod
    def read(self, cursor: Cursor, key: int) -> Any:
        """Return a key's value."""

    @abstractmethod
    def write_statement(self, key: int, value: int) -> str:
        """Return the statement that writes."""


class ListAppend(_Micros):
    """Lists in a text column; an append is one statement."""

    name = LIST_APPEND
    write = "append"

    def read(self, cursor: Cursor, key: int) -> Any:
        """Return the list, None if there is none."""
        cursor.execute(f"SELECT v FROM {self.schema}.lists WHERE id = {key}")
        rows = cursor.fetchall()
        return tuple(map(int, rows[0][0].split(","))) if rows else None

    def write_statement(self, key: int, value: int) -> str:
        """Return an insert that appends to an existing row."""
        return (
            f"INSERT INTO {self.schema}.lists VALUES ({key}, '{value}')"
            f" ON DUPLICATE KEY UPDATE v = CONCAT(v, ',{value}')"
        )


class Registers(_Micros):
    """Registers in an integer column."""

    name = RW_REGISTER
    write = "w"

    def read(self, cursor: Cursor, key: int) -> Any:
        """Return the value, None if there is none."""
        cursor.execute(f"SELECT v FROM {self.schema}.registers WHERE id = {key}")
        rows = cursor.fetchall()
        return int(rows[0][0]) if rows else None

    def write_statement(self, key: int, value: int) -> str:
        """Return an insert that overwrites an existing row."""
        return (
            f"INSERT INTO {self.schema}.registers VALUES ({key}, {value})"
            f" ON DUPLICATE KEY UPDATE v = {value}"
        )


class LongFork(Registers):
    """Each register is written once, alone; readers read the group in use."""

    name = LONG_FORK

    def __init__(self, options: ClientOptions, schema: str) -> None:
        super().__init__(options, schema)
        self.keys = _Keys(options.keys, writes_max=1)

    def reading(self, dice: random.Random) -> Plan:
        """Return reads of the group."""
        group = self.keys.group()
        dice.shuffle(group)
        return Plan("txn", tuple(("r", key, None) for key in group), True)

    def writing(self, dice: random.Random) -> Plan:
        """Return one write."""
        return Plan("txn", (self._write(dice),), False)


class Sets(_Micros):
    """Sets of rows; an addition is one insert, and a read returns the whole set."""

    name = SET
    write = "add"

    def __init__(self, options: ClientOptions, schema: str) -> None:
        super().__init__(options, schema)
        self.keys = _Keys(options.keys, ELEMENTS_MAX)

    def reading_all(self) -> Plan | None:
        """Return reads of all sets."""
        return Plan("txn", tuple(("r", key, None) for key in self.keys.every()), True)

    def read(self, cursor: Cursor, key: int) -> Any:
        """Return the elements in order of their values."""
        cursor.execute(f"SELECT v FROM {self.schema}.elements WHERE id = {key}")
        return tuple(sorted(int(v) for (v,) in cursor.fetchall()))

    def write_statement(self, key: int, value: int) -> str:
        """Return an insert of the element."""
        return f"INSERT INTO {self.schema}.elements (id, v) VALUES ({key}, {value})"


class Counters(_Micros):
    """Counters that the server increments."""

    name = COUNTER
    write = "inc"

    def __init__(self, options: ClientOptions, schema: str) -> None:
        super().__init__(options, schema)
        self.keys = _Keys(options.keys, sys.maxsize)

    def reading_all(self) -> Plan | None:
        """Return reads of all counters."""
        return Plan("txn", tuple(("r", key, None) for key in self.keys.every()), True)

    def _write(self, dice: random.Random) -> Micro:
        return (self.write, self.keys.to_read(dice), 1)

    def read(self, cursor: Cursor, key: int) -> Any:
        """Return the value."""
        cursor.execute(f"SELECT v FROM {self.schema}.counters WHERE id = {key}")
        return int(cursor.fetchall()[0][0])

    def write_statement(self, key: int, value: int) -> str:
        """Return an update that increments."""
        return f"UPDATE {self.schema}.counters SET v = v + {value} WHERE id = {key}"


class Bank(Workload):
    """Transfers that read two accounts and write the computed balances."""

    name = BANK

    def reading(self, dice: random.Random) -> Plan:
        """Return a read of all accounts."""
        return Plan("read", None, True)

    def writing(self, dice: random.Random) -> Plan:
        """Return a transfer."""
        payer, payee = dice.sample(range(self.options.keys), 2)
        amount = dice.randint(1, TRANSFER_MAX)
        return Plan("transfer", {"from": payer, "to": payee, "amount": amount}, False)

    def execute(self, cursor: Cursor, plan: Plan) -> Any:
        """Return the balances of a read, the transfer otherwise."""
        table = f"{self.schema}.bank"
        if plan.is_read_only:
            balances: dict[int, int] = {}
            # Two statements: one alone always shows one state.
            middle = self.options.keys // 2
            for condition in (f"id < {middle}", f"id >= {middle}"):
                cursor.execute(f"SELECT id, v FROM {table} WHERE {condition}")
                balances.update((int(number), int(v)) for number, v in cursor.fetchall())
            return balances
        payer, payee, amount = (plan.value[name] for name in ("from", "to", "amount"))
        cursor.execute(f"SELECT id, v FROM {table} WHERE id IN ({payer}, {payee})")
        found = dict(cursor.fetchall())
        cursor.execute(f"UPDATE {table} SET v = {found[payer] - amount} WHERE id = {payer}")
        cursor.execute(f"UPDATE {table} SET v = {found[payee] + amount} WHERE id = {payee}")
        return plan.value


_WORKLOADS: tuple[type[Workload], ...] = (
    ListAppend, Registers, Bank, LongFork, Sets, Counters,
)  # fmt: skip


def workload_of(options: ClientOptions, schema: str) -> Workload:
    """Return the workload of the options."""
    return next(one for one in _WORKLOADS if one.name == options.workload)(options, schema)
