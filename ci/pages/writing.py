"""Pages generated from code: write them, or say which of them no longer say what the code says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The source tree; pages are generated only there, never in an installed copy."""


def stale_pages(pages: Mapping[str, str]) -> list[str]:
    """Return the paths, relative to the source tree, whose file differs from the generated text."""
    return [
        path
        for path, text in pages.items()
        if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != text
    ]


def pages_main(module: str, pages: Mapping[str, str], argv: Sequence[str] | None = None) -> int:
    """Run ``python -m module --write|--check`` over pages by path; exit code 1 if any is stale."""
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
