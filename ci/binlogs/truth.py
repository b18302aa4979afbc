"""Reference data of a recorded log."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from paraply.adapters.servers import Installation, Server
from paraply.adapters.servers.definitions import SYSTEM_SCHEMAS

_BYTES_TYPES = frozenset(
    ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector", "geometry",
     "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
     "geometrycollection", "geomcollection")
)  # fmt: skip


def schemas(server: Server) -> list[str]:
    """Return the user's schemas."""
    return sorted(
        str(row[0]) for row in server.query("SHOW DATABASES") if row[0] not in SYSTEM_SCHEMAS
    )


def schema_dump(server: Server) -> str:
    """Return the dump of user schemas."""
    names = schemas(server)
    if not names:
        return ""
    text = server.tool_output(
        server.installation.dump_command,
        f"--socket={server.socket}",
        "--user=root",
        "--no-data",
        "--skip-triggers",
        "--skip-dump-date",
        *(() if server.is_mariadb else ("--set-gtid-purged=OFF", "--no-tablespaces")),
        "--databases",
        *names,
    )
    return text.decode("utf-8")


def final_rows(server: Server) -> dict[str, Any]:
    """Return every user row, ordered by canonical text."""
    listed = server.query(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type IN"
        f" ('BASE TABLE', 'SYSTEM VERSIONED') AND table_schema NOT IN {SYSTEM_SCHEMAS}"
        " ORDER BY 1, 2"
    )
    return {f"{schema}.{table}": _table_rows(server, schema, table) for schema, table in listed}


def _table_rows(server: Server, schema: str, table: str) -> dict[str, Any]:
    columns = server.query(
        "SELECT column_name, data_type, column_type, character_set_name FROM"
        " information_schema.columns WHERE"
        f" table_schema = '{schema}' AND table_name = '{table}' ORDER BY ordinal_position"
    )
    shown = ", ".join(canonical_expression(str(name), str(kind)) for name, kind, _, _ in columns)
    rows = server.run(
        ["SET SESSION time_zone = '+00:00'", f"SELECT {shown} FROM `{schema}`.`{table}`"], conv={}
    )
    cells = [
        [_canonical(value, str(kind)) for value, (_, kind, _, _) in zip(row, columns, strict=True)]
        for row in rows
    ]
    return {
        "columns": [str(name) for name, _, _, _ in columns],
        "types": [str(column_type) for _, _, column_type, _ in columns],
        "charsets": [charset and str(charset) for _, _, _, charset in columns],
        "rows": sorted(cells, key=lambda row: json.dumps(row, sort_keys=True)),
    }


def canonical_expression(name: str, kind: str) -> str:
    """Return the SQL expression for a column's canonical text.

    Byte strings, geometries and vectors are lower-case hexadecimal, bits unsigned, doubles
    exact, others the server's text in UTC.
    """
    if kind in _BYTES_TYPES:
        return f"LOWER(HEX(`{name}`))"
    if kind in ("bit", "float", "double"):
        return f"`{name}` + {'0' if kind == 'bit' else '0e0'}"
    return f"`{name}`"


def _canonical(value: object, kind: str) -> str | None:
    if value is None:
        return None
    text = value.decode("utf-8") if isinstance(value, bytes) else str(value)
    return repr(float(text)) if kind in ("float", "double") else text


def log_text(installation: Installation, path: Path) -> bytes:
    """Return the server program's text, in UTC."""
    done = subprocess.run(
        [
            *installation.binlog_command,
            "--no-defaults",
            "-v",
            "--base64-output=DECODE-ROWS",
            path.name,
        ],
        cwd=path.parent,
        capture_output=True,
        timeout=120,
        check=False,
        env=os.environ | {"TZ": "UTC"},
    )
    if done.returncode != 0:
        raise RuntimeError(f"{path}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def counts(text: bytes) -> dict[str, int]:
    """Return numbers of transactions and row changes."""
    gtids = rb"^#\d{6} .*?(?:\tGTID(?: |\t)|\tAnonymous_GTID\t)"
    rows = rb"^### (INSERT INTO|UPDATE|DELETE FROM) "
    found = re.findall(rows, text, re.MULTILINE)
    return {
        "transactions": len(re.findall(gtids, text, re.MULTILINE)),
        "inserts": found.count(b"INSERT INTO"),
        "updates": found.count(b"UPDATE"),
        "deletes": found.count(b"DELETE FROM"),
    }


def positions(server: Server) -> dict[str, str]:
    """Return the server's GTID state."""
    names = (
        ("gtid_binlog_state", "gtid_binlog_pos", "gtid_slave_pos")
        if server.is_mariadb
        else ("gtid_executed", "gtid_purged")
    )
    row = server.query("SELECT " + ", ".join(f"@@global.{name}" for name in names))[0]
    return {name: str(value).replace("\n", "") for name, value in zip(names, row, strict=True)}


def write_gzip(path: Path, data: bytes) -> None:
    """Write compressed bytes without name or time."""
    path.write_bytes(gzip.compress(data, 9, mtime=0))
