"""The commands that run on the simulated system, and a watch of two recorded logs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from paraply.__main__ import main
from paraply.crash import EXIT_INTERNAL
from paraply.mining import campaign
from paraply.mining.commits import read_rows
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch, WatchRequest
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.verdict import EXIT_UNREADABLE
from tests.builders.every_command import LOGS
from tests.builders.log_forger import ForgedLog
from tests.simulated_os import kept_states
from tests.simulated_os.runs import Files, Scenario
from tests.simulated_os.system import REAL_CLOCKS
from tests.verifying.watch.runs import judged
from tests.verifying.watch.sent_logs import SentLog

REPORTS = ("--json=r.json", "--html=r.html", "--junit=r.xml", "--sarif=r.sarif")
REPLICA = LOGS / "mysql-9.7.4" / "replica"
TRANSACTIONS = 24
"""Those of a source and its replica that are kept: every call costs runs."""
SAVED_EACH = 8
"""Transactions between two states of the watch."""


def logs(world: Path) -> None:
    """Copy the logs of a source and a replica."""
    shutil.copy(LOGS / "mysql-9.7.4" / "foreign-keys" / "bin.000001", world / "bin.000001")
    beginning(REPLICA / "bin.000001").save(world / "source.000001")
    beginning(REPLICA / "replica-bin.000001").save(world / "target.000001")


def beginning(log: Path) -> ForgedLog:
    """Return the first transactions of a log."""
    found = ForgedLog.read(log)
    del found.events[found.starts()[TRANSACTIONS] :]
    return found


def old_reports(world: Path) -> None:
    """Write logs, and reports of paraply with another verdict."""
    logs(world)
    (world / "r.json").write_text('{\n "paraply": "0", "verdict": "old"}\n')
    (world / "r.html").write_text('<!DOCTYPE html><meta name="generator" content="paraply 0">old')
    (world / "r.xml").write_text('<?xml version="1.0"?><testsuites name="paraply audit">old')


def history(world: Path) -> None:
    """Write a history."""
    (schedule,) = random_schedules(1, 1)
    run = subject_named("applier").run(schedule, Workload(dialect="logical_clock"))
    (world / "history.jsonl").write_text("".join(f"{line}\n" for line in write_history(run)))


def sent_logs(world: Path) -> None:
    """Write beside the world what two servers send; the replica lacks three transactions."""
    folder = world.parent / "servers"
    folder.mkdir(exist_ok=True)
    beginning(REPLICA / "bin.000001").save(folder / "source.000001")
    log = beginning(REPLICA / "replica-bin.000001")
    starts = [*log.starts(), len(log.events)]
    for at in (20, 12, 6):
        del log.events[starts[at] : starts[at + 1]]
    log.save(folder / "target.000001")


def mined(world: Path) -> Files:
    """Return rows and counterexamples of a campaign, and its report without how it came there."""
    found = {}
    report = world / "r.json"
    if report.exists():
        document = json.loads(report.read_bytes()) | {"batches_kept": 0, "remarks": []}
        found["r.json"] = json.dumps(document).encode()
    out = world / "out"
    rows = read_rows(str(out)).to_pylist() if (out / "rows").is_dir() else []
    rows.sort(key=lambda row: (row["system"], row["run"]))
    found["rows"] = json.dumps(rows, default=str).encode()
    for path in sorted(out.rglob("*")):
        parts = path.relative_to(out).parts
        is_internal = parts[0] in ("rows", "states") or any(p.startswith(".") for p in parts)
        if path.is_file() and not is_internal:
            found[str(path.relative_to(world))] = path.read_bytes()
    return found


MINE = (
    "mine", "--subjects=certifier:wl8440_literal", "--workload=transactions=2,rows=2",
    "--histories=8", "--batch=4", "--master=none", "--out=out", "--json=r.json", "--no-times",
)  # fmt: skip

MEASURED = re.compile(rb'(?<="seconds": )[0-9.e-]+|(?<= time=")[0-9.e-]+')

SCENARIOS = (
    Scenario(
        name="audit", words=("audit", "bin.000001", "--engine=readable", *REPORTS), setup=logs,
    ),
    Scenario(
        name="audit over old reports",
        words=("audit", "bin.000001", "--engine=readable", *REPORTS),
        setup=old_reports,
    ),
    Scenario(
        name="audit in parts",
        words=("audit", "bin.000001", "--engine=readable", "--spark", "--master=none",
               "--out=out", "--json=r.json"),
        setup=logs,
    ),
    Scenario(
        name="verify",
        words=("verify", "source.000001", "--target=target.000001", *REPORTS),
        setup=logs,
    ),
    Scenario(
        name="check", words=("check", "history.jsonl", "--json=r.json", "--junit=r.xml"),
        setup=history,
    ),
    Scenario(
        name="conform",
        words=("conform", "--case", "B-prefix-01", "--schedules=1", "--json=r.json",
               "--junit=r.xml", "--sarif=r.sarif",
               "--applier=paraply.adapters.conformance.rules.faulty:WaitsForOneNumber"),
        setup=lambda world: None,
        times=MEASURED,
    ),
    Scenario(
        name="explore",
        words=("explore", "certifier", "--schedules=20", "--transactions=2", "--json=r.json",
               "--dialect=wl8440_literal", "--out=found"),
        setup=lambda world: None,
    ),
    Scenario(
        name="replay", words=("replay", "history.jsonl", "--json=r.json"), setup=history,
    ),
    Scenario(
        name="show", words=("show", "history.jsonl", "--no-alternatives", "--out=r.html"),
        setup=history,
    ),
    Scenario(
        name="mine", words=MINE, setup=lambda world: None, restart=("--resume",), keeps="out/",
        read=mined, target="tests.simulated_os.scenarios:mine",
    ),
    Scenario(
        name="watch",
        words=(),
        setup=sent_logs,
        target="tests.simulated_os.scenarios:watch",
        keeps="state.json",
        grows="findings.jsonl",
    ),
    Scenario(
        name="promote",
        words=("mine", "--promote", "mined", "all", "--regressions=kept"),
        setup=kept_states.campaign,
    ),
    Scenario(
        name="show a campaign", words=("show", "mined", "--out=pages"),
        setup=kept_states.campaign,
    ),
    Scenario(
        name="follow", words=(), setup=kept_states.rotated_log, keeps="out/",
        read=kept_states.followed, target="tests.simulated_os.kept_states:follow",
    ),
    Scenario(
        name="compile a kernel", words=(), setup=kept_states.kernel, keeps="compiled/__pycache__/",
        target="tests.simulated_os.kept_states:compiled",
    ),
    Scenario(
        name="use a kernel", words=(), setup=kept_states.kept_kernel,
        keeps="compiled/__pycache__/", target="tests.simulated_os.kept_states:compiled",
    ),
)  # fmt: skip


def mine(words: list[str]) -> int:
    """Run a campaign that commits each batch."""
    campaign.COMMIT_S = 0.0
    return main(words)


def watch(_: list[str]) -> int:
    """Judge a replica that lacks a transaction and has one of its own; return the exit code."""
    source, target = (
        SentLog(Path(f"../servers/{name}.000001"), name=name, is_mariadb=False)
        for name in ("source", "target")
    )
    request = WatchRequest(
        pairs=[(source, target)],
        options=PairOptions(patience=4, slices=Path("pieces")),
        state=Path("state.json"),
        findings=Path("findings.jsonl"),
    )
    try:
        watch = Watch(request)
        try:
            _judge(watch, target)
        finally:
            watch.end()
    except ParaplyError:
        return EXIT_UNREADABLE
    except (OSError, MemoryError):
        return EXIT_INTERNAL
    print(watch.verdict.word, watch.snapshots()[0].counts)
    return watch.verdict.exit_code


def _judge(watch: Watch, target: SentLog) -> None:
    watch.save()
    steps = 0
    while not judged(target)(watch):
        if not watch.pairs[0].step():
            REAL_CLOCKS["sleep"](0.001)
            continue
        steps += 1
        if steps % SAVED_EACH == 0:
            watch.save()
    watch.save()
