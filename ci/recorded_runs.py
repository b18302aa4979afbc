"""Record runs of real servers into a folder, one compressed history for each kind of run."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import write_history

Kind = TypeVar("Kind")


def record_runs(
    parser: argparse.ArgumentParser,
    kinds: Sequence[Kind],
    record: Callable[[Kind, int, int], tuple[str, History]],
    *,
    transactions: int,
) -> int:
    """Record one run of each kind; return the exit code, 3 on failure.

    ``record`` takes kind, seed and number of transactions, and returns the file's name, up to the
    seed, with the history. ``transactions`` is the default.
    """
    parser.add_argument("folder", type=Path)
    parser.add_argument("--transactions", type=int, default=transactions)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; others count up")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        for seed, kind in enumerate(kinds, start=options.seed):
            begin, history = record(kind, seed, options.transactions)
            lines = "".join(f"{line}\n" for line in write_history(history))
            name = f"{begin}-{seed}.jsonl.gz"
            (options.folder / name).write_bytes(gzip.compress(lines.encode(), mtime=0))
            print(f"{name}: {history.header.subject}, {len(history.transactions)} transactions")
    except ParaplyError as error:
        print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
        return 3
    return 0
