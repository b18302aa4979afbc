"""``paraply audit --spark`` of Parquet transaction tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from paraply.mining.engines import Engine, InProcess
from paraply.mining.history_tables import check_files
from paraply.mining.table_breaches import write_breaches
from paraply.properties.tables.timestamps import TableCounts
from paraply.reporting.json_document import json_document
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict

STRETCHES = 64
"""Enough tasks for a few dozen cores."""


def audit_tables(
    files: Sequence[str], engine: Engine, violations: str | None = None
) -> tuple[TableCounts, int]:
    """Check tables as one; raises ``ParaplyError`` P730 or P731.

    Returns counts, and breaches a second reading writes to ``violations``.
    """
    with _side_by_side(engine) as map_stretches:
        counts = check_files(files, map_stretches, stretches=STRETCHES)
        if violations is None:
            return counts, 0
        broken = files if counts.verdict is Verdict.VIOLATED else []
        folder, _, name = violations.rpartition("/")
        place = f"{engine.reached(folder)}/{name}"
        return counts, write_breaches(broken, place, map_stretches, stretches=STRETCHES)


@contextmanager
def _side_by_side(engine: Engine) -> Iterator[Callable[[Callable[..., Any], Any], Iterable[Any]]]:
    if not isinstance(engine, InProcess):
        yield engine.map
        return
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        yield threads.map


def as_text(counts: TableCounts) -> str:
    """Return the result in sentences."""
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
    """Return the result as JSON."""
    return json_document({"verdict": counts.verdict.word, **asdict(counts)})
