"""Judge generated mutants of the theorems' systems into a file that a later run continues.

``python -m ci.mutation.models --each 40 --seed 1`` runs 40 mutants of each system in a random
order. What notices a mutant is asked in this order: a stored run that is none any more, or one that
must be refused and is not; a proof that fails; a recorded run of the reference; other steps around
the stored runs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from random import Random
from typing import Any

from ci.mutation.sampling import publish, store_options
from ci.pages.mutation_score_models import RECORDS
from ci.pages.proofs import dropping, surroundings, witnesses
from ci.pages.proofs.reference_runs import RUNS
from paraply.exploring.generated.fates import Fate, Judged, Store
from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.differing import difference, is_same
from paraply.models.judging.dropping import Piece, pieces
from paraply.models.judging.mutants import Mutant, mutants
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.judging.traces import replay
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import choosing, is_enabled
from paraply.models.language.smtlib import script
from paraply.models.language.system import Statement, System, obligations
from paraply.models.language.terms import TRUE
from paraply.models.recorded.following import Recorded, follow
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import subject_named
from tests.conformance.pairs import PAIRS

Z3_STEPS_MAX = 1_000_000
"""Z3's own steps, above every proof of the theorems."""

RUN_STEPS_MAX = 6
"""Steps of a run to a state where a mutant's next step differs."""

SHARE_FOLLOWED = 25
"""The tests follow this many times the steps of recorded runs that are followed for a mutant."""

ANYWHERE = Statement("anywhere", (), TRUE)


class Evidence:
    """What notices mutants of one system."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._forbidding = [
            (piece, row["run"])
            for piece, row in zip(pieces(system), dropping.stored()[system.name], strict=True)
            if "run" in row
        ]

    @cached_property
    def _proved(self) -> set[str]:
        return {script(one) for one in obligations(self.system)}

    def fate(self, mutant: Mutant) -> tuple[Fate, str, str]:
        """Return the fate of a mutant, what noticed it, and where."""
        for by, found in (
            ("stored run", self._lost_run), ("refused run", self._allowed_run),
            ("proof", self._failed_proof), ("recorded run", self._refused_record),
            ("refused record", self._allowed_record), ("surroundings", self._other_steps),
        ):  # fmt: skip
            where = found(mutant)
            if where:
                return Fate.CAUGHT, by, where
        if is_same(self.system, mutant, steps_max=Z3_STEPS_MAX):
            return Fate.SAME, "proved", ""
        try:
            run = difference(self.system, mutant, witnesses.SCOPES,
                             steps_max=RUN_STEPS_MAX, timeout_s=20)  # fmt: skip
        except TimeoutError:
            return Fate.SURVIVED, "no difference was found in time", ""
        if run is None:
            return Fate.SAME, "in small scopes", ""
        return Fate.SURVIVED, "", ", ".join(step.action for step in run.steps)

    def _lost_run(self, mutant: Mutant) -> str:
        stored = witnesses.stored()[self.system.name]
        for situation in witnesses.wanted(mutant.system):
            if not is_run(mutant.system, situation, stored[situation.name]):
                return situation.name
        return ""

    def _allowed_run(self, mutant: Mutant) -> str:
        return next((str(p) for p, run in self._forbidding if allows(mutant.system, p, run)), "")

    def _failed_proof(self, mutant: Mutant) -> str:
        for obligation in obligations(mutant.system):
            if script(obligation) not in self._proved:
                answer = judge_z3(obligation, steps_max=Z3_STEPS_MAX).answer
                if answer is not Answer.PROVED:
                    return f"{obligation.statement}/{obligation.step} ({answer.value})"
        return ""

    def _refused_record(self, mutant: Mutant) -> str:
        reading = CompiledReading(mutant.system)
        for name, recorded in recorded_runs(self.system.name):
            if not follows(reading, recorded):
                return name
        return ""

    def _other_steps(self, mutant: Mutant) -> str:
        stored = surroundings.stored()[self.system.name]
        try:
            seen = surroundings.measure(mutant.system)
        except ValueError as error:
            return str(error)
        return next((name for name, one in stored.items() if seen.get(name) != one), "")

    def _allowed_record(self, mutant: Mutant) -> str:
        reading = CompiledReading(mutant.system)
        for name, recorded in refused_records(self.system.name):
            if follows(reading, recorded):
                return name
        return ""


def is_run(system: System, situation: Statement, data: dict[str, Any]) -> bool:
    """Return whether a stored run is one of this system, and reaches the situation."""
    try:
        replay(system, situation, data)
    except ValueError:
        return False
    return True


def allows(system: System, piece: Piece, data: dict[str, Any]) -> bool:
    """Return whether a system allows what only this piece of its original forbids."""
    if piece.kind != "guard":
        return is_run(system, ANYWHERE, data)
    action = system.action_named(piece.place)
    try:
        run = replay(system, ANYWHERE, data)
    except ValueError:
        return True
    world = run.steps[-1].world if run.steps else run.start
    bound = {parameter: data["witness"][parameter.name] for parameter in action.parameters}
    return is_enabled(action, choosing(world, world.tables), bound)


def follows(reading: CompiledReading, recorded: Recorded) -> bool:
    """Return whether a recorded run is one of this system."""
    try:
        return follow(reading, recorded).refused is None
    except ValueError:
        return False


@cache
def recorded_runs(system: str) -> list[tuple[str, Recorded]]:
    """Return recorded runs of the reference that this system allows, by name of their pair."""
    found = []
    for name, pair in PAIRS.items():
        if pair.system.name != system:
            continue
        steps, subject = 0, subject_named(pair.subject)
        for schedule in random_schedules(0, pair.steps):
            recorded = pair.reading(subject.run(schedule, pair.workload))
            found.append((name, recorded))
            steps += len(recorded.steps)
            if steps >= pair.steps // SHARE_FOLLOWED:
                break
    return found


@cache
def refused_records(system: str) -> list[tuple[str, Recorded]]:
    """Return recorded runs of faulty subjects that this system refuses, by counterexample."""
    built = {build().name: (theorem, build) for theorem in THEOREMS for build in theorem.systems}
    reading = CompiledReading(built[system][1]())
    delimiting = {
        name for theorem in THEOREMS for name in theorem.delimited_by
        if system in (build().name for build in theorem.systems)
    }  # fmt: skip
    runs = [(name, RUNS[name]) for name in sorted(delimiting) if name in RUNS]
    records = [(name, entry.reading(entry.run())) for name, entry in runs if entry.reading]
    return [(name, recorded) for name, recorded in records if not follows(reading, recorded)]


def chosen(each: int, seed: int) -> Iterator[tuple[System, Mutant]]:
    """Yield ``each`` mutants of every system in a random order, one of each system by turns."""
    drawn = []
    for system in systems():
        every = list(mutants(system))
        drawn.append((system, Random(seed).sample(every, len(every))[:each]))
    for rank in range(each):
        for system, of_it in drawn:
            if rank < len(of_it):
                yield system, of_it[rank]


def name_of(system: System, mutant: Mutant) -> str:
    """Return a name that is unique among all systems."""
    return f"{system.name}: {mutant.name}"


def judged(system: System, evidence: Evidence, mutant: Mutant) -> Judged:
    """Return the fate of a mutant as a record."""
    fate, by, where = evidence.fate(mutant)
    return Judged(
        name=name_of(system, mutant), module=system.name, place=mutant.place, line=0,
        what=f"{mutant.kind}: {mutant.what}", fate=fate, by=by, where=where,
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run a sample and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m ci.mutation.models", description=__doc__)
    parser.add_argument("--each", type=positive, default=40, metavar="N", help="per system (40)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the order (0)")
    store_options(parser)
    given = parser.parse_args(arguments)
    store = Store(given.store / "models.jsonl")
    if given.publish:
        publish_sample(store)
        return 0
    known = store.read()
    sample = list(chosen(given.each, given.seed))
    total = sum(sum(1 for _ in mutants(system)) for system in systems())
    store.note(total=total, each=given.each, seed=given.seed)
    left = [
        (system, one) for system, one in sample
        if (found := known.get(name_of(system, one))) is None
        or found.fate.value in (given.again or ())
    ]  # fmt: skip
    evidence = {system.name: Evidence(system) for system in systems()}
    with progress("mutants of the models", total=len(left)) as advance:
        for done, (system, one) in enumerate(left):
            store.add(judged(system, evidence[system.name], one))
            advance(done)
    known = store.read()
    fates = [known[name_of(system, one)] for system, one in sample]
    counts = Counter(one.fate.value for one in fates)
    shown = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    sys.stdout.write(f"{len(fates):,} of {total:,} mutants, seed {given.seed}: {shown}\n")
    return 0


def publish_sample(store: Store) -> None:
    """Write the records of the page: those of the last sample, without mutants of older models."""
    known, note = store.read(), store.noted()
    sample = chosen(note["each"], note["seed"])
    names = sorted(name_of(system, one) for system, one in sample)
    publish(RECORDS, note, (known[name] for name in names))


if __name__ == "__main__":
    sys.exit(main())
