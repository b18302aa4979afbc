"""The files that the readers of the pages have: recorded logs and histories under their names."""

import json
import re
import shutil

from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.history_jsonl import write_history
from tests.docs.console import ROOT

BINLOGS = ROOT / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4"
LOG = re.compile(r"(?<![/\w-])binlog\.\d{6}")

REPLICA = [
    {"process": process, "type": kind, "f": "txn", "value": value}
    for process, invoked, read in (
        (0, [["append", "x", 1]], [["append", "x", 1]]),
        (1, [["append", "y", 2]], [["append", "y", 2]]),
        (2, [["r", "x", None], ["r", "y", None]], [["r", "x", []], ["r", "y", [2]]]),
    )
    for kind, value in (("invoke", invoked), ("ok", read))
]
"""A history whose source's log is that of ``gap.edn``."""


def given(folder, commands):
    """Write the files that the commands name."""
    rotation = sorted((BINLOGS / "rotation").glob("bin.0*"))
    named = sorted({name for one in commands for name in LOG.findall(one)})
    for log, name in zip(rotation, named or ("binlog.000001", "binlog.000002"), strict=False):
        shutil.copy(log, folder / name)
    for number in (1, 7):
        shutil.copy(rotation[1], folder / f"bin.{number:06}")
    for place, name in (("source", "bin"), ("replica", "replica-bin")):
        log = BINLOGS / "replica" / f"{name}.000001"
        (folder / place).mkdir()
        shutil.copy(log, folder / f"{place}.000001")
        shutil.copy(log, folder / place / "binlog.000001")
    shutil.copy(BINLOGS / "rotation" / "schema.sql", folder)
    clients = ROOT / "tests" / "fixtures" / "histories"
    shutil.copy(clients / "gap.edn", folder / "history.edn")
    if any("binlog.jsonl" in one for one in commands):  # Else ``binlog.*`` would name it, too.
        shutil.copy(clients / "gap.log.jsonl", folder / "binlog.jsonl")
    shutil.copy(clients / "write-cycle.json", folder / "history.json")
    (folder / "replica.json").write_text(json.dumps(REPLICA))
    (schedule,) = random_schedules(1, 1)
    run = subject_named("applier").run(schedule, Workload(dialect="logical_clock_unordered"))
    text = "".join(f"{line}\n" for line in write_history(run))
    (folder / "out").mkdir()
    for name in ("counterexample.jsonl", "run.jsonl", "out/run.jsonl"):
        (folder / name).write_text(text)
