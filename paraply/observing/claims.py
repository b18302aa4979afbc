"""What vendors document about isolation, by target, mode and level.

A *promise* names levels of ``properties.isolation.phenomena``, which forbid phenomena. What a
promise forbids and a run shows refutes it. An *admission* is a document or published report that
describes a phenomenon.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paraply.adapters.live.clients.options import NO_WAIT, ClientOptions, IsolationLevel, Route
from paraply.properties.isolation.phenomena import level_named

DOCUMENTS = {
    "mysql-isolation": "https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html",
    "mysql-consistent-read": "https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html",
    "mysql-commit-order": "https://dev.mysql.com/doc/refman/en/replication-options-replica.html",
    "mysql-gtid-functions": "https://dev.mysql.com/doc/refman/en/gtid-functions.html",
    "mysql-group-consistency": "https://dev.mysql.com/doc/refman/en/group-replication-consistency-guarantees.html",
    "mysql-group-limits": "https://dev.mysql.com/doc/refman/en/group-replication-limitations.html",
    "mysql-semi-sync": "https://dev.mysql.com/doc/refman/en/replication-semisync.html",
    "mysql-replication": "https://dev.mysql.com/doc/refman/en/replication.html",
    "mariadb-replication": "https://mariadb.com/kb/en/replication-overview/",
    "mariadb-isolation": "https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/set-commands/set-transaction",
    "mariadb-parallel": "https://mariadb.com/kb/en/parallel-replication/",
    "mariadb-snapshot": "https://mariadb.com/kb/en/enhancements-for-start-transaction-with-consistent-snapshot/",
    "mariadb-gtid-wait": "https://mariadb.com/kb/en/master_gtid_wait/",
    "mariadb-semi-sync": "https://mariadb.com/kb/en/semisynchronous-replication/",
    "galera-isolation": "https://jira.mariadb.org/browse/MDEV-38977",
    "galera-limits": "https://mariadb.com/docs/galera-cluster/reference/mariadb-galera-cluster-known-limitations",
    "galera-sync-wait": "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables",
    "jepsen-mysql": "https://jepsen.io/analyses/mysql-8.0.34",
    "jepsen-galera": "https://jepsen.io/analyses/mariadb-galera-cluster-12.1.2",
}
"""Sources by key."""

COMMITTED_LEVELS = (
    IsolationLevel.READ_COMMITTED, IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE,
)  # fmt: skip
SNAPSHOT_LEVELS = (IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE)
_PAIRS = ("mariadb", "mysql")
_SEMI_SYNC = ("mariadb-semisync", "mysql-semisync")
_MYSQL = ("mysql", "mysql-semisync", "mysql-gr", "existing")
_MARIADB = ("mariadb", "mariadb-semisync", "galera")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Which runs a document speaks of; empty means any."""

    targets: Sequence[str]
    isolations: Sequence[IsolationLevel] = ()
    modes: Sequence[str] = ()
    reads: Sequence[Route] = ()
    waits: Sequence[str] = ()

    def covers(self, target: str, mode: str, options: ClientOptions) -> bool:
        """Return whether a run meets the condition."""
        return (
            target in self.targets
            and options.isolation in (self.isolations or (options.isolation,))
            and mode in (self.modes or (mode,))
            and options.reads in (self.reads or (options.reads,))
            and options.wait in (self.waits or (options.wait,))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A documented guarantee."""

    text: str
    source: str
    """A key of DOCUMENTS."""
    condition: Condition
    levels: tuple[str, ...] = ()
    """Of all transactions."""
    reader_levels: tuple[str, ...] = ()
    """Of read-only transactions."""
    is_fresh: bool = False
    """Whether no read is stale."""
    is_monotonic: bool = False
    """Whether a session's reads at one server never go back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """A document or report that describes phenomena."""

    text: str
    source: str
    condition: Condition
    phenomena: tuple[str, ...]


def _for(
    targets: Sequence[str], *isolations: IsolationLevel, **more: Sequence[object]
) -> Condition:
    return Condition(targets=targets, isolations=isolations, **more)  # type: ignore[arg-type]


_COMMITTED = "a read returns committed rows only"
_SNAPSHOT = "all plain reads of a transaction read one snapshot"
_IN_ORDER = "replicas commit in the order of the source's log"
_FRESH = "a read sees all that was committed before its snapshot"

PROMISES: tuple[Promise, ...] = (
    *(
        Promise(
            text=text, source=source, levels=("read-committed",),
            condition=_for([one for one in targets if one not in _SEMI_SYNC], *COMMITTED_LEVELS),
        )
        for source, targets, text in (
            ("mysql-isolation", _MYSQL, _COMMITTED), ("mariadb-isolation", _MARIADB, _COMMITTED),
        )
    ),
    *(
        Promise(
            text="writes are not overwritten before they are committed", source=source,
            levels=("read-uncommitted",),
            condition=_for(targets, IsolationLevel.READ_UNCOMMITTED),
        )
        for source, targets in (("mysql-isolation", _MYSQL), ("mariadb-isolation", _MARIADB))
    ),
    *(
        Promise(
            text=_SNAPSHOT, source=source, reader_levels=("snapshot-isolation",),
            condition=_for(targets, *SNAPSHOT_LEVELS),
        )
        for source, targets in (
            ("mysql-consistent-read", ("mysql", "existing")), ("mariadb-isolation", ("mariadb",)),
        )
    ),
    Promise(
        # Members commit in different orders: snapshots of two members need no common order.
        text=f"{_SNAPSHOT} of their member", source="mysql-consistent-read",
        reader_levels=("consistent-view",), condition=_for(("mysql-gr",), *SNAPSHOT_LEVELS),
    ),
    Promise(
        text=f"{_IN_ORDER} (replica_preserve_commit_order)", source="mysql-commit-order",
        reader_levels=("prefix",), condition=_for(("mysql",), *SNAPSHOT_LEVELS),
    ),
    Promise(
        # Not of snapshots: see the admission. Reads of this level lock.
        text=_IN_ORDER, source="mariadb-parallel", reader_levels=("prefix",),
        condition=_for(("mariadb",), IsolationLevel.SERIALIZABLE),
    ),
    *(
        Promise(
            text="transactions are serializable (reads lock) on one server", source=source,
            levels=("serializable",),
            condition=_for(targets, IsolationLevel.SERIALIZABLE, reads=(Route.SOURCE,)),
        )
        for source, targets in (
            ("mysql-isolation", ("mysql", "existing")), ("mariadb-isolation", ("mariadb",)),
        )
    ),
    Promise(
        text="transactions are serializable (reads lock) on the primary", source="mysql-isolation",
        levels=("serializable",),
        condition=_for(("mysql-gr",), IsolationLevel.SERIALIZABLE, modes=("single-primary",),
                       reads=(Route.SOURCE,)),
    ),
    *(
        Promise(
            text=_FRESH, source=source, is_fresh=True,
            condition=_for(targets, *COMMITTED_LEVELS, reads=(Route.SOURCE,)),
        )
        for source, targets in (
            ("mysql-consistent-read", ("mysql", "existing")), ("mariadb-isolation", ("mariadb",)),
        )
    ),
    *(
        Promise(
            text=f"{_FRESH} at its server: a session never sees less there", source=source,
            is_monotonic=True, condition=_for(targets, *COMMITTED_LEVELS),
        )
        for source, targets in (
            ("mysql-consistent-read", _MYSQL), ("mariadb-isolation", _MARIADB),
        )
    ),
    *(
        Promise(
            text="a replica that has reached the source's GTIDs shows their transactions",
            source=source, is_fresh=True, levels=levels,
            condition=_for(targets, *COMMITTED_LEVELS, waits=("gtid-wait",), reads=reads),
        )
        for source, targets in (
            ("mysql-gtid-functions", ("mysql", "existing")), ("mariadb-gtid-wait", ("mariadb",)),
        )
        for reads, levels in (
            ((Route.SOURCE,), ("read-your-writes", "monotonic-reads")),
            # A replica can show what the source has logged and its engine has not yet committed,
            # which the session's next transaction at the source then misses.
            ((Route.REPLICA, Route.ANY), ("read-your-writes",)),
        )
    ),
    Promise(
        # Judged as snapshot isolation, the weakest reading.
        text="isolation is between SERIALIZABLE and REPEATABLE READ (the report quotes the"
        " documentation)",
        source="galera-isolation", levels=("snapshot-isolation",),
        condition=_for(("galera",), *SNAPSHOT_LEVELS),
    ),
    Promise(
        text="with wsrep_sync_wait a statement waits until its node has applied all that the"
        " cluster has committed",
        source="galera-sync-wait", is_fresh=True,
        condition=_for(("galera",), *COMMITTED_LEVELS, waits=("sync-wait",)),
    ),
    Promise(
        text="BEFORE waits until the member has applied all preceding transactions; AFTER waits"
        " until all members have applied the transaction",
        source="mysql-group-consistency", is_fresh=True,
        condition=_for(("mysql-gr",), *COMMITTED_LEVELS,
                       waits=("before", "after", "before-and-after")),
    ),
    *(
        Promise(
            text="AFTER_SYNC: clients see a transaction after a replica has it, and lose none at"
            " fail-over",
            source=source, levels=("read-committed",),
            condition=_for((target,), *COMMITTED_LEVELS, modes=("AFTER_SYNC",)),
        )
        for source, target in (
            ("mysql-semi-sync", "mysql-semisync"), ("mariadb-semi-sync", "mariadb-semisync"),
        )
    ),
)  # fmt: skip

_CYCLES = ("SI-session", "cycle-session", "SI-realtime", "cycle-realtime")
_MIXED = ("internal", "P4", "G-single", "G-nonadjacent", "G2-item", "prefix", *_CYCLES)
_LAGGING = ("stale read", "read your writes", "monotonic reads", "monotonic prefix", *_CYCLES)

ADMISSIONS: tuple[Admission, ...] = (
    *(
        Admission(
            text=text, source=source, phenomena=_MIXED, condition=_for(targets, *levels),
        )
        for targets, source in ((_MYSQL, "mysql-consistent-read"),
                                (("mariadb", "mariadb-semisync"), "jepsen-mysql"))
        for levels, text in (
            ((IsolationLevel.REPEATABLE_READ,),
             "plain reads show a snapshot and writing statements the latest rows: a transaction"
             " can see a state that never existed"),
            ((IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED),
             "each read sets its own snapshot"),
        )
    ),
    Admission(
        text="only START TRANSACTION WITH CONSISTENT SNAPSHOT has a position in the binary log:"
        " others may see a transaction and miss one before it",
        source="mariadb-snapshot", phenomena=("prefix",),
        condition=_for(("mariadb",), IsolationLevel.REPEATABLE_READ),
    ),
    Admission(
        text="each read sets its own snapshot", source="mariadb-isolation", phenomena=_MIXED,
        condition=_for(("galera",), IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED),
    ),
    *(
        Admission(
            text="replication is asynchronous: a replica can be behind", source=source,
            phenomena=(*_LAGGING, "G2-item"),
            condition=_for(targets, reads=(Route.REPLICA, Route.ANY), waits=(NO_WAIT,)),
        )
        for targets, source in ((("mysql", "existing"), "mysql-replication"),
                                (("mariadb",), "mariadb-replication"))
    ),
    Admission(
        text="EVENTUAL and the default: a member can show outdated values",
        source="mysql-group-consistency", phenomena=_LAGGING,
        condition=_for(("mysql-gr",), waits=(NO_WAIT, "eventual")),
    ),
    Admission(
        text="without wsrep_sync_wait a node can show outdated values", source="galera-sync-wait",
        phenomena=_LAGGING, condition=_for(("galera",), waits=(NO_WAIT,)),
    ),
    *(
        Admission(
            text="AFTER_COMMIT: other clients see a transaction that no replica has, and lose it at"
            " fail-over",
            source=source, phenomena=("orders", "garbage", "vanished element", *_LAGGING),
            condition=_for((target,), modes=("AFTER_COMMIT",)),
        )
        for source, target in (
            ("mysql-semi-sync", "mysql-semisync"), ("mariadb-semi-sync", "mariadb-semisync"),
        )
    ),
    Admission(
        text="the list of known limitations has isolation anomalies such as lost updates, and the"
        " report of March 2026 found P4 and G-single in healthy clusters",
        source="jepsen-galera", phenomena=("P4", "G-single", "G-nonadjacent", "internal"),
        condition=_for(("galera",), *SNAPSHOT_LEVELS),
    ),
)  # fmt: skip
"""What documents or reports describe: shown as such where nothing excludes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """All that documents say of one run."""

    promises: tuple[Promise, ...]
    admissions: tuple[Admission, ...]

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the promised levels of all transactions."""
        return tuple(dict.fromkeys(name for one in self.promises for name in one.levels))

    @property
    def reader_levels(self) -> tuple[str, ...]:
        """Return the promised levels of read-only transactions."""
        return tuple(dict.fromkeys(name for one in self.promises for name in one.reader_levels))

    @property
    def is_fresh(self) -> bool:
        """Return whether no read may be stale."""
        return any(one.is_fresh for one in self.promises)

    @property
    def is_monotonic(self) -> bool:
        """Return whether a session's reads at one server may not go back."""
        return any(one.is_monotonic for one in self.promises)

    @property
    def admitted(self) -> frozenset[str]:
        """Return the phenomena that a document or report describes."""
        return frozenset(label for one in self.admissions for label in one.phenomena)


def claim_of(target: str, mode: str, options: ClientOptions) -> Claim:
    """Return the documents' claim about a run."""
    return Claim(
        promises=tuple(
            one for one in PROMISES if one.condition.covers(target, mode, options)
        ),
        admissions=tuple(
            one for one in ADMISSIONS if one.condition.covers(target, mode, options)
        ),
    )  # fmt: skip


def forbidden_by(levels: Iterable[str]) -> frozenset[str]:
    """Return the phenomena that any of the levels forbids."""
    found = (level_named(name) for name in levels)
    return frozenset(label for level in found if level is not None for label in level.forbids)
