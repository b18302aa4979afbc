"""Table definitions of a running server, read-only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from paraply.adapters.servers.errors import NO_TABLES
from paraply.adapters.servers.existing import ExistingServer, parse_dsn
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.sql_text import quoted

SYSTEM_SCHEMAS = ("information_schema", "mysql", "performance_schema", "sys")
VARIABLES = (
    "binlog_format",
    "binlog_row_image",
    "binlog_row_metadata",
    "binlog_transaction_dependency_tracking",
    "foreign_key_checks",
    "lower_case_table_names",
    "version",
)


class Asked(Protocol):
    """A server that answers statements."""

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Return rows; raises ``ParaplyError``."""


@dataclass(slots=True)
class ServerSchema:
    """Queries to a server, and its dump."""

    text: str = ""
    asked: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)


def read_schema(server: Asked) -> ServerSchema:
    """Return definitions visible to the account."""
    found = ServerSchema()

    def ask(statement: str) -> list[tuple[object, ...]]:
        found.asked.append(statement)
        return [tuple(row) for row in server.query(statement)]

    names = ", ".join(f"'{name}'" for name in VARIABLES)
    rows = ask(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
    found.variables = {str(name): str(value) for name, value in rows}
    excluded = ", ".join(f"'{name}'" for name in SYSTEM_SCHEMAS)
    tables = ask(
        "SELECT table_schema, table_name, table_type FROM information_schema.tables "
        f"WHERE table_type <> 'VIEW' AND table_schema NOT IN ({excluded}) "
        "ORDER BY table_schema, table_name"
    )
    statements = []
    current = ""
    for schema, table, kind in tables:
        if schema != current:
            current = str(schema)
            statements.append(str(ask(f"SHOW CREATE DATABASE {quoted(current)}")[0][1]))
            statements.append(f"USE {quoted(current)}")
        what = "SEQUENCE" if kind == "SEQUENCE" else "TABLE"
        name = f"{quoted(current)}.{quoted(str(table))}"
        statements.append(str(ask(f"SHOW CREATE {what} {name}")[0][1]))
    found.text = "".join(f"{statement};\n" for statement in statements)
    return found


@contextmanager
def schema_file(dsn: str, *, option: str = "--dsn") -> Iterator[tuple[str, ServerSchema]]:
    """Yield a file with a server's definitions, and queries.

    Raises ``ParaplyError`` P61x for DSN or connection, P628 without any table.
    """
    parsed = parse_dsn(dsn, option=option)
    schema = read_schema(ExistingServer(parsed, name="server", is_read_only=True))
    if not schema.text:
        raise ParaplyError(NO_TABLES, where=str(parsed))
    with TemporaryDirectory(prefix="paraply-dsn-") as folder:
        path = Path(folder) / "server.sql"
        path.write_text(schema.text, encoding="utf-8")
        yield str(path), schema
