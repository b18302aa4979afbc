"""A store in memory that understands the statements of the client workloads.

One transaction at a time, so its histories are serializable. Options make it faulty.
"""

from __future__ import annotations

import re
import threading

import pymysql

from paraply.adapters.servers.reachable import Reachable

_READ = re.compile(r"SELECT v FROM \w+\.(lists|registers) WHERE id = (\d+)")
_APPEND = re.compile(r"INSERT INTO \w+\.lists VALUES \((\d+), '(\d+)'\) ON DUP")
_WRITE = re.compile(r"INSERT INTO \w+\.registers VALUES \((\d+), (\d+)\) ON DUP")
_BALANCES = re.compile(r"SELECT id, v FROM \w+\.bank WHERE id (<|>=|IN) \(?([\d, ]+)\)?")
_UPDATE = re.compile(r"UPDATE \w+\.bank SET v = (-?\d+) WHERE id = (\d+)")
_ELEMENTS = re.compile(r"SELECT v FROM \w+\.elements WHERE id = (\d+)")
_ADD = re.compile(r"INSERT INTO \w+\.elements \(id, v\) VALUES \((\d+), (\d+)\)")
_COUNTER = re.compile(r"SELECT v FROM \w+\.counters WHERE id = (\d+)")
_INCREMENT = re.compile(r"UPDATE \w+\.counters SET v = v \+ (\d+) WHERE id = (\d+)")
_JOURNAL = re.compile(r"INSERT INTO \w+\.journal VALUES \((\d+)\)")


class Store(Reachable):
    """A server; every connection shares its rows."""

    is_mariadb = True

    def __init__(self, *, accounts=6, commit_error=None, is_stale=False, is_torn=False,
                 loses=False):  # fmt: skip
        self.name = "store"
        self.rows = {("bank", number): 100 for number in range(accounts)}
        self.rows |= {("counters", number): 0 for number in range(1, accounts + 1)}
        self.opening = dict(self.rows)
        self.order = []
        self.lock = threading.Lock()
        self.commit_error = commit_error
        """An error number that every fifth COMMIT of a writer fails with, after its effect."""
        self.is_stale = is_stale
        """Plain reads show the initial state."""
        self.is_torn = is_torn
        """Writers do not exclude each other between read and write."""
        self.loses = loses
        """Every fifth COMMIT of a writer is confirmed and has no effect."""
        self.commits = 0

    def connect(self, **_):
        return _Connection(self)


class _Connection:
    def __init__(self, store):
        self.store = store
        self.found = []
        self.is_inside = False
        self.rowcount = 0

    def cursor(self):
        return self

    def close(self):
        self._leave()

    def fetchall(self):
        return self.found

    def fetchone(self):
        return self.found[0]

    def execute(self, statement):
        if statement == "BEGIN":
            if not self.store.is_torn:
                self.store.lock.acquire()
            self.is_inside, self.changes, self.tag = True, {}, None
        elif statement == "COMMIT":
            self._commit()
        elif statement == "ROLLBACK":
            self._leave()
        elif not statement.startswith("SET SESSION"):
            self.found = self._do(statement)

    def _leave(self):
        if self.is_inside and not self.store.is_torn:
            self.store.lock.release()
        self.is_inside = False

    def _commit(self):
        store = self.store
        if not store.loses or self.tag is None or store.commits % 5:
            store.rows.update(self.changes)
        if self.tag is not None:
            store.order.append((self.tag, dict(self.changes)))
            store.commits += 1
            if store.commit_error is not None and store.commits % 5 == 0:
                self._leave()
                raise pymysql.err.OperationalError(store.commit_error, "the commit failed")
        self._leave()

    def _value(self, row):
        store = self.store
        return self.changes.get(row, (store.opening if store.is_stale else store.rows).get(row))

    def _do(self, statement):
        if found := _READ.fullmatch(statement):
            value = self._value((found[1], int(found[2])))
            return [] if value is None else [(value,)]
        if found := _APPEND.match(statement):
            row = ("lists", int(found[1]))
            before = self.changes.get(row, self.store.rows.get(row))
            self.changes[row] = found[2] if before is None else f"{before},{found[2]}"
        elif found := _WRITE.match(statement):
            self.changes["registers", int(found[1])] = int(found[2])
        elif found := _BALANCES.fullmatch(statement):
            asked = [int(one) for one in found[2].split(", ")]
            holds = {"<": lambda n: n < asked[0], ">=": lambda n: n >= asked[0],
                     "IN": lambda n: n in asked}[found[1]]  # fmt: skip
            numbers = [n for table, n in self.store.opening if table == "bank" and holds(n)]
            return [(number, self._value(("bank", number))) for number in numbers]
        elif found := _UPDATE.fullmatch(statement):
            self.changes["bank", int(found[2])] = int(found[1])
        elif found := _ELEMENTS.fullmatch(statement):
            return [(v,) for v in self._value(("elements", int(found[1]))) or ()]
        elif found := _ADD.fullmatch(statement):
            row = ("elements", int(found[1]))
            before = self.changes.get(row, self.store.rows.get(row, ()))
            self.changes[row] = (*before, int(found[2]))
        elif found := _COUNTER.fullmatch(statement):
            return [(self._value(("counters", int(found[1]))),)]
        elif found := _INCREMENT.fullmatch(statement):
            row = ("counters", int(found[2]))
            self.changes[row] = self.changes.get(row, self.store.rows[row]) + int(found[1])
        elif found := _JOURNAL.fullmatch(statement):
            self.tag = int(found[1])
        else:
            raise AssertionError(f"the store does not understand {statement}")
        return []
