"""Runs a campaign in rounds of batches.

Workers write row files; the driver commits them with the state. ``resume`` continues from the last
commit. Batches depend on the plan alone, so interruptions never change the table.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

import pyarrow as pa

from paraply.mining.batch_runs import Counts
from paraply.mining.commits import CommitLog, State, drop_torn_commit, new_state
from paraply.mining.engines import Engine
from paraply.mining.findings import Merged
from paraply.mining.plan import PLAN_FILE, PLAN_FORMAT, Plan, differences, plan_from_json
from paraply.mining.rounds import BatchTask, Round, Wanted, frontier_of
from paraply.mining.row_files import (
    FILE_BYTES,
    ROWS,
    CheckTask,
    CountTask,
    MergeTask,
    NewFile,
    groups_of,
)
from paraply.mining.store import DOCUMENT_BYTES_MAX, STALE_S, Store, store_at
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.input_documents import parse_json

STOP_WHEN = "stop_when"

FOLDER_IN_USE = register(
    "P722",
    "the folder holds a campaign already",
    "continue it by --resume, or name another folder by --out",
)
OTHER_CAMPAIGN = register(
    "P723",
    "the folder holds another campaign: {reason}",
    "continue it by --resume and --out alone, by the version of paraply that began it, or name "
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


OLD_FOLDER = register(
    "P734",
    "the campaign was begun by an earlier version (format {format}; this one writes {ours})",
    "mine again into another folder; rows/*.parquet of this one can be read by any Parquet reader, "
    "and the version that began it resumes it",
)

COMMIT_S = 15.0
"""Seconds of a round, lost when the driver dies."""
COMMIT_BYTES = 8 * FILE_BYTES
ROUND_MIN, ROUND_MAX = 16, 1 << 16
"""Batches per round; short rounds grow."""
GROWTH = 4
BATCHES_EACH = 4
"""Batches per core and round."""


class StopWhen(Enum):
    """When a system stops early."""

    NEVER = "never"
    FOUND = "found"
    """After the sought breach, if one is known."""
    COVERAGE = "coverage"


@dataclass(slots=True)
class Progress:
    """Progress after each batch.

    ``per_system`` and ``seconds_per_system`` (worker time) follow the plan; ``remarks`` list
    repeated work.
    """

    plan: Plan
    per_system: list[Counts] = field(default_factory=list)
    seconds_per_system: list[float] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    """This process's time, up to the last batch."""
    batches: int = 0
    batches_kept: int = 0
    histories_kept: int = 0
    stopped: set[int] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    is_complete: bool = False

    def __post_init__(self) -> None:
        self.per_system = [Counts() for _ in self.plan.systems]
        self.seconds_per_system = [0.0] * len(self.plan.systems)

    @property
    def histories(self) -> int:
        """Return all histories, earlier processes' included."""
        return sum(counts.histories for counts in self.per_system)

    @property
    def histories_planned(self) -> int:
        """Return planned histories without stopped systems'."""
        return sum(
            self.per_system[number].histories
            if number in self.stopped
            else self.plan.histories_of(number)
            for number in range(len(self.plan.systems))
        )

    @property
    def elapsed(self) -> float:
        """Return the seconds since this process began."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Return this process's histories per second."""
        return (self.histories - self.histories_kept) / max(self.seconds, 1e-9)

    @property
    def reached(self) -> tuple[int, int]:
        """Return the reached and the reachable situations."""
        reached = sought = 0
        for system, counts in zip(self.plan.systems, self.per_system, strict=True):
            situations = system.situations
            sought += len(situations)
            reached += len(situations & (counts.reached.keys() | counts.violated.keys()))
        return reached, sought

    @property
    def found(self) -> tuple[int, int]:
        """Return the found and the sought breaches."""
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
    """Run the rest of a campaign.

    A stop rule or guidance limits rounds to one batch per system, for determinism.

    Raises:
        ParaplyError: P721 unusable folder, P722 in use, P723 another campaign's, P729 concurrent
            process, P733 unreachable for workers, P734 old version.
    """
    url = engine.reached(place)
    store = store_at(url)
    log, remarks = open_folder(store, plan, stop_when, resume=resume)
    progress = Progress(plan, remarks=remarks)
    state = _checked_state(plan, log, store, engine, progress)
    _begin(progress, state)
    uncommitted = _Uncommitted(plan, url, log, engine, state)

    def run() -> bool:
        for work in _rounds(progress, state, stop_when):
            for findings in engine.run_round(BatchTask(plan=plan, place=url), work):
                uncommitted.take(findings, progress)
                on_batch(progress)
                if time_limit_s is not None and progress.elapsed >= time_limit_s:
                    return False
        return True

    try:
        progress.is_complete = run()
    except BaseException:
        with suppress(Exception):  # What ended the campaign is what a reader must see.
            uncommitted.commit()
        raise
    uncommitted.commit()
    return progress


class _Uncommitted:
    def __init__(self, plan: Plan, url: str, log: CommitLog, engine: Engine, state: State) -> None:
        self._plan, self._url, self._log, self._engine = plan, url, log, engine
        self._state = state
        self._files: list[NewFile] = []
        self._is_new = False
        self._since = time.monotonic()

    def take(self, findings: pa.Table, progress: Progress) -> None:
        merged = Merged()
        merged.add(findings)
        for system, each in merged.systems.items():
            self._state.take(system, each)
            progress.batches += each.batches
        progress.seconds = progress.elapsed
        self._files += merged.files
        self._is_new = True
        is_late = time.monotonic() - self._since >= COMMIT_S
        if is_late or sum(file.size for file in self._files) >= COMMIT_BYTES:
            self.commit()

    def commit(self) -> None:
        """Merge small files; commit all with the state."""
        if not self._is_new:
            return
        self._is_new = False
        groups = groups_of(self._files)
        several = [group for group in groups if len(group) > 1]
        names = [[file.name for file in group] for group in several]
        files = [group[0] for group in groups if len(group) == 1]
        # A job of its own would cost more than to merge a few files where they are.
        is_here = self._engine.is_local and len(names) == 1
        files += (map if is_here else self._engine.map)(MergeTask(self._url), names)
        self._log.commit(self._plan, self._state, files)
        store = store_at(self._url)
        for group in several:
            for file in group:
                store.delete(f"{ROWS}/{file.name}")
        self._files = []
        self._since = time.monotonic()


def open_folder(
    store: Store, plan: Plan, stop_when: StopWhen, *, resume: bool
) -> tuple[CommitLog, list[str]]:
    """Prepare the folder; return commit log and remarks.

    The plan excludes the stop rule, because rows do not depend on it.
    """
    stored = json.dumps({**plan.as_json(), STOP_WHEN: stop_when.value}, indent=1).encode()
    written = store.read(PLAN_FILE, DOCUMENT_BYTES_MAX)
    if written is not None:
        before, _ = _parse_plan(store, written)
        if not resume:
            raise ParaplyError(FOLDER_IN_USE, where=store.url)
        if before.digest != plan.digest:
            reason = "; ".join(differences(before, plan))
            raise ParaplyError(OTHER_CAMPAIGN, where=store.url, reason=reason)
    remarks = []
    if drop_torn_commit(store):
        remarks.append("the last commit was cut short and is removed; its batches run again")
    log = CommitLog(store)
    if written is None and not log.exists and resume:
        remarks.append(f"{store.url} held no campaign to go on with; this one is new")
    # Of two concurrent processes, one creates the table.
    is_ours = not log.exists and log.create(plan)
    if not is_ours and written is None and (not resume or log.plan_digest() != plan.digest):
        raise ParaplyError(OTHER_CAMPAIGN, where=store.url, reason=f"{PLAN_FILE} is missing")
    if written != stored:
        store.write(PLAN_FILE, stored)
    left = store.sweep()
    named = log.files()
    for name, age in store.ages(ROWS).items():
        if name not in named and age > STALE_S:
            store.delete(f"{ROWS}/{name}")
            left += 1
    if left:
        remarks.append(f"{left} files that a killed process left were removed")
    return log, remarks


def _checked_state(
    plan: Plan, log: CommitLog, store: Store, engine: Engine, progress: Progress
) -> State:
    """Return the verified state; damaged systems restart."""
    state = log.state(plan)
    if state is None and not log.has_state():
        return new_state(plan)
    faults = {name: said for name, said in engine.map(CheckTask(store.url), log.files()) if said}
    lost = set(range(len(plan.systems))) if state is None else set()
    state = state or new_state(plan)
    for name, said in faults.items():
        progress.remarks.append(f"{ROWS}/{name}: {said}")
        store.delete(f"{ROWS}/{name}")
    if faults and not lost:
        whole = sorted(log.files().keys() - faults.keys())
        there = sum(engine.map(CountTask(store.url), whole), Counter[str]())
        lost = {
            number
            for number, system in enumerate(plan.systems)
            if there[system.name] != state.rows[number]
        }
    if lost:
        names = [plan.systems[number].name for number in sorted(lost)]
        log.forget(names)
        for number in lost:
            state.forget(number)
        log.commit(plan, state, [])
        said = f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}"
        progress.remarks.append(f"rows or state were damaged; these systems begin anew: {said}")
    return state


def read_plan(place: str) -> tuple[Plan, StopWhen]:
    """Return stored plan and stop rule; P724 or P728."""
    store = store_at(place)
    written = store.read(PLAN_FILE, DOCUMENT_BYTES_MAX)
    if written is None:
        raise ParaplyError(NO_CAMPAIGN, where=place, reason=f"it has no {PLAN_FILE}")
    return _parse_plan(store, written)


def read_campaign(place: str) -> Progress:
    """Return stored progress without reading rows; P724 or P728.

    A missing row file adds a remark and makes the campaign incomplete.
    """
    store = store_at(place)
    plan, stop_when = read_plan(place)
    progress = Progress(plan)
    log = CommitLog(store)
    state = log.state(plan) or new_state(plan)
    _begin(progress, state)
    gone = sorted(log.files().keys() - set(store.names(ROWS)))
    if gone or (log.has_state() and not any(state.made)):
        what = counted(len(gone), "file") + " of rows" if gone else "the state"
        progress.remarks.append(
            f"{what} of the campaign cannot be found: paraply mine --resume --out {place} makes it "
            "again"
        )
    progress.stopped = _enough(progress, stop_when)
    progress.is_complete = not progress.remarks and all(
        made == plan.rounds or number in progress.stopped for number, made in enumerate(state.made)
    )
    return progress


def _parse_plan(store: Store, written: bytes) -> tuple[Plan, StopWhen]:
    try:
        value = parse_json(written)
        if value["format"] != PLAN_FORMAT:
            raise ParaplyError(
                OLD_FOLDER, where=store.url, format=value["format"], ours=PLAN_FORMAT
            )
        return plan_from_json(value), StopWhen(value.get(STOP_WHEN, StopWhen.NEVER.value))
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = f"{PLAN_FILE} is damaged"
        raise ParaplyError(PLAN_NOT_READ, where=store.url, reason=reason) from None


def _begin(progress: Progress, state: State) -> None:
    """Continue from a state; both share counts."""
    progress.per_system, progress.seconds_per_system = state.counts, state.seconds
    progress.batches = progress.batches_kept = sum(state.made)
    progress.histories_kept = progress.histories


def _rounds(progress: Progress, state: State, stop_when: StopWhen) -> Iterator[Round]:
    """Yield independent batches."""
    plan = progress.plan
    width = len(plan.systems)
    if stop_when is StopWhen.NEVER and not plan.is_guided:
        first, size = width * min(state.made), ROUND_MIN
        while first < plan.batches:
            wanted = tuple(
                Wanted(system=number, turn=made) for number, made in enumerate(state.made)
            )
            end = min(first + size, plan.batches)
            started, worked, made = time.monotonic(), sum(state.seconds), sum(state.made)
            yield Round(first=first, end=end, width=width, wanted=wanted)
            took = max(time.monotonic() - started, 1e-3)
            batch_s = (sum(state.seconds) - worked) / max(1, sum(state.made) - made)
            size = next_size(size, took, batch_s)
            first = end
        return
    for turn in range(min(state.made), plan.rounds):
        progress.stopped |= _enough(progress, stop_when)
        wanted = tuple(
            Wanted(
                system=number,
                turn=turn,
                known=frontier_of(progress.per_system[number]) if plan.is_guided else None,
            )
            for number, made in enumerate(state.made)
            if number not in progress.stopped and made <= turn
        )
        if wanted:
            first = turn * width
            yield Round(first=first, end=first + width, width=width, wanted=wanted)
    progress.stopped |= _enough(progress, stop_when)


def next_size(size: int, took: float, batch_s: float) -> int:
    """Return the next round's number of batches.

    >>> next_size(16, took=5.0, batch_s=1.0), next_size(1024, took=120.0, batch_s=60.0)
    (48, 2048)
    """
    wanted = size * max(COMMIT_S, BATCHES_EACH * batch_s) / took
    return int(max(ROUND_MIN, min(ROUND_MAX, GROWTH * size, wanted)))


def _enough(progress: Progress, stop_when: StopWhen) -> set[int]:
    if stop_when is StopWhen.NEVER:
        return set()
    return {
        number
        for number in range(len(progress.plan.systems))
        if _is_enough(progress, number, stop_when)
    }


def _is_enough(progress: Progress, number: int, stop_when: StopWhen) -> bool:
    system, counts = progress.plan.systems[number], progress.per_system[number]
    if stop_when is StopWhen.FOUND:
        return bool(system.goals) and system.goals <= counts.violated.keys()
    if stop_when is StopWhen.COVERAGE:
        return system.situations <= counts.reached.keys() | counts.violated.keys()
    return False
