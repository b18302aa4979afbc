"""What the page runs: the command ``paraply audit`` on the files in /logs."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from pathlib import Path

LOGS, OUT = Path("/logs"), Path("/out")


def words_of(names: list[str]) -> list[str]:
    """Return the command's words: logs by their number, and dumps (``.sql``) as schemas."""
    dumps = sorted(name for name in names if name.endswith(".sql"))
    logs = sorted(
        (name for name in names if name not in dumps),
        key=lambda name: [int(part) if part.isdigit() else 0 for part in re.split(r"(\d+)", name)],
    )
    return [*logs, *(word for name in dumps for word in ("--schema", name))]


def run() -> str:
    """Return the exit code, the printed report and the written files, as JSON."""
    # Imported late: the page loads this module before the first file is dropped.
    from paraply.cli import main

    OUT.mkdir(exist_ok=True)
    files = {"json": OUT / "report.json", "html": OUT / "report.html"}
    for file in files.values():
        file.unlink(missing_ok=True)
    os.chdir(LOGS)
    said, complained = io.StringIO(), io.StringIO()
    outputs = [word for option, file in files.items() for word in (f"--{option}", str(file))]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            code = main(["audit", *words_of(os.listdir()), *outputs])
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os.chdir("/")
    written = {
        option: file.read_text(encoding="utf-8") if file.is_file() else ""
        for option, file in files.items()
    }
    return json.dumps(
        {"code": code, "text": said.getvalue(), "error": complained.getvalue(), **written}
    )
