"""Further tables of ``docs/semi-sync.md``."""

from __future__ import annotations

from ci.pages.faults.semi_sync import KNOWN_FAULTS
from ci.pages.semi_sync_faults import CALM, subject_with
from paraply.exploring.state_space import Node, StateSpace, state_space
from paraply.properties.semi_sync.breaches import (
    ExtraTransaction,
    GapSeen,
    SeenThenLost,
    SeenUnacknowledged,
    StageOvertaken,
)
from paraply.properties.semi_sync.pace import commits_per_second
from paraply.properties.semi_sync.watch import REFUSED, REJOINS
from paraply.reference_impl.semi_sync.settings import Staging, WaitPoint
from paraply.reference_impl.semi_sync.subject import SemiSyncSubject
from paraply.reference_impl.semi_sync.timed_subject import SEMI_SYNC_CLOCK
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import RecordedSchedule

DESIGN_WORDS = {
    Staging.CHAINED: "chained mutexes (MDEV-162, MariaDB)",
    Staging.GLOBAL_MUTEX: "one prepare_commit_mutex",
    Staging.MYSQL_ORDERED: "MySQL, binlog_order_commits=ON",
    Staging.MYSQL_UNORDERED: "MySQL, binlog_order_commits=OFF",
}
CLIENTS = (1, 4, 16, 64)
ROUND_TRIPS_US = (200, 1_000, 5_000, 20_000)
COMMITS_EACH = 10

Loss = tuple[str, StateSpace, Node]
"""Name, space, and first losing state."""


def _design_space(staging: Staging, *, needs_lock_log: bool = False) -> StateSpace:
    options = {**CALM, "rotations": 1, "source_crashes": 1}
    if needs_lock_log:
        options |= {"dump_takes_lock_log": True}
    workload = Workload(transactions=2, members=2, options=options)
    return state_space(SemiSyncSubject(staging=staging), workload)


def design_rows() -> list[tuple[str, StateSpace, list[tuple[str, Node | None]]]]:
    """Return each design's refuting state per column."""
    rows = []
    for staging, words in DESIGN_WORDS.items():
        space = _design_space(staging)
        old_dump = _design_space(staging, needs_lock_log=True)
        answers = [
            ("order", _first(space, StageOvertaken)),
            ("gap", _first(space, GapSeen)),
            ("phantom", _first(space, SeenUnacknowledged, SeenThenLost)),
        ]
        stall = next(iter(old_dump.stalls), None)
        rows.append((words, space, answers))
        rows[-1][2].append(("stall", stall))
    return rows


def _first(space: StateSpace, *kinds: type) -> Node | None:
    return next((node for breach, node in space.breaches.items() if type(breach) in kinds), None)


def old_source_rows() -> list[list[str]]:
    """Return whether an old source is accepted."""
    rows = []
    for wait_point in (WaitPoint.AFTER_SYNC, WaitPoint.AFTER_COMMIT):
        for words, mutant, truncates, given_up in (
            ("truncates, check, wait kept", "", True, False),
            ("truncates, check, wait abandoned", "", True, True),
            ("keeps its log, check", "", False, False),
            ("keeps its log, no check", "old_source_is_not_fenced", False, False),
        ):
            subject = subject_with(mutant, wait_point=wait_point)
            options = {**CALM, "source_returns": True, "truncates": truncates}
            options["abandons"] = int(given_up)
            space = state_space(subject, Workload(transactions=2, members=2, options=options))
            notes = {
                event.note
                for end in space.ends
                for event in space.run(end).events
                if event.kind in (EventKind.RECOVERED, EventKind.STOPPED)
            }
            extra = _first(space, ExtraTransaction) is not None
            rows.append([
                wait_point.value.upper(), words, _may(REJOINS in notes), _may(REFUSED in notes),
                "**yes**" if extra else "*never*", f"{space.watched:,}",
            ])  # fmt: skip
    return rows


def _may(is_seen: bool) -> str:
    return "it happens" if is_seen else "*never*"


def pace_rows() -> list[list[str]]:
    """Return commits per second and round trips."""
    rows = []
    for round_trip in ROUND_TRIPS_US:
        for staging, words in DESIGN_WORDS.items():
            cells = []
            for clients in CLIENTS:
                history = timed_run(staging, clients, round_trip)
                pace = commits_per_second(history)
                cells.append(f"{pace:,.0f} ({round_trips_per_group(history, round_trip):.2f})")
            rows.append([f"{round_trip / 1_000:g} ms", words, *cells])
    return rows


def timed_run(staging: Staging, clients: int, round_trip: int) -> History:
    """Return the timed run."""
    workload = Workload(
        transactions=clients * COMMITS_EACH,
        dialect=staging.value,
        options={"clients": clients, "round_trip_us": round_trip},
    )
    return SEMI_SYNC_CLOCK.run(RecordedSchedule(()), workload)


def round_trips_per_group(history: History, round_trip: int) -> float:
    """Return a group's duration in round trips."""
    groups = {event.group for event in history.events_of(EventKind.ENGINE_COMMITTED)}
    last = max(event.time for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED))
    return last / len(groups) / round_trip


def fault_rows() -> list[list[str]]:
    """Return every known fault with its mutants."""
    return [
        [
            fault.known_as, fault.server, fault.what,
            ", ".join(f"`{name}`" for name in fault.mutants) or fault.instead,
        ]
        for fault in KNOWN_FAULTS
    ]  # fmt: skip
