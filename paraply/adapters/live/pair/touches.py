"""Record an applier's row touches by triggers, rolled-back attempts included.

The triggers write into an ARCHIVE table, which has no transactions. They fire after the change,
under the row lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paraply.adapters.live.observed import Touch
from paraply.adapters.live.workload import AUDITED_TABLES, schema_name

if TYPE_CHECKING:
    from paraply.adapters.servers.server import Server

OPTIONS = ("--slave-run-triggers-for-rbr=YES", "--plugin-load-add=ha_archive")
_TABLE = "touches.touch"


def trigger_statements(domains: int) -> Iterator[str]:
    """Yield the unlogged statements that create the triggers."""
    yield "SET SESSION sql_log_bin=0"
    yield "CREATE DATABASE touches"
    yield (
        f"CREATE TABLE {_TABLE} (number BIGINT AUTO_INCREMENT, connection BIGINT, domain INT,"
        " server INT, sequence BIGINT, name VARCHAR(64), id BIGINT, KEY (number)) ENGINE=ARCHIVE"
    )
    for domain in range(domains):
        for table in AUDITED_TABLES:
            name = f"{schema_name(domain)}.{table}"
            key = "w" if table == "journal" else "id"
            for operation, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
                yield (
                    f"CREATE TRIGGER {name}_{operation.lower()} AFTER {operation} ON {name}"
                    f" FOR EACH ROW INSERT INTO {_TABLE}"
                    " (connection, domain, server, sequence, name, id) VALUES (CONNECTION_ID(),"
                    f" @@gtid_domain_id, @@server_id, @@gtid_seq_no, '{name}', {row}.{key})"
                )


def touches_after(server: Server, number: int) -> tuple[list[Touch], int]:
    """Return the records after touch ``number`` (0: all), and the last number."""
    rows = server.query(
        "SELECT connection, domain, server, sequence, name, id, number"
        f" FROM {_TABLE} WHERE number > {number} ORDER BY number"
    )
    touches = [
        Touch(connection=connection, gtid=f"{domain}-{origin}-{sequence}", table=table, key=key)
        for connection, domain, origin, sequence, table, key, _ in rows
    ]
    return touches, int(rows[-1][-1]) if rows else number
