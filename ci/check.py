"""`make check`: run every static check."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ci import english, layers, tidy

ROOT = Path(__file__).resolve().parent.parent

GENERATED_PAGES = (
    "ci.pages.history_format",
    "ci.pages.audit_json",
    "ci.pages.error_codes",
    "ci.pages.proofs.pages",
    "ci.pages.semi_sync",
    "ci.pages.appliers",
    "ci.pages.gtid",
    "ci.pages.known_faults",
    "ci.pages.isolation",
    "ci.pages.modes",
    "ci.pages.live_results",
    "ci.pages.claims",
    "ci.pages.client_volume",
    "ci.pages.counterexamples",
    "ci.pages.compare",
    "ci.pages.measured_replicas",
    "ci.pages.protocol",
    "ci.pages.commands",
    "ci.pages.composed_scopes",
    "ci.pages.mutation_score",
    "ci.pages.mutation_score_models",
    "ci.pages.suite_mutants",
    "ci.pages.programs",
    "ci.pages.wire",
    "ci.pages.soak",
    "ci.pages.fuzzing",
    "ci.pages.scale",
    "ci.pages.speed",
    "ci.pages.dependencies",
    "ci.pages.platforms",
    "ci.pages.first_verdict",
    "ci.pages.man",
)
"""Modules with ``--write`` and ``--check``."""

TYPED = ("paraply", "ci")


def _tool(*command: str) -> Callable[[], list[str]]:
    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()

    return run


def checks(write: bool) -> list[tuple[str, Callable[[], Sequence[str]]]]:
    """Return every check; ``write`` writes pages."""
    mode = "--write" if write else "--check"
    return [
        ("format", _tool("ruff", "format", "--check", ".")),
        ("lint", _tool("ruff", "check", "--output-format=concise", ".")),
        ("types", _tool("mypy", "--no-error-summary", *(f"-p{name}" for name in TYPED))),
        ("layers", lambda: layers.violations(ROOT)),
        ("tidy", lambda: tidy.violations(ROOT)),
        ("english", lambda: english.violations(ROOT)),
        *((f"page of {module}", _tool(module, mode)) for module in GENERATED_PAGES),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run all checks; exit code 1 for findings."""
    parser = argparse.ArgumentParser(prog="make check", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write generated pages again")
    arguments = parser.parse_args(argv)
    failed = 0
    for name, check in checks(arguments.write):
        started = time.monotonic()
        findings = check()
        failed += bool(findings)
        print(
            f"{'FAIL' if findings else 'ok  '} {name} ({time.monotonic() - started:.1f} s)",
            flush=True,
        )
        for line in findings:
            print(f"     {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
