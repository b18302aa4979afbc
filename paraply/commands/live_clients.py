"""``paraply live --workload list-append``: clients judged against the vendors' documents."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from paraply.adapters.elle.histories import BankHistory
from paraply.adapters.elle.writing import edn_lines, json_lines
from paraply.adapters.live.clients.options import (
    NO_WAIT,
    ClientOptions,
    IsolationLevel,
    Route,
)
from paraply.adapters.live.clients.run import ClientRound, client_rounds
from paraply.adapters.live.clients.site import wait_named
from paraply.adapters.live.nemeses.choosing import chosen
from paraply.adapters.live.nemeses.kinds import NEMESES
from paraply.adapters.live.nemeses.plan import RANDOM
from paraply.adapters.live.target import LiveRequest, LiveTarget
from paraply.errors import USAGE
from paraply.number_arguments import positive
from paraply.observing.clients import (
    ClientResult,
    Status,
    new_client_result,
    take_client_round,
)
from paraply.reporting.clients_text import client_json, client_text
from paraply.reporting.files import STANDARD_OUTPUT, make_folder, write_report
from paraply.reporting.json_document import json_document
from paraply.vocabulary.client_history import DataType
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict, combine

_ALL = "all"


def add_client_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of client workloads."""
    defaults = ClientOptions()
    group = parser.add_argument_group("clients that read and write (--workload list-append ...)")
    levels = [level.value for level in IsolationLevel]
    group.add_argument(
        "--isolation", nargs="+", choices=[*levels, _ALL], metavar="L",
        default=[defaults.isolation.value],
        help=f"{', '.join(levels)}, or all ({defaults.isolation.value})",
    )  # fmt: skip
    group.add_argument(
        "--reads", choices=[route.value for route in Route], default=defaults.reads.value,
        help="where read-only transactions run: where the client writes, elsewhere, or any server"
        f" ({defaults.reads.value})",
    )  # fmt: skip
    group.add_argument(
        "--wait", default=NO_WAIT, metavar="S",
        help="what reads wait for: gtid-wait (replicas), sync-wait (galera), or as"
        f" group_replication_consistency: before-and-after ... (mysql-gr) ({NO_WAIT})",
    )  # fmt: skip
    group.add_argument(
        "--keys", type=positive, default=defaults.keys, metavar="N",
        help=f"keys in use at one time, accounts or counters ({defaults.keys})",
    )  # fmt: skip
    group.add_argument(
        "--operations", type=positive, default=defaults.operations, metavar="N",
        help=f"most operations of a transaction ({defaults.operations})",
    )  # fmt: skip
    group.add_argument(
        "--read-only", type=_share, default=defaults.read_only, metavar="P",
        help=f"share of read-only transactions, 0 to 1 ({defaults.read_only})",
    )  # fmt: skip
    group.add_argument(
        "--nemesis", metavar="N",
        help=f"faults of members, with commas between them, at moments drawn from --seed:"
        f" {', '.join(NEMESES)}; or {RANDOM}",
    )  # fmt: skip
    group.add_argument(
        "--export", action="store_true",
        help="write every recording into --out (EDN, JSON, the log's order); without it, only"
        " those that refute a document",
    )  # fmt: skip


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 1")
    return share


def run_clients(
    target: LiveTarget, arguments: argparse.Namespace, requests: Sequence[LiveRequest]
) -> int:
    """Run all modes and levels; return the gravest exit code."""
    wait_named(target.name, arguments.wait)
    for request in requests:
        if request.nemeses:
            # Before any server starts, for every round.
            for number in range(request.rounds):
                chosen(target.name, replace(request, seed=request.seed + number))
    if arguments.keys < 2:
        raise ParaplyError(USAGE, reason="--keys must be at least 2", command="paraply live")
    results: list[ClientResult] = []

    def overall() -> Verdict:
        return combine(
            one.verdict(allow_documented=arguments.allow_expected) for one in results
        )  # fmt: skip

    try:
        for request in requests:
            for options in _options_of(arguments):
                results.append(new_client_result(target.name, request, options))
                _run_rounds(results[-1], arguments)
                if arguments.json != STANDARD_OUTPUT:
                    sys.stdout.write(client_text(results[-1]))
                    sys.stdout.flush()
    finally:
        # Keep results from before an interruption or error.
        if arguments.json is not None:
            documents = [client_json(one) for one in results]
            write_report(
                arguments.json, json_document({"verdict": overall().word, "results": documents})
            )
    return overall().exit_code


def _options_of(arguments: argparse.Namespace) -> Iterator[ClientOptions]:
    asked = [IsolationLevel(one) for one in arguments.isolation if one != _ALL]
    for level in IsolationLevel if _ALL in arguments.isolation else asked:
        yield ClientOptions(
            workload=arguments.workload,
            isolation=level,
            reads=Route(arguments.reads),
            wait=arguments.wait,
            keys=arguments.keys,
            operations=arguments.operations,
            read_only=arguments.read_only,
        )


def _run_rounds(result: ClientResult, arguments: argparse.Namespace) -> None:
    with closing(client_rounds(result.target, result.request, result.options)) as rounds:
        for one in rounds:
            take_client_round(result, one)
            refuted = any(
                each.status in (Status.REFUTED, Status.KNOWN) for each in result.findings.values()
            )
            if arguments.export or refuted:
                result.histories += export(Path(arguments.out), _name(result, one), one)


def _name(result: ClientResult, one: ClientRound) -> str:
    options = result.options
    words = (result.target, result.request.mode, options.workload, options.isolation.value,
             options.reads.value, options.wait, str(one.seed))  # fmt: skip
    return "-".join(words)


def export(folder: Path, name: str, one: ClientRound) -> list[str]:
    """Write a recording as EDN and JSON, and the log's order; return the files."""
    make_folder(str(folder))
    texts = {
        f"{name}.edn": edn_lines(one.recorder.with_nemeses()),
        f"{name}.json": json_lines(one.recorder.with_nemeses()),
    }
    if not isinstance(one.history, BankHistory) and one.history.log is not None:
        texts[f"{name}.log.jsonl"] = _log_lines(one)
    written = []
    for file, lines in texts.items():
        path = str(folder / file)
        write_report(path, "".join(f"{line}\n" for line in lines))
        written.append(path)
    return written


def _log_lines(one: ClientRound) -> Iterator[str]:
    assert not isinstance(one.history, BankHistory)
    by_number = {each.number: each for each in one.history.transactions}
    for number in one.history.log or ():
        if one.history.data_type is DataType.COUNTER:
            yield json.dumps(number)
            continue
        yield json.dumps([[key, value] for _, key, value in by_number[number].writes])
