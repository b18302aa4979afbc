"""Random samples of mutants, judged into a file that a later run continues."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paraply.exploring.generated.fates import Fate, Judged, Mutant, Store, as_record, shuffled
from paraply.number_arguments import positive
from paraply.progress import progress

STORE = Path("build/mutation-score")


def sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a sample."""
    parser.add_argument("--sample", type=positive, default=500, metavar="N", help="mutants (500)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of order and runs (0)")
    parser.add_argument("--processes", type=positive, default=1, metavar="N")
    store_options(parser)


def store_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a store."""
    parser.add_argument("--store", type=Path, default=STORE, metavar="DIR")
    parser.add_argument("--again", choices=[fate.value for fate in Fate], action="append")
    parser.add_argument("--publish", action="store_true", help="copy the store to docs/, and end")


class Sample:
    """The mutants that the options choose, and the store of their fates."""

    def __init__(self, given: argparse.Namespace, of: str) -> None:
        self._given = given
        self._of = of
        self._store = Store(given.store / f"{of}.jsonl")

    def run(
        self,
        mutants: Sequence[Mutant],
        judge: Callable[..., Iterator[Judged]],
        *,
        order: Callable[[Sequence[Mutant], int], list[Mutant]] = shuffled,
        **numbers: int,
    ) -> None:
        """Judge what has no fate yet, and print the counts."""
        given, store = self._given, self._store
        chosen = order(mutants, given.seed)[: given.sample]
        known = store.read()
        store.note(total=len(mutants), sample=len(chosen), seed=given.seed, **numbers)
        left = [
            one
            for one in chosen
            if one.name not in known or known[one.name].fate.value in (given.again or ())
        ]
        with progress(f"mutants of the {self._of}", total=len(left)) as advance:
            for done, one in enumerate(judge(left, processes=given.processes)):
                store.add(one)
                advance(done)
        known = store.read()
        fates = [known[one.name] for one in chosen if one.name in known]
        sys.stdout.write(summary(fates, total=len(mutants), seed=given.seed) + "\n")

    def publish(self, records: Path) -> None:
        """Write the records of the page."""
        fates = sorted(self._store.read().values(), key=lambda one: one.name)
        publish(records, self._store.noted(), fates)


def publish(records: Path, note: Mapping[str, Any], fates: Iterable[Judged]) -> None:
    """Write the records of a page: numbers of the whole, then fates."""
    lines = [note, *map(as_record, fates)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    records.write_text(text, encoding="utf-8")


def summary(fates: list[Judged], *, total: int, seed: int) -> str:
    """Return the counts in one line."""
    counts = Counter(one.fate.value for one in fates)
    shown = ", ".join(f"{counts[fate.value]} {fate.value}" for fate in Fate)
    return f"{len(fates):,} of {total:,} mutants, seed {seed}: {shown}"
