"""Safety violations as a sorted Parquet table without duplicates, for large logs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paraply.adapters.remote_files import whole_file
from paraply.vocabulary.audit_result import SafetyViolation, TransactionRef

_REFERENCE = (
    ("ordinal", pa.int64()), ("gtid", pa.string()), ("file", pa.string()), ("offset", pa.int64()),
    ("last_committed", pa.int64()), ("sequence_number", pa.int64()), ("commit_id", pa.int64()),
)  # fmt: skip
_TEXTS = ("property", "applier", "table", "index", "key", "consequence")

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _TEXTS),
        ("certain", pa.bool_()),
        *((f"earlier_{name}", kind) for name, kind in _REFERENCE),
        *((f"later_{name}", kind) for name, kind in _REFERENCE),
    ],
    metadata={"written_by": "paraply"},
)


def sort_violations(violations: Iterable[SafetyViolation]) -> list[SafetyViolation]:
    """Return distinct violations by later and earlier transaction."""
    return sorted(
        set(violations),
        key=lambda v: (v.later.ordinal, v.applier, v.earlier.ordinal, v.table, v.index, v.key),
    )


def violation_row(v: SafetyViolation) -> dict[str, Any]:
    """Return a violation as a row of :data:`SCHEMA`."""
    return (
        {name: getattr(v, name) for name in (*_TEXTS, "certain")}
        | {f"earlier_{name}": getattr(v.earlier, name) for name, _ in _REFERENCE}
        | {f"later_{name}": getattr(v.later, name) for name, _ in _REFERENCE}
    )


def write_violations(path: str | Path, violations: Iterable[SafetyViolation]) -> int:
    """Write violations to a file or URL atomically; return their number."""
    rows = [violation_row(each) for each in sort_violations(violations)]
    with whole_file(str(path)) as part:
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), part)
    return len(rows)


def read_violations(path: Path) -> list[SafetyViolation]:
    """Return the violations of a file from :func:`write_violations`."""
    found = []
    for row in pq.read_table(path, schema=SCHEMA).to_pylist():
        earlier, later = (
            TransactionRef(**{name: row[f"{side}_{name}"] for name, _ in _REFERENCE})
            for side in ("earlier", "later")
        )
        found.append(
            SafetyViolation(
                **{name: row[name] for name in (*_TEXTS, "certain")}, earlier=earlier, later=later
            )
        )
    return found
