"""Check house rules: sizes, banned words, type markers, hosts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

MODULE_LINES_MAX = 500
"""The aim is 60 to 250."""

TEST_LINES_MAX = 600
"""Readers take one case at a time."""

# Spelled in two halves, so that this file does not contain what it bans.
BANNED = {
    re.compile(r"(?<![\w.])/(work|root|farm)/\w"): "a path of one machine",
    re.compile(r"solver\.check\(\) *== *\w*unknown\w* *or", re.IGNORECASE): "unknown is no proof",
    re.compile(r"\.check *== *(z3\.)?(un)?sat"): "compares the method, not its result",
    re.compile(r"assert True\b"): "a check that cannot fail",
    re.compile(r"https?://[^\s)>\"]*(pypi|pythonhosted|debian|npmjs)\.(org|net)"): "a package host",
    re.compile(r"\|\| *true *(#.*)?$"): "a check that cannot fail (say why with `|| :`)",
}
TEXT = {".py", ".md", ".toml", ".lock", ".sh", ".yml", ".cfg", ".html", ".css", ".js", ".sql", ""}


def tracked(root: Path) -> list[Path]:
    """Return files for git, or all without it."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        return [path for path in root.rglob("*") if path.is_file() and ".venv" not in path.parts]
    return [path for name in listed.stdout.splitlines() if (path := root / name).is_file()]


def violations(root: Path) -> list[str]:
    """Return each broken rule as ``file:line: what``."""
    found = []
    for path in tracked(root):
        relative = path.relative_to(root).as_posix()
        if path.suffix not in TEXT or "/fixtures/" in relative or relative == "ci/tidy.py":
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        lines_max = TEST_LINES_MAX if relative.startswith("tests/") else MODULE_LINES_MAX
        if path.suffix == ".py" and len(lines) > lines_max:
            found.append(f"{relative}: {len(lines)} lines; split it (at most {lines_max})")
        for number, line in enumerate(lines, start=1):
            found += [
                f"{relative}:{number}: {why}" for pattern, why in BANNED.items()
                if pattern.search(line)
            ]  # fmt: skip
    if not (root / "paraply" / "py.typed").exists():
        found.append("paraply/py.typed is missing: type checkers would ignore the package")
    return found
