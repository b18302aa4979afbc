"""The tables of ``docs/gtid.md``.

They come from all runs of small scopes, and random runs for topologies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ci.pages.gtid_words import run_words
from ci.pages.writing import filled, pages_main, table
from paraply.counterexamples.hunt import system_of
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample, random_schedules
from paraply.properties.shrinking import ReadableOracle, shrink
from paraply.reference_impl.clock import take_steps
from paraply.reference_impl.mariadb_gtid.positions_subject import GTID_POSITIONS, METHODS
from paraply.reference_impl.mariadb_gtid.topology_subject import RULES
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.step import Step
from paraply.reference_impl.subject import Subject, Workload
from paraply.registries import property_named, subject_named
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Exploration, RecordedSchedule, Schedule

PAGE = "docs/gtid.md"
SHRINK_RUNS_MAX = 100
"""Per random history."""
WORKERS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Scope:
    """All runs, or ``random_runs`` random ones."""

    transactions: int
    options: Mapping[str, OptionValue]
    random_runs: int = 0
    runs_max: int | None = None

    def schedules(self) -> Iterable[Schedule]:
        """Return the schedules."""
        if self.random_runs:
            return random_schedules(0, self.random_runs)
        return Exploration(runs_max=self.runs_max)


@dataclass(slots=True)
class Decided:
    """The smallest history per broken property, and the number of runs."""

    smallest: dict[str, History] = field(default_factory=dict)
    runs: int = 0
    reached: set[str] = field(default_factory=set)
    """Properties with a reached situation."""
    is_exhaustive: bool = True


def decide(
    subject: Subject, dialect: str, properties: Sequence[str], scopes: Sequence[Scope]
) -> Decided:
    """Run and judge; minimise random breaches."""
    decided = Decided()
    judged = [property_named(name) for name in properties]
    for scope in scopes:
        workload = Workload(transactions=scope.transactions, dialect=dialect, options=scope.options)
        system = system_of(subject, workload)
        found: dict[str, Counterexample] = {}
        for schedule in scope.schedules():
            history = system(schedule)
            decided.runs += 1
            for prop in judged:
                if prop.name not in decided.reached and prop.witness(history):
                    decided.reached.add(prop.name)
                best = found[prop.name].history if prop.name in found else None
                best = decided.smallest.get(prop.name, best)
                is_smaller = best is None or len(history.events) < len(best.events)
                if is_smaller and (violations := prop.violations(history)):
                    found[prop.name] = Counterexample(
                        choices=tuple(schedule.choices), history=history,
                        violations=violations, runs=0,
                    )  # fmt: skip
        decided.is_exhaustive &= not (scope.random_runs or scope.runs_max)
        for name, example in found.items():
            if scope.random_runs:
                oracle = ReadableOracle(system, property_named(name))
                example = shrink(oracle, example, runs_max=SHRINK_RUNS_MAX)
            decided.smallest[name] = example.history
    return decided


@dataclass(slots=True)
class Stories:
    """Numbers and describes the smallest runs."""

    lines: list[str] = field(default_factory=list)
    count: int = 0

    def link(self, title: str, history: History, prop: Property) -> str:
        """Add a run; return its link."""
        self.count += 1
        breach = prop.violations(history)[0]
        self.lines += [
            f"### Run {self.count}", "", f"{title}: {breach}.", "", f"> {run_words(history)}", "",
        ]  # fmt: skip
        return f"[**broken**](#run-{self.count})"


def rows_of(
    subject: Subject,
    columns: Mapping[str, str],
    names: Mapping[str, str],
    scopes: Mapping[str, Sequence[Scope]],
    stories: Stories,
) -> Iterator[list[str]]:
    """Yield a row per dialect."""
    for dialect, words in names.items():
        decided = decide(subject, dialect, list(columns.values()), scopes[dialect])
        word = "kept" if decided.is_exhaustive else "not broken"
        cells = []
        for column, name in columns.items():
            prop = property_named(name)
            if name in decided.smallest:
                title = f"{words}: {column}"
                cells.append(stories.link(title, decided.smallest[name], prop))
            elif name in subject.breaks.get(dialect, frozenset()):
                cells.append("broken, rarely")
            else:
                cells.append(word if name in decided.reached else "no case")
        yield [words, *cells, f"{decided.runs:,}"]


POSITION_COLUMNS = {
    "covers only what is applied": "position_covers_only_what_is_applied",
    "covers all that is applied": "position_covers_all_that_is_applied",
    "nothing applied twice": "no_event_is_applied_twice",
    "nothing lost": "no_event_is_lost",
    "no wait for its row": "position_rows_never_wait",
}
_QUIET: dict[str, OptionValue] = {
    "domains": 1, "stops": 0, "retries": 0, "reads": 0, "cleanups": 0, "workers": 1, "crashes": 1,
}  # fmt: skip
_ONE_WORKER = Scope(2, _QUIET)
_TWO_WORKERS = Scope(2, _QUIET | {"workers": 2, "crashes": 0})
_TWO_DOMAINS = Scope(3, _QUIET | {"workers": 2, "domains": 2}, random_runs=500)

TOPOLOGY_COLUMNS = {
    "nothing lost": "no_event_is_lost",
    "nothing applied twice": "no_event_is_applied_twice",
    "one position fits": "a_single_position_exists",
    "logs agree": "logs_agree_within_a_domain",
    "numbers rise": "sequences_rise_within_a_domain",
    "smaller ones noticed": "smaller_numbers_are_noticed",
    "a GTID names one": "gtids_name_one_transaction",
    "elected one has all": "elected_source_has_what_survivors_have",
    "size = domains": "state_has_one_entry_per_domain",
}
_CALM: dict[str, OptionValue] = {"crashes": 0, "rotations": 0, "holes": 0, "losses": 1}
_TOPOLOGIES = ("failover", "ring", "multi_source", "diamond", "switch_over", "restore")
_RANDOM = tuple(
    Scope(5, {"topology": name, "rotations": 2, "crashes": 2}, random_runs=40)
    for name in _TOPOLOGIES
)
_SMALL = (
    Scope(2, _CALM | {"topology": "switch_over", "schemas": 1}),
    Scope(1, _CALM | {"topology": "restore", "schemas": 1}),
)
_SHARED = (
    Scope(2, _CALM | {"topology": "multi_source"}, random_runs=200),
    Scope(4, {"topology": "ring"}, random_runs=900),
)
_UNORDERED = (
    Scope(3, _CALM | {"topology": "failover"}, random_runs=600),
    Scope(4, _CALM | {"topology": "multi_source"}, random_runs=900),
)
_BACK = (Scope(5, {"topology": "switch_over", "crashes": 2, "rotations": 2}, random_runs=2500),)

SET_COLUMNS = {
    "holes close": "executed_sets_close_their_holes",
    "nothing sent again": "nothing_is_sent_again",
    "any source serves": "auto_position_finds_what_it_asks",
    "nothing lost": "no_event_is_lost",
    "size = domains": "state_has_one_entry_per_domain",
}
_SETS = (
    Scope(1, {"failures": 1, "restarts": 1, "purges": 0}),
    Scope(4, {"failures": 1, "restarts": 2, "purges": 2}, random_runs=300),
)
_SAME_FOR_MARIADB = (
    Scope(5, {"topology": "failover", "filter": True, "holes": 3}, random_runs=200),
)


SYNC_TICKS = 4
"""In worker steps; disks need a hundred times more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTiming:
    """A run without errors on the simulated clock."""

    ticks: int
    groups: int
    transactions: int
    lock_waits: int

    @property
    def commits_per_group(self) -> float:
        """Return mean transactions per sync."""
        return self.transactions / self.groups


def group_timing(dialect: str, *, workers: int, transactions: int) -> GroupTiming:
    """Time one domain: a worker step takes a tick, a sync ``SYNC_TICKS``, all else none."""
    recorder = Recorder()
    quiet = dict.fromkeys(("crashes", "stops", "retries", "reads", "cleanups"), 0)
    workload = Workload(
        transactions=transactions, dialect=dialect,
        options={"workers": workers, "domains": 1, **quiet},
    )  # fmt: skip
    replica = GTID_POSITIONS.replica(
        RecordedSchedule([]), workload, dialect, GTID_POSITIONS.options_of(workload), recorder
    )

    def end(step: Step, since: int) -> int:
        if step.label == "group synced":
            return since + SYNC_TICKS
        return since + step.label.startswith("w")

    replica.on_start()
    take_steps(recorder, lambda: sorted(replica.progress_steps(), key=_workers_first), end)
    waits = {one.transaction for one in recorder.events if one.outcome is Outcome.LOCK_WAIT}
    return GroupTiming(
        ticks=recorder.now, groups=replica.groups_made, transactions=len(replica.data),
        lock_waits=len(waits),
    )  # fmt: skip


def _workers_first(step: Step) -> bool:
    return not step.label.startswith("w")


def speed_rows() -> Iterator[list[object]]:
    """Yield the rows about commits per group."""
    for dialect in ("table", "single_row", "binlog"):
        for workers in WORKERS:
            timing = group_timing(dialect, workers=workers, transactions=64)
            per_group = f"{timing.commits_per_group:.1f}"
            waits = timing.lock_waits
            yield [METHOD_WORDS[dialect], workers, per_group, timing.groups, waits, timing.ticks]


def no_single_position(history: History) -> list[str]:
    """Return each start position's cost."""
    prop = property_named("a_single_position_exists")
    breach = prop.violations(history)[0]
    member, source = getattr(breach, "member", ""), getattr(breach, "source", "")
    start = next(
        place for place, event in enumerate(history.events)
        if event.kind is EventKind.STARTED and event.member == member and event.gtid_set
        and source in event.members
    )  # fmt: skip
    before = history.events[:start]
    log = [e.transaction for e in before if e.kind is EventKind.FLUSHED and e.member == source]
    data = {
        event.transaction for event in before
        if event.kind is EventKind.ENGINE_COMMITTED and event.member == member
    }  # fmt: skip
    words = ", ".join(f"T{one}" for one in log)
    lines = [
        f"{source} has logged {words}, all in one domain; {member} has applied "
        f"{', '.join(f'T{one}' for one in sorted(filter(None, data)))}.", "",
        f"| {member} starts | lost | repeated |", "| --- | --- | --- |",
    ]  # fmt: skip
    for place in range(len(log) + 1):
        lost = [f"T{one}" for one in log[:place] if one not in data]
        repeated = [f"T{one}" for one in log[place:] if one in data]
        where = f"after T{log[place - 1]}" if place else "at the beginning"
        lines.append(f"| {where} | {', '.join(lost) or '-'} | {', '.join(repeated) or '-'} |")
    return lines


METHOD_WORDS = {
    "table": "a row per transaction (rpl_slave_state)",
    "table_without_binlog": "the same, log_slave_updates=0",
    "table_unsynced_binlog": "the same, sync_binlog=0",
    "table_with_ddl": "the same; DDL and MyISAM in the log",
    "single_row": "one row per domain",
    "binlog": "the replica's binary log (method 1)",
    "binlog_unsynced": "method 1, sync_binlog=0",
    "binlog_with_ddl": "method 1; DDL and MyISAM in the log",
    "relay_log_info": "the file relay-log.info",
}
RULE_WORDS = {
    "strict": "gtid_strict_mode, a domain per writer",
    "silent": "not strict, a domain per writer",
    "shared_strict": "strict, writers share a domain",
    "shared_warning": "not strict but warned, writers share a domain",
    "shared_silent": "not strict, writers share a domain",
    "out_of_order": "schemas out of order in one domain",
    "going_back": "not strict, sessions set smaller numbers",
}
SET_WORDS = {
    "mysql_5_6": "MySQL 5.6",
    "filters_drop": "filters log nothing",
    "allocates_early": "numbers are assigned at the beginning",
}


def page() -> str:
    """Return the page."""
    assert set(METHOD_WORDS) == set(METHODS)
    assert set(RULE_WORDS) | {"warning"} == set(RULES)
    stories = Stories()
    positions = {
        dialect: (_ONE_WORKER, _TWO_WORKERS)
        + ((_TWO_DOMAINS,) if dialect == "relay_log_info" else ())
        for dialect in METHOD_WORDS
    }
    rules = {
        dialect: (
            _SHARED if dialect.startswith("shared") else
            {"out_of_order": _UNORDERED, "going_back": _BACK}.get(dialect, _SMALL + _RANDOM)
        )
        for dialect in RULE_WORDS
    }  # fmt: skip
    sets, topology = subject_named("gap_free"), subject_named("gtid_topology")
    unordered = decide(topology, "out_of_order", ["a_single_position_exists"], _UNORDERED[:1])
    all_sets = dict.fromkeys(SET_WORDS, _SETS)
    mariadb = {"strict": "MariaDB, the same filter and holes"}
    blocks = {
        "positions": table(
            ["stored in", *POSITION_COLUMNS, "runs"],
            rows_of(
                subject_named("gtid_positions"), POSITION_COLUMNS, METHOD_WORDS, positions, stories
            ),
        ),
        "speed": table(
            ["position", "workers", "commits per group", "syncs", "waited", "ticks"], speed_rows()
        ),
        "rules": table(
            ["rules", *TOPOLOGY_COLUMNS, "runs"],
            rows_of(topology, TOPOLOGY_COLUMNS, RULE_WORDS, rules, stories),
        ),
        "no-single-position": no_single_position(next(iter(unordered.smallest.values()))),
        "sets": table(
            ["state", *SET_COLUMNS, "runs"],
            [
                *rows_of(sets, SET_COLUMNS, SET_WORDS, all_sets, stories),
                *rows_of(topology, SET_COLUMNS, mariadb, {"strict": _SAME_FOR_MARIADB}, stories),
            ],
        ),
    }
    return filled(PAGE, {**blocks, "runs": stories.lines[:-1]})


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.gtid", {PAGE: page()}))
