"""Commands that keep a state between two runs: followed audits, campaigns, compiled kernels."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path

from paraply.auditing.following.follower import Follower
from paraply.auditing.pipeline import AuditRequest
from paraply.campaigning.files import write_counterexamples
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.crash import EXIT_INTERNAL
from paraply.mining.arriving_files import arrived
from paraply.mining.audit_tables import SCHEMAS
from paraply.mining.campaign import run_campaign
from paraply.mining.clusters import clusters_of, distinct, minimise_all
from paraply.mining.engines import InProcess
from paraply.mining.plan import Plan
from paraply.mining.store import store_at
from paraply.mining.systems import systems_of
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.kernel_cache import drop_stale_kernels
from paraply.vocabulary.verdict import EXIT_UNREADABLE
from paraply.vocabulary.whole_files import appearing
from tests.builders.every_command import LOGS
from tests.builders.log_forger import ForgedLog
from tests.builders.rotated_logs import rotated
from tests.simulated_os.runs import Files

FOLLOWED = 3
"""Files of a log, each with some transactions."""
KERNEL = """\
from numba import njit


@njit(cache=True)
def total(count):
    found = 0
    for number in range(count):
        found += number
    return found
"""


# A campaign with a counterexample.


@cache
def _campaign() -> Path:
    place = Path(tempfile.mkdtemp(prefix="simulated-os-")) / "mined"
    systems = systems_of(["certifier:wl8440_literal"], [], {"transactions": "2", "rows": "2"})
    plan = Plan(systems=systems, histories=8, seed=0, batch_histories=4)
    engine = InProcess()
    progress = run_campaign(plan, str(place), engine)
    clusters = clusters_of(progress, goals_only=True, most=1)
    minimals = [*minimise_all(plan, clusters, engine, smallest_of_system)]
    filed = write_counterexamples(
        store_at(str(place)), plan, distinct([one for one in minimals if one is not None])
    )
    assert filed
    return place


def campaign(world: Path) -> None:
    """Copy the folder of a campaign."""
    shutil.copytree(_campaign(), world / "mined")


# A followed audit, without the query of Spark that finds its files.


def rotated_log(world: Path) -> None:
    """Write the files of one log."""
    log = ForgedLog.read(LOGS / "mysql-9.7.4" / "replica" / "bin.000001")
    del log.events[log.starts()[12] :]
    (world / "logs").mkdir()
    rotated(log, world / "logs", FOLLOWED, 0)


def follow(_: list[str]) -> int:
    """Audit the files that the tables do not have; return the exit code."""
    try:
        follower = Follower("out", AuditRequest(files=(), engine="readable"))
        follower.sweep()
        last = follower.files()
        names = [row["file"] for row in last]
        found = arrived("logs", names[0] if names else "", names[-1] if names else "")
        follower.take(found.complete)
        result = follower.result()
        assert result is not None
    except ParaplyError:
        return EXIT_UNREADABLE
    except Exception:
        traceback.print_exc()
        return EXIT_INTERNAL
    print(result.verdict.word, result.transactions)
    return result.verdict.exit_code


def followed(world: Path) -> Files:
    """Return the rows of a followed audit, and its result."""
    if not (world / "out").is_dir():
        return {}
    follower = Follower(str(world / "out"), AuditRequest(files=()))
    found = {}
    for name in SCHEMAS:
        # The name of a state is drawn.
        rows = [row | {"state": ""} for row in follower.tables.rows(name)]
        found[name] = json.dumps(rows, default=str).encode()
    result = follower.result()
    if result is not None:
        found["result"] = f"{result.verdict.word} {result.transactions}".encode()
    return found


# A kernel of numba; those of the tool take minutes to compile so often.


def kernel(world: Path) -> None:
    """Write a module with a kernel, older than what is compiled of it."""
    folder = world / "compiled"
    folder.mkdir()
    (folder / "kernel.py").write_text(KERNEL)
    os.utime(folder / "kernel.py", (1_000_000_000, 1_000_000_000))


@cache
def _compiled() -> Path:
    place = Path(tempfile.mkdtemp(prefix="simulated-os-"))
    kernel(place)
    assert _total(place / "compiled") == sum(range(10))
    return place / "compiled" / "__pycache__"


def kept_kernel(world: Path) -> None:
    """Write a module with a kernel that is compiled already."""
    kernel(world)
    shutil.copytree(_compiled(), world / "compiled" / "__pycache__")


def _total(folder: Path) -> int:
    drop_stale_kernels(folder)
    spec = importlib.util.spec_from_file_location("simulated_kernel", folder / "kernel.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # numba refers to the module by its name. The loader would keep bytecode.
    sys.modules[spec.name] = module
    exec(compile(KERNEL, str(folder / "kernel.py"), "exec"), module.__dict__)
    return int(module.total(10))


def compiled(_: list[str]) -> int:
    """Use a kernel and write what it returns."""
    try:
        total = _total(Path("compiled").resolve())
        with appearing(Path("total.txt")) as part:
            part.write_text(f"{total}\n")
    except Exception:
        traceback.print_exc()
        return EXIT_INTERNAL
    print(total)
    return 0
