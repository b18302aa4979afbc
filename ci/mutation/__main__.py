"""Judge generated mutants into a file that a later run continues.

``python -m ci.mutation --sample 500 --seed 1`` runs mutants of the reference in a random order.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from ci.pages.mutation_score import RECORDS
from paraply.exploring.generated.fates import Fate, Judged, Store, as_record, shuffled
from paraply.exploring.generated.reference import RUNS_EACH, ReferenceCampaign
from paraply.number_arguments import positive
from paraply.progress import progress

STORE = Path("build/mutation-score")


def main(arguments: list[str] | None = None) -> int:
    """Run a sample and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m ci.mutation", description=__doc__)
    parser.add_argument("--sample", type=positive, default=500, metavar="N", help="mutants (500)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of order and runs (0)")
    parser.add_argument(
        "--each", type=positive, default=RUNS_EACH, metavar="N", help="healthy runs"
    )
    parser.add_argument("--processes", type=positive, default=1, metavar="N")
    parser.add_argument("--store", type=Path, default=STORE, metavar="DIR")
    parser.add_argument("--again", choices=[fate.value for fate in Fate], action="append")
    parser.add_argument("--publish", action="store_true", help="copy the store to docs/, and end")
    given = parser.parse_args(arguments)
    if given.publish:
        publish(given.store)
        return 0
    store = Store(given.store / "reference.jsonl")
    campaign = ReferenceCampaign(each=given.each, seed=given.seed)
    mutants = campaign.mutants()
    chosen = shuffled(mutants, given.seed)[: given.sample]
    known = store.read()
    store.note(total=len(mutants), sample=len(chosen), seed=given.seed, each=given.each)
    left = [
        one
        for one in chosen
        if one.name not in known or known[one.name].fate.value in (given.again or ())
    ]
    with progress("mutants of the reference", total=len(left)) as advance:
        for done, one in enumerate(campaign.judged(left, processes=given.processes)):
            store.add(one)
            advance(done)
    known = store.read()
    fates = [known[one.name] for one in chosen if one.name in known]
    sys.stdout.write(summary(fates, total=len(mutants), seed=given.seed) + "\n")
    return 0


def publish(folder: Path) -> None:
    """Write the records of the page."""
    store = Store(folder / "reference.jsonl")
    lines = [store.noted(), *map(as_record, sorted(store.read().values(), key=_name))]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    RECORDS.write_text(text, encoding="utf-8")


def _name(one: Judged) -> str:
    return one.name


def summary(fates: list[Judged], *, total: int, seed: int) -> str:
    """Return the counts in one line."""
    counts = Counter(one.fate.value for one in fates)
    shown = ", ".join(f"{counts[fate.value]} {fate.value}" for fate in Fate)
    return f"{len(fates):,} of {total:,} mutants, seed {seed}: {shown}"


if __name__ == "__main__":
    sys.exit(main())
