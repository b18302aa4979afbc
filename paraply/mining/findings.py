"""Findings as mergeable rows.

Spark merges them by ``groupBy(system, kind, name, signature)``, so the driver's data stays bounded.
:meth:`Counts.take` is the Python equivalent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from paraply.mining.batch_runs import Counts, Specimen, counts_from_json
from paraply.mining.rounds import BatchTask, Round
from paraply.mining.row_files import NewFile, RowWriter
from paraply.mining.shipping import in_worker
from paraply.mining.sketches import as_bytes, from_bytes
from paraply.mining.store import store_at

SCHEMA = pa.schema(
    [
        pa.field("system", pa.int32()),
        pa.field("kind", pa.string()),
        pa.field("name", pa.string()),
        pa.field("signature", pa.string()),
        pa.field("count", pa.int64()),
        pa.field("first", pa.int64()),
        pa.field("transactions", pa.int32()),
        pa.field("events", pa.int32()),
        pa.field("choices", pa.int32()),
        pa.field("run", pa.int64()),
        pa.field("program", pa.binary()),
        pa.field("sketch", pa.binary()),
    ]
)
"""One row per system, kind, name and signature.

Kinds: ``total`` (batches, rows, microseconds, histories, events, confirmed), ``reached`` and
``violated`` (property; ``first`` run), ``expected``, ``unexplained``, ``relevant`` and ``decided``
(property), ``action``, ``moment``, ``feature`` (number), ``novel`` (``program``),
``courses`` (``sketch``),
``breach`` (property; ``transactions`` to ``program``: smallest witness), ``file`` (name;
``signature``: statistics; ``count``: bytes; ``first``: rows).
"""

COUNTED = ("histories", "events", "confirmed")
BY_JUDGE = ("expected", "unexplained", "relevant", "decided")
NO_SYSTEM = -1
"""Files have rows of several systems."""

KEYS = ("system", "kind", "name", "signature")
DDL = (
    "system int, kind string, name string, signature string, count long, first long, "
    "transactions int, events int, choices int, run long, program binary, sketch binary"
)
TASKS_MAX = 4096


@dataclass(slots=True)
class Found:
    """Findings of one system."""

    batches: int = 0
    rows: int = 0
    seconds: float = 0.0
    counts: Counts = field(default_factory=Counts)

    def take(self, other: Found) -> None:
        """Add later batches of the system."""
        self.batches += other.batches
        self.rows += other.rows
        self.seconds += other.seconds
        self.counts.take(other.counts)
        self.counts.novel = [*self.counts.novel, *other.counts.novel]


def rows_of(system: int, found: Found) -> Iterator[dict[str, Any]]:
    """Yield one system's findings."""
    counts = found.counts

    def row(kind: str, name: str, count: int = 1, **more: Any) -> dict[str, Any]:
        key = {"system": system, "kind": kind, "name": name, "signature": ""}
        return {**key, "count": count, **more}

    yield row("total", "batches", found.batches)
    yield row("total", "rows", found.rows)
    yield row("total", "microseconds", round(found.seconds * 1e6))
    for name in COUNTED:
        yield row("total", name, getattr(counts, name))
    for name, count in counts.reached.items():
        yield row("reached", name, count, first=counts.first_reached.get(name))
    for name, count in counts.violated.items():
        yield row("violated", name, count, first=counts.first_violated[name])
    for kind in BY_JUDGE:
        for name, count in getattr(counts, kind).items():
            yield row(kind, name, count)
    for name, count in counts.actions.items():
        yield row("action", name, count)
    for name, count in counts.moments.items():
        yield row("moment", name, count)
    for feature in counts.features:
        yield row("feature", str(feature))
    if counts.courses:
        yield row("courses", "", sketch=as_bytes(counts.courses))
    for place, program in enumerate(counts.novel):
        yield row("novel", f"{place:06}", program=program)
    for signature, one in counts.clusters.items():
        size = dict(zip(("transactions", "events", "choices"), one.size, strict=True))
        yield {
            **row("breach", signature.partition(" | ")[0], one.count),
            "signature": signature,
            **size,
            "run": one.run,
            "program": one.program,
        }


class Merged:
    """Merged findings by system, and row files."""

    def __init__(self) -> None:
        self.systems: dict[int, Found] = {}
        self.files: list[NewFile] = []

    def add(self, table: pa.Table) -> None:
        """Add a table with unique keys."""
        for row in sorted(table.to_pylist(), key=lambda row: [row[key] for key in KEYS]):
            if row["kind"] == "file":
                file = NewFile(row["name"], row["count"], row["first"], row["signature"])
                self.files.append(file)
            else:
                self._add(row, self.systems.setdefault(row["system"], Found()))

    def _add(self, row: dict[str, Any], found: Found) -> None:
        kind, name, count, counts = row["kind"], row["name"], row["count"], found.counts
        if kind == "total":
            if name == "microseconds":
                found.seconds = count / 1e6
            else:
                setattr(counts if name in COUNTED else found, name, count)
        elif kind in ("reached", "violated"):
            getattr(counts, kind)[name] = count
            if row["first"] is not None:
                getattr(counts, f"first_{kind}")[name] = row["first"]
        elif kind in BY_JUDGE:
            getattr(counts, kind)[name] = count
        elif kind == "action":
            counts.actions[name] = count
        elif kind == "moment":
            counts.moments[name] = count
        elif kind == "feature":
            counts.features.add(int(name))
        elif kind == "courses":
            counts.courses = from_bytes(row["sketch"])
        elif kind == "novel":
            counts.novel.append(row["program"])
        else:
            size = (row["transactions"], row["events"], row["choices"])
            counts.meet(row["signature"], Specimen(count, size, row["run"], row["program"]))


def findings_of_batches(task: BatchTask, batches: Iterable[tuple[int, bytes | None]]) -> pa.Table:
    """Run batches, write rows, return findings."""
    writer = RowWriter(store_at(task.place))
    systems: dict[int, Found] = {}
    for number, known in batches:
        frontier = Counts() if known is None else counts_from_json(json.loads(known))
        run = task.run(number, frontier)
        writer.add(run.table)
        found = Found(1, run.table.num_rows, run.seconds, run.counts)
        systems.setdefault(run.batch.system, Found()).take(found)
    rows = [row for system in sorted(systems) for row in rows_of(system, systems[system])]
    for file in writer.close():
        key = {"system": NO_SYSTEM, "kind": "file", "name": file.name, "signature": file.stats}
        rows.append({**key, "count": file.size, "first": file.rows})
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def findings_on_spark(session: Any, task: BatchTask, work: Round) -> Any:
    """Return a round's lazy findings.

    Broadcasts wanted systems and frontiers, unless all take part in every batch without one.
    """
    from pyspark.sql import functions as F

    def run(inputs: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        def batches() -> Iterator[tuple[int, bytes | None]]:
            for each in inputs:
                yield from zip(
                    each.column("id").to_pylist(), each.column("known").to_pylist(), strict=True
                )

        with in_worker():
            yield from findings_of_batches(task, batches()).to_batches()

    tasks = min(work.end - work.first, TASKS_MAX)
    numbers = session.range(work.first, work.end, 1, tasks)
    if work.is_whole:
        chosen = numbers.withColumn("known", F.lit(None).cast("binary"))
    else:
        wanted = session.createDataFrame(
            pa.table(
                {
                    "system": pa.array([each.system for each in work.wanted], pa.int64()),
                    "turn": pa.array([each.turn for each in work.wanted], pa.int64()),
                    "known": pa.array([each.known for each in work.wanted], pa.binary()),
                }
            )
        )
        chosen = (
            numbers.withColumn("system", F.col("id") % work.width)
            .join(F.broadcast(wanted), "system")
            .where(F.expr(f"id div {work.width} >= turn"))
            .select("id", "known")
        )
    return merged_on_spark(chosen.mapInArrow(run, DDL))


def merged_on_spark(findings: Any) -> Any:
    """Return one row per key."""
    from pyspark.sql import functions as F

    size = ("transactions", "events", "choices")
    witness = F.struct(*size, "run", "program")
    return (
        findings.groupBy(*KEYS)
        .agg(
            F.sum("count").alias("count"),
            F.min("first").alias("first"),
            F.min_by(witness, F.struct(*size, "run")).alias("witness"),
            F.bitmap_or_agg("sketch").alias("sketch"),
        )
        .select(
            *KEYS,
            "count",
            "first",
            "witness.*",
            # Groups without a sketch have an empty one.
            F.when(F.col("kind") == "courses", F.col("sketch")).alias("sketch"),
        )
    )
