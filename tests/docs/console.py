"""Pages whose commands are run: what a page says is printed must be printed.

A fenced block with ``title="NAME"`` writes a file, a ``console`` block runs commands. Of expected
lines, one that is ``…`` stands for any number of lines, and ``…`` inside a line for any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.shell import Shell

ROOT = Path(__file__).parents[2]
ANY = "…"
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A file to write, or a command to run and what it must print."""

    file: str = ""
    text: str = ""
    command: str = ""
    expected: tuple[str, ...] = ()


def steps(page: str) -> list[Step]:
    """Return what a reader of the page does, in order."""
    found = []
    for language, title, body in _FENCE.findall(page):
        if title:
            found.append(Step(file=title, text=body))
        elif language == "console":
            found += _commands(body)
    return found


def _commands(body: str) -> list[Step]:
    blocks: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            blocks.append((line[2:], []))
        else:
            blocks[-1][1].append(line.rstrip())
    return [Step(command=command, expected=tuple(lines)) for command, lines in blocks]


def run_step(step: Step, folder: Path, shell: Shell) -> str:
    """Write the file, or run the command; return what it printed, errors after."""
    if step.file:
        (folder / step.file).write_text(step.text, encoding="utf-8")
        return ""
    return shell.run(step.command, folder).printed


def is_as_expected(printed: str, expected: tuple[str, ...]) -> bool:
    """Return whether the lines printed are those expected."""
    lines = [line.rstrip() for line in printed.rstrip("\n").splitlines()]
    return _matches(lines, list(expected))


def _matches(lines: list[str], expected: list[str]) -> bool:
    if not expected:
        return not lines
    first, rest = expected[0], expected[1:]
    if first == ANY:
        return any(_matches(lines[start:], rest) for start in range(len(lines) + 1))
    pattern = ".*".join(re.escape(part) for part in first.split(ANY))
    return bool(lines) and re.fullmatch(pattern, lines[0]) is not None and _matches(lines[1:], rest)
