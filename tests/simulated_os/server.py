"""Runs commands on the simulated system, each in a fork of a process that has all modules and
templates.

A job is one line of JSON on standard input; its result is one line on standard output.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import signal
import sys
import tempfile
import traceback
from pathlib import Path

from paraply.reporting.html import template_environment
from tests.simulated_os.system import CRASHES, Fault, SimulatedSystem

TIMEOUT_S = 600.0
TOOL = (
    str(Path(__file__).parents[2] / "paraply") + os.sep,
    str(Path(__file__).with_name("writers.py")),
)


def run_child(job: dict) -> None:
    """Run one job in this process, and end it."""
    world, notes = Path(job["world"]), Path(job["notes"])
    os.chdir(world)
    tempfile.tempdir = str(world / "tmp")
    for handle, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(notes / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), handle)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    fault = None if job["fault"] is None else Fault[job["fault"]]

    def note(code: int | None = None) -> None:
        system.__exit__()
        found = {"code": code, "calls": system.calls, "modules": [*sys.modules]}
        (notes / "result").write_text(json.dumps(found), encoding="utf-8")

    system = SimulatedSystem(
        world, notes / "shadow", tool=TOOL, at=job["at"], fault=fault, on_crash=note
    )
    module, _, name = job["target"].partition(":")
    target = getattr(importlib.import_module(module), name)
    with system:
        code = target(job["words"])
        atexit._run_exitfuncs()
        gc.collect()
        if fault in CRASHES and job["at"] > len(system.calls):
            system.lose()  # The machine fails right after the end.
    note(code)
    os._exit(0)


def run(job: dict) -> dict:
    """Run one job in a fork; return its notes."""
    notes = Path(job["notes"])
    (notes / "shadow").mkdir(parents=True)
    gc.freeze()  # The child's collections would copy every page of this process.
    pid = os.fork()
    if pid == 0:
        try:
            run_child(job)
        except BaseException:
            (notes / "stderr").write_text(traceback.format_exc(), encoding="utf-8")
        finally:
            os._exit(98)
    with open(os.pidfd_open(pid), "rb", closefd=True) as child:
        if not select.select([child], [], [], TIMEOUT_S)[0]:
            os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    result = {"code": None, "calls": [], "modules": []}
    if (notes / "result").exists():
        result = json.loads((notes / "result").read_text(encoding="utf-8"))
    for name in ("stdout", "stderr"):
        result[name] = (notes / name).read_text(encoding="utf-8") if (notes / name).exists() else ""
    for name in result.pop("modules"):
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except ImportError:
                continue  # A module that its package makes, such as six.moves.
    return result


def main() -> None:
    """Run the jobs of standard input."""
    pages = template_environment()
    for name in pages.list_templates():
        if name.endswith(".j2"):
            pages.get_template(name)
    for line in sys.stdin:
        sys.__stdout__.write(json.dumps(run(json.loads(line))) + "\n")
        sys.__stdout__.flush()


if __name__ == "__main__":
    main()
