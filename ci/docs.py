"""`make docs`: build a static site in build/site, and check its links.

Links to code and data become plain text.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CONFIGURATION = ROOT / "ci" / "mkdocs.yml"

_ALONE = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "GLOSSARY.md",
    "SECURITY.md",
)
_FOLDERS = ("docs", "proofs")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)")


def pages() -> dict[Path, Path]:
    """Return pages by site path, README.md first."""
    found = {Path("index.md" if name == "README.md" else name): ROOT / name for name in _ALONE}
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".md", ".json", ".png", ".svg") and path.is_file():
                found[path.relative_to(ROOT)] = path
    return found


def gathered(text: str, page: Path, known: set[Path]) -> tuple[str, list[str]]:
    """Return a page with site links, and broken links.

    ``page`` and ``known`` are relative to the root.
    """
    broken: list[str] = []

    def linked(match: re.Match[str]) -> str:
        label, target = match.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return match.group(0)
        path, sharp, anchor = target.partition("#")
        there = _inside((ROOT / page).parent / path)
        if there is None or not (ROOT / there).exists():
            broken.append(target)
            return label
        if there not in known:
            return label
        steps = "../" * (len(page.parts) - 1)
        name = "index.md" if there == Path("README.md") else there.as_posix()
        return f"[{label}]({steps}{name}{sharp}{anchor})"

    return _outside_of_code(text, lambda part: _LINK.sub(linked, part)), broken


def _inside(path: Path) -> Path | None:
    try:
        return path.resolve().relative_to(ROOT)
    except ValueError:
        return None


def _outside_of_code(text: str, change: Callable[[str], str]) -> str:
    lines: list[str] = []
    is_code = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            is_code = not is_code
            lines.append(line)
        else:
            lines.append(line if is_code else change(line))
    return "".join(lines)


def gather(folder: Path) -> list[str]:
    """Write all pages; return broken links."""
    found = pages()
    known = {path.relative_to(ROOT) for path in found.values()}
    faults: list[str] = []
    for place, path in found.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, target)
            continue
        page = path.relative_to(ROOT)
        text, broken = gathered(path.read_text(encoding="utf-8"), page, known)
        faults += [f"{page}: the link to {one} leads nowhere" for one in broken]
        target.write_text(text, encoding="utf-8")
    return faults


def main(argv: Sequence[str] | None = None) -> int:
    """Build; exit code 1 for broken links."""
    parser = argparse.ArgumentParser(prog="make docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only check the links")
    arguments = parser.parse_args(argv)
    source, site = BUILD / "pages", BUILD / "site"
    shutil.rmtree(source, ignore_errors=True)
    faults = gather(source)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults or arguments.check:
        return 1 if faults else 0
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--clean",
         "--config-file", str(CONFIGURATION), "--site-dir", str(site)],
        cwd=ROOT,
        # Hides a notice about the tool's own future.
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )  # fmt: skip
    if done.returncode == 0:
        print(f"{site.relative_to(ROOT)}/index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
