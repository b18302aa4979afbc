"""Isolation: operations per second, against the same search in networkx.

An operation is one read or append; a transaction has one to four. Inputs are a serializable
history, one with lagging snapshots (every cycle kind), and lagging replica reads against the log.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import networkx as nx

from ci.bench.measure import Run, Runs, interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.properties.isolation.compiled.cycles import CompiledSearch
from paraply.properties.isolation.judging import Isolation, judge, readable_search, versions_of
from paraply.properties.isolation.prefixes import judge_prefixes
from paraply.vocabulary.client_history import (
    Access,
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
)

TRANSACTIONS = 20_000
KEYS = 10
"""Active keys, each up to KEY_APPENDS_MAX elements."""
KEY_APPENDS_MAX = 32
SESSIONS = 10
LAG_MAX = 3
"""In commits."""
OPERATIONS_PER_SECOND_MIN = 200_000
TIMES_FASTER_MIN = 2.0


@benchmark("isolation")
def isolation(options: Options) -> Report:
    """Decide histories by kernels and networkx."""
    report = Report(
        benchmark="isolation",
        input=f"list-append, {TRANSACTIONS:,} transactions of 1 to 4 operations, {KEYS} keys in "
        f"use, {SESSIONS} sessions, seed {options.seed}",
    )
    serial = draw_history(random.Random(options.seed), lag_max=0)
    lagging = draw_history(random.Random(options.seed), lag_max=LAG_MAX)
    replicas = draw_history(random.Random(options.seed), lag_max=LAG_MAX, only_readers_lag=True)
    _all_levels("serializable", serial, options, report)
    _all_levels("with cycles", lagging, options, report)
    _prefixes(replicas, options, report)
    return report


def draw_history(
    chance: random.Random, *, lag_max: int, only_readers_lag: bool = False
) -> ClientHistory:
    """Return a history with snapshots up to ``lag_max`` commits old.

    With ``only_readers_lag``, writers use the source and each reader session a monotonic replica.
    """
    lists: dict[int, tuple[int, ...]] = {}
    lengths: dict[int, list[int]] = {}
    in_use, next_key, element = list(range(KEYS)), KEYS, 0
    transactions: list[ClientTransaction] = []
    log: list[int] = []
    shown = [0] * SESSIONS
    for number in range(1, TRANSACTIONS + 1):
        session = number % SESSIONS
        is_reader = only_readers_lag and chance.random() < 0.5
        place = len(log)
        if lag_max and (is_reader or not only_readers_lag):
            place = max(shown[session], place - chance.randint(0, lag_max))
            shown[session] = place
        own: dict[int, tuple[int, ...]] = {}
        accesses = []
        for _ in range(chance.randint(1, 4)):
            which = chance.randrange(KEYS)
            key = in_use[which]
            if not is_reader and chance.random() < 0.5:
                element += 1
                accesses.append(Access(AccessKind.APPEND, key, element))
                own[key] = (*own.get(key, ()), element)
                if len(lists.get(key, ())) >= KEY_APPENDS_MAX:
                    in_use[which], next_key = next_key, next_key + 1
            else:
                seen = lists.get(key, ())[: _length_at(lengths.get(key, []), place)]
                accesses.append(Access(AccessKind.READ, key, seen + own.get(key, ())))
        for key, added in own.items():
            lists[key] = lists.get(key, ()) + added
            lengths.setdefault(key, []).extend([len(log)] * len(added))
        if own:
            log.append(number)
        begin = 2 * number - chance.randrange(6)
        transactions.append(
            ClientTransaction(
                number=number, ending=Ending.COMMITTED, accesses=tuple(accesses),
                session=f"s{session}", invoked=begin, completed=2 * number + chance.randrange(6),
            )
        )  # fmt: skip
    return ClientHistory(data_type=DataType.LIST, transactions=tuple(transactions), log=tuple(log))


def _length_at(places: list[int], place: int) -> int:
    length = len(places)
    while length and places[length - 1] >= place:
        length -= 1
    return length


def _operations(history: ClientHistory) -> int:
    return sum(len(one.accesses) for one in history.transactions)


def _all_levels(name: str, history: ClientHistory, options: Options, report: Report) -> None:
    search = CompiledSearch()
    fast = judge(history, search=search)
    _check_equal(name, fast, judge(history, search=readable_search))
    runs = interleave(
        {
            "paraply": _timed(lambda: judge(history, search=CompiledSearch())),
            "networkx": _timed(lambda: judge(history, search=readable_search)),
        },
        options.rounds,
    )
    operations = _operations(history)
    for contestant, result in runs.items():
        _add(f"{contestant}, {name}", result, operations, report)
    cycles = sum(len(one.breaches) for one in fast.findings if one.phenomenon.cycle)
    report.remarks.append(f"{name}: {operations:,} operations, {cycles:,} cycles shown")
    if not cycles:
        _promise(f"all levels, {name}", operations / runs["paraply"].cpu_seconds, report)
    report.goals.append(
        Goal(
            name=f"all levels, {name}: networkx over paraply", wanted=TIMES_FASTER_MIN,
            got=runs["networkx"].seconds / runs["paraply"].seconds,
        )
    )  # fmt: skip


def _prefixes(history: ClientHistory, options: Options, report: Report) -> None:
    if judge_prefixes(history).impossible or not explained_by_networkx(history):
        raise RuntimeError("prefixes: a state of the log was refused")
    runs = interleave(
        {
            "paraply": _timed(lambda: judge_prefixes(history)),
            "networkx": _timed(lambda: explained_by_networkx(history)),
        },
        options.rounds,
    )
    operations = _operations(history)
    for contestant, result in runs.items():
        _add(f"{contestant}, prefixes", result, operations, report)
    _promise("prefixes", operations / runs["paraply"].cpu_seconds, report)
    report.goals.append(
        Goal(
            name="prefixes: networkx over paraply", wanted=TIMES_FASTER_MIN,
            got=runs["networkx"].seconds / runs["paraply"].seconds,
        )
    )  # fmt: skip


def explained_by_networkx(history: ClientHistory) -> bool:
    """Return whether log prefixes explain all reads."""
    versions = versions_of(history)
    graph = nx.DiGraph()
    graph.add_edges_from((one.source, one.target) for one in versions.dependencies())
    log = history.log or ()
    graph.add_edges_from((before - 1, after - 1) for before, after in pairwise(log))
    return bool(nx.is_directed_acyclic_graph(graph))


def _add(contestant: str, runs: Runs, operations: int, report: Report) -> None:
    report.add(contestant, "operations", operations / runs.seconds, "1/s")
    report.add(contestant, "operations", operations / runs.cpu_seconds, "1/CPU-s")


def _check_equal(name: str, fast: Isolation, plain: Isolation) -> None:
    for one, other in zip(fast.findings, plain.findings, strict=True):
        if one.verdict is not other.verdict or len(one.breaches) != len(other.breaches):
            raise RuntimeError(f"{name}: the contestants disagree on {one.phenomenon.label}")


def _promise(name: str, per_second: float, report: Report) -> None:
    report.goals.append(
        Goal(
            name=f"{name}: operations per CPU second",
            wanted=OPERATIONS_PER_SECOND_MIN,
            got=per_second,
        )
    )


def _timed(work: Callable[[], object]) -> Callable[[], Run]:
    return lambda: run_here(work)
