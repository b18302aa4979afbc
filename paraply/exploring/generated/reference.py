"""Generated mutants of the reference: which does a default campaign catch?

Only runs that reach the changed function are repeated, and only histories that differ are judged.
"""

from __future__ import annotations

import linecache
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from random import Random

import paraply.reference_impl
from paraply.counterexamples.hunt import properties_of
from paraply.exploring.generated.fates import Fate, Judged, Mutant, judged, mutants_of
from paraply.exploring.generated.forking import Forks, TimeOutError, limit_time
from paraply.exploring.generated.possible import Answer, Possible, is_possible
from paraply.exploring.generated.runs import (
    DefaultRun,
    default_runs,
    evidence_in,
    left_unknown,
)
from paraply.mutating.operators import Swaps
from paraply.mutating.patches import CodeKey, LoadedFunctions, PatchError
from paraply.properties.campaign import content_digest
from paraply.properties.registry import Evidence, Property
from paraply.reference_impl.subject import Subject
from paraply.vocabulary.history import History

FOLDER = Path(paraply.reference_impl.__file__).parent
RUNS_EACH = 24
"""Per subject and dialect."""
RUNS_MAX = 400
"""Repeated for one mutant."""
SECONDS = 12.0
"""Of CPU time for the runs, and again for the search of equal ones."""
RUN_SECONDS = 3.0
"""Of CPU time for one run; healthy ones take a tenth of a second."""
COMPARED_MAX = 3
"""Differing histories that are sought among those of the unchanged code, the shortest first."""
CUT_SHORT = "search for an equal run was cut short"
NO_SYSTEM = ("comparison/", "mutants.py", "subject.py", "subjects.py", "recorder.py", "causes.py")
"""Named mutants, the clocks of ``compare``, and what registers and records."""
RECORDING = frozenset({"record", "record_row", "next_step", "break_off"})
"""A change there falsifies the evidence, not the system."""
RECORDS = "record"
"""Prefix of functions that only record."""
SWAPS = Swaps(
    attributes={
        "last_committed": "sequence_number",
        "sequence_number": "last_committed",
        "snapshot_version": "last_committed",
        "read_set": "write_set",
        "domain": "sequence",
        "server": "domain",
    },
    unchanged=RECORDING,
)
ENVIRONMENT = frozenset(
    {
        "CertifierRun.__init__",
        "GapFreeServers.__post_init__",
        "ComposedRun.submit",
        "ComposedRun.deletes",
        "Network.domain_of",
        "GroupCommitSource.__init__",
        "GroupCommitSource.write",
        "GroupRun.submit",
        "free_rows",
        "is_free",
        "_Channel.reuse",
        "_Channel.send",
        "_Channel.submit",
        "SourceRun.__init__",
        "choose",
        "choose_gtid",
        "lose",
        "next_steps",
        "is_broadcasting",
        "is_following",
        "lock_beside",
        "operation_of",
        "_is_plain",
        "replica_crash_steps",
        "abandoning",
        "state_positions",
        "_id_of",
        "_one",
        "_pair_key",
        "_write",
        "_write_one",
        "_next_gtid",
        "choose_kind",
        "choose_rows",
        "group_of",
        "may_share",
        "row_sets",
        "begin",
        "statements_of",
        "run",
        "other_steps",
        "on_end",
        "possible_changes",
        "choose_writes",
        "loss_steps",
        "domain_of_schema",
        "draft",
        "flush",
        "choose_operation",
        "write_sets",
        "_between",
        "extra_locks",
    }
)
"""Functions that draw or group a workload, choose a topology, draw faults, give a certifier its
input, offer or end a run's steps, or record. Methods of a ``Subject`` set a run up."""
BUDGETS = ("_left", "budget", "to_write", "unsent", "schedule.choose(")
"""Parts of lines that limit what the environment does, or draw."""


def modules() -> list[str]:
    """Return the modules of simulated systems."""
    return [
        "paraply.reference_impl." + name.removesuffix(".py").replace("/", ".")
        for path in sorted(FOLDER.rglob("*.py"))
        if _is_system(name := path.relative_to(FOLDER).as_posix())
    ]


def _is_system(name: str) -> bool:
    return not name.startswith(NO_SYSTEM) and not name.endswith("__init__.py")


def _is_of_system(mutant: Mutant) -> bool:
    place = mutant.mutation.place
    owner, _, function = place.rpartition(".")
    is_environment = (
        bool({place, function} & (ENVIRONMENT | RECORDING))
        or function.startswith(RECORDS)
        or issubclass(getattr(mutant.module, owner, object), Subject)
    )
    line = linecache.getline(str(mutant.module.__file__), mutant.mutation.line)
    changed = f"{mutant.mutation.what} {line}"
    return not is_environment and not any(one in changed for one in BUDGETS)


class _Trial:
    """One mutant's runs."""

    def __init__(self, chosen: Sequence[DefaultRun], judges: dict[str, list[Property]]) -> None:
        self.chosen = chosen
        self.judges = judges
        self.fate = Fate.SAME
        self.by = ""
        self.where = ""
        self.runs = 0
        self.crash = ""
        """The first run that ends in an exception."""
        self.differing: list[tuple[DefaultRun, History, list[Answer]]] = []
        self.equal: list[DefaultRun] = []

    def run(self) -> None:
        """Make every run for which there is time, until a property is broken."""
        end = time.process_time() + SECONDS
        for run in self.chosen:
            self.runs += 1
            try:
                limit_time(RUN_SECONDS)
                self._make(run)
            except TimeOutError:
                self._on_crash("it does not end")
            except Exception as error:
                self._on_crash(type(error).__name__)
            if self.fate is Fate.CAUGHT or time.process_time() >= end:
                break
        limit_time(0)

    def _on_crash(self, what: str) -> None:
        """Note a run without a history, and so without a verdict: every other run outranks it."""
        self.crash = self.crash or what
        if self.fate is Fate.SAME:
            self.fate, self.by = Fate.CRASHED, self.crash

    def _make(self, run: DefaultRun) -> None:
        history, answers = run.again()
        if content_digest(history) == run.digest:
            self.equal.append(run)
            return
        broken = run.breach(history, self.judges[run.subject.name])
        if broken:
            self.fate, self.by, self.where = Fate.CAUGHT, broken, run.where
            return
        self.differing.append((run, history, answers))
        self.fate, self.by = Fate.SURVIVED, ""

    def compare_with_the_unchanged(self) -> None:
        """Refine a survivor, with the unchanged code loaded."""
        unknown = self._unknown()
        if unknown:
            self.fate, self.by, self.where = Fate.NOTICED, *unknown
            return
        self.by = CUT_SHORT
        for run, history, answers in sorted(self.differing, key=_length)[:COMPARED_MAX]:
            found = is_possible(run.subject, run.workload, history, answers)
            if found is not Possible.YES:
                self.by = "" if found is Possible.NO else CUT_SHORT
                return
        self.fate, self.by = (Fate.CRASHED, self.crash) if self.crash else (Fate.LEGAL, "")

    def _unknown(self) -> tuple[str, str] | None:
        """Return a property that is unknown now, and the dialect or subject without it.

        Runs without a history count on neither side.
        """
        before: dict[str, list[Mapping[str, Evidence]]] = defaultdict(list)
        after: dict[str, list[Mapping[str, Evidence]]] = defaultdict(list)
        found = {
            id(run): evidence_in(history, self.judges[run.subject.name])
            for run, history, _ in self.differing
        } | {id(run): run.evidence for run in self.equal}
        for run in self.chosen[: self.runs]:
            for where in (run.where, run.subject.name) if id(run) in found else ():
                before[where].append(run.evidence)
                after[where].append(found[id(run)])
        for where, runs in after.items():
            for name in left_unknown(before[where], runs):
                return name, where
        return None


def _length(differing: tuple[DefaultRun, History, list[Answer]]) -> int:
    return len(differing[1].events)


class ReferenceCampaign:
    """Healthy runs once, then mutants against them."""

    def __init__(self, *, each: int = RUNS_EACH, seed: int = 0, where: str = "") -> None:
        """Make the healthy runs; ``where`` is one subject and dialect, else all."""
        self.runs = list(default_runs(each=each, seed=seed, under=str(FOLDER), where=where))
        self._reaching: dict[CodeKey, list[DefaultRun]] = defaultdict(list)
        for run in self.runs:
            for key in run.reached:
                self._reaching[key].append(run)
        self._judges: dict[str, list[Property]] = {}
        for run in self.runs:
            if run.subject.name not in self._judges:
                self._judges[run.subject.name] = properties_of(run.subject)
        self._functions = LoadedFunctions("paraply")

    def mutants(self, names: Sequence[str] = ()) -> list[Mutant]:
        """Return the mutants of functions that some run reaches, in all modules or in some."""
        reached = {(file, name.replace(".<locals>", "")) for file, name, _ in self._reaching}
        return [
            one
            for one in mutants_of(names or modules(), SWAPS)
            if (str(one.module.__file__), one.mutation.place) in reached and _is_of_system(one)
        ]

    def judged(self, mutants: Sequence[Mutant], *, processes: int = 1) -> Iterator[Judged]:
        """Yield the fates."""
        forks = Forks(
            self.judge,
            lambda one: judged(one, Fate.CRASHED, "the process ends"),
            processes=processes,
        )
        yield from forks.over(mutants)

    def judge(self, mutant: Mutant) -> Judged:
        """Return a mutant's fate; changes this process, so call it in a fork."""
        try:
            key = self._functions.load(mutant.mutation, mutant.module)
        except PatchError as error:
            return judged(mutant, Fate.INVALID, str(error))
        trial = _Trial(self._chosen(key, mutant.name), self._judges)
        trial.run()
        if trial.fate is Fate.SURVIVED:
            self._functions.restore()
            try:
                limit_time(SECONDS)
                trial.compare_with_the_unchanged()
            except TimeOutError:
                trial.by = CUT_SHORT
            limit_time(0)
        return judged(mutant, trial.fate, trial.by, trial.runs, where=trial.where)

    def _chosen(self, key: CodeKey, name: str) -> list[DefaultRun]:
        """Return some reaching runs, each dialect in turn."""
        by_dialect: dict[tuple[str, str], list[DefaultRun]] = defaultdict(list)
        for run in self._reaching[key]:
            by_dialect[run.subject.name, run.workload.dialect].append(run)
        groups = list(by_dialect.values())
        Random(name).shuffle(groups)
        in_turn = chain.from_iterable(zip_longest(*groups))
        return [run for run in in_turn if run is not None][:RUNS_MAX]
