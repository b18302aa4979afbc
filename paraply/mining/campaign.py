"""A campaign: batches are run wherever the engine likes, and only counts come back.

The rows are in the store before a batch counts as done, so whatever dies, ``resume`` goes on from
there: a batch that is done is read and checked, any other is run, and since every batch is a
function of the plan alone the table becomes the one that an undisturbed campaign writes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from paraply.mining.batch_files import (
    MANIFESTS,
    ROWS,
    Done,
    read_done,
    read_manifests,
    rows_name,
    write_batch,
)
from paraply.mining.batch_runs import BatchRun, Counts, run_batch
from paraply.mining.engines import Engine
from paraply.mining.plan import PLAN_FILE, PLAN_FORMAT, Batch, Plan, differences, plan_from_json
from paraply.mining.steering import steered
from paraply.mining.store import Store, store_at
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.input_documents import parse_json

STOP_WHEN = "stop_when"

FOLDER_IN_USE = register(
    "P722",
    "the folder holds a campaign already",
    "go on with it by --resume, or name another folder by --out",
)
OTHER_CAMPAIGN = register(
    "P723",
    "the folder holds another campaign: {reason}",
    "go on with it by --resume and --out alone, by the version of paraply that began it, or name "
    "another folder by --out",
)
NO_CAMPAIGN = register(
    "P724",
    "there is no campaign to read here: {reason}",
    "name a folder that paraply mine wrote",
)

PLAN_NOT_READ = register(
    "P728",
    "the plan of the campaign cannot be read: {reason}",
    "put campaign.json back from a copy, or mine again into another folder; the rows in rows/ can "
    "be read without it",
)


class StopWhen(Enum):
    """When a system has been run enough, before all its histories were."""

    NEVER = "never"
    """All histories are run."""
    FOUND = "found"
    """The breach that is sought was found; a subject without a known one runs to the end."""
    COVERAGE = "coverage"
    """Every situation that the system can reach was reached."""


@dataclass(slots=True)
class Progress:
    """How far a campaign is; given to a listener after each batch.

    ``per_system`` and ``seconds_per_system`` have one entry per system of the plan; the seconds
    are those of the workers, wherever they ran. ``remarks`` tell what was redone.
    """

    plan: Plan
    per_system: list[Counts] = field(default_factory=list)
    seconds_per_system: list[float] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    """How long this process has been at it, up to the last batch."""
    batches: int = 0
    batches_kept: int = 0
    histories_kept: int = 0
    stopped: set[int] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    is_complete: bool = False
    """Whether every batch was run that the plan and the stop rule ask for."""

    def __post_init__(self) -> None:
        self.per_system = [Counts() for _ in self.plan.systems]
        self.seconds_per_system = [0.0] * len(self.plan.systems)

    @property
    def histories(self) -> int:
        """Return how many histories there are by now, those kept included."""
        return sum(counts.histories for counts in self.per_system)

    @property
    def histories_planned(self) -> int:
        """Return how many there will be, with those that stopped systems do not run left out."""
        return sum(
            self.per_system[number].histories
            if number in self.stopped
            else self.plan.histories_of(number)
            for number in range(len(self.plan.systems))
        )

    @property
    def elapsed(self) -> float:
        """Return how long it is since this process began."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Return histories per second made by this process; those kept do not count."""
        return (self.histories - self.histories_kept) / max(self.seconds, 1e-9)

    @property
    def reached(self) -> tuple[int, int]:
        """Return how many situations were reached, and of how many that can be."""
        reached = sought = 0
        for system, counts in zip(self.plan.systems, self.per_system, strict=True):
            situations = system.situations
            sought += len(situations)
            reached += len(situations & (counts.reached.keys() | counts.violated.keys()))
        return reached, sought

    @property
    def found(self) -> tuple[int, int]:
        """Return how many breaches that are sought were found, and of how many."""
        found = sought = 0
        for system, counts in zip(self.plan.systems, self.per_system, strict=True):
            sought += len(system.goals)
            found += len(system.goals & counts.violated.keys())
        return found, sought


Listener = Callable[[Progress], None]


def run_campaign(
    plan: Plan,
    place: str,
    engine: Engine,
    *,
    resume: bool = False,
    stop_when: StopWhen = StopWhen.NEVER,
    time_limit_s: float | None = None,
    on_batch: Listener = lambda _: None,
) -> Progress:
    """Run the campaign, or what is left of it, and return what was counted.

    With a stop rule, or guided, a round (one batch of each system that is not stopped) ends before
    the next begins, so that the outcome does not depend on which batch is finished first.

    Raises:
        ParaplyError: P721 for a folder that cannot be used, P722 for one in use, P723 for one
            with another campaign.
    """
    store = store_at(place)
    remarks = open_folder(store, plan, stop_when, resume=resume)
    progress = Progress(plan, remarks=remarks)
    for numbers in _waves(plan, progress, stop_when):
        task = BatchTask(plan=plan, place=place, known=_known(plan, progress))
        for done in engine.map(task, numbers):
            _count(progress, done)
            on_batch(progress)
            if time_limit_s is not None and progress.elapsed >= time_limit_s:
                return progress
    progress.is_complete = True
    return progress


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """What a worker does with a batch number: see that the batch is done, and say what it found.

    ``known`` is what guides: per system, features and programs of earlier rounds.
    """

    plan: Plan
    place: str
    known: dict[int, Counts] = field(default_factory=dict)

    def __call__(self, number: int) -> Done:
        """Return the batch as it is in the store, after running it if it was not there."""
        store = store_at(self.place)
        batch = self.plan.batch(number)
        done, fault = read_done(store, self.plan, batch)
        if done is not None:
            return done
        written = write_batch(store, self.plan, self._run(batch))
        return Done(number=number, counts=written.counts, seconds=written.seconds, remark=fault)

    def _run(self, batch: Batch) -> BatchRun:
        if self.plan.is_fast:
            # Importing the kernels compiles them where nobody has yet; others need not wait.
            from paraply.mining.compiled.applier import settings_of
            from paraply.mining.fast_batches import run_fast_batch

            settings = settings_of(self.plan.systems[batch.system])
            if settings is not None:
                return run_fast_batch(self.plan, batch, settings)
        if self.plan.is_guided:
            return steered(self.plan, batch, self.known.get(batch.system, Counts()))
        return run_batch(self.plan, batch)


def open_folder(store: Store, plan: Plan, stop_when: StopWhen, *, resume: bool) -> list[str]:
    """Make the folder ready, and return what is to be said about what was found in it.

    The stop rule is stored beside the plan, and no part of it: rows do not depend on it.
    """
    stored = json.dumps({**plan.as_json(), STOP_WHEN: stop_when.value}, indent=1).encode()
    written = store.read(PLAN_FILE)
    if written is None:
        if store.names(MANIFESTS):
            raise ParaplyError(OTHER_CAMPAIGN, where=store.url, reason=f"{PLAN_FILE} is missing")
        store.write(PLAN_FILE, stored)
        return [f"{store.url} held no campaign to go on with; this one is new"] if resume else []
    if not resume:
        raise ParaplyError(FOLDER_IN_USE, where=store.url)
    before, _ = _parse_plan(store, written)
    if before.digest != plan.digest:
        reason = "; ".join(differences(before, plan))
        raise ParaplyError(OTHER_CAMPAIGN, where=store.url, reason=reason)
    if written != stored:
        store.write(PLAN_FILE, stored)
    left = store.sweep()
    return [f"{left} half-written files of a killed process were removed"] if left else []


def read_plan(place: str) -> tuple[Plan, StopWhen]:
    """Return the plan in a folder, and its stop rule; P724 if it has none, P728 if damaged."""
    store = store_at(place)
    written = store.read(PLAN_FILE)
    if written is None:
        raise ParaplyError(NO_CAMPAIGN, where=place, reason=f"it has no {PLAN_FILE}")
    return _parse_plan(store, written)


def read_campaign(place: str) -> Progress:
    """Return what a campaign's folder holds, without running anything; P724 or P728 if nothing.

    Rows are not read, but a batch whose rows file is gone is said, and the campaign not complete.
    """
    store = store_at(place)
    plan, stop_when = read_plan(place)
    progress = Progress(plan)
    there = set(store.names(ROWS))
    without_rows = []
    rounds: list[int] = [0] * len(plan.systems)
    for done in read_manifests(store, plan):
        _count(progress, done)
        batch = plan.batch(done.number)
        rounds[batch.system] += batch.round == rounds[batch.system]
        if rows_name(done.number).removeprefix(f"{ROWS}/") not in there:
            without_rows.append(done.number)
    if without_rows:
        progress.remarks.append(
            f"the rows of {counted(len(without_rows), 'batch', 'batches')} are gone (first: "
            f"{without_rows[0]}): paraply mine --resume --out {place} makes them again"
        )
    progress.stopped = {
        number for number in range(len(rounds)) if _is_enough(progress, number, stop_when)
    }
    progress.is_complete = not without_rows and all(
        made == plan.rounds or number in progress.stopped for number, made in enumerate(rounds)
    )
    return progress


def _parse_plan(store: Store, written: bytes) -> tuple[Plan, StopWhen]:
    try:
        value = parse_json(written)
        if value["format"] != PLAN_FORMAT:
            raise ParaplyError(
                PLAN_NOT_READ,
                where=store.url,
                reason=f"{PLAN_FILE} has format {value['format']}, and this reads {PLAN_FORMAT}",
            )
        return plan_from_json(value), StopWhen(value.get(STOP_WHEN, StopWhen.NEVER.value))
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = f"{PLAN_FILE} is damaged"
        raise ParaplyError(PLAN_NOT_READ, where=store.url, reason=reason) from None


def _waves(plan: Plan, progress: Progress, stop_when: StopWhen) -> Iterator[Iterator[int]]:
    """Yield the batches that may run side by side, and so without knowing of each other."""
    if stop_when is StopWhen.NEVER and not plan.is_guided:
        yield iter(range(plan.batches))
        return
    width = len(plan.systems)
    for turn in range(plan.rounds):
        wanted = [number for number in range(width) if number not in progress.stopped]
        if not wanted:
            return
        yield iter([turn * width + number for number in wanted])
        for number in wanted:
            if _is_enough(progress, number, stop_when):
                progress.stopped.add(number)


def _is_enough(progress: Progress, number: int, stop_when: StopWhen) -> bool:
    system, counts = progress.plan.systems[number], progress.per_system[number]
    if stop_when is StopWhen.FOUND:
        return bool(system.goals) and system.goals <= counts.violated.keys()
    if stop_when is StopWhen.COVERAGE:
        return system.situations <= counts.reached.keys() | counts.violated.keys()
    return False


def _known(plan: Plan, progress: Progress) -> dict[int, Counts]:
    """Return what workers must know to be guided: a copy, as it was before this round."""
    if not plan.is_guided:
        return {}
    return {
        number: Counts(features=set(counts.features), novel=list(counts.novel))
        for number, counts in enumerate(progress.per_system)
    }


def _count(progress: Progress, done: Done) -> None:
    batch = progress.plan.batch(done.number)
    counts = progress.per_system[batch.system]
    counts.take(done.counts)
    counts.novel = [*counts.novel, *done.counts.novel]
    progress.seconds_per_system[batch.system] += done.seconds
    progress.batches += 1
    progress.seconds = progress.elapsed
    if done.is_kept:
        progress.batches_kept += 1
        progress.histories_kept += done.counts.histories
    if done.remark:
        progress.remarks.append(f"batch {done.number} was redone: {done.remark}")
