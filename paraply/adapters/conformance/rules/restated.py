"""Scheduling rules of third-party appliers, restated from what is documented, in our own code.

What the suite says of them is said of the rule as restated here, at the level of transactions. It
is no statement about any project's present code, which may differ and does change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from paraply.adapters.conformance.rules.correct import Key, OwnKeys
from paraply.adapters.conformance.rules.rule import Init, Rule, Transaction


def first_primary_key(transaction: Transaction) -> tuple[object, ...]:
    """Return table and first column of the first row, as a consumer's partition key."""
    row = transaction.rows[0]
    image = row["before"] or row["after"]
    return (row["table"], str(image[0]))


class CompletedNumbers(Rule):
    """last_committed is looked up in a set of completed sequence numbers.

    Restated from the first version of the coordinator in gh-ost pull request 1454: a transaction
    may start when its last_committed is at or below the low-water mark, or is in the set.
    """

    name = "completed_numbers"
    features = frozenset({"lc_sn"})

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.mark = 0
        self.completed: set[int] = set()

    def place(self, transaction: Transaction) -> int | None:
        """Look at the mark, then into the set."""
        if transaction.lc > self.mark and transaction.lc not in self.completed:
            return None
        return self.free_worker()

    def on_committed(self, transaction: Transaction) -> None:
        """Add the number, and raise the mark over what is contiguous."""
        self.completed.add(transaction.sn)
        while self.mark + 1 in self.completed:
            self.mark += 1
            self.completed.discard(self.mark)


class Causality(OwnKeys):
    """Every key is bound to a worker; keys bound to two workers flush everything.

    Restated from the description of causality in TiDB Data Migration: key strings of PRIMARY and
    UNIQUE keys by value, one for a table without keys; related keys go to one worker, a conflict
    and a schema change wait for all workers. Foreign keys, which came later, are left out.
    """

    name = "causality"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.bound: dict[Key, int] = {}

    def place(self, transaction: Transaction) -> int | None:
        """Return the worker that the keys are bound to; flush where there are two."""
        if any(other.kind != "rows" for other in self.running):
            return None
        keys = transaction.marks["written"]
        workers = {self.bound[key] for key in keys if key in self.bound}
        if transaction.kind != "rows" or len(workers) > 1:
            if self.running:
                return None
            self.bound.clear()
            workers = set()
        worker = workers.pop() if workers else self.hashed(keys)
        self.bound.update(dict.fromkeys(keys, worker))
        return worker

    def unique_keys(self, table: Mapping[str, Any], image: list[Any]) -> list[Key]:
        """Return the keys by value; a table without any is one key."""
        return super().unique_keys(table, image) or [(table["name"],)]

    def hashed(self, keys: set[Key]) -> int:
        """Return a worker by the hash of the smallest key."""
        text = min(map(repr, keys), default="")
        return crc32(text.encode()) % self.workers + 1

    def fold(self, value: Any, collation: str) -> Any:
        """Compare values as they are."""
        return str(value) if isinstance(value, dict) else value


class LastCommonParent(OwnKeys):
    """The newest earlier writer of a shared key hash is the parent; all up to it must be done.

    Restated from dtle's applier: a history of hashes over the raw values of PRIMARY and UNIQUE
    keys; a transaction without any hash waits for all.
    """

    name = "last_common_parent"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.history: dict[Key, int] = {}
        self.floor = 0

    def on_received(self, transaction: Transaction) -> None:
        """Find the parent, and become the newest writer of the keys."""
        super().on_received(transaction)
        keys = transaction.marks["written"]
        has_keys = transaction.kind == "rows" and bool(keys)
        parent = max((self.history.get(key, 0) for key in keys), default=0)
        transaction.marks["parent"] = max(self.floor, parent) if has_keys else transaction.id - 1
        self.history.update(dict.fromkeys(keys, transaction.id))
        if not has_keys:
            self.floor = transaction.id

    def place(self, transaction: Transaction) -> int | None:
        """Wait for everything up to the parent."""
        if any(other.id <= transaction.marks["parent"] for other in self.running):
            return None
        return self.free_worker()

    def fold(self, value: Any, collation: str) -> Any:
        """Compare values as they are."""
        return str(value) if isinstance(value, dict) else value


class Partitioned(Rule):
    """A worker for each partition, and order only inside a partition."""

    features = frozenset({"writeset"})

    def place(self, transaction: Transaction) -> int | None:
        """Queue it behind its partition; what has no rows waits for all, and all for it."""
        running = self.running
        if not transaction.rows:
            return None if running else 1
        if any(not other.rows for other in running):
            return None
        return crc32(repr(self.partition(transaction)).encode()) % self.workers + 1

    def partition(self, transaction: Transaction) -> object:
        """Return what the worker is chosen by."""
        raise NotImplementedError


class ByTable(Partitioned):
    """The table of the first row decides.

    Restated from change-data consumers that partition a topic by table.
    """

    name = "by_table"

    def partition(self, transaction: Transaction) -> object:
        """Return the table."""
        return transaction.rows[0]["table"]


class ByPrimaryKey(Partitioned):
    """The PRIMARY key of the first row decides.

    Restated from change-data consumers that partition a topic by table and PRIMARY key.
    """

    name = "by_primary_key"

    def partition(self, transaction: Transaction) -> object:
        """Return table and key."""
        return first_primary_key(transaction)


class BySequence(Partitioned):
    """The number of the transaction decides: completely random order.

    Restated from Tungsten's shard-by-sequence control, which is documented as assuming exactly
    that; a negative control.
    """

    name = "by_sequence"

    def partition(self, transaction: Transaction) -> object:
        """Return the number."""
        return transaction.id


class ByDatabase(Rule):
    """Transactions of one schema go to one worker; one that spans schemas runs alone.

    Restated from replica_parallel_type=DATABASE of the MySQL manual.
    """

    name = "by_database"
    features = frozenset({"writeset"})

    def place(self, transaction: Transaction) -> int | None:
        """Follow the schema to its worker, or take a free one."""
        schemas = {row["table"].partition(".")[0] for row in transaction.rows}
        if transaction.kind != "rows" or len(schemas) != 1:
            return None if self.running else 1
        for worker, queue in self.queues.items():
            for other in queue:
                theirs = {row["table"].partition(".")[0] for row in other.rows}
                if other.kind != "rows" or len(theirs) != 1:
                    return None
                if theirs == schemas:
                    return worker
        return self.free_worker()


class ReplicaIdentity(OwnKeys):
    """Waits for the last transaction that touched a replica identity or a UNIQUE key.

    Restated from the proposal of parallel apply on pgsql-hackers: a hash table of relation and
    key values to transaction; foreign keys and triggers are left out at first.
    """

    name = "replica_identity"

    def place(self, transaction: Transaction) -> int | None:
        """Wait for whoever has one of the keys."""
        keys = transaction.marks["written"]
        for other in self.running:
            if transaction.kind != "rows" or other.kind != "rows" or other.marks["written"] & keys:
                return None
        return self.free_worker()

    def fold(self, value: Any, collation: str) -> Any:
        """Compare values as they are."""
        return str(value) if isinstance(value, dict) else value


class ForcedGlobal(OwnKeys):
    """Keys by collation, foreign keys on both sides; what is harder runs alone.

    Restated from Vitess pull request 19535 (unmerged, changing): tables with a UNIQUE key beside
    the PRIMARY key, rows without keys and schema changes are global.
    """

    name = "forced_global"

    def runs_alone(self, transaction: Transaction) -> bool:
        """Run alone where a table has more than one key."""
        more_keys = {table["name"] for table in self.schema if len(table["keys"]) > 1}
        touches = any(row["table"] in more_keys for row in transaction.rows)
        return touches or super().runs_alone(transaction)


RESTATED: tuple[type[Rule], ...] = (
    CompletedNumbers,
    Causality,
    LastCommonParent,
    ByTable,
    ByPrimaryKey,
    BySequence,
    ByDatabase,
    ReplicaIdentity,
    ForcedGlobal,
)
