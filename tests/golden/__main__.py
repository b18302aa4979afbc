"""Golden files: what a command prints, kept beside the command that prints it.

``python -m tests.golden`` compares, ``python -m tests.golden --overwrite`` writes them again; look
at the difference before committing it. The first line of a file is its command, the second its
exit code, the rest what it printed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import sys
from pathlib import Path
from unittest import mock

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent
COMMAND = "# COMMAND: "
EXIT = "# EXIT: "


def golden_files():
    """Return every golden file; none at all is an error, not an empty success."""
    found = sorted(FOLDER.glob("*/*.txt"))
    if not found:
        raise FileNotFoundError(f"no golden file under {FOLDER}")
    return found


def command_of(path):
    first, *_ = path.read_text(encoding="utf-8").splitlines() or [""]
    if not first.startswith(COMMAND):
        raise ValueError(f"{path}: the first line is not '{COMMAND}...'")
    return first.removeprefix(COMMAND)


def expected_text(command):
    """Run a command in this process, from the root of the source tree, as a pipe would see it."""
    from paraply.cli import main as paraply
    from tests.builders.show_report import main as show_report

    words = shlex.split(command)
    programs = {
        ("paraply",): paraply,
        ("python", "-m", "tests.builders.show_report"): show_report,
    }
    name, program = next(
        (name, program) for name, program in programs.items() if tuple(words[: len(name)]) == name
    )
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    before = Path.cwd()
    os.chdir(REPOSITORY)
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            mock.patch.dict(os.environ, {"COLUMNS": "100"}),
        ):
            code = program(words[len(name) :])
    finally:
        os.chdir(before)
    text = printed.buffer.getvalue().decode("utf-8")
    return f"{COMMAND}{command}\n{EXIT}{code}\n{text}"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--overwrite", action="store_true", help="write the files again")
    arguments = parser.parse_args(argv)
    stale = 0
    for path in golden_files():
        text = expected_text(command_of(path))
        if text != path.read_text(encoding="utf-8"):
            stale += 1
            if arguments.overwrite:
                path.write_text(text, encoding="utf-8")
            print(f"{'wrote' if arguments.overwrite else 'differs'}: {path.name}")
    return 1 if stale and not arguments.overwrite else 0


if __name__ == "__main__":
    sys.exit(main())
