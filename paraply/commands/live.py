"""``paraply live``: judge real servers under load and faults."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from paraply.adapters.live.clients.options import CLIENT_WORKLOADS
from paraply.adapters.live.existing.target import EXISTING
from paraply.adapters.live.target import (
    HEALTHY,
    MODE_GONE,
    LiveRequest,
    LiveRound,
    LiveTarget,
    target_named,
)
from paraply.adapters.live.targets import TARGETS
from paraply.commands.live_clients import add_client_options, run_clients
from paraply.errors import USAGE
from paraply.file_arguments import JsonFile, OutputFolder
from paraply.number_arguments import positive, positive_seconds
from paraply.observing.judging import LiveResult, history_to_keep, new_result, take_round
from paraply.observing.pages import LivePages
from paraply.reporting.files import STANDARD_OUTPUT, make_folder, replacing, write_report
from paraply.reporting.json_document import json_document
from paraply.reporting.live_text import result_json, result_text, targets_text
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.group_trace_jsonl import write_group_trace
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.verdict import Verdict, combine

_EXAMPLE = """\
examples:
  paraply live --list
  paraply live mariadb --mode optimistic conservative --rounds 10
  paraply live mariadb --fault kill-replica --html pages/
  paraply live --dsn mysql://me@db1:3306 mysql://me@db2:3306 --transactions 500
  paraply live galera --workload list-append --isolation repeatable-read --wait sync-wait

exit codes: 0 every property holds, but for those that nothing seen under this mode and fault could
answer (shown as unknown, with the reason); 1 one is broken; 2 one is unknown because its situation
did not occur, or nothing was answered at all; 3 no server is installed, or the request is wrong
"""
_ALL = "all"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Start real servers on the loopback interface, drive a load, do what a fault says, watch\n"
        "logs, snapshots and row touches, and judge the history by every property that applies.\n"
        "Servers and their directories are gone at the end, however it ends. With --dsn, servers\n"
        "that are already there are used: the load has a schema of its own, which is dropped at\n"
        "the end; nothing else is written, set, stopped or dropped."
    )
    parser.epilog = _EXAMPLE
    defaults = LiveRequest(mode="")
    parser.add_argument("target", nargs="?", metavar="TARGET", help="see --list")
    parser.add_argument("--list", action="store_true", help="list targets, modes and faults")
    parser.add_argument("--mode", nargs="+", metavar="M", help="the target's first; all: each")
    parser.add_argument(
        "--workload", default=defaults.workload, metavar="W",
        help=f"the load (mixed); clients that read and write: {', '.join(CLIENT_WORKLOADS)}",
    )  # fmt: skip
    parser.add_argument(
        "--fault", nargs="+", default=[HEALTHY], metavar="F", help="none; all: each, and none"
    )
    for name, what in (
        ("workers", "applier threads"),
        ("replicas", "replicas of the source"),
        ("domains", "replication domains that the clients write to"),
        ("clients", "concurrent clients"),
        ("rounds", "rounds; each is a history of its own"),
        ("transactions", "a round ends after so many"),
    ):
        value = getattr(defaults, name)
        parser.add_argument(
            f"--{name}", type=positive, default=value, metavar="N", help=f"{what} ({value:,})"
        )
    parser.add_argument(
        "--duration", type=positive_seconds, default=defaults.duration_s, metavar="S",
        help=f"or after so many seconds of load ({defaults.duration_s:.0f})",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, default=defaults.seed, metavar="S", help="of random choices (0)"
    )
    parser.add_argument(
        "--dsn", nargs="+", default=[], metavar="DSN",
        help="servers that are already there, the source first: mysql://USER@HOST:PORT,"
        " mysql://USER@/?socket=PATH; password also in PARAPLY_DSN_PASSWORD",
    )  # fmt: skip
    parser.add_argument(
        "--drop-leftovers", action="store_true",
        help="with --dsn: drop schemas that killed runs left; none may be in use",
    )  # fmt: skip
    parser.add_argument("--basedir", type=Path, metavar="DIR", help="the server's tree")
    parser.add_argument("--keep", action="store_true", help="leave the servers' directories")
    parser.add_argument(
        "--allow-expected", action="store_true",
        help="what a fault is documented to break does not make the exit code 1",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=OutputFolder, default="live-findings", metavar="DIR",
        help="where histories that break something are kept (live-findings)",
    )  # fmt: skip
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    add_client_options(parser)
    parser.add_argument(
        "--html", type=OutputFolder, metavar="DIR", help="write pages to step through"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run all modes and faults; return the gravest exit code."""
    if arguments.list:
        sys.stdout.write(targets_text(TARGETS))
        return 0
    if arguments.dsn and arguments.target not in (None, EXISTING.name):
        reason = f"--dsn takes servers that are there; it goes with no TARGET '{arguments.target}'"
        raise ParaplyError(USAGE, reason=reason, command="paraply live")
    if arguments.drop_leftovers and not arguments.dsn:
        reason = "--drop-leftovers goes with --dsn"
        raise ParaplyError(USAGE, reason=reason, command="paraply live")
    if arguments.dsn:
        arguments.target = EXISTING.name
    if arguments.target is None:
        raise ParaplyError(USAGE, reason="name a TARGET, or --list", command="paraply live")
    target = target_named(arguments.target, TARGETS)
    if arguments.workload in CLIENT_WORKLOADS:
        with _ended_in_order():
            return run_clients(target, arguments, client_requests(target, arguments))
    if arguments.nemesis is not None:
        reason = f"--nemesis needs a client workload: {', '.join(CLIENT_WORKLOADS)}"
        raise ParaplyError(USAGE, reason=reason, command="paraply live")
    requests = requests_of(target, arguments)
    for request in requests:
        target.check(request)
    pages = None if arguments.html is None else LivePages(Path(arguments.html))
    results: list[LiveResult] = []
    try:
        with _ended_in_order():
            for request in requests:
                results.append(new_result(target, request))
                try:
                    _run_rounds(target, results[-1], arguments, pages)
                except ParaplyError as error:
                    if error.error is not MODE_GONE or _ALL not in (arguments.mode or ()):
                        raise
                    results.pop()
                    sys.stderr.write(f"left out: {error.text}\n")
                    continue
                if arguments.json != STANDARD_OUTPUT:
                    sys.stdout.write(result_text(results[-1]))
                    sys.stdout.flush()
    finally:
        # Keep results from before an interruption or error.
        if pages is not None:
            pages.write_index(results)
        if arguments.json is not None:
            documents = [result_json(result) for result in results]
            verdict = _overall(results, arguments)
            write_report(
                arguments.json, json_document({"verdict": verdict.word, "results": documents})
            )
    return _overall(results, arguments).exit_code


def _overall(results: Sequence[LiveResult], arguments: argparse.Namespace) -> Verdict:
    return combine(result.verdict(allow_documented=arguments.allow_expected) for result in results)


def requests_of(target: LiveTarget, arguments: argparse.Namespace) -> list[LiveRequest]:
    """Return one request per mode and fault."""
    modes: Sequence[str] = arguments.mode or target.modes[:1]
    faults: Sequence[str] = arguments.fault
    if _ALL in modes:
        modes = target.modes
    if _ALL in faults:
        faults = (HEALTHY, *target.faults)
    return [
        LiveRequest(
            mode=mode,
            fault=fault,
            workload=arguments.workload,
            workers=arguments.workers,
            replicas=arguments.replicas,
            domains=arguments.domains,
            clients=arguments.clients,
            rounds=arguments.rounds,
            transactions=arguments.transactions,
            duration_s=arguments.duration,
            seed=arguments.seed,
            nemeses=tuple(arguments.nemesis.split(",")) if arguments.nemesis else (),
            servers=tuple(arguments.dsn),
            basedir=arguments.basedir,
            keep=arguments.keep,
            drop_leftovers=arguments.drop_leftovers,
            say=_say,
        )
        for mode in modes
        for fault in faults
    ]


def client_requests(target: LiveTarget, arguments: argparse.Namespace) -> list[LiveRequest]:
    """Return one request per mode for a client workload; P301 or P620 for a wrong one."""
    if arguments.fault != [HEALTHY] or arguments.html is not None:
        option = "--html" if arguments.html is not None else "--fault"
        reason = f"{option} does not go with --workload {arguments.workload}"
        raise ParaplyError(USAGE, reason=reason, command="paraply live")
    usual = LiveRequest(mode="")
    requests = [replace(one, workload=usual.workload) for one in requests_of(target, arguments)]
    for request in requests:
        # Client loads take both on every target.
        target.check(replace(request, clients=usual.clients, duration_s=usual.duration_s))
    return requests


def _say(line: str) -> None:
    if sys.stderr.isatty():
        print(f"live: {line}", file=sys.stderr)


def _run_rounds(
    target: LiveTarget,
    result: LiveResult,
    arguments: argparse.Namespace,
    pages: LivePages | None,
) -> None:
    request = result.request
    with closing(_rounds(target, request)) as rounds:
        for one in rounds:
            broken = take_round(result, one)
            name = f"{target.name}-{request.mode}-{request.fault}-{one.seed}"
            if broken:
                result.findings.append(
                    str(keep_history(Path(arguments.out), name, history_to_keep(result, one)))
                )
            if one.trace is not None and one.number in result.rounds_unlike_reference:
                make_folder(arguments.out)
                file = Path(arguments.out) / f"{name}.trace.jsonl.gz"
                with replacing(str(file), "group trace") as part:
                    write_group_trace(one.trace, part)
                result.findings.append(str(file))
            if pages is not None and (broken or one.number == 1):
                pages.add(name, one.history, target.properties)


def _rounds(target: LiveTarget, request: LiveRequest) -> Generator[LiveRound, None, None]:
    # Closing this generator closes the target's, which stops the servers.
    yield from target.run(request)


def keep_history(folder: Path, name: str, history: History) -> Path:
    """Write a history to a new file."""
    make_folder(str(folder))
    file = folder / f"{name}.jsonl"
    write_report(str(file), "".join(f"{line}\n" for line in write_history(history)))
    return file


@contextmanager
def _ended_in_order() -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
