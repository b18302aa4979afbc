"""``docs/mariadb-modes.md``: what each parallel mode of MariaDB keeps, and how fast it is.

Every cell is decided by enumerating all runs of small scopes: a smallest run that breaks the
property, or the number of runs in which none does. ``python -m ci.pages.modes --check``
compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from ci.pages.writing import pages_main
from paraply.properties.registry import Property
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.mariadb.clock import sample_log, timing
from paraply.reference_impl.mariadb.modes import Mode
from paraply.reference_impl.mariadb.subject import MARIADB_PARALLEL
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named
from paraply.reporting.event_words import event_words
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Exploration
from paraply.vocabulary.transactions import Transaction

PAGE = "docs/mariadb-modes.md"
RUNS_MAX = 1_000
"""Runs per scope; a cell of a scope that has more says so."""

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
"""Column -> the property that decides it."""
SITUATIONS = {
    "overlap": "two_transactions_overlap",
    "one group of two": "one_group_has_two_of_a_domain",
    "pulled in": "waiting_transaction_joins_the_group",
    "kill": "attempt_is_killed_for_an_earlier_one",
    "revoked": "commit_start_is_revoked",
    "retry": "transaction_is_retried",
    "overtaking": "domains_overtake_each_other",
}
"""Column of the second table -> the situation that it counts."""
LOCKED = "locks beside rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is enumerated, and which columns it is judged for."""

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
    """What the runs of a dialect say."""

    smallest: dict[str, History] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    witnessed: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    """Columns with a scope of which only the first runs were made."""


def workload_of(dialect: str, scope: Scope) -> Workload:
    """Return the scope's workload: two transactions, two workers."""
    plain: dict[str, OptionValue] = {
        "workers": 2, "reads": 0, "stops": 0, "ddl": 0, "marks": 0, "extra_locks": "none",
        "eager": True,
    }  # fmt: skip
    return Workload(transactions=2, rows=scope.rows, dialect=dialect, options=plain | scope.options)


def decide(dialect: str) -> Decided:
    """Enumerate the scopes of one dialect."""
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
    """Return the words of a cell that is not broken."""
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
    """Return the log and the run in words, without what every run has."""
    log = ", ".join(map(_log_words, history.transactions))
    events = [one for one in history.events if one.kind not in _DULL and one.session != "auditor"]
    return f"{log}: {'; '.join(event_words(one, history) for one in events)}"


def page() -> str:
    """Return the page."""
    lines = [*_HEAD, _row("mode", COLUMNS), "| --- " * (len(COLUMNS) + 1) + "|"]
    situations = ["", *_SITUATIONS, _row("mode", [*SITUATIONS, "runs"]),
                  "| --- " * (len(SITUATIONS) + 2) + "|"]  # fmt: skip
    stories = ["", "## The smallest runs", ""]
    number = 0
    for dialect in MARIADB_PARALLEL.dialects:
        decided, cells = decide(dialect), []
        for column in COLUMNS:
            if column in decided.smallest:
                number += 1
                cells.append(f"[**broken**](#run-{number})")
                title = f"{_name(dialect)}: `{COLUMNS[column]}` does not hold."
                story = run_words(decided.smallest[column])
                stories += [f"### Run {number}", "", title, "", f"> {story}", ""]
            else:
                cells.append(cell(column, decided))
        lines.append(_row(_name(dialect), cells))
        counts = [f"{decided.reached[one]:,}" for one in SITUATIONS]
        situations.append(_row(_name(dialect), [*counts, f"{decided.runs[LOCKED]:,}"]))
    return (
        "\n".join(
            [*lines, *situations, "", *_SHARED_LOCKS, *_SPEED, *speed_rows(), *stories]
        ).rstrip()
        + "\n"
    )


def _name(dialect: str) -> str:
    return dialect.replace("_", " ")


def _row(name: str, cells: object) -> str:
    return f"| {name} | {' | '.join(map(str, cells))} |"  # type: ignore[call-overload]


WORKERS = (2, 4, 8)
LOGS: dict[str, Callable[[], tuple[Transaction, ...]]] = {
    "spread": lambda: sample_log(Workload(rows=64).row_names, 60),
    "hot": lambda: sample_log(Workload(rows=6).row_names, 60),
    "two schemas, hot": lambda: sample_log(Workload(rows=6).row_names, 60, domains="schema"),
}
"""Name -> a log of sixty transactions."""


def speed_rows() -> list[str]:
    """Return the table of speed-up, syncs and retries."""
    heads = [f"{name}, N={workers}" for name in LOGS for workers in WORKERS]
    rows = [_row("mode", heads), "| --- " * (len(heads) + 1) + "|"]
    logs = [make() for make in LOGS.values()]
    for mode in Mode:
        cells = []
        for log in logs:
            serial = timing(log, Mode.NONE, workers=1)
            for workers in WORKERS:
                run = timing(log, mode, workers=workers)
                assert run.has_finished
                speed = f"{serial.ticks / run.ticks:.2f}"
                cells.append(f"{speed} ({run.commit_groups}, {run.retries})")
        rows.append(_row(mode.name.lower(), cells))
    return rows


_HEAD = [
    "# MariaDB's parallel modes: what each keeps", "",
    "Generated by `python -m ci.pages.modes --write`; `make check` compares. Subject: "
    "`mariadb_parallel`, one dialect per row. Each cell is decided by enumerating the runs of "
    "small scopes of two transactions and two workers over one or two rows, in every order of row "
    "changes, commit starts, deadlock kills, syncs and engine commits. **broken** links to a "
    "smallest run, *kept* has the number of runs in which nothing broke it, *not broken, the "
    f"first* stands where a scope has more than {RUNS_MAX:,} runs and only these were made, – "
    "where the situation that the property speaks of cannot occur. Larger runs are "
    "random: `paraply explore mariadb_parallel`.", "",
    "- **conflicts**: within a domain, an attempt that survives changes a row after the commit of "
    "every earlier writer of it; attempts that lose may overlap, and are rolled back.",
    "- **domain order**, **log order**: the engine commits in the order of the source's log, "
    "within each domain, or over all of them.",
    "- **reads**: what a reader sees of a domain is a prefix of its log.",
    "- **batches**: transactions begin when those of other commit groups have made their changes.",
    "- **marks**: what had waited for a row lock on the source, or was set not to be applied in "
    "parallel, begins when all before it in its domain have committed.",
    "- **irreversible**: the same for a DDL and for a table without transactions.",
    "- **errors**: when a transaction has failed, nothing after it in its domain commits.",
    "- **never fails**, **never stalls**: a log that is sound is applied to its end.", "",
    "Four things to take from it. The speculative modes let batches overlap and still keep "
    "every order: the order of commits, the kill of whoever holds a row too early and the "
    "retry at no risk are enough. In conservative and minimal the barrier between batches "
    "opens when the batch before has *started* to commit, so that a mark means less than in "
    "optimistic, where it means that all before have committed. Therefore, too, a change of a "
    "table without transactions is visible before its predecessors are in these two modes, and "
    "is not in optimistic and aggressive, where such a change waits (seen on MariaDB 10.11: "
    "where a replica's own semi-sync wait holds an InnoDB row before its engine commit, the "
    "MyISAM row after it is there in conservative and minimal, and neither is in optimistic "
    "and aggressive). And order between domains is given up by whoever sets them, as soon as "
    "the mode is above minimal.", "",
]  # fmt: skip

_SHARED_LOCKS = [
    "## Domains that lock each other's rows", "",
    "Domains promise that their transactions do not conflict. Locks count, not only changes: with "
    "the option `extra_locks=any` a transaction may lock a row of another domain beside those it "
    "writes. Two domains may then wait for each other: the first transaction of each waits for a "
    "row that the second of the other holds, and the second waits for the commit of the first. A "
    "holder that speculates is killed across domains (MDEV-33798), so that optimistic goes on; one "
    "that is trusted because it shares a commit id is not, in conservative and in optimistic: the "
    "replica stalls (`replica_never_stalls`). MariaDB 10.11.19 does the same when two domains "
    "change each other's rows: with shared commit ids it ends in error 1205, after "
    "innodb_lock_wait_timeout times slave_transaction_retries, and without them in a moment; the "
    "rows may differ from the source's then, since the order between domains is free.", "",
]  # fmt: skip

_SITUATIONS = [
    "## What was reached", "",
    "In how many of the runs with a lock beside the rows something happened. *pulled in*: a "
    "transaction waited in its commit for the one before it, and both went into the binary log "
    "with one sync. *revoked*: a transaction had started to commit and was rolled back. "
    "*overtaking*: a transaction committed before one of another domain that comes first.", "",
]  # fmt: skip

_SPEED = [
    "## Speed-up on a simulated clock", "",
    "60 transactions of one or two rows, *spread* over 64 rows or *hot* on 6; about half of them "
    "committed together with the one before. A row event, and the sync of a commit group, cost a "
    "tick each; reading the log, waiting, rolling back and the engine commit nothing. Speed-up of "
    "N workers over mode none; in brackets the syncs of the replica's binary log and the "
    "attempts that were begun again. On hot rows more workers make the speculative modes slower: "
    "what they undo is work that had to be done again. Minimal gains by beginning the next "
    "transaction while the one before is synced, and by nothing else.", "",
]  # fmt: skip


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.modes", {PAGE: page()}))
