"""Runs paraply as a process, with or without sandbox, and with a decoder that turned hostile."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass

from tests.conftest import REPOSITORY

LOG = REPOSITORY / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "load-full-metadata"

_HOSTILE = """
import importlib, os
def hostile():
{body}
def patched(module, name):
    home = importlib.import_module(module)
    genuine = getattr(home, name)
    def wrapper(*arguments, **options):
        hostile()
        return genuine(*arguments, **options)
    setattr(home, name, wrapper)
import sys
if "paraply" in " ".join(sys.orig_argv):
    patched(*{place!r})
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """The end of a run; the path of the traceback file is replaced."""

    code: int
    out: str
    err: str


def run(*words, folder, injected="", stdin=None, **variables):
    """Run ``paraply`` in ``folder``; ``injected`` is the text of a ``sitecustomize`` module."""
    places = [str(REPOSITORY)]
    if injected:
        (folder / "injected").mkdir(exist_ok=True)
        (folder / "injected" / "sitecustomize.py").write_text(injected)
        places.insert(0, str(folder / "injected"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), **variables}
    done = subprocess.run(
        [sys.executable, "-m", "paraply", *map(str, words)],
        cwd=folder, env=environment, capture_output=True, timeout=120, check=False,
        input=stdin.encode("latin-1") if stdin is not None else None,
    )  # fmt: skip
    kept = re.sub(r"\S+traceback\.txt", "TRACEBACK", done.stderr.decode())
    return Ran(done.returncode, done.stdout.decode(), kept)


def hostile(body, place=("paraply.adapters.binlog.framing", "parse_format_description")):
    """Return a module that runs ``body`` before a function of a reader, by default of logs."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return _HOSTILE.format(body=lines, place=place)
