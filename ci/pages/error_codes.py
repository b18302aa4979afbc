"""Every registered error, for ``docs/error-codes.md``."""

from __future__ import annotations

import importlib
import re
import sys

from ci.pages.writing import ROOT, filled, pages_main
from paraply.vocabulary.errors import registered_errors

PAGE_PATH = "docs/error-codes.md"

PACKAGES = ("paraply",)

_ROOMS = {
    "P0": "Vocabulary",
    "P1": "Binary logs",
    "P2": "Schemas and keys",
    "P3": "Command line",
    "P4": "Reference implementation",
    "P5": "Histories and counterexamples",
    "P6": "Servers",
    "P7": "Solvers",
}

_REGISTERS = re.compile(r"^[A-Z_0-9]+ = register\(", re.MULTILINE)


def registering_modules() -> list[str]:
    """Return modules that register errors, by text search.

    Importing all modules needs every optional library.
    """
    return sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if _REGISTERS.search(path.read_text(encoding="utf-8"))
    )


def page() -> str:
    """Return the page; imports the registering modules."""
    for module in registering_modules():
        importlib.import_module(module)
    lines = []
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
    return filled(PAGE_PATH, {"errors": lines[:-1]})


def _one_line(text: str) -> str:
    # Angle brackets would vanish in rendered Markdown.
    return " ".join(text.replace("<", "\\<").split())


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.error_codes", {PAGE_PATH: page()}))
