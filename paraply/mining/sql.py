"""Queries a campaign's rows and findings by DuckDB."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from paraply.mining.campaign import read_campaign
from paraply.mining.commits import CommitLog
from paraply.mining.store import store_at
from paraply.vocabulary.errors import ParaplyError, register

QUERY_REFUSED = register(
    "P742",
    "the query cannot be run: {reason}",
    "docs/spark.md lists the views and their columns",
)

VIEWS = ("rows", "breaches", "coverage", "systems", "smallest")
"""``rows``: ``batch_runs.SCHEMA``. ``breaches``: history and property. ``coverage``: system and
reached situation. ``systems``: systems run. ``smallest``: witness per system, property and
signature."""

SYSTEMS = pa.schema(
    [
        ("system", pa.string()), ("subject", pa.string()), ("mutant", pa.string()),
        ("batches", pa.int64()), ("histories", pa.int64()), ("events", pa.int64()),
        ("seconds", pa.float64()), ("features", pa.int64()), ("different", pa.int64()),
    ]
)  # fmt: skip
SMALLEST = pa.schema(
    [
        ("system", pa.string()), ("property", pa.string()), ("signature", pa.string()),
        ("count", pa.int64()), ("transactions", pa.int64()), ("events", pa.int64()),
        ("choices", pa.int64()), ("run", pa.int64()), ("program", pa.binary()),
    ]
)  # fmt: skip


def query_campaign(place: str, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return columns and rows; P742 on failure."""
    try:
        import duckdb
    except ImportError:
        raise ParaplyError(QUERY_REFUSED, reason="duckdb is not installed") from None
    progress = read_campaign(place)
    plan = progress.plan
    log = CommitLog(store_at(place))
    state = log.state(plan)
    made = state.made if state is not None else [0] * len(plan.systems)
    systems, smallest = [], []
    for number, (system, counts) in enumerate(zip(plan.systems, progress.per_system, strict=True)):
        systems.append(
            (system.name, system.subject, system.mutant, made[number], counts.histories,
             counts.events, progress.seconds_per_system[number], len(counts.features),
             counts.different)
        )  # fmt: skip
        smallest += [
            (system.name, signature.partition(" | ")[0], signature, one.count, *one.size, one.run,
             one.program)
            for signature, one in sorted(counts.clusters.items())
        ]  # fmt: skip
    with duckdb.connect() as connection:
        connection.register("rows", log.dataset())
        connection.register("systems", _table(systems, SYSTEMS))
        connection.register("smallest", _table(smallest, SMALLEST))
        connection.execute(
            "CREATE VIEW breaches AS SELECT system, run, unnest(violated) AS property, "
            "unnest(signatures) AS signature, transactions, events, steps, program FROM rows"
        )
        connection.execute(
            "CREATE VIEW coverage AS SELECT system, situation, count(*) AS histories, "
            "min(run) AS first_run FROM (SELECT system, run, unnest(situations) AS situation "
            "FROM rows) GROUP BY system, situation"
        )
        try:
            answer = connection.execute(text)
            if answer is None or answer.description is None:
                raise ParaplyError(QUERY_REFUSED, reason="it returns no rows")
            return [column[0] for column in answer.description], answer.fetchall()
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0]
            raise ParaplyError(QUERY_REFUSED, reason=reason) from None


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)
