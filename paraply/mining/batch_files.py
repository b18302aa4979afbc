"""Batches on disk: a Parquet file of rows, and a manifest that says it is whole.

A batch is done when its manifest is there, belongs to this campaign, and gives the size and the
SHA-256 of the rows file that is there. The rows are written first, the manifest last, so a batch
that a dying process was at is simply not done. Running a batch again writes the same rows: two
workers that do it at once cannot harm each other.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paraply.mining.batch_runs import SCHEMA, BatchRun, Counts, counts_from_json
from paraply.mining.plan import Batch, Plan
from paraply.mining.store import Store
from paraply.vocabulary.input_documents import parse_json

ROWS, MANIFESTS = "rows", "manifests"
COMPRESSION = "zstd"
COLUMNS_PACKED = [
    "subject", "mutant", "dialect", "options", "holds.list.element", "unknown.list.element",
    "violated.list.element", "situations.list.element", "signatures.list.element",
]  # fmt: skip
"""Columns with few values: the others, programs above all, a dictionary would only make larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A batch whose rows are in the store.

    Attributes:
        number: of the batch.
        counts: what it found.
        seconds: how long it took to run, on whatever machine ran it.
        is_kept: it was done already, by a campaign that is being resumed.
        remark: what was wrong with what lay there before, where that was redone; else empty.
    """

    number: int
    counts: Counts
    seconds: float
    is_kept: bool = False
    remark: str = ""


def rows_name(number: int) -> str:
    """Return the name of the file with the rows of a batch."""
    return f"{ROWS}/batch-{number:09}.parquet"


def manifest_name(number: int) -> str:
    """Return the name of the manifest of a batch."""
    return f"{MANIFESTS}/batch-{number:09}.json"


def write_batch(store: Store, plan: Plan, run: BatchRun) -> Done:
    """Write the rows, then the manifest; what is returned is safely stored."""
    data = parquet_bytes(run.table)
    number = run.batch.number
    manifest = {
        "number": number,
        "plan": plan.digest,
        "rows": run.table.num_rows,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "seconds": round(run.seconds, 6),
        "counts": run.counts.as_json(),
    }
    store.write(rows_name(number), data)
    store.write(manifest_name(number), json.dumps(manifest).encode())
    return Done(number=number, counts=run.counts, seconds=run.seconds)


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a table as a Parquet file; equal tables give equal bytes."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression=COMPRESSION, use_dictionary=COLUMNS_PACKED)
    return sink.getvalue()


def read_done(store: Store, plan: Plan, batch: Batch) -> tuple[Done | None, str]:
    """Return a batch that is done, or None and what is wrong with what is there.

    Nothing there at all is nothing wrong.
    """
    written = store.read(manifest_name(batch.number))
    rows = store.read(rows_name(batch.number))
    if written is None:
        return None, "" if rows is None else "its rows have no manifest"
    try:
        manifest = parse_json(written)
        counts = counts_from_json(manifest["counts"])
        fault = _fault(manifest, rows, plan, batch)
        seconds = float(manifest["seconds"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, "its manifest is damaged"
    if fault:
        return None, fault
    return Done(number=batch.number, counts=counts, seconds=seconds, is_kept=True), ""


def _fault(manifest: dict[str, Any], rows: bytes | None, plan: Plan, batch: Batch) -> str:
    if manifest["plan"] != plan.digest or manifest["number"] != batch.number:
        return "its manifest is of another campaign"
    if rows is None:
        return "its rows are missing"
    if len(rows) != manifest["bytes"]:
        return f"its rows file has {len(rows)} bytes of {manifest['bytes']}"
    if hashlib.sha256(rows).hexdigest() != manifest["sha256"]:
        return "its rows file is damaged"
    return ""


def read_manifests(store: Store, plan: Plan) -> Iterator[Done]:
    """Yield every batch with a readable manifest of this campaign, in order; rows are not read."""
    for name in store.names(MANIFESTS):
        try:
            manifest = parse_json(store.read(f"{MANIFESTS}/{name}") or b"")
            if manifest["plan"] == plan.digest:
                yield Done(
                    number=manifest["number"],
                    counts=counts_from_json(manifest["counts"]),
                    seconds=float(manifest["seconds"]),
                    is_kept=True,
                )
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


def read_rows(store: Store, number: int) -> pa.Table:
    """Return the rows of one batch, which must be done."""
    data = store.read(rows_name(number))
    assert data is not None
    return pq.read_table(io.BytesIO(data), schema=SCHEMA)
