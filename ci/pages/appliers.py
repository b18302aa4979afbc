"""The tables of ``docs/appliers.md``.

Each cell comes from all runs of small scopes: a breaking run, or the number of runs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace

from ci.pages import requirements
from ci.pages.wl4648_example import NEVER_EXISTED, never_existed_on_the_source
from ci.pages.writing import filled, pages_main, table
from paraply.counterexamples.workload_arguments import command_line, workload_words
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.comparison.appliers import APPLIERS
from paraply.reference_impl.comparison.tasks import task_log
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.subject import SCHEMES, WL4648
from paraply.reference_impl.workloads.small_logs import small_relay_log
from paraply.registries import property_named
from paraply.reporting.event_words import event_words
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Exploration

PAGE = "docs/appliers.md"
RUNS_MAX = 3_500
"""Per scope; the page marks cut scopes."""
RUNS_ENOUGH = 300
"""Enough once all columns are broken."""
OVERWRITTEN = (0, 2, 0)
"""For T1{a}, T2{a,b}, T3{b}: T1 repeats beside T2."""

ANY_TIME, MOST, EVENTUAL, DEADLOCK, RESTART, AFTER_RESTART = (
    "any-time", "most of the time", "eventual", "deadlock-free", "crash-restart",
    "any-time over a restart",
)  # fmt: skip
LEVELS = {
    ANY_TIME: "replica_states_existed_on_the_source",
    MOST: "gap_free_states_are_the_sources",
    EVENTUAL: "replica_ends_in_the_sources_state",
    DEADLOCK: "applier_reaches_the_end",
    RESTART: "restart_reaches_the_sources_state",
    AFTER_RESTART: "replica_states_existed_on_the_source",
}
"""Property by column."""
WITHOUT_A_CRASH, OVER_A_CRASH = (ANY_TIME, MOST, EVENTUAL, DEADLOCK), (RESTART, AFTER_RESTART)
WORKERS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scheme and workload, with claimed levels."""

    dialect: str
    claims: tuple[str, ...]
    conflicts: bool = True
    exec_mode: str = "strict"
    transactions: int = 2

    @property
    def name(self) -> str:
        """Return the row's name."""
        name = self.dialect.upper().replace("_", " with ").replace("P3 with SERIAL", "P3, SERIAL")
        return name + (", idempotent" if self.exec_mode == "idempotent" else "")


@dataclass(slots=True)
class Decided:
    """The smallest run per broken column, and the number of runs."""

    smallest: dict[str, History] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    """Columns with a cut scope."""


HONOURED = (ANY_TIME, EVENTUAL)
ROWS = (
    Row(dialect="c0", claims=()),
    Row(dialect="c0", claims=(), exec_mode="idempotent"),
    Row(dialect="c0", claims=(EVENTUAL, MOST), conflicts=False),
    Row(dialect="c0_timestamp", claims=(EVENTUAL, MOST)),
    Row(dialect="c1", claims=(ANY_TIME,)),
    Row(dialect="c1", claims=(ANY_TIME,), exec_mode="idempotent"),
    Row(dialect="c1", claims=HONOURED, conflicts=False, transactions=3),
    Row(dialect="c2", claims=HONOURED, transactions=3),
    Row(dialect="c2_c1", claims=HONOURED, transactions=3),
    Row(dialect="c3", claims=(*HONOURED, DEADLOCK), transactions=3),
    Row(dialect="c3_c1", claims=(*HONOURED, DEADLOCK), transactions=3),
    Row(dialect="c4", claims=(*HONOURED, DEADLOCK), transactions=3),
    Row(dialect="c4_c1", claims=HONOURED, transactions=3),
    Row(dialect="c4_c2", claims=HONOURED, transactions=3),
    Row(dialect="p2", claims=(EVENTUAL, MOST)),
    Row(dialect="p3", claims=(EVENTUAL,)),
    Row(dialect="p3_serializable", claims=HONOURED),
)


def decide(row: Row) -> Decided:
    """Enumerate the row's scopes until each column is broken.

    Locking readers are judged by reads, others by states.
    """
    decided = Decided()
    by_reads = row.dialect == "p3_serializable"
    for transactions in range(1, row.transactions + 1):
        workload = _scope(row, transactions, reads=int(by_reads))
        _explore(workload, WITHOUT_A_CRASH, decided, by_reads=by_reads)
    for transactions in (1, 2):
        workload = _scope(row, transactions, reads=int(by_reads), crashes=1)
        _explore(workload, OVER_A_CRASH, decided, by_reads=by_reads)
    if row.conflicts:
        workload = _scope(row, 3, reads=int(by_reads), crashes=1, checkpoints=1)
        _explore(workload, OVER_A_CRASH, decided, by_reads=by_reads, prefix=OVERWRITTEN)
    return decided


def _scope(row: Row, transactions: int, **budget: int) -> Workload:
    options: dict[str, OptionValue] = {
        "sessions": 1, "deletes": False, "conflicts": row.conflicts, "exec_mode": row.exec_mode,
        **budget,
    }  # fmt: skip
    rows = 2 if row.conflicts else 3
    return Workload(transactions=transactions, rows=rows, dialect=row.dialect, options=options)


def _explore(
    workload: Workload,
    columns: tuple[str, ...],
    decided: Decided,
    *,
    by_reads: bool,
    prefix: tuple[int, ...] = (),
) -> None:
    properties = {
        column: property_named(
            "readers_see_prefixes" if by_reads and LEVELS[column] == LEVELS[ANY_TIME]
            else LEVELS[column]
        )
        for column in columns if column not in decided.smallest
    }  # fmt: skip
    exploration = Exploration(runs_max=RUNS_MAX, prefix=prefix)
    for schedule in exploration:
        is_decided = all(column in decided.smallest for column in properties)
        if is_decided and exploration.count > RUNS_ENOUGH:
            return
        history = WL4648.run(schedule, workload)
        for column, prop in properties.items():
            best = decided.smallest.get(column)
            is_smaller = best is None or len(history.events) < len(best.events)
            if is_smaller and prop.violations(history):
                decided.smallest[column] = history
    for column in properties:
        decided.runs[column] = decided.runs.get(column, 0) + exploration.count
        if not exploration.is_complete:
            decided.cut.add(column)


def _run_words(history: History) -> str:
    dull = (EventKind.STARTED, EventKind.STOPPED, EventKind.SCHEDULED)
    log = ", ".join(
        f"T{one.id}{{{','.join(str(item_of(row)) for row in one.rows)}}}"
        for one in history.transactions
    )
    words = [event_words(one, history) for one in history.events if one.kind not in dull]
    return f"{log}: {'; '.join(words)}"


def speed_table() -> list[str]:
    """Return the speed-ups on the simulated clock."""
    rows = [
        [
            dialect.upper().replace("_", " with "),
            *(_speed_up(dialect, workers, conflicts) for conflicts in (False, True)
              for workers in WORKERS),
        ]
        for dialect in SCHEMES
    ]  # fmt: skip
    heads = [f"{kind}, N={n}" for kind in ("conflict-free", "conflicts") for n in WORKERS]
    return table(["scheme", *heads], rows)


def _speed_up(dialect: str, workers: int, conflicts: bool, exec_mode: str = "strict") -> str:
    _, recorder = small_relay_log(24 if conflicts else 64, 60, conflicts=conflicts)
    # P2 has a worker per table; each row is a table of its own here.
    log = task_log(
        [
            replace(one, rows=tuple(replace(row, table=str(item_of(row))) for row in one.rows))
            for one in recorder.transactions
        ]
    )
    # Local readers alone tell P3 with SERIALIZABLE from P3, and there are none.
    name = dialect.removesuffix("_serializable").replace("_", "-")
    run = APPLIERS[name].run(log, workers)
    # In strict mode a row event on a wrong version ends the run.
    stops = not run.has_finished or (run.misapplied and exec_mode == "strict")
    return "stops" if stops else f"{log.work / run.makespan:.2f}"


def page() -> str:
    """Return the page."""
    levels, scopes, runs = [], [], []
    number = 0
    for row in ROWS:
        decided = decide(row)
        cells = []
        for column in LEVELS:
            if column in decided.smallest:
                number += 1
                word = "**broken, claimed**" if column in row.claims else "**broken**"
                cells.append(f"[{word}](#run-{number})")
                title = f"{row.name}, {_workload(row)}: {column} is broken."
                story = _run_words(decided.smallest[column])
                runs += [f"### Run {number}", "", title, "", f"> {story}", ""]
            else:
                count = f"{decided.runs[column]:,}"
                bound = f"the first {count}" if column in decided.cut else count
                word = "kept" if column not in decided.cut else "not broken"
                cells.append(f"[{word} ({bound})](#{_anchor(row)})")
        speed = _speed_up(row.dialect, 8, row.conflicts, row.exec_mode)
        cells.append(f"[{speed}](#speed-up-on-a-simulated-clock)")
        levels.append([row.name, _workload(row), *cells])
        scopes += scope_lines(row)
    blocks = {
        "levels": table(["scheme", "workload", *LEVELS, "speed-up, N=8"], levels),
        "example": _example(),
        "speed": speed_table(),
        **requirements.blocks(),
        "scopes": scopes[:-1],
        "runs": runs[:-1],
    }
    return filled(PAGE, blocks)


def scope_lines(row: Row) -> list[str]:
    """Return commands that repeat a row's runs."""
    reads = int(row.dialect == "p3_serializable")
    workloads = [_scope(row, row.transactions, reads=reads), _scope(row, 2, reads=reads, crashes=1)]
    lines = [f"### {row.name}, {_workload(row)}", "", "```sh"]
    for workload in workloads:
        words = ["paraply", "explore", "wl4648", "--exhaustive", *workload_words(WL4648, workload)]
        lines.append(command_line(words))
    return [*lines, "```", ""]


def _anchor(row: Row) -> str:
    return f"{row.name}, {_workload(row)}".lower().replace(",", "").replace(" ", "-")


def _workload(row: Row) -> str:
    return "any" if row.conflicts else "conflict-free"


def _example() -> list[str]:
    runs, states = never_existed_on_the_source(workers=2)
    rows = [
        [str(state), "in the document" if state == NEVER_EXISTED else ""]
        for state in sorted(states)
    ]
    return [f"{runs:,} runs.", "", *table(["state that never existed", ""], rows)]


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.appliers", {PAGE: page()}))
