"""Create and drop a schema of our own on existing servers.

Foreign objects in the schema stay, and the schema with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count, islice

from paraply.adapters.live.clients.workloads import CLIENT_TABLES
from paraply.adapters.live.target import SERVERS_UNFIT
from paraply.adapters.live.workload import TABLES, create_statements
from paraply.adapters.servers.reachable import Reachable
from paraply.vocabulary.errors import ParaplyError

_NAME = "paraply_live"
_NAMES_MAX = 100
_OURS = re.compile(rf"{_NAME}(_\d+)?")
_MADE_BY_THE_LOAD = re.compile(r"t\d+")
"""A disconnected client may leave one."""
_DROPPED_FIRST = ("child",)
"""Refers to another table."""


def make_schema(source: Reachable, replicas: Sequence[Reachable]) -> str:
    """Create a schema and its tables under a name unused on every server; return it.

    A replica with the schema would stop at the statement.
    """
    for number in islice(count(1), _NAMES_MAX):
        name = _NAME if number == 1 else f"{_NAME}_{number}"
        if any(has_schema(one, name) for one in (source, *replicas)):
            continue
        first, *others = create_statements(name)
        source.query(first)
        try:
            source.run(others)
        except BaseException:
            drop_schema(source, name)
            raise
        return name
    raise ParaplyError(
        SERVERS_UNFIT,
        where=source.name,
        reason=f"{_NAMES_MAX} schemas {_NAME}... are there already",
    )


def leftovers(source: Reachable) -> list[str]:
    """Return schemas with our name and a table of ours: of killed runs, or of one that runs."""
    rows = source.query("SELECT schema_name FROM information_schema.schemata ORDER BY schema_name")
    made = {*TABLES, *CLIENT_TABLES}
    names = [str(name) for (name,) in rows if _OURS.fullmatch(str(name))]
    return [name for name in names if not made.isdisjoint(_tables(source, name))]


def has_schema(server: Reachable, name: str) -> bool:
    """Return whether the server has the schema."""
    return bool(
        server.query(f"SELECT 1 FROM information_schema.schemata WHERE schema_name = '{name}'")
    )


def drop_schema(source: Reachable, name: str) -> list[str]:
    """Drop our tables and the then empty schema; return remaining tables."""
    there = _tables(source, name)
    made = {*TABLES, *CLIENT_TABLES}
    own = [one for one in there if one in made or _MADE_BY_THE_LOAD.fullmatch(one)]
    own.sort(key=lambda one: one not in _DROPPED_FIRST)
    source.run([*(f"DROP TABLE IF EXISTS {name}.{one}" for one in own), "SELECT 1"])
    foreign = _tables(source, name)
    if not foreign:
        source.query(f"DROP DATABASE {name}")
    return foreign


def _tables(source: Reachable, name: str) -> list[str]:
    rows = source.query(
        "SELECT table_name FROM information_schema.tables"
        f" WHERE table_schema = '{name}' ORDER BY table_name"
    )
    return [str(table) for (table,) in rows]
