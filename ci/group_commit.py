"""``python -m ci.group_commit``: predicted and measured effects of a delay of group commits.

A MySQL source runs each load with each delay. The log without a delay gives the predictions; those
with one give the group sizes and speed-ups that they are compared with. Foreign keys refer to each
table, so that WRITESET falls back to commit order.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from ci.pages.stored_results import beside_measured, read_results
from ci.pages.writing import ROOT, table
from paraply.adapters.servers import Server, ServerRoom, find_mysql
from paraply.adapters.servers.replication import begin_binary_log
from paraply.auditing.counterfactuals import DELAYS_US, delayed
from paraply.auditing.logged_source import Extent, Source, logged_source
from paraply.auditing.predicting import prediction
from paraply.reference_impl.comparison.appliers import AS_LOGGED
from tests.timing.loads import (
    JOURNAL,
    LOADS,
    SCHEMA,
    TABLES,
    definitions,
    first_rows,
    play,
    restored_rows,
)

STORE = ROOT / "docs" / "measured-delays.jsonl"
LOGS = ROOT / "tests" / "fixtures" / "delays"
TESTED = ("uniform", "hot", "popular", "tables")
TRANSACTIONS = 40
"""Per client."""
PAUSE_S = 0.01
"""After each statement; much longer than a busy machine takes."""
ROUNDS = 5
WORKERS = 8
APPLIER = "mysql-as-logged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a source did, or would do, with a delay.

    Attributes:
        group: mean transactions with one ``last_committed``.
        speedup: of a replica with :data:`WORKERS` workers, by the clock.
        seconds: from the first write to the binary log to the last.
    """

    group: float
    speedup: float
    seconds: float


def schema() -> list[str]:
    """Return the definitions of the tables, and of one without rows that refers to each."""
    parents = [name for name in TABLES if name not in (JOURNAL, "plain")]
    return [
        f"CREATE DATABASE {SCHEMA}",
        *definitions(),
        *(f"CREATE TABLE {SCHEMA}.of_{name} (id INT PRIMARY KEY, at INT,"
          f" FOREIGN KEY (at) REFERENCES {SCHEMA}.{name} (id))" for name in parents),
    ]  # fmt: skip


@cache
def stored(name: str) -> Source:
    """Return the stored log of a load, without a delay."""
    return source_of(LOGS / f"{name}.000001.gz", LOGS / "schema.sql")


def source_of(log: Path, definitions: Path) -> Source:
    """Return a whole log."""
    return logged_source((str(log),), str(definitions), Extent())


def effect_of(source: Source) -> Effect:
    """Return what a log, or a prediction of one, shows."""
    stamps = [stamp for stamp in source.stamps[AS_LOGGED] if stamp is not None]
    times = [task.logged_at_us or 0 for task in source.log.tasks[1:]]
    return Effect(
        group=round(len(stamps) / len({stamp.last_committed for stamp in stamps}), 3),
        speedup=prediction(source, APPLIER, (WORKERS,)).speedup[WORKERS],
        seconds=round((max(times) - min(times)) / 1e6, 3),
    )


def record(server: Server, name: str, delay: int, folder: Path) -> Path:
    """Run a load with a delay and return its log."""
    server.run(["SET SESSION sql_log_bin=0", *restored_rows()])
    server.query(f"SET GLOBAL binlog_group_commit_sync_delay={delay}")
    log = begin_binary_log(server)
    play(replace(LOADS[name], transactions=TRANSACTIONS), server, 0, PAUSE_S)
    begin_binary_log(server)
    found = folder / f"{name}-{delay}.000001"
    shutil.copy(server.datadir / log, found)
    return found


@cache
def predicted(name: str, delay: int) -> Effect:
    """Return what the stored log of a load predicts."""
    return effect_of(delayed(stored(name), delay, is_tracking=True)[0])


def blocks() -> dict[str, list[str]]:
    """Return the generated blocks of ``docs/measured-replicas.md``."""
    rows, errors = [], []
    for one in read_results(STORE):
        then = predicted(one["load"], one["delay"])
        measured = one["speedup"]
        if one["delay"]:
            errors.append(abs(then.speedup / median(measured) - 1))
        rows.append([
            one["load"], str(one["delay"]), beside_measured(then.group, one["group"]),
            beside_measured(then.speedup, measured), beside_measured(then.seconds, one["seconds"]),
        ])  # fmt: skip
    summary = (
        f"{len(errors)} cells with a delay: the median error of the speed-up is "
        f"{median(errors):.1%}, the greatest {max(errors):.1%}."
    )
    head = ["load", "delay in µs", "transactions per group", "speed-up", "seconds at the source"]
    return {"delays-summary": [summary], "delays": list(table(head, rows))}


def main() -> int:
    """Run every load with every delay, in turns, and store what the logs show."""
    parser = argparse.ArgumentParser(prog="python -m ci.group_commit", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    cells = [(name, delay) for name in TESTED for delay in (0, *DELAYS_US)]
    found: dict[tuple[str, int], list[Effect]] = {cell: [] for cell in cells}
    LOGS.mkdir(parents=True, exist_ok=True)
    tables = LOGS / "schema.sql"
    tables.write_text("".join(f"{one};\n" for one in schema()))
    with ServerRoom() as room, TemporaryDirectory() as folder:
        options = ["--binlog-row-metadata=FULL", "--sync-binlog=1"]
        server = room.start(find_mysql(), options=options)
        server.run([*schema(), *first_rows()])
        version = server.installation.version_text
        # Delays take turns, so that a slow minute of the machine hits all of them.
        for _ in range(rounds):
            for name, delay in cells:
                log = record(server, name, delay, Path(folder))
                if not delay and not found[name, delay]:
                    kept = gzip.compress(log.read_bytes(), mtime=0)
                    (LOGS / f"{name}.000001.gz").write_bytes(kept)
                found[name, delay].append(effect_of(source_of(log, tables)))
                print(name, delay, found[name, delay][-1], flush=True)
    STORE.write_text("".join(
        json.dumps({
            "server": f"MySQL {version}", "load": name, "delay": delay,
            "group": [one.group for one in effects],
            "speedup": [one.speedup for one in effects],
            "seconds": [one.seconds for one in effects],
        }) + "\n"
        for (name, delay), effects in found.items()
    ))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
