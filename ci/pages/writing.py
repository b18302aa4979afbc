"""Write or compare the blocks between ``<!-- generated: NAME -->`` and ``<!-- end -->``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->).*?(<!-- end -->)", re.DOTALL)


def filled(path: str, blocks: Mapping[str, Iterable[str]]) -> str:
    """Return a page with its blocks filled.

    Raises:
        ValueError: a block is missing, unknown or repeated.
    """
    text = (ROOT / path).read_text(encoding="utf-8")
    names = [match.group(2) for match in _BLOCK.finditer(text)]
    if sorted(names) != sorted(blocks):
        raise ValueError(f"{path} has the blocks {sorted(names)}; expected {sorted(blocks)}")

    def block(match: re.Match[str]) -> str:
        opening, name, end = match.groups()
        return "\n".join([opening, "", *blocks[name], "", end])

    return _BLOCK.sub(block, text)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """Return the lines of a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(str, cells))} |" for cells in lines]


def stale_pages(pages: Mapping[str, str]) -> list[str]:
    """Return source paths of stale files."""
    return [
        path
        for path, text in pages.items()
        if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != text
    ]


def pages_main(module: str, pages: Mapping[str, str], argv: Sequence[str] | None = None) -> int:
    """Run ``python -m module --write|--check``; exit code 1 if stale."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}", description=f"Generate {', '.join(pages)}."
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the pages")
    mode.add_argument("--check", action="store_true", help="fail where a page is not current")
    if parser.parse_args(argv).write:
        for path, text in pages.items():
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")
        return 0
    stale = stale_pages(pages)
    for path in stale:
        print(f"{path} is not current; run: python -m {module} --write", file=sys.stderr)
    return 1 if stale else 0
