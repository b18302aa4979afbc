"""Random cases of judges, to compare the answers of changed and unchanged code."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import partial
from itertools import chain
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import Constants
from hypothesis.strategies import SearchStrategy

from paraply.counterexamples.hunt import properties_of
from paraply.mining.drawing import SEEDS, drawn_schedule, drawn_workload
from paraply.properties.isolation.bank import judge_bank
from paraply.properties.isolation.counters import LoggedIncrement, judge_logged_increments
from paraply.properties.isolation.judging import judge as judge_isolation
from paraply.properties.isolation.objects import judge_objects, levels_of_objects
from paraply.properties.isolation.prefixes import judge_prefixes
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.logs.lint_gtids import _SeenNumbers
from paraply.properties.logs.naive_conflict_graph import check_all_pairs
from paraply.properties.logs.part_borders import Carried
from paraply.properties.logs.parts import PartAudit, total
from paraply.properties.logs.ranged_audit import RangedAuditor
from paraply.properties.moments import first_breaking_event
from paraply.properties.registry import Property, Violation
from paraply.properties.search import random_schedules, search
from paraply.properties.shrinking import ReadableOracle, shrink
from paraply.properties.tables.breaches import breaches_of
from paraply.properties.tables.compiled.timestamps import (
    SummaryFold,
    check_in_chunks,
    check_whole,
)
from paraply.properties.tables.timestamps import TableRow, summarise
from paraply.properties.tables.timestamps import check_all_pairs as all_rows
from paraply.properties.two_logs.alignment import begin_within
from paraply.properties.two_logs.following import Followed
from paraply.properties.two_logs.identity import Named, judge_identity
from paraply.properties.two_logs.rule import judge as judge_two_logs
from paraply.properties.two_logs.streaming import judge_streaming
from paraply.properties.two_logs.versions import versions_are_the_sources
from paraply.reference_impl.subject import Subject
from paraply.registries import registered_mutants, registered_subjects
from paraply.vocabulary.client_history import ClientHistory, DataType
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.log import LoggedKind, LoggedTransaction
from paraply.vocabulary.schema import Column, KeyPart, SchemaSource, TableSchema, UniqueKey
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import ISOLATED, Transaction
from tests.builders.logged import NotationKeys, key, transaction
from tests.properties.isolation.object_runs import Fault, run
from tests.properties.isolation.strategies import database_histories, recorded_histories
from tests.properties.logged_strategies import (
    KEYS,
    STATEMENTS,
    TABLES,
    mariadb_logs,
    mysql_logs,
)
from tests.properties.tables.test_breaches import folded
from tests.properties.tables.test_timestamps import columns, pieces, summary_of, tables
from tests.properties.test_replay_borders import (
    count_from,
    cut_points,
    parts_of,
    replay_of,
    replayed_in_parts,
    whole,
)
from tests.properties.test_replay_borders import logs as rows_logs
from tests.properties.test_search import PROPERTY, system
from tests.properties.two_logs.small_histories import history as two_logs
from tests.properties.two_logs.test_blame import blamed
from tests.properties.two_logs.test_following import logs as growing
from tests.properties.two_logs.test_following import run as grow
from tests.properties.two_logs.test_identity import drawn as named

RUNS_EACH = 2
"""Per subject, or mutant of it, and dialect."""
EDITS = 4
"""Damaged copies of a run."""
CASES = 200
"""Cases of judges that take no history."""

Answer = tuple[str, ...]


def cases(number: int) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Yield named cases of a seed; calling one gives the judges' answers."""
    draw = random.Random(number)
    for name, history, judges in histories(draw):
        yield name, partial(of_history, history, judges)
    yield from seeded_cases(number, CASES)
    yield from drawn_cases(number, CASES)


def seeded_cases(number: int, count: int) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Yield cases that depend on the seed alone."""
    draw = random.Random(number)
    for kind in (DataType.SET, DataType.COUNTER):
        for at in range(count // 5):
            fault = draw.choice([None, *Fault])
            one = run(kind, number + at, lag_max=draw.randrange(3), fault=fault)
            yield f"{kind.value} history", partial(_of_objects, one)
    for at in range(count):
        yield "money", partial(_of_money, random.Random(f"{number}/{at}"))
        yield "shrinking", partial(_shrunk, number * count + at)
        yield "numbers", partial(_of_numbers, random.Random(f"{number}/{at}"))
        yield "blamed rows", partial(_blamed, random.Random(f"{number}/{at}"))
    for at in range(2 * count):
        source, target, name = two_logs(random.Random(f"{number}/{at}"))
        yield f"two logs, {name}", partial(_as_answer, judge_two_logs, source, target)
        yield f"two logs, {name}", partial(_as_answer, judge_streaming, source, target)
        far = frozenset(draw.sample(range(4), draw.randrange(3)))
        yield "two logs, far apart", partial(_far_apart, source, target, far)
        yield "versions", partial(_as_answer, versions_are_the_sources, source, target)
        yield "begin", partial(_as_answer, begin_within, source, target[at % 3 :])
    for at in range(2 * count):
        both = named(random.Random(number + at))
        yield "named logs", partial(_as_answer, judge_identity, *both)
        yield "growing logs", partial(_growing, *(list(map(_entry, log)) for log in both))
    for at in range(2 * count):
        for applier in ("logical-clock", "commit-group"):
            log = random_log(random.Random(f"{number}/{at}"), applier)
            yield f"{applier} log", partial(_of_log, log, applier)
            yield f"{applier} log by pairs", partial(_as_answer, check_all_pairs, log, applier)
            yield f"range of {applier} log", partial(_of_range, log, applier)


def drawn_cases(number: int, count: int) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Yield cases that Hypothesis draws; another version of it draws others."""
    for log in drawn(mysql_logs(uncertain=True, unkeyed=True), number, count):
        yield "MySQL log", partial(_of_log, log, "logical-clock")
    for log in drawn(mariadb_logs(), number, count):
        yield "MariaDB log", partial(_of_log, log, "commit-group")
    for kind in (DataType.LIST, DataType.REGISTER):
        for strategy in (recorded_histories(kind), database_histories(kind, lag_max=2)):
            for one in drawn(strategy, number, count):
                yield f"{kind.value} history", partial(_as_answer, judge_isolation, one)
                yield f"{kind.value} history, compiled", partial(_compiled, one)
                if one.log is not None:
                    yield f"{kind.value} history", partial(_as_answer, judge_prefixes, one)
    for log, cuts in drawn(st.tuples(mysql_logs(unkeyed=True), cut_points), number, count):
        yield "log in parts", partial(_in_parts, log, cuts, "logical-clock")
    for log, cuts in drawn(st.tuples(mariadb_logs(), cut_points), number, count):
        yield "log in parts", partial(_in_parts, log, cuts, "commit-group")
    for log, cuts in drawn(st.tuples(rows_logs(), cut_points), number, count):
        yield "rows", partial(_as_answer, whole, log, 5)
        yield "rows in parts", partial(_rows_in_parts, log, cuts)
        yield "rows, guessed", partial(_rows_guessed, log, cuts)
    for both in drawn(growing(), number, count):
        yield "growing logs", partial(_growing, *both)
    for rows in drawn(tables(), number, count):
        yield "table", partial(_as_answer, summarise, rows)
        yield "table by pairs", partial(_as_answer, all_rows, rows)
        yield "table in two", partial(_in_two, rows)
        yield "table breaches", partial(_as_answer, breaches_of, rows)
        yield "table breaches, compiled", partial(_as_answer, folded, rows, [len(rows) // 2])
        yield "table, compiled", partial(_of_table, rows)


def drawn(strategy: SearchStrategy[Any], number: int, count: int = CASES) -> list[Any]:
    """Return examples of a strategy."""
    found: list[Any] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(one: Any) -> None:
        found.append(one)

    # Constants of the code would change what is drawn whenever the code changes.
    with patch("hypothesis.internal.conjecture.providers._get_local_constants", Constants):
        collect()
    return found


def histories(draw: random.Random) -> Iterator[tuple[str, History, Sequence[Property]]]:
    """Yield runs of every subject and named mutant, each followed by damaged copies."""
    for name, subject, dialect in _systems():
        judges = properties_of(subject)
        for _ in range(RUNS_EACH):
            workload = drawn_workload(subject, dialect, draw)
            try:
                history = subject.run(drawn_schedule(draw.randrange(SEEDS)), workload)
            except Exception:
                if subject in registered_subjects():
                    raise
                continue  # A mutant may crash.
            yield name, history, judges
            yield f"{name}, as servers record", as_recorded(history, draw), judges
            for _ in range(EDITS):
                yield f"{name}, damaged", damaged(history, draw), judges


def _systems() -> Iterator[tuple[str, Subject, str]]:
    for subject in registered_subjects():
        for dialect in subject.dialects:
            yield f"{subject.name} {dialect}", subject, dialect
    for mutant in registered_mutants():
        yield mutant.name, mutant.subject, mutant.workload.dialect


def damaged(history: History, draw: random.Random) -> History:
    """Drop, repeat, move or alter one to three events."""
    events = list(history.events)
    for _ in range(draw.randint(1, 3)):
        if len(events) < 2:
            break
        at, other = draw.sample(range(len(events)), 2)
        kind = draw.randrange(4)
        if kind == 0:
            del events[at]
        elif kind == 1:
            events.insert(other, events[at])
        elif kind == 2:
            events.insert(other, events.pop(at))
        else:
            events[at] = _mixed(events[at], events[other], draw)
    return replace(history, events=tuple(events))


def _mixed(one: Event, other: Event, draw: random.Random) -> Event:
    """Return an event with one field of another."""
    name = draw.choice(one._fields[1:])
    return one._replace(**{name: getattr(other, name)})


def as_recorded(history: History, draw: random.Random) -> History:
    """Return a run with what only recordings have: sessions of clients, and snapshot versions."""
    sessions, has_snapshots = ("c1", "c2"), draw.randrange(2) == 0

    def recorded(one: Transaction) -> Transaction:
        named = replace(one, session=draw.choice(sessions))
        if not has_snapshots:
            return named
        return replace(
            named,
            timestamp=LogicalTimestamp.as_recorded(draw.randrange(one.id), one.id),
            snapshot_version=draw.randrange(one.id),
            flags=one.flags | draw.choice([frozenset(), frozenset(), {ISOLATED}]),
        )

    reads = {at for at, one in enumerate(history.events) if one.kind is EventKind.READ}
    return replace(
        history,
        transactions=tuple(map(recorded, history.transactions)),
        events=tuple(
            one._replace(session=draw.choice(sessions)) if at in reads else one
            for at, one in enumerate(history.events)
        ),
    )


def of_history(history: History, judges: Sequence[Property]) -> Answer:
    return tuple(_of_property(history, one) for one in judges)


def _of_property(history: History, prop: Property) -> str:
    try:
        breaches = sorted(map(told, prop.violations(history)))
        first = first_breaking_event(history, prop)
        return f"{prop.name}: {breaches} {first} {told(prop.evidence(history))}"
    except Exception as error:
        return f"{prop.name}: raises {type(error).__name__}"


class _Keys(NotationKeys):
    """Knows what one of the tables is like."""

    def schema_of(self, table: str) -> TableSchema | None:
        if table != "d.t":
            return None
        columns = Column(name="id"), Column(name="")
        parts = KeyPart(column=0), KeyPart(column=1, prefix_length=4), KeyPart(column=2)
        return TableSchema(
            name=table,
            columns=columns,
            unique_keys=(UniqueKey(name="uk", parts=parts),),
            sources={SchemaSource.DUMP},
        )


def _of_log(log: Sequence[Any], applier: str) -> Answer:
    auditor = Auditor(_Keys(), _options(log, applier))
    for one in log:
        auditor.observe(one)
    return (told(auditor.result()),)


def _of_range(log: Sequence[Any], applier: str) -> Answer:
    """Judge the middle third of a log."""
    auditor = RangedAuditor(NotationKeys(), _options(log, applier))
    third = len(log) // 3
    for at, one in enumerate(log):
        if third <= at < len(log) - third:
            auditor.observe(one)
        else:
            auditor.pass_over(one, follow_rows=True)
    return (told(auditor.result()),)


def _in_parts(log: Sequence[LoggedTransaction], cuts: Sequence[int], applier: str) -> Answer:
    options, parts, before = _options(log, applier), [], 0
    short, carried = Carried(), []
    for part in parts_of(log, cuts):
        for first in (0, before // 2):
            auditor = Auditor(NotationKeys(), options)
            audit = PartAudit(auditor, from_file_start=not first)
            for one in log[first:before]:
                auditor.observe(one)
            audit.begin()
            for one in part:
                auditor.observe(one)
            found = audit.end()[0]
            if not first:
                parts.append(found)
            carried.append(short.get_faults(found.borders))
        short.add(parts[-1].borders)
        before += len(part)
    return told(parts), told(total(parts, options)), told(carried)


def _rows_in_parts(log: Sequence[LoggedTransaction], cuts: Sequence[int]) -> Answer:
    found, border = replayed_in_parts(log, cuts, 5)
    return told(found), told(border.fingerprint())


def _rows_guessed(log: Sequence[LoggedTransaction], cuts: Sequence[int]) -> Answer:
    """Guess what is known after each part from what the part alone left."""
    carried = replay_of(5).nothing()
    found = []
    for part in parts_of(log, cuts):
        _, alone = count_from(replay_of(5), part, replay_of(5).nothing())
        _, followed = count_from(replay_of(5), part, pickle.loads(pickle.dumps(carried)))
        carried.go_on(alone, len(part), followed if len(part) % 2 else None)
        found.append(carried.fingerprint())
    return (told(found),)


def _options(log: Sequence[Any], applier: str) -> AuditOptions:
    """Return limits that every third log exceeds."""
    options = AuditOptions(appliers=(applier,))
    if len(log) % 3:
        return options
    few = 1 + len(log) // 3
    horizon = Horizon(keys=few, transactions=2 * few)
    return replace(options, replay_rows_max=few, violations_max=few, lint_max=few, horizon=horizon)


def _compiled(one: ClientHistory) -> Answer:
    with patch("paraply.properties.isolation.judging.READABLE_MAX", 0):
        return _as_answer(judge_isolation, one)


def random_log(draw: random.Random, applier: str) -> list[LoggedTransaction]:
    """Return a log with restarts, gaps, DDL, parents' locks and rows without a key."""
    log: list[LoggedTransaction] = []
    number = clock = 0
    for ordinal in range(1, draw.randint(2, 14)):
        if draw.randrange(12) == 0:
            clock, number = clock + 1, 0
        number += draw.choice((1, 1, 1, 1, 2, 3))
        stamp: dict[str, object] = {"last_committed": draw.randrange(number)}
        stamp["sequence_number"] = number
        if applier == "commit-group":
            stamp = {"commit_id": draw.choice((None, 1, 1, 2)), "domain": draw.choice((0, 0, 1))}
        is_ddl = draw.randrange(12) == 0
        keys = " ".join(draw.sample(KEYS, draw.randrange(3)))
        read = f" / {draw.choice(KEYS)}" if draw.randrange(4) == 0 else ""
        rare = [draw.randrange(5) == 0 for _ in range(3)]
        is_half = draw.randrange(20) == 0
        time_s = 10_000 + 10 * ordinal - (5_000 if draw.randrange(12) == 0 else 0)
        log.append(
            transaction(
                ordinal,
                "" if is_ddl else f"{keys}{read}",
                kind=LoggedKind.DDL if is_ddl else LoggedKind.ROWS,
                statements=(draw.choice(STATEMENTS),) if is_ddl else (),
                unkeyed=[draw.choice(TABLES)] if rare[0] and not is_ddl else [],
                locked_keys=frozenset({key(draw.choice(KEYS))} if rare[1] else ()),
                reached_tables=frozenset({draw.choice(TABLES)} if rare[2] else ()),
                gtid=f"{stamp.get('domain', 0)}-1-{ordinal}",
                file=f"bin.{clock + 1:06}",
                clock=clock,
                complete=not is_half,
                lacks_beginning=is_half and draw.randrange(2) == 0,
                server_id=draw.choice((1, 1, 1, 2)),
                event_time_s=time_s,
                committed_at_us=1_000_000 * time_s,
                **stamp,
            )
        )
    return log


def _entry(one: Named) -> Followed[Any]:
    content = tuple(one.commit.changes.items())
    return Followed(name=one.name, rows=len(content), group=one.group, content=content)


def _growing(source: Sequence[Any], target: Sequence[Any]) -> Answer:
    judge, found = grow(source, target, patience=2, ahead=1, kill_at=(len(target) // 2,))
    left = judge.open, judge.behind, judge.waiting(2), judge.gaps(), judge.is_behind_itself
    return told(found), told(judge.state().as_json()), told(left)


def _of_table(rows: Sequence[TableRow]) -> Answer:
    whole = columns(rows)
    fold = SummaryFold()
    for stretch in pieces(whole, [len(rows) // 2]):
        fold.add(summary_of([stretch], 4))
    counts = check_whole(whole), check_in_chunks(whole, 3), fold.counts
    return (*map(told, counts), told(fold.counts.verdict))


def _in_two(rows: Sequence[TableRow]) -> Answer:
    middle = len(rows) // 2
    return (told(summarise(rows[:middle]) + summarise(rows[middle:])),)


def _far_apart(source: Sequence[Any], target: Sequence[Any], excluded: frozenset[int]) -> Answer:
    """Judge with little memory, and without some keys."""
    judgement = judge_streaming(source, target, window=3, reach=2, excluded=excluded, near=1)
    return told(judgement), told(judge_streaming(source, target, window=2, reach=1))


def _of_objects(one: ClientHistory) -> Answer:
    findings = judge_objects(one)
    return told(findings), told(levels_of_objects(findings, one.data_type))


def _of_money(draw: random.Random) -> Answer:
    """Judge reads of a bank, and increments of counters."""
    amounts = [(f"r{at}", draw.choice((100, 100, 99))) for at in range(draw.randrange(4))]
    expected = draw.choice((None, 100))
    logged = [
        LoggedIncrement(f"T{at}", draw.choice("xy"), draw.randrange(3), draw.randrange(3))
        for at in range(draw.randrange(6))
    ]
    return told(judge_bank(amounts, expected=expected)), told(judge_logged_increments(logged))


def _shrunk(number: int) -> Answer:
    """Shrink the first breach of a small system."""
    found = search(system, PROPERTY, random_schedules(number, 500))
    assert found is not None
    oracle = ReadableOracle(system, PROPERTY)
    few = shrink(oracle, found, runs_max=1 + number % 30)
    return told(few), told(shrink(oracle, few)), told(oracle.enumerated(number % 300))


def _of_numbers(draw: random.Random) -> Answer:
    """Note sequence numbers one by one and in runs."""
    seen, found = _SeenNumbers(), []
    for _ in range(draw.randrange(12)):
        first = draw.randrange(1, 12)
        last = first + draw.randrange(3)
        may_run = seen.may_run_to(first, last)
        if may_run:
            seen.run_to(last)
        found.append((may_run, seen.add(last + 1), told(vars(seen))))
        if draw.randrange(8) == 0:
            seen.forget_lowest_half()
    return (told(found),)


def _blamed(draw: random.Random) -> Answer:
    guilty, others = (frozenset(draw.sample(range(20), draw.randrange(6))) for _ in range(2))
    return (told(blamed(guilty, guilty | others)),)


def told(value: object) -> str:
    """Return a text that does not depend on the order of sets."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(told, value)))}}}"
    if isinstance(value, dict):
        items = sorted(f"{told(key)}: {told(one)}" for key, one in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(told, value))})"
    if is_dataclass(value) and not isinstance(value, type):
        asked = [one.name for one in fields(value)] + [
            name
            for kind in reversed(type(value).mro())
            for name, one in vars(kind).items()
            if isinstance(one, property) and not name.startswith("_")
        ]
        values = ", ".join(f"{name}={told(_asked(value, name))}" for name in asked)
        return f"{type(value).__name__}({values}){value if isinstance(value, Violation) else ''}"
    if type(value).__module__.startswith("paraply.") and not isinstance(value, Enum):
        names = chain.from_iterable(getattr(one, "__slots__", ()) for one in type(value).mro())
        held = {name: getattr(value, name, None) for name in names} | getattr(value, "__dict__", {})
        return f"{type(value).__name__}({told(held)})"
    return repr(value)


def _asked(value: object, name: str) -> object:
    try:
        return getattr(value, name)
    except Exception as error:
        return type(error).__name__


def _as_answer(judge: Callable[..., object], *given: object) -> Answer:
    return (told(judge(*given)),)
