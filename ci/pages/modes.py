"""The tables of ``docs/mariadb-modes.md``.

Each cell comes from all runs of small scopes: a breaking run, or the number of runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ci.pages.writing import filled, pages_main, table
from paraply.properties.registry import Property
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.comparison.appliers import APPLIERS
from paraply.reference_impl.comparison.tasks import task_log
from paraply.reference_impl.mariadb.modes import Mode
from paraply.reference_impl.mariadb.subject import MARIADB_PARALLEL
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.workloads.small_logs import small_group_log
from paraply.registries import property_named
from paraply.reporting.event_words import event_words
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Exploration
from paraply.vocabulary.transactions import Transaction

PAGE = "docs/mariadb-modes.md"
RUNS_MAX = 1_000
"""Per scope; the page marks cut scopes."""

COLUMNS = {
    "conflicts": "domains_apply_without_conflict",
    "domain order": "domains_commit_in_order",
    "log order": "engine_commits_follow_the_log",
    "reads": "domains_are_read_in_order",
    "batches": "commit_groups_never_overlap",
    "marks": "marked_transactions_wait_for_all_before",
    "irreversible": "irreversible_changes_wait_for_all_before",
    "errors": "nothing_after_an_error_is_applied",
    "never fails": "sound_log_never_fails",
    "never stalls": "replica_never_stalls",
}
"""Property by column."""
SITUATIONS = {
    "overlap": "two_transactions_overlap",
    "one group of two": "one_group_has_two_of_a_domain",
    "pulled in": "waiting_transaction_joins_the_group",
    "kill": "attempt_is_killed_for_an_earlier_one",
    "revoked": "commit_start_is_revoked",
    "retry": "transaction_is_retried",
    "overtaking": "domains_overtake_each_other",
}
"""By column of the second table."""
LOCKED = "locks beside rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A scope and its judged columns."""

    columns: tuple[str, ...]
    options: dict[str, OptionValue]
    rows: int = 2


SCOPES = {
    "rows": Scope(
        columns=("conflicts", "domain order", "log order", "batches", "never fails",
                 "never stalls"),
        options={},
    ),
    LOCKED: Scope(
        columns=("domain order", "never fails", "never stalls"), options={"extra_locks": "domain"}
    ),
    "marks and DDL": Scope(
        columns=("conflicts", "marks", "irreversible"), options={"ddl": 1, "marks": 1}, rows=1
    ),
    "an error from outside": Scope(columns=("errors",), options={"failures": 1}, rows=1),
    "a reader": Scope(columns=("reads",), options={"reads": 1}),
}  # fmt: skip


@dataclass(slots=True)
class Decided:
    """The result of a dialect."""

    smallest: dict[str, History] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    witnessed: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    """Columns with a cut scope."""


def workload_of(dialect: str, scope: Scope) -> Workload:
    """Return the workload: two transactions, two workers."""
    plain: dict[str, OptionValue] = {
        "workers": 2, "reads": 0, "stops": 0, "ddl": 0, "marks": 0, "extra_locks": "none",
        "eager": True,
    }  # fmt: skip
    return Workload(transactions=2, rows=scope.rows, dialect=dialect, options=plain | scope.options)


def decide(dialect: str) -> Decided:
    """Enumerate one dialect's scopes."""
    decided = Decided(reached=dict.fromkeys(SITUATIONS, 0))
    for name, scope in SCOPES.items():
        workload = workload_of(dialect, scope)
        judged = {column: property_named(COLUMNS[column]) for column in scope.columns}
        exploration = Exploration(runs_max=RUNS_MAX)
        for schedule in exploration:
            history = MARIADB_PARALLEL.run(schedule, workload)
            for column, prop in judged.items():
                _judge(column, prop, history, decided)
            if name == LOCKED:
                for situation, named in SITUATIONS.items():
                    decided.reached[situation] += property_named(named).witness(history)
        for column in scope.columns:
            decided.runs[column] = decided.runs.get(column, 0) + exploration.count
            if not exploration.is_complete:
                decided.cut.add(column)
        decided.runs[name] = exploration.count
    return decided


def _judge(column: str, prop: Property, history: History, decided: Decided) -> None:
    best = decided.smallest.get(column)
    if (best is None or len(history.events) < len(best.events)) and prop.violations(history):
        decided.smallest[column] = history
    if column not in decided.witnessed and prop.witness(history):
        decided.witnessed.add(column)


def cell(column: str, decided: Decided) -> str:
    """Return the text of an unbroken cell."""
    if column not in decided.witnessed:
        return "–"
    word = "not broken, the first" if column in decided.cut else "kept"
    return f"{word} ({decided.runs[column]:,})"


def _log_words(transaction: Transaction) -> str:
    rows = ",".join(str(item_of(row)) for row in transaction.rows) or transaction.kind.value
    notes = [] if transaction.commit_id is None else [f"commit {transaction.commit_id}"]
    notes += [f"domain {transaction.domain}"] if transaction.domain else []
    notes += [flag for flag in ("waited",) if flag in transaction.flags]
    if not transaction.flags & {"transactional", "ddl"}:
        notes.append("no transaction")
    elif not transaction.flags & {"allow_parallel"}:
        notes.append("skip_parallel_replication")
    return f"T{transaction.id}{{{rows}}}" + (f" ({', '.join(notes)})" if notes else "")


_DULL = (EventKind.STARTED, EventKind.STOPPED, EventKind.SCHEDULED, EventKind.SYNCED)


def run_words(history: History) -> str:
    """Return a run's log and essential events."""
    log = ", ".join(map(_log_words, history.transactions))
    events = [one for one in history.events if one.kind not in _DULL and one.session != "auditor"]
    return f"{log}: {'; '.join(event_words(one, history) for one in events)}"


def page() -> str:
    """Return the page."""
    modes, situations, runs = [], [], []
    number = 0
    for dialect in MARIADB_PARALLEL.dialects:
        decided, cells = decide(dialect), []
        for column in COLUMNS:
            if column in decided.smallest:
                number += 1
                cells.append(f"[**broken**](#run-{number})")
                title = f"{_name(dialect)} breaks `{COLUMNS[column]}`."
                story = run_words(decided.smallest[column])
                runs += [f"### Run {number}", "", title, "", f"> {story}", ""]
            else:
                cells.append(cell(column, decided))
        modes.append([_name(dialect), *cells])
        counts = [f"{decided.reached[one]:,}" for one in SITUATIONS]
        situations.append([_name(dialect), *counts, f"{decided.runs[LOCKED]:,}"])
    blocks = {
        "modes": table(["mode", *COLUMNS], modes),
        "situations": table(["mode", *SITUATIONS, "runs"], situations),
        "speed": speed_table(),
        "runs": runs[:-1],
    }
    return filled(PAGE, blocks)


def _name(dialect: str) -> str:
    return dialect.replace("_", " ")


WORKERS = (2, 4, 8)
LOGS: dict[str, Callable[[], tuple[Transaction, ...]]] = {
    "spread": lambda: small_group_log(64, 60),
    "hot": lambda: small_group_log(6, 60),
    "two schemas, hot": lambda: small_group_log(6, 60, domains="schema"),
}
"""Of sixty transactions."""


def speed_table() -> list[str]:
    """Return speed-up, syncs and retries."""
    rows = []
    logs = [
        task_log(log, groups=commit_id_groups(log)) for log in (make() for make in LOGS.values())
    ]
    for mode in Mode:
        name = mode.name.lower()
        cells = []
        for log in logs:
            for workers in WORKERS:
                run = APPLIERS[f"mariadb-{name}"].run(log, workers)
                assert run.has_finished
                cells.append(f"{log.work / run.makespan:.2f} ({run.syncs}, {run.retries})")
        rows.append([name, *cells])
    heads = [f"{name}, N={workers}" for name in LOGS for workers in WORKERS]
    return table(["mode", *heads], rows)


def commit_id_groups(log: Sequence[Transaction]) -> list[int]:
    """Return a number per commit group; within a domain, equal commit ids share one."""
    last: dict[int | None, tuple[object, int]] = {}
    groups = []
    for number, one in enumerate(log, start=1):
        mark, group = last.get(one.domain, (None, 0))
        if one.commit_id is None or mark != one.commit_id:
            group = number
        last[one.domain] = one.commit_id, group
        groups.append(group)
    return groups


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.modes", {PAGE: page()}))
