"""The fenced blocks of the pages, and the commands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.console import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "proofs/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
DATA = {"clojure", "ini", "python", "sql", "text", "toml", "yaml"}
"""Languages of blocks that are no commands for a shell."""
HELP = "docs/commands.md"
"""Its text blocks are the help of each command, with examples."""

_FENCE = re.compile(r"^ *(```+)([^\n`]*)\n(.*?)^ *\1$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"(^|\s+)#\s.*$", re.MULTILINE)
_LOOP = re.compile(r"; do\n(.*?)\ndone", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, none if it names none, and its lines."""

    language: str
    body: str


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block((words.split() or [""])[0], body) for _, words, body in _FENCE.findall(text)]


def commands(body: str) -> list[str]:
    """Return the commands of an ``sh`` block, each as one line without its comment."""
    text = _COMMENT.sub("", re.sub(r"\\\n\s*", "", body))
    text = _LOOP.sub(lambda match: f"; do {match[1].strip()}; done", text)
    return [line.strip() for line in text.splitlines() if line.strip()]
