"""`make demo`: audit recorded logs and write reports to ``out/demo``.

The last log has a forged fault.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from paraply.vocabulary.verdict import EXIT_UNREADABLE
from tests.builders.log_forger import ForgedLog

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "tests" / "fixtures" / "binlogs"
OUT = ROOT / "out" / "demo"

SHOWN = (
    "mysql-9.7.4/keys",
    "mysql-9.7.4/rotation",
    "mysql-9.7.4/foreign-keys",
    "mysql-9.7.4/statements",
    "mariadb-10.11.19/load-full-metadata",
    "mariadb-10.11.19/compressed",
    "mariadb-10.11.19/domains",
)
"""Safe logs, unknown ones, several files."""

FORGED = "mysql-9.7.4/load-full-metadata"
"""Concurrent load on a few hot rows."""


def log_files(scenario: str) -> list[Path]:
    """Return a scenario's source logs in order."""
    folder = LOGS / scenario
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return [folder / entry["file"] for entry in manifest["logs"]["source"]["files"]]


def overlap_neighbours(path: Path, copy: Path) -> Path:
    """Let each transaction overlap its predecessor."""
    log = ForgedLog.read(path)
    for ordinal in range(3, len(log) + 1):
        log.set_timestamp(ordinal, last_committed=ordinal - 2)
    return log.save(copy)


def audit(name: str, files: list[Path], schema: Path, *, shown: bool) -> int:
    """Audit files; return the exit code."""
    report = OUT / name.replace("/", "-")
    command = [
        sys.executable, "-m", "paraply", "audit", *(str(file.relative_to(ROOT)) for file in files),
        "--schema", str(schema.relative_to(ROOT)),
        "--json", f"{report}.json", "--html", f"{report}.html", "--junit", f"{report}.xml",
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=None if shown else subprocess.DEVNULL
    )
    return done.returncode


def main() -> int:
    """Run the demo; 0 after detecting the forgery."""
    OUT.mkdir(parents=True, exist_ok=True)
    words = {0: "holds", 1: "violated", 2: "unknown"}
    print("Real binary logs, recorded from MySQL and MariaDB servers:\n", flush=True)
    codes = []
    for scenario in SHOWN:
        schema = LOGS / scenario / "schema.sql"
        code = audit(scenario, log_files(scenario), schema, shown=False)
        codes.append(code)
        print(f"  {scenario:38} {words.get(code, f'exit code {code}')}", flush=True)
    forged = [overlap_neighbours(path, OUT / f"forged-{path.name}") for path in log_files(FORGED)]
    print(f"\nAnd {FORGED} once more, its last_committed forged so that each")
    print("transaction may overlap with the one before it:\n", flush=True)
    code = audit("forged", forged, LOGS / FORGED / "schema.sql", shown=True)
    pages = ", ".join(path.name for path in sorted(OUT.glob("*.html")))
    print(f"\nReports with pictures, to open in a browser, in {OUT.relative_to(ROOT)}/: {pages}")
    unread = [scenario for scenario, code in zip(SHOWN, codes, strict=True)
              if code == EXIT_UNREADABLE]  # fmt: skip
    if unread or code != 1:
        print(f"paraply demo: not as expected: {unread or 'the forgery was not found'}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
