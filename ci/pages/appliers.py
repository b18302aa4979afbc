"""``docs/appliers.md``: which consistency level each scheme of WL#4648 keeps, and how fast it is.

Every cell is decided by enumerating all runs of small scopes, smaller ones first: a run that breaks
the level, or the number of runs in which none does. ``python -m ci.pages.appliers --check``
compares.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from ci.pages.requirements import requirements_section
from ci.pages.writing import pages_main
from paraply.counterexamples.workload_arguments import command_line, workload_words
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.clock import timing
from paraply.reference_impl.wl4648.example import NEVER_EXISTED, never_existed_on_the_source
from paraply.reference_impl.wl4648.subject import SCHEMES, WL4648
from paraply.registries import property_named
from paraply.reporting.event_words import event_words
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Exploration

PAGE = "docs/appliers.md"
RUNS_MAX = 3_000
"""Runs per scope; a cell of a scope that has more says so."""
RUNS_ENOUGH = 300
"""Runs after which a scope is left when all its columns are broken: the shortest so far is told."""
OVERWRITTEN = (0, 2, 0)
"""First choices of the log T1{a}, T2{a,b}, T3{b}: executed again, T1 stands beside T2."""

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
"""Column -> the property that decides it."""
WITHOUT_A_CRASH, OVER_A_CRASH = (ANY_TIME, MOST, EVENTUAL, DEADLOCK), (RESTART, AFTER_RESTART)
WORKERS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scheme under one workload, and what the document claims of it."""

    dialect: str
    claims: tuple[str, ...]
    conflicts: bool = True
    exec_mode: str = "strict"
    transactions: int = 2
    """The greatest scope without a crash."""

    @property
    def name(self) -> str:
        """Return the row's name."""
        name = self.dialect.upper().replace("_", " with ").replace("P3 with SERIAL", "P3, SERIAL")
        return name + (", idempotent" if self.exec_mode == "idempotent" else "")


@dataclass(slots=True)
class Decided:
    """What the runs of a row say: the smallest run per broken column, and how many were made."""

    smallest: dict[str, History] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    """Columns with a scope of which only the first runs were made."""


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
    """Enumerate the row's scopes, smaller ones first; a column that is broken is not asked again.

    Readers that hold locks are judged by what they see, all other schemes by every state.
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
    """Return a scope of the row; deletes and a second session would show nothing new."""
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
    """Run one scope for the columns that are not broken yet."""
    properties = {
        column: property_named(
            "readers_see_prefixes" if by_reads and LEVELS[column] == LEVELS[ANY_TIME]
            else LEVELS[column]
        )
        for column in columns if column not in decided.smallest
    }  # fmt: skip
    exploration = Exploration(runs_max=RUNS_MAX, prefix=prefix)
    for schedule in exploration:
        is_told = all(column in decided.smallest for column in properties)
        if is_told and exploration.count > RUNS_ENOUGH:
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
    """Return the log and the run in words, without what every run has."""
    dull = (EventKind.STARTED, EventKind.STOPPED, EventKind.SCHEDULED)
    log = ", ".join(
        f"T{one.id}{{{','.join(str(item_of(row)) for row in one.rows)}}}"
        for one in history.transactions
    )
    words = [event_words(one, history) for one in history.events if one.kind not in dull]
    return f"{log}: {'; '.join(words)}"


def speed_table() -> list[str]:
    """Return the rows of the speed-up table, from the simulated clock."""
    lines = []
    for dialect in SCHEMES:
        cells = []
        for conflicts, rows in ((False, 64), (True, 24)):
            for workers in WORKERS:
                serial, parallel = (
                    timing(dialect, Workload(transactions=60, rows=rows, options={
                        "workers": count, "conflicts": conflicts}))
                    for count in (0, workers)
                )  # fmt: skip
                speed = f"{serial.ticks / parallel.ticks:.2f}"
                cells.append(speed if parallel.has_finished else "stops")
        lines.append(f"| {dialect.upper().replace('_', ' with ')} | {' | '.join(cells)} |")
    return lines


def page() -> str:
    """Return the page."""
    head = [*_HEAD, "| scheme | workload | " + " | ".join(LEVELS) + " | speed-up, N=8 |",
            "| --- " * (len(LEVELS) + 3) + "|"]  # fmt: skip
    scopes = ["", "## The scopes", "", *_SCOPES]
    runs = ["", "## The smallest runs", ""]
    number = 0
    for row in ROWS:
        decided = decide(row)
        cells = []
        for column in LEVELS:
            is_claimed = column in row.claims
            if column in decided.smallest:
                number += 1
                word = "**broken, claimed**" if is_claimed else "**broken**"
                cells.append(f"[{word}](#run-{number})")
                title = f"{row.name}, {_workload(row)}: {column} is broken."
                story = _run_words(decided.smallest[column])
                runs += [f"### Run {number}", "", title, "", f"> {story}", ""]
            else:
                count = f"{decided.runs[column]:,}"
                bound = f"the first {count}" if column in decided.cut else count
                word = "kept" if column not in decided.cut else "not broken"
                cells.append(f"[{word} ({bound})](#{_anchor(row)})")
        cells.append(f"[{_speed_of(row)}](#speed-up-on-a-simulated-clock)")
        head.append(f"| {row.name} | {_workload(row)} | {' | '.join(cells)} |")
        scopes += scope_lines(row)
    return (
        "\n".join(
            [
                *head,
                "",
                *_example(),
                *_SPEED,
                *speed_table(),
                "",
                *requirements_section()[:-1],
                *scopes[:-1],
                *runs,
            ]
        ).rstrip()
        + "\n"
    )


def scope_lines(row: Row) -> list[str]:
    """Return the commands that make a row's runs again, without and with a crash."""
    reads = int(row.dialect == "p3_serializable")
    workloads = [_scope(row, row.transactions, reads=reads), _scope(row, 2, reads=reads, crashes=1)]
    lines = [f"### {row.name}, {_workload(row)}", "", "```"]
    for workload in workloads:
        words = ["paraply", "explore", "wl4648", "--exhaustive", *workload_words(WL4648, workload)]
        lines.append(command_line(words))
    return [*lines, "```", ""]


def _anchor(row: Row) -> str:
    """Return the anchor that the heading of the row's scope has."""
    return f"{row.name}, {_workload(row)}".lower().replace(",", "").replace(" ", "-")


def _speed_of(row: Row) -> str:
    """Return the speed-up of eight workers over none, as in the table of the clock."""
    options: dict[str, OptionValue] = {"conflicts": row.conflicts, "exec_mode": row.exec_mode}
    rows = 24 if row.conflicts else 64
    serial, parallel = (
        timing(row.dialect, Workload(
            transactions=60, rows=rows, options={**options, "workers": workers}))
        for workers in (0, 8)
    )  # fmt: skip
    return f"{serial.ticks / parallel.ticks:.2f}" if parallel.has_finished else "stops"


def _workload(row: Row) -> str:
    return "any" if row.conflicts else "conflict-free"


def _example() -> list[str]:
    runs, states = never_existed_on_the_source(workers=2)
    told = ", ".join(str(state) for state in sorted(states))
    return [
        "## Henrik's example", "",
        "Four updates of two rows, an older change of a row is discarded (C0 with timestamps, two "
        f"workers): in {runs:,} runs, all there are, the replica ends as the source does, and on "
        f"the way it is in states that the source never was in: {told}. {NEVER_EXISTED} is the "
        "one of the document.", "",
    ]  # fmt: skip


_HEAD = [
    "# Appliers of WL#4648: what each scheme keeps", "",
    "Generated by `python -m ci.pages.appliers --write`; `make check` compares. Each cell is "
    "decided by enumerating every run of small scopes with two workers: up to two "
    "transactions (three for C2, C3, C4 and conflict-free C1) over two rows, or three where "
    "transactions share none; the last two columns with one crash at any moment, in up to two "
    "transactions and in the log T1{a}, T2{a,b}, T3{b}. **broken** links to a smallest run, *kept* "
    "has the number of runs in which nothing broke it and links to the commands that make them, "
    "*not broken* stands where a scope has more "
    f"than {RUNS_MAX:,} runs and only the first were made. **claimed**: the document says that the "
    "scheme keeps it. C0 with timestamps stalls where two transactions lock two rows in opposite "
    "orders, which the document asks tests to avoid (E4).", "",
    "- **any-time**: every state of the replica is one that the source was in; for SERIALIZABLE "
    "reads, every read.",
    "- **most of the time**: whenever what has committed is a prefix of the log, the state is the "
    "source's after that prefix. The document gives the name and no definition; this one says that "
    "only gaps can show anything else.",
    "- **eventual**: the run ends, and in the source's state. A run that fails or stalls does not.",
    "- **crash-restart**: the same with a crash at any moment and a restart from the commit "
    "watermark in the re-entrant mode.", "",
    "Five things to take from it. C2, C3 and C4 alone do not keep any-time consistency, "
    "although the document says so of all of C2 to C4: two transactions without a conflict may "
    "commit in the other order. With C1 added they do, until a restart executes "
    "again what lies past the watermark: an old row then stands beside newer ones. And C3 needs no "
    "sorting against deadlocks: its waits only ever lead to earlier transactions. P3 keeps "
    "its promise to SERIALIZABLE readers at a price: a reader that has locked a row and waits for "
    "another (the runs name it only when it has read all) can "
    "hold up the coordinator's prepare for ever, and no engine sees that cycle. C4 served by C1, "
    "as the document allows, does not even end: commits in order are not enough where two jobs "
    "conflict. Served by C3 or C2 it is as good as these are, with fewer commits.", "",
    "The watermark here is the longest prefix that has committed. The pseudo-code's "
    "`J.went_through - |W| + 1` counts jobs under way and loses them at a crash (mutants "
    "`watermark_counts_popped_jobs` and `popped_jobs_are_lost_at_restart`; option "
    "`watermark=as_written`).", "",
]  # fmt: skip

_SCOPES = [
    "What was enumerated for each line of the first table: the greatest scope without a crash, and "
    "the one with a crash; smaller ones were run first. *kept* says that none of these runs "
    "broke the level; the command makes them again and judges every property.", "",
]  # fmt: skip

_SPEED = [
    "## Speed-up on a simulated clock", "",
    "60 transactions of one or two rows; a row event and a commit cost a tick each, reading and "
    "popping nothing. Speed-up of N workers over zero, the serial applier. *stops*: the "
    "applier fails or stalls. Where commits are in order they are one at a time, so that short "
    "transactions gain little without group commit. C2 loses with more workers under conflicts: "
    "the job list is 2·|W| long, so more is read, and tagged, before what it conflicts with has "
    "committed. P3 cuts single transactions, and these are short.", "",
    "| scheme | " + " | ".join(f"conflict-free, N={n}" for n in WORKERS)
    + " | " + " | ".join(f"conflicts, N={n}" for n in WORKERS) + " |",
    "| --- " * (2 * len(WORKERS) + 1) + "|",
]  # fmt: skip


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.appliers", {PAGE: page()}))
