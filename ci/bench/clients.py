"""Client workloads on real servers: transactions per second, and time to the first violation.

The time runs from the first invocation to the last end of the transactions that the earliest breach
names. Targets whose servers are not installed are left out.
"""

from __future__ import annotations

import re
from contextlib import closing

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.live.clients.options import (
    CLIENT_WORKLOADS,
    LIST_APPEND,
    ClientOptions,
    IsolationLevel,
    Route,
)
from paraply.adapters.live.clients.run import ClientRound, client_rounds
from paraply.adapters.live.target import LiveRequest, target_named
from paraply.adapters.live.targets import TARGETS
from paraply.properties.isolation.freshness import judge_freshness
from paraply.properties.isolation.judging import judge
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.errors import ParaplyError

TRANSACTIONS = 3_000
SECONDS_MAX = 60.0
CLIENTS = 8
_LOADS = {
    **{("mariadb", workload): Route.SOURCE for workload in CLIENT_WORKLOADS},
    ("mysql", LIST_APPEND): Route.SOURCE,
    ("galera", LIST_APPEND): Route.ANY,
    ("mysql-gr", LIST_APPEND): Route.ANY,
}
_PUBLISHED = {
    "mariadb": ("internal", "P4", "G-single", "G2-item"),
    "mysql": ("internal", "P4", "G-single", "G2-item"),
    "galera": ("P4", "G-single", "stale read"),
}
"""Found by Jepsen on healthy servers at REPEATABLE READ (2023, 2026)."""
_NAME = re.compile(r"\bT(\d+)\b")
_SECOND_NS = 1e9


@benchmark("clients")
def clients(options: Options) -> Report:
    """Run each load once."""
    report = Report(
        benchmark="clients",
        input=f"{TRANSACTIONS:,} confirmed transactions of {CLIENTS} clients at REPEATABLE READ, at"
        f" most {SECONDS_MAX:.0f} s, seed {options.seed}",
    )
    for (target, workload), route in _LOADS.items():
        try:
            one = _run(target, workload, route, options.seed)
        except ParaplyError as reason:
            report.remarks.append(f"{target}, {workload}: left out: {reason.text}")
            continue
        name = f"{target}, {workload}"
        report.add(name, "confirmed", float(one.evidence["committed per second"]), "1/s")
        if workload == LIST_APPEND and isinstance(one.history, ClientHistory):
            for label in _PUBLISHED.get(target, ()):
                _first(name, label, one.history, report)
    return report


def _run(target: str, workload: str, route: Route, seed: int) -> ClientRound:
    request = LiveRequest(
        mode=target_named(target, TARGETS).modes[0], clients=CLIENTS, transactions=TRANSACTIONS,
        duration_s=SECONDS_MAX, seed=seed,
    )  # fmt: skip
    level = IsolationLevel.REPEATABLE_READ
    options = ClientOptions(workload=workload, isolation=level, reads=route)
    with closing(client_rounds(target, request, options)) as rounds:
        (one,) = rounds
    return one


def seconds_to_first(label: str, history: ClientHistory) -> float | None:
    """Return the seconds to the first breach of a phenomenon, or None."""
    finding = judge_freshness(history) if label == "stale read" else judge(history).finding(label)
    ends = {one.number: one.completed for one in history.transactions}
    began = min(one.invoked for one in history.transactions)
    moments = [
        max(ends[int(number)] for number in _NAME.findall(str(breach)))
        for breach in finding.breaches
    ]  # fmt: skip
    return (min(moments) - began) / _SECOND_NS if moments else None


def _first(name: str, label: str, history: ClientHistory, report: Report) -> None:
    seconds = seconds_to_first(label, history)
    if seconds is None:
        report.remarks.append(f"{name}: no {label} in {len(history.transactions):,} transactions")
    report.goals.append(
        Goal(
            name=f"{name}: seconds to the first {label}", wanted=SECONDS_MAX,
            got=float("inf") if seconds is None else seconds, at_most=True,
        )
    )  # fmt: skip
