"""Every scenario with servers and options."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ci.binlogs import keys, schema_changes, shop, types
from ci.binlogs.session import Session, server_uuid
from paraply.adapters.servers import Flavour, replicate, wait_until_applied

MARIADB = frozenset({Flavour.MARIADB})
MYSQL = frozenset({Flavour.MYSQL})
BOTH = MARIADB | MYSQL

GROUPING = {
    Flavour.MARIADB: ("--binlog-commit-wait-count=4", "--binlog-commit-wait-usec=20000"),
    Flavour.MYSQL: (
        "--binlog-group-commit-sync-delay=20000",
        "--binlog-group-commit-sync-no-delay-count=4",
    ),
}
"""Delays commits to form groups."""


ROTATED_BYTES = 9_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One recording."""

    name: str
    what: str
    flavours: frozenset[Flavour]
    run: Callable[[Session], None]
    options: tuple[str, ...] = ()
    """Options for both families."""
    mariadb_options: tuple[str, ...] = ()
    mysql_options: tuple[str, ...] = ()
    grouping: bool = False
    version_min: tuple[int, int, int] = (0, 0, 0)
    crash: bool = False
    """SIGKILL leaves the last file open."""
    readable: bool = True
    """False if only the server reads the log."""

    def server_options(self, flavour: Flavour) -> tuple[str, ...]:
        """Return the options for a family."""
        own = self.mariadb_options if flavour is Flavour.MARIADB else self.mysql_options
        return (*self.options, *own, *(GROUPING[flavour] if self.grouping else ()))


def _shop(transactions: int = 16, clients: int = 8) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        shop.create(session)
        session.load(shop.client, clients=clients, transactions=transactions)

    return run


def _rotate(session: Session) -> None:
    shop.create(session)

    def flush() -> None:
        for _ in range(3):
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline:
                size = int(session.server.query("SHOW BINARY LOGS")[-1][1])
                if size > ROTATED_BYTES:
                    break
                time.sleep(0.01)
            session.run("FLUSH BINARY LOGS")

    session.load(shop.client, clients=8, transactions=16, meanwhile=flush)
    session.run("FLUSH BINARY LOGS")
    session.load(shop.client, clients=2, transactions=3)


def _restart(session: Session) -> None:
    shop.create(session, rows=10)
    session.load(shop.client, clients=4, transactions=5)
    session.server.stop()
    session.server.start()
    session.load(shop.client, clients=4, transactions=5)


def _replicate(session: Session) -> None:
    family = session.server.installation.flavour
    options = [*GROUPING[family]]
    options += (
        ["--slave-parallel-threads=4", "--slave-parallel-mode=optimistic", "--relay-log=relay"]
        if session.is_mariadb
        else ["--replica-parallel-workers=4", "--relay-log=relay", "--relay-log-purge=OFF"]
    )
    if session.is_mariadb:
        options.append("--relay-log-purge=OFF")
    replica = session.room.start(
        session.server.installation,
        name="replica",
        server_id=2,
        options=options,
        server_uuid=server_uuid(session.seed, session.scenario, "replica"),
    )
    session.replica = replica
    replicate(session.server, replica)
    shop.create(session)
    session.load(shop.client, clients=6, transactions=10)
    wait_until_applied(session.server, replica)
    for path in sorted(replica.datadir.glob("relay.[0-9]*")):
        copy = Path(session.room.directory) / path.name
        shutil.copy(path, copy)
        session.relay_logs.append(copy)


def _encryption_options(directory: Path) -> tuple[str, ...]:
    keys_file = directory / "keys.txt"
    keys_file.write_text("1;" + "0123456789abcdef" * 2 + "\n")
    return (
        "--plugin-load-add=file_key_management",
        f"--file-key-management-filename={keys_file}",
        "--encrypt-binlog=ON",
    )


SCENARIOS = (
    Scenario(
        name="load-minimal-metadata",
        what="eight clients on a shop, commit groups of several members",
        flavours=BOTH, run=_shop(), grouping=True,
        options=("--binlog-row-metadata=MINIMAL", "--binlog-row-image=FULL"),
    ),
    Scenario(
        name="load-full-metadata",
        what="the same with table metadata in the log",
        flavours=BOTH, run=_shop(), grouping=True,
        options=("--binlog-row-metadata=FULL", "--binlog-row-image=FULL"),
    ),
    Scenario(
        name="load-minimal-image",
        what="the same with minimal row images",
        flavours=BOTH, run=_shop(12), grouping=True,
        options=("--binlog-row-metadata=FULL", "--binlog-row-image=MINIMAL"),
    ),
    Scenario(
        name="load-noblob-image",
        what="the same with row images without unchanged blobs",
        flavours=BOTH, run=_shop(6, 4), grouping=True,
        options=("--binlog-row-image=NOBLOB",),
    ),
    Scenario(
        name="compressed",
        what="compressed transactions (MySQL) or events (MariaDB)",
        flavours=BOTH, run=_shop(12), grouping=True,
        mariadb_options=("--log-bin-compress=ON", "--log-bin-compress-min-len=10"),
        mysql_options=("--binlog-transaction-compression=ON",),
    ),
    Scenario(
        name="compressed-types",
        what="all column types in compressed transactions or events, with table metadata",
        flavours=BOTH, run=types.write_all_types,
        options=("--binlog-row-metadata=FULL",),
        mariadb_options=("--log-bin-compress=ON", "--log-bin-compress-min-len=10"),
        mysql_options=("--binlog-transaction-compression=ON",),
    ),
    Scenario(
        name="rotation",
        what="five files, rotated under load",
        flavours=BOTH, run=_rotate, grouping=True,
    ),
    Scenario(
        name="restart",
        what="two files with a restart between them",
        flavours=BOTH, run=_restart, grouping=True,
    ),
    Scenario(
        name="crash",
        what="a file whose server was killed: marked in use, no end",
        flavours=BOTH, run=_shop(4, 4), crash=True,
    ),
    Scenario(
        name="no-checksum",
        what="no checksums",
        flavours=BOTH, run=_shop(8, 4), grouping=True, options=("--binlog-checksum=NONE",),
    ),
    Scenario(
        name="keys",
        what="unique keys: swaps, collations, prefixes, NULL parts",
        flavours=BOTH, run=keys.write_keys, options=("--binlog-row-metadata=FULL",),
    ),
    Scenario(
        name="keys-minimal-metadata",
        what="unique keys without table metadata: only a schema tells them",
        flavours=BOTH, run=keys.write_keys, options=("--binlog-row-metadata=MINIMAL",),
    ),
    Scenario(
        name="foreign-keys",
        what="foreign keys with every action",
        flavours=BOTH, run=keys.write_foreign_keys,
    ),
    Scenario(
        name="schema-changes",
        what="DDL between and beside transactions, tables without keys",
        flavours=BOTH, run=schema_changes.write_schema_changes,
    ),
    Scenario(
        name="engines",
        what="savepoints, non-transactional tables, one large transaction of small events",
        flavours=BOTH, run=schema_changes.write_engines_and_savepoints,
        options=("--binlog-row-event-max-size=2048",),
        mysql_options=("--enforce-gtid-consistency=WARN", "--gtid-mode=OFF_PERMISSIVE"),
    ),
    Scenario(
        name="xa",
        what="XA transactions of one and two phases",
        flavours=BOTH, run=schema_changes.write_distributed,
    ),
    Scenario(
        name="statements",
        what="statement and mixed format",
        flavours=BOTH, run=schema_changes.write_statements,
    ),
    Scenario(
        name="types",
        what="all column types with the edges of their ranges",
        flavours=BOTH, run=types.write_all_types, options=("--binlog-row-metadata=FULL",),
    ),
    Scenario(
        name="types-minimal",
        what="all column types, minimal metadata and row images",
        flavours=BOTH, run=types.write_all_types,
        options=("--binlog-row-metadata=MINIMAL", "--binlog-row-image=MINIMAL"),
    ),
    Scenario(
        name="partial-json",
        what="JSON updates logged as differences",
        flavours=MYSQL, run=types.update_documents_in_part,
        mysql_options=("--binlog-row-value-options=PARTIAL_JSON", "--binlog-row-image=MINIMAL"),
    ),
    Scenario(
        name="partial-json-full-image",
        what="JSON updates logged as differences beside full images",
        flavours=MYSQL, run=types.update_documents_in_part,
        mysql_options=("--binlog-row-value-options=PARTIAL_JSON",),
    ),
    Scenario(
        name="anonymous",
        what="no GTIDs",
        flavours=MYSQL, run=_shop(8, 4), grouping=True,
        mysql_options=("--gtid-mode=OFF", "--enforce-gtid-consistency=OFF"),
    ),
    Scenario(
        name="tags",
        what="tagged GTIDs",
        flavours=MYSQL, run=schema_changes.write_tags, version_min=(8, 3, 0),
    ),
    Scenario(
        name="domains",
        what="several replication domains and server ids",
        flavours=MARIADB, run=schema_changes.write_domains, grouping=True,
        mariadb_options=("--gtid-strict-mode=OFF",),
    ),
    Scenario(
        name="replica",
        what="a source's log, its replica's relay logs and its replica's own log",
        flavours=BOTH, run=_replicate, grouping=True,
    ),
    Scenario(
        name="encrypted",
        what="an encrypted log: only its server can read it",
        flavours=MARIADB, run=_shop(1, 1), readable=False,
    ),
)  # fmt: skip


def extra_options(scenario: Scenario, directory: Path) -> tuple[str, ...]:
    """Return options with files of this recording."""
    return _encryption_options(directory) if not scenario.readable else ()
