"""`make docs`: build this version of the site in build/site, and check its links.

Links to code and data become plain text. Other versions that are there stay, and are in the menu.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from paraply.version import VERSION

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CONFIGURATION = ROOT / "ci" / "site.yml"

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
    place = BUILD / "site.yml"
    text = CONFIGURATION.read_text(encoding="utf-8")
    place.write_text(f"{text}site_dir: site/{VERSION}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(place)],
        cwd=BUILD,
        check=False,
    )
    if done.returncode == 0:
        list_versions(site)
        print(os.path.relpath(site / "index.html"))
    return done.returncode


def list_versions(site: Path) -> None:
    """Write the menu of the versions in a site, newest first, and a first page that opens it."""
    folders = (path.name for path in site.iterdir() if (path / "index.html").is_file())
    versions = sorted(folders, key=lambda name: [int(part) for part in name.split(".")])[::-1]
    menu = [{"version": name, "title": name, "aliases": []} for name in versions]
    (site / "versions.json").write_text(json.dumps(menu) + "\n", encoding="utf-8")
    (site / "index.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><title>paraply</title>'
        f'<link rel="icon" href="{versions[0]}/assets/images/favicon.png">'
        f'<meta http-equiv="refresh" content="0; url={versions[0]}/index.html">'
        f'<a href="{versions[0]}/index.html">paraply {versions[0]}</a>\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
