"""Third-party scheduling rules, restated from their documentation in our own code.

Results apply to these restatements, not to any project's present code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from paraply.adapters.conformance.rules.correct import Key, OwnKeys
from paraply.adapters.conformance.rules.rule import Init, Rule, Transaction


def first_primary_key(transaction: Transaction) -> tuple[object, ...]:
    """Return table and first column: a partition key."""
    row = transaction.rows[0]
    image = row["before"] or row["after"]
    return (row["table"], str(image[0]))


class CompletedNumbers(Rule):
    """Looks last_committed up in the completed numbers.

    Source: the first coordinator in gh-ost pull request 1454. last_committed must be at or below
    the low-water mark, or in the set.
    """

    name = "completed_numbers"
    features = frozenset({"lc_sn"})

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.mark = 0
        self.completed: set[int] = set()

    def place(self, transaction: Transaction) -> int | None:
        """Check the mark, then the set."""
        if transaction.lc > self.mark and transaction.lc not in self.completed:
            return None
        return self.free_worker()

    def on_committed(self, transaction: Transaction) -> None:
        """Add the number and raise the mark."""
        self.completed.add(transaction.sn)
        while self.mark + 1 in self.completed:
            self.mark += 1
            self.completed.discard(self.mark)


class Causality(OwnKeys):
    """Binds keys to workers; keys of two workers flush everything.

    Source: causality in TiDB Data Migration. A table without keys is one key; conflicts and schema
    changes wait for all workers. Later foreign key support is left out.
    """

    name = "causality"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.bound: dict[Key, int] = {}

    def place(self, transaction: Transaction) -> int | None:
        """Return the keys' worker, or flush."""
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
        """Return the keys, or the table's key."""
        return super().unique_keys(table, image) or [(table["name"],)]

    def hashed(self, keys: set[Key]) -> int:
        """Return the smallest key's worker."""
        text = min(map(repr, keys), default="")
        return crc32(text.encode()) % self.workers + 1

    def fold(self, value: Any, collation: str) -> Any:
        """Compare raw values."""
        return str(value) if isinstance(value, dict) else value


class LastCommonParent(OwnKeys):
    """Waits for all up to the newest writer of a shared key hash.

    Source: dtle's applier, with hashes of raw PRIMARY and UNIQUE values. Without a hash it waits
    for all.
    """

    name = "last_common_parent"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.history: dict[Key, int] = {}
        self.floor = 0

    def on_received(self, transaction: Transaction) -> None:
        """Find the parent; become the newest writer."""
        super().on_received(transaction)
        keys = transaction.marks["written"]
        has_keys = transaction.kind == "rows" and bool(keys)
        parent = max((self.history.get(key, 0) for key in keys), default=0)
        transaction.marks["parent"] = max(self.floor, parent) if has_keys else transaction.id - 1
        self.history.update(dict.fromkeys(keys, transaction.id))
        if not has_keys:
            self.floor = transaction.id

    def place(self, transaction: Transaction) -> int | None:
        """Wait up to the parent."""
        if any(other.id <= transaction.marks["parent"] for other in self.running):
            return None
        return self.free_worker()

    def fold(self, value: Any, collation: str) -> Any:
        """Compare raw values."""
        return str(value) if isinstance(value, dict) else value


class Partitioned(Rule):
    """One worker per partition, ordered inside it."""

    features = frozenset({"writeset"})

    def place(self, transaction: Transaction) -> int | None:
        """Queue in the partition; empty transactions are barriers."""
        running = self.running
        if not transaction.rows:
            return None if running else 1
        if any(not other.rows for other in running):
            return None
        return crc32(repr(self.partition(transaction)).encode()) % self.workers + 1

    def partition(self, transaction: Transaction) -> object:
        """Return the partition."""
        raise NotImplementedError


class ByTable(Partitioned):
    """The table of the first row decides.

    Source: change-data consumers that partition a topic by table.
    """

    name = "by_table"

    def partition(self, transaction: Transaction) -> object:
        """Return the table."""
        return transaction.rows[0]["table"]


class ByPrimaryKey(Partitioned):
    """The PRIMARY key of the first row decides.

    Source: change-data consumers that partition a topic by table and PRIMARY key.
    """

    name = "by_primary_key"

    def partition(self, transaction: Transaction) -> object:
        """Return table and key."""
        return first_primary_key(transaction)


class BySequence(Partitioned):
    """By transaction number: random order, a negative control.

    Source: Tungsten's shard-by-sequence control, which documents this assumption.
    """

    name = "by_sequence"

    def partition(self, transaction: Transaction) -> object:
        """Return the number."""
        return transaction.id


class ByDatabase(Rule):
    """One worker per schema; transactions across schemas run alone.

    Source: replica_parallel_type=DATABASE of the MySQL manual.
    """

    name = "by_database"
    features = frozenset({"writeset"})

    def place(self, transaction: Transaction) -> int | None:
        """Return the schema's or a free worker."""
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
    """Waits for the last user of a replica identity or UNIQUE key.

    Source: the parallel apply proposal on pgsql-hackers, a hash table of relation and key values,
    without foreign keys and triggers.
    """

    name = "replica_identity"

    def place(self, transaction: Transaction) -> int | None:
        """Wait for the keys' holders."""
        keys = transaction.marks["written"]
        for other in self.running:
            if transaction.kind != "rows" or other.kind != "rows" or other.marks["written"] & keys:
                return None
        return self.free_worker()

    def fold(self, value: Any, collation: str) -> Any:
        """Compare raw values."""
        return str(value) if isinstance(value, dict) else value


class ForcedGlobal(OwnKeys):
    """Keys by collation and foreign keys; harder cases run alone.

    Source: Vitess pull request 19535 (unmerged, changing). Global: tables with a UNIQUE key beside
    the PRIMARY key, keyless rows, schema changes.
    """

    name = "forced_global"

    def runs_alone(self, transaction: Transaction) -> bool:
        """Return whether tables have several keys."""
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
