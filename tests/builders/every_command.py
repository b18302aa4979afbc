"""A short run of every command, with the outputs that it can write."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

from paraply.adapters.servers.existing import ExistingServer
from paraply.commands import COMMANDS
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.history_jsonl import write_history
from tests.observing.test_live_judging import TARGET, healthy
from tests.verifying.watch.sent_logs import SentLog

LOGS = Path(__file__).parents[1] / "fixtures" / "binlogs"
LOG = LOGS / "mysql-9.7.4" / "keys" / "bin.000001"
CLOCK = "paraply.adapters.conformance.rules.correct:LogicalClock"

RUNS = {
    "audit": (
        "{log}", "--json={json}", "--junit={junit}", "--sarif={sarif}", "--engine=readable",
    ),
    "check": ("{history}", "--json={json}", "--junit={junit}"),
    "compare": ("--workload=hot-keys", "--transactions=40", "--json={json}"),
    "completion": ("bash",),
    "conform": (
        "--case=B-prefix-01", "--schedules=2", f"--applier={CLOCK}", "--json={json}",
        "--junit={junit}",
    ),
    "doctor": ("--json={json}",),
    "explore": ("applier", "--schedules=4", "--json={json}"),
    "list": ("subjects", "--json={json}"),
    "live": ("toy", "--out={out}", "--json={json}"),
    "mine": (
        "--subjects=applier:logical_clock", "--histories=4", "--master=none", "--out={out}",
        "--json={json}",
    ),
    "mutants": ("first_item_decides", "--json={json}"),
    "prove": ("P07", "--solver=kernel", "--json={json}"),
    "replay": ("{history}", "--json={json}"),
    "verify": (
        "{log}", "--target={log}", "--json={json}", "--junit={junit}", "--sarif={sarif}",
    ),
    "watch": (
        "--source=mysql://watch@source", "--target=mysql://watch@replica", "--for=1",
        "--state={state}", "--findings={lines}", "--metrics=0",
    ),
    "show": ("{history}", "--no-alternatives", "--out={html}"),
}  # fmt: skip
assert set(RUNS) == {command.name for command in COMMANDS}, "give each command a run"


def sent_log(server: ExistingServer, *, replica_id: int) -> SentLog:
    """Return a recorded log in place of a running server's."""
    name = server.dsn.host
    path = LOGS / "mysql-9.7.4" / "replica" / f"{'' if name == 'source' else 'replica-'}bin.000001"
    return SentLog(path, name=name, identity=f"{name}/{replica_id}", is_mariadb=False)


def prepared(monkeypatch, folder: Path, command: str) -> list[str]:
    """Return the words of a run with its files in ``folder``; ``live`` gets a target of its own."""
    monkeypatch.setattr("paraply.commands.live.TARGETS", (TARGET,))
    toy = SimpleNamespace(run=lambda request: iter([healthy()]))
    monkeypatch.setitem(sys.modules, TARGET.module, toy)
    monkeypatch.setattr("paraply.commands.watch.ServerStream", sent_log)
    history = folder / "history.jsonl"
    if not history.exists():
        subject = subject_named("applier")
        (schedule,) = random_schedules(1, 1)
        history.write_text("".join(f"{line}\n" for line in write_history(
            subject.run(schedule, Workload(dialect="logical_clock")))))  # fmt: skip
    names = {
        "log": LOG, "history": history, "json": folder / "r.json", "junit": folder / "r.xml",
        "html": folder / "r.html", "sarif": folder / "r.sarif", "out": folder / "out",
        "state": folder / "state.json", "lines": folder / "findings.jsonl",
    }  # fmt: skip
    return [command, *(word.format(**names) for word in RUNS[command])]
