r"""Schema files: mysqldump, mariadb-dump, and printed SHOW CREATE TABLE (also \G).

Only CREATE TABLE, CREATE DATABASE, CREATE INDEX, ALTER TABLE and USE count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from paraply.adapters.binlog.schema.ddl import (
    AlterTable,
    CreateTable,
    SchemaStatement,
    SetDatabase,
    Unreadable,
)
from paraply.adapters.binlog.schema.ddl_parser import parse_statement
from paraply.adapters.binlog.schema.registry import SchemaRegistry, follows_use
from paraply.adapters.binlog.schema.sql_statements import split_statements
from paraply.adapters.binlog.schema.tables import DatedTable
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.schema import SchemaSource

SCHEMA_UNREADABLE = register(
    "P201",
    "cannot be read: {reason}",
    "check that the path exists and that this user may read it",
)
SCHEMA_TOO_LARGE = register(
    "P202",
    "holds {size} bytes; a schema has at most {size_max}",
    "dump the schema alone: mysqldump --no-data --databases DB... (or mariadb-dump)",
)
SCHEMA_STATEMENT_NOT_UNDERSTOOD = register(
    "P203",
    "the definition of {table} is not understood: {reason}",
    "leave this table out of the file (it is then reported as unknown), or write its definition "
    "with plain columns and keys",
)
SCHEMA_WITHOUT_TABLES = register(
    "P204",
    "holds no CREATE TABLE statement",
    "give the output of mysqldump --no-data --databases DB..., or of SHOW CREATE TABLE",
)
SCHEMA_WITHOUT_DATABASE = register(
    "P205",
    "{table} is defined, but in which database?",
    "put 'USE db;' before it, or dump with --databases, which does so",
)
SCHEMA_CONTRADICTS_ITSELF = register(
    "P206",
    "{table}: {reason}",
    "the file does not fit itself; dump the schema again",
)

SIZE_BYTES_MAX = 64 << 20
"""A hundred thousand tables; larger files contain data."""
_DUMP_HEADER = re.compile(r"^-- Host: \S*\s+Database: (\S+)\s*$", re.MULTILINE)
_STARS = re.compile(r"^\*{5,} \d+\. row \*{5,}$", re.MULTILINE)
_BATCH_LINE = re.compile(r"^(?:Table\tCreate Table$|[^\t\n]+\t(?=CREATE TABLE ))", re.MULTILINE)


def load_schema_file(
    registry: SchemaRegistry, path: str | Path, distrusted: Iterable[DatedTable] = ()
) -> int:
    """Read a schema file; return the number of tables.

    It describes the log's beginning, except for ``distrusted`` tables. Raises ``ParaplyError``
    P201 to P206 with file and line.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as stream:  # A device has no size, and may have no end.
            data = stream.read(SIZE_BYTES_MAX + 1)
        if len(data) > SIZE_BYTES_MAX:
            size = max(len(data), Path(path).stat().st_size)
            raise ParaplyError(SCHEMA_TOO_LARGE, where=name, size=size, size_max=SIZE_BYTES_MAX)
    except OSError as fault:
        reason = (fault.strerror or type(fault).__name__).lower()
        raise ParaplyError(SCHEMA_UNREADABLE, where=name, reason=reason) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        reason = f"byte {fault.start} is not UTF-8 text"
        raise ParaplyError(SCHEMA_UNREADABLE, where=name, reason=reason) from None
    count = load_schema_text(registry, text, name)
    for table in distrusted:
        registry.date(table, f"{name} does not show how {table.name} was in this part of the log")
    return count


def load_schema_text(registry: SchemaRegistry, text: str, name: str) -> int:
    """Read schema text; ``name`` is for messages.

    Raises if it reads no table.
    """
    header = _DUMP_HEADER.search(text[:4096])
    default_schema = header[1] if header else ""
    refusals: dict[str, ParaplyError] = {}
    defined: dict[str, None] = {}
    for line, sql in split_statements(_as_script(text)):
        statement = parse_statement(sql)
        where = f"{name}:{line}"
        if isinstance(statement, Unreadable) and statement.tables:
            table = statement.tables[0].within(default_schema)
            refusals[table] = ParaplyError(
                SCHEMA_STATEMENT_NOT_UNDERSTOOD,
                where=where,
                table=table.lstrip("."),
                reason=statement.reason,
            )
        if isinstance(statement, CreateTable | AlterTable | SetDatabase | Unreadable):
            _require_database(statement, default_schema, where)
            registry.observe_statement(sql, default_schema, where=where, source=SchemaSource.DUMP)
        if isinstance(statement, CreateTable | AlterTable):
            table = statement.table.within(default_schema)
            defined[table] = None
            known = registry.table(table)
            if known is not None and known.unknown_because and not known.keys_known:
                refusals[table] = ParaplyError(
                    SCHEMA_CONTRADICTS_ITSELF,
                    where=where,
                    table=table,
                    reason=known.unknown_because,
                )
        default_schema = follows_use(statement, default_schema)
    understood = len(defined.keys() - refusals.keys())
    if not understood:
        raise next(iter(refusals.values()), ParaplyError(SCHEMA_WITHOUT_TABLES, where=name))
    for table, refusal in refusals.items():
        registry.assume(f"{refusal.text}; its keys are unknown".replace("\n", " "))
        registry.distrust(table, refusal.text)
    registry.assume(
        f"{name} describes the tables as they were where the log begins, and every table that "
        "refers to one of them"
    )
    return understood


def _require_database(statement: SchemaStatement, default_schema: str, where: str) -> None:
    if isinstance(statement, CreateTable | AlterTable):
        table = statement.table
        if not (table.schema or default_schema):
            raise ParaplyError(SCHEMA_WITHOUT_DATABASE, where=where, table=table.table)


def _as_script(text: str) -> str:
    if _STARS.search(text):
        lines = list(_vertical_lines(text))
        return "\n".join(lines)
    if _BATCH_LINE.search(text):
        return "\n".join(_batch_lines(text))
    return text


def _vertical_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if _STARS.match(line):
            yield ";"
        elif line.lstrip().startswith("Create Table: "):
            yield line.lstrip().removeprefix("Create Table: ")
        elif line.lstrip().startswith("Table: "):
            yield ""
        else:
            yield line


def _batch_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line == "Table\tCreate Table":
            yield ""
        elif "\tCREATE TABLE " in line:
            statement = line.split("\t", 1)[1]
            # Batch mode writes newline, tab and backslash with a backslash before them.
            for written, meant in (("\\n", " "), ("\\t", " "), ("\\\\", "\\")):
                statement = statement.replace(written, meant)
            yield statement + ";"
        else:
            yield line
