"""Search for each named mutant on three workloads: ``python -m ci.mutation named``.

Its store is continued by a later run; ``--publish`` copies it to docs/, for docs/mutation-score.md.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ci.mutation.sampling import STORE
from paraply.counterexamples.hunt import properties_of
from paraply.exploring.generated.forking import Forks
from paraply.mining.drawing import SEEDS, Drawing, drawn_schedules
from paraply.mining.judges import is_expected
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.reference_impl.mutants import Mutant, registered_mutants
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named
from paraply.vocabulary.schedule import Schedule, SeededSchedule

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "named-mutants.jsonl"
WORKLOADS = ("default", "fixed", "tuned")
RUNS = 2_000
SECONDS_MAX = 300
"""CPU time of one mutant on one workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One search for a mutant.

    Attributes:
        workload: ``default`` has the runs of ``paraply explore``, with sizes and options drawn for
            each; ``fixed`` those with ``--defaults``; ``tuned`` the mutant's own sizes and options.
        caught_by: the first property that is broken without an expected cause; empty if none is.
        runs: up to the breach, or in all; 0 if time or memory did not suffice.
    """

    mutant: str
    subject: str
    workload: str
    caught_by: str
    runs: int
    runs_max: int
    seed: int


def searched(mutant: Mutant, workload: str, *, seed: int, runs_max: int) -> Search:
    """Run the mutant until any property of its subject is broken unexpectedly."""
    judges = [prop for prop in properties_of(mutant.subject) if prop.check is not None]
    caught, runs = "", 0
    for schedule, size in _runs(mutant, workload, seed=seed, runs_max=runs_max):
        runs += 1
        history = mutant.subject.run(schedule, size)
        caught = next(
            (
                prop.name
                for prop in judges
                if prop.violations(history) and not is_expected(mutant.subject, size, prop, history)
            ),
            "",
        )
        if caught:
            break
    return Search(
        mutant=mutant.name,
        subject=mutant.subject.name,
        workload=workload,
        caught_by=caught,
        runs=runs,
        runs_max=runs_max,
        seed=seed,
    )


def _runs(
    mutant: Mutant, workload: str, *, seed: int, runs_max: int
) -> Iterator[tuple[Schedule, Workload]]:
    if workload == "tuned":
        choices = random.Random(f"{mutant.name} {workload} {seed}")
        for _ in range(runs_max):
            yield SeededSchedule(choices.randrange(SEEDS)), mutant.workload
        return
    given = Workload(dialect=mutant.subject.dialect_of(mutant.workload))
    drawing = Drawing(subject=mutant.subject, given=given)
    for schedule in drawn_schedules(seed, runs_max):
        yield schedule, given if workload == "fixed" else drawing.workload(schedule.seed)


def stored(path: Path = RECORDS) -> list[Search]:
    """Return the searches of a store, the newest of each mutant and workload."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [Search(**json.loads(line)) for line in lines]
    return list({(one.mutant, one.workload): one for one in found}.values())


def main(arguments: list[str] | None = None) -> int:
    """Search what the store lacks, and print how many are caught on each workload."""
    parser = argparse.ArgumentParser(prog="python -m ci.mutation named", description=__doc__)
    parser.add_argument("--runs", type=positive, default=RUNS, metavar="N", help="of each search")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--processes", type=positive, default=1, metavar="N")
    parser.add_argument("--store", type=Path, default=STORE, metavar="DIR")
    parser.add_argument("--publish", action="store_true", help="copy the store to docs/, and end")
    given = parser.parse_args(arguments)
    store = given.store / "named.jsonl"
    if given.publish:
        found = sorted(stored(store), key=lambda one: (one.mutant, WORKLOADS.index(one.workload)))
        lines = [json.dumps(asdict(one)) for one in found]
        RECORDS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return 0
    known = {
        (one.mutant, one.workload)
        for one in stored(store)
        if (one.seed, one.runs_max) == (given.seed, given.runs)
    }
    left = [
        (mutant.name, workload)
        for mutant in registered_mutants()
        if not mutant.survives_because
        for workload in WORKLOADS
        if (mutant.name, workload) not in known
    ]

    def search(item: tuple[str, str]) -> Search:
        name, workload = item
        return searched(mutant_named(name), workload, seed=given.seed, runs_max=given.runs)

    def lost(item: tuple[str, str]) -> Search:
        name, workload = item
        return Search(
            mutant=name, subject=mutant_named(name).subject.name, workload=workload, caught_by="",
            runs=0, runs_max=given.runs, seed=given.seed,
        )  # fmt: skip

    forks = Forks(search, lost, processes=given.processes, seconds=SECONDS_MAX)
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a", encoding="utf-8") as file, progress("searches", len(left)) as advance:
        for done, one in enumerate(forks.over(left), start=1):
            file.write(json.dumps(asdict(one)) + "\n")
            file.flush()
            advance(done)
    for line in summary(stored(store)):
        sys.stdout.write(f"{line}\n")
    return 0


def summary(searches: list[Search]) -> Iterator[str]:
    """Yield how many mutants are caught on each workload."""
    for workload in WORKLOADS:
        of_it = [one for one in searches if one.workload == workload]
        caught = sum(bool(one.caught_by) for one in of_it)
        share = f" ({caught / len(of_it):.1%})" if of_it else ""
        yield f"{workload}: {caught} of {len(of_it)} caught{share}"
