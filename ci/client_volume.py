"""Run many client transactions on every live target, and judge each recording twice.

``python -m ci.client_volume [--only TARGET...] [--transactions N]`` adds rounds of 10,000 confirmed
transactions to docs/client-volume.jsonl, to the target with the fewest, until each has ``N``
(200,000); a later run continues. The servers are healthy; semi-sync rounds lose their source.

The second opinion has two parts. The readable search and the readable session guarantees must find
as many breaches of each phenomenon as the compiled ones. And a phenomenon that holds with the log's
order of versions must not be violated by the orders that reads alone show, as Elle infers them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from ci.check import ROOT
from ci.existing_servers import data_source_names, servers_named_in
from ci.pages.stored_results import read_results
from paraply.adapters.live.clients.options import ClientOptions, IsolationLevel, Route
from paraply.adapters.live.clients.run import ClientRound, client_rounds
from paraply.adapters.live.existing.target import EXISTING
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.live.targets import TARGETS
from paraply.observing.clients import Status, new_client_result, take_client_round
from paraply.properties.isolation.compiled.cycles import CompiledSearch
from paraply.properties.isolation.judging import Isolation, judge, readable_search, versions_of
from paraply.properties.isolation.sessions import session_guarantees
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

STORE = ROOT / "docs" / "client-volume.jsonl"
WANTED = 200_000
_ROUND = 10_000
_SECONDS_MAX = 300.0
_CLIENTS = 8
_NO_SERVER = 3
_WORKLOADS = (
    ("list-append", "repeatable-read", "source"),
    ("list-append", "serializable", "source"),
    ("rw-register", "repeatable-read", "any"),
    ("list-append", "read-committed", "source"),
    ("long-fork", "repeatable-read", "any"),
)
"""Workload, level and where readers read; rounds take them in turn."""


def second_opinion(history: ClientHistory) -> list[str]:
    """Return the phenomena on which a second checker contradicts the first."""
    first = judge(history, search=CompiledSearch())
    readable = judge(history, search=partial(readable_search, any_suffices=True))
    found = [
        f"{one.phenomenon.label}: {len(one.breaches)} by kernels, {len(other.breaches)} without"
        for one, other in zip(first.findings, readable.findings, strict=True)
        if one.verdict is not other.verdict or len(one.breaches) != len(other.breaches)
    ]
    sessions = session_guarantees(versions_of(history))
    for one in first.findings:
        judged = sessions.get(one.phenomenon.guarantee)  # type: ignore[arg-type]
        if judged is not None and len(judged.breaches) != len(one.breaches):
            found.append(
                f"{one.phenomenon.label}: {len(one.breaches)} by kernels,"
                f" {len(judged.breaches)} without"
            )
    if history.log is not None:
        found += _contradictions(first, judge(replace(history, log=None), search=CompiledSearch()))
    return found


def _contradictions(with_log: Isolation, without: Isolation) -> Iterator[str]:
    violated = {
        one.phenomenon.label for one in without.findings if one.verdict is Verdict.VIOLATED
    }  # fmt: skip
    for one in with_log.findings:
        if one.verdict is Verdict.HOLDS and one.phenomenon.label in violated:
            yield f"{one.phenomenon.label}: holds by the log's order, violated without it"


def _told(one: ClientRound, target: str, request: LiveRequest, options: ClientOptions) -> Any:
    assert isinstance(one.history, ClientHistory)
    began = time.process_time()
    result = new_client_result(target, request, options)
    take_client_round(result, one)
    judged = time.process_time() - began
    return {
        "target": target,
        "mode": request.mode,
        "server": one.evidence["server"],
        "workload": options.workload,
        "isolation": options.isolation.value,
        "reads": options.reads.value,
        "seed": one.seed,
        "transactions": one.evidence["transactions"],
        "committed": one.evidence["committed"],
        "committed per second": one.evidence["committed per second"],
        "operations": sum(len(each.accesses) for each in one.history.transactions),
        "log order": one.history.log is not None,
        "judged in CPU seconds": round(judged, 2),
        "seen": {
            each.label: each.broken
            for each in result.findings.values() if each.view == "all" and each.broken
        },
        "undocumented": sorted(
            each.label for each in result.findings.values() if each.status is Status.REFUTED
        ),
        "contradicted": second_opinion(one.history),
    }  # fmt: skip


def _next_round(target: str, done: int) -> tuple[LiveRequest, ClientOptions]:
    mode = next(one.modes[0] for one in TARGETS if one.name == target)
    if target == "mariadb":
        mode = "optimistic"
    workload, level, reads = _WORKLOADS[done % len(_WORKLOADS)]
    servers = next(iter(data_source_names())) if target == EXISTING.name else ()
    request = LiveRequest(
        mode=mode, clients=_CLIENTS, transactions=_ROUND, duration_s=_SECONDS_MAX,
        seed=1_000 + done, servers=servers,
    )  # fmt: skip
    options = ClientOptions(
        workload=workload, isolation=IsolationLevel(level), reads=Route(reads)
    )  # fmt: skip
    return request, options


def add_round(target: str, number: int) -> None:
    """Run a target's round, counted from 0, and store it."""
    request, options = _next_round(target, number)
    with (
        servers_named_in(" ".join(request.servers)),
        closing(client_rounds(target, request, options)) as rounds,
    ):
        told = [_told(one, target, request, options) for one in rounds]
    with STORE.open("a", encoding="utf-8") as store:
        store.writelines(f"{json.dumps(one, sort_keys=True)}\n" for one in told)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing; exit code 1 for a contradiction, 3 without servers."""
    parser = argparse.ArgumentParser(prog="python -m ci.client_volume", description=__doc__)
    names = [one.name for one in TARGETS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="TARGET")
    parser.add_argument("--transactions", type=int, default=WANTED, metavar="N")
    arguments = parser.parse_args(argv)
    left = set(arguments.only)
    while True:
        stored = read_results(STORE)
        done = dict.fromkeys(left, (0, 0))
        for one in stored:
            if one["target"] in left:
                confirmed, rounds = done[one["target"]]
                done[one["target"]] = confirmed + int(one["committed"]), rounds + 1
        target, (confirmed, rounds) = min(
            done.items(), key=lambda each: each[1], default=("", (arguments.transactions, 0))
        )
        if confirmed >= arguments.transactions:
            break
        print(f"{target}: {confirmed:,} confirmed in {rounds} rounds", flush=True)
        try:
            add_round(target, rounds)
        except ParaplyError as reason:
            print(f"{target}: left out: {reason.text}", flush=True)
            left.remove(target)
    if any(one["contradicted"] for one in stored):
        return 1
    return 0 if left == set(arguments.only) else _NO_SERVER


if __name__ == "__main__":
    sys.exit(main())
