"""Family K: schema changes and empty transactions."""

from __future__ import annotations

from collections.abc import Callable

from paraply.adapters.conformance.cases.case import (
    AS_LOGGED,
    NO_OVERLAP,
    ONCE,
    SAME_TABLES,
    Case,
    T,
    bystanders,
    log_of,
)
from paraply.adapters.conformance.source import SourceLog, delete, insert, update

_MAXWELL = "maxwell issue 804"


def _add_column(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 1))
    bystanders(log, 1)
    log.ddl("ALTER TABLE d.t ADD COLUMN w INT")
    log.transaction(insert("d.t", 2, 2, 2))
    bystanders(log, 2)
    return log


def _create_table(_: int) -> SourceLog:
    log = log_of(T)
    bystanders(log, 1, 2)
    log.ddl("CREATE TABLE d.new (id INT PRIMARY KEY)")
    log.transaction(insert("d.new", 1))
    bystanders(log, 3, 4)
    return log


def _drop_table(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 1))
    bystanders(log, 1)
    log.ddl("DROP TABLE d.t")
    log.ddl("CREATE TABLE d.t (id INT PRIMARY KEY)")
    log.transaction(insert("d.t", 1))
    bystanders(log, 2)
    return log


def _add_unique_key(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 5), insert("d.t", 2, 5))
    log.drain()
    bystanders(log, 1)
    log.transaction(delete("d.t", id=1))
    log.ddl("ALTER TABLE d.t ADD UNIQUE KEY uv (v)")
    log.transaction(update("d.t", {"id": 2}, v=6))
    log.transaction(insert("d.t", 3, 5))
    bystanders(log, 2)
    return log


def _other_table(_: int) -> SourceLog:
    log = log_of(T)
    bystanders(log, 1, 2)
    log.ddl("ALTER TABLE d.t ADD COLUMN w INT")
    bystanders(log, 3, 4)
    return log


def _first_of_a_file(_: int) -> SourceLog:
    log = log_of(T)
    bystanders(log, 1, 2)
    log.transaction(insert("d.t", 1, 1))
    log.rotate()
    log.ddl("ALTER TABLE d.t ADD COLUMN w INT")
    log.transaction(update("d.t", {"id": 1}, w=7))
    bystanders(log, 3)
    return log


def _empty(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 1))
    bystanders(log, 1)
    log.transaction()
    log.transaction(update("d.t", {"id": 1}, v=2))
    bystanders(log, 2, 3)
    return log


def _in_a_row(_: int) -> SourceLog:
    log = log_of(T)
    bystanders(log, 1, 2)
    log.ddl("ALTER TABLE d.t ADD COLUMN w INT")
    log.ddl("ALTER TABLE d.t ADD COLUMN x INT")
    log.ddl("ALTER TABLE d.t DROP COLUMN x")
    log.transaction(insert("d.t", 1, 1, 1))
    bystanders(log, 3)
    return log


def _case(number: int, fact: str, source: str, decides: str, log: Callable[[int], SourceLog],
          what: str = "ddl") -> Case:  # fmt: skip
    return Case(id=f"K-{what}-{number:02d}", fact=fact, source=source, decides=decides, log=log)


CASES = (
    _case(1, "rows of the old shape end before a column is added, those of the new begin after",
          _MAXWELL, AS_LOGGED, _add_column),
    _case(2, "a table is created before its first row", "maxwell issue 241", AS_LOGGED,
          _create_table),
    _case(3, "a table is dropped after its last row, and made anew before the next",
          "Percona PXC-4657", AS_LOGGED, _drop_table),
    _case(4, "a UNIQUE key is added after its last duplicate is gone", _MAXWELL, AS_LOGGED,
          _add_unique_key),
    _case(5, "a schema change is alone, whatever table it changes",
          "WL#8440, transactions without write set", NO_OVERLAP, _other_table),
    _case(6, "a schema change that begins a file waits for what is left of the old one",
          "WL#7165", NO_OVERLAP, _first_of_a_file),
    _case(7, "schema changes in a row keep their order", _MAXWELL, SAME_TABLES, _in_a_row),
    _case(8, "a transaction without rows commits once, and in its place",
          "GTID_NEXT with an empty transaction", ONCE, _empty, what="empty"),
)  # fmt: skip
