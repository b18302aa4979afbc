"""The page of every error a user can meet, generated from the registry (docs/error-codes.md)."""

from __future__ import annotations

import importlib
import re
import sys

from ci.pages.writing import ROOT, pages_main
from paraply.vocabulary.errors import registered_errors

PAGE_PATH = "docs/error-codes.md"

PACKAGES = ("paraply",)

_ROOMS = {
    "P0": "Words shared by all",
    "P1": "Binary logs",
    "P2": "Schemas and keys",
    "P3": "Command line",
    "P4": "Reference implementation",
    "P5": "Histories and counterexamples",
    "P6": "Servers",
    "P7": "Solvers",
}

_REGISTERS = re.compile(r"^[A-Z_0-9]+ = register\(", re.MULTILINE)

_INTRODUCTION = """\
# Error codes

A wrong input ends with one of these, on standard error, and exit code 3; there is no traceback.
The code never changes its meaning. `{braces}` stand for what the message names at the time.
An error with a traceback is a fault of ours: please report it.

This page is generated from the registry by `python -m ci.pages.error_codes --write`.
"""


def registering_modules() -> list[str]:
    """Return every module of the source tree that registers errors, found by its text.

    Importing all modules instead would need every optional library to be installed.
    """
    return sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if _REGISTERS.search(path.read_text(encoding="utf-8"))
    )


def page() -> str:
    """Return the page, after importing whatever registers errors."""
    for module in registering_modules():
        importlib.import_module(module)
    lines = [_INTRODUCTION]
    room = ""
    for error in registered_errors():
        if error.code[:2] != room:
            room = error.code[:2]
            lines += [f"## {room}xx {_ROOMS[room]}", ""]
        lines += [
            f"### {error.code}",
            "",
            f"> {_one_line(error.message)}",
            "",
            f"Remedy: {_one_line(error.remedy)}.",
            "",
        ]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    # Angle brackets would vanish in rendered Markdown.
    return " ".join(text.replace("<", "\\<").split())


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.error_codes", {PAGE_PATH: page()}))
