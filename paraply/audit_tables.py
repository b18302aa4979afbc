"""``paraply audit --spark`` of tables of transactions in Parquet: counts, verdict, words."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from mining.engines import Engine, InProcess
from mining.history_tables import check_files
from properties.tables.timestamps import TableCounts
from vocabulary.counting import counted

STRETCHES = 64
"""Tasks that row groups are put together to: enough to even out on a few dozen cores."""


def audit_tables(files: Sequence[str], engine: Engine) -> TableCounts:
    """Check tables as one, in the order given; raises ``ParaplyError`` P730.

    In this process a thread for each core does it: reading and kernels let others run.
    """
    if not isinstance(engine, InProcess):
        return check_files(files, engine.map, stretches=STRETCHES)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return check_files(files, threads.map, stretches=STRETCHES)


def as_text(counts: TableCounts) -> str:
    """Return what was found in sentences."""
    faults = [
        (counts.unordered, "write follows", "writes follow",
         "another of its item that it may overlap: the other's sn is above its transaction's lc"),
        (counts.malformed, "transaction has", "transactions have", "an lc not below its sn"),
        (counts.not_rising, "transaction has", "transactions have", "an sn that does not rise"),
    ]  # fmt: skip
    lines = [
        f"  {counted(number, one, many)} {what}" for number, one, many, what in faults if number
    ]
    verdict = counts.verdict.name.lower()
    return "\n".join(
        [
            f"conflicting_transactions_are_ordered: {verdict}",
            f"  {counted(counts.transactions, 'transaction')}, "
            f"{counted(counts.compared, 'write', 'writes')} compared with the one before",
            *(
                lines or ["  nothing conflicts, so nothing was shown"]
                if not counts.compared
                else lines
            ),
            "",
        ]
    )


def as_json(counts: TableCounts) -> str:
    """Return what was found as a JSON document."""
    return json.dumps({"verdict": counts.verdict.name.lower(), **asdict(counts)}, indent=2) + "\n"
