"""Check the project's English: spelling, plain words, sentence length and word counts.

``python -m ci.english`` prints hits per 1,000 words by area, ``--list AREA`` one area's hits. It
uses codespell, proselint and own patterns, outside code, links and generated blocks.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci.pages.error_codes import registering_modules
from ci.tidy import tracked
from paraply.cli import build_parser
from paraply.commands import COMMANDS
from paraply.vocabulary.errors import registered_errors

ROOT = Path(__file__).resolve().parent.parent

SENTENCE_WORDS_MAX = 40
"""The aim is 25."""

PATTERNS = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (
    # Vague actors.
    r"\b(nobody|somebody|whoever|anybody)\b", r"\bthe one (that|which|who)\b",
    r"\bthose (behind|who)\b", r"\bof (our|their) own\b",
    # Things that speak, know or ask.
    r"\b(is|are|was|were|be|been|being) told\b", r"\b(tells?|told|telling)( \w+){0,3} apart\b",
    r"\b(logs?|tables?|runs?|histor(y|ies)|pages?|lines?|files?|columns?|rows?|names?|properties|"
    r"property|texts?|reports?|documents?|events?|servers?|docstrings?|types?|words?|it|they|"
    r"which|that|what) (tells?|says?|said|knows?|knew|asks?|speaks?|told)\b",
    r"\bsays? so\b", r"\bspeaks? of\b", r"\bhas? (it|no) say\b", r"\bwithout a word\b",
    # Riddles and figures of speech.
    r"\bblows?\b", r"\bstruck\b", r"\bbefall(s|en)?\b", r"\bred-handed\b", r"\bstor(y|ies)\b",
    r"\b(comes?|came|coming) out( as| of it)?\b", r"\b(goes|go|went|gone) on\b",
    r"\bbears?\b", r"\bborne\b", r"\bunder way\b", r"\bwhat became of\b",
    r"\bleads? nowhere\b", r"\bmend(s|ed|ing)?\b", r"\bstands? (for|in|beside|at)\b",
    r"\bwhat (is|was|are|were) (given|there|found|left|done|said|meant|so|asked)\b",
    r"\bas it (is|was|has|had) (been )?(said|told|given)\b", r"\b(gives?|gave) out\b",
    r"\btakes? (its|their) (place|turn)\b", r"\bplayed\b", r"\bby itself\b", r"\bof itself\b",
    r"\bnothing (that|which|of)\b", r"\bas (little|few) as\b",
    r"\bnot (only )?[^.,;:]{1,40}, but\b", r"\bwhat [^.,;:]{1,30} (makes?|made) of\b",
    r"\bin the world\b", r"\b(behind|beside) (it|them)\b", r"\bwont\b", r"\bbe held against\b",
))  # fmt: skip
"""Banned words; see ``CONTRIBUTING.md``."""

SPELLED = "edn,toi,fo,ist,ot,sting"
"""Terms that codespell misreads."""

PROSELINT_OFF = (
    "typography",
    "needless_variants",
    "lexical_illusions",
    "annotations",
    "uncomparables",
)
"""Unsuitable checks: *applier*, ASCII punctuation, code, *least ideal*."""


@dataclass(frozen=True, slots=True)
class Limit:
    """An area's maximum; lower it after improvements."""

    hits: float
    """Per 1,000 words; the aim is 1."""
    words: int


LIMITS = {
    "readme": Limit(1, 1_500),
    "docs": Limit(1.2, 93_000),
    "help": Limit(5, 4_500),
    "errors": Limit(5.6, 4_500),
    "docstrings": Limit(6.5, 150_000),
}
MARKDOWN_WORDS_MAX = 94_500
"""README and docs without generated blocks."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A source's text without code, with line numbers."""

    area: str
    source: str
    text: str
    words: int


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """One sentence to rewrite."""

    source: str
    line: int
    what: str


_GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n?|\n(?=    ))+")
_INLINE = re.compile(r"``.+?``|`[^`\n]+`|\]\([^)\s]*\)|https?://\S+|\$[^$\n]+\$", re.DOTALL)
_TABLE_ROW = re.compile(r"^\|.*$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z][\w'’-]*")


def _blanked(pattern: re.Pattern[str], text: str, filler: str = " ") -> str:
    return pattern.sub(lambda match: re.sub(r"[^\n]", filler, match.group()), text)


def markdown_prose(text: str, *, is_generated: bool) -> tuple[str, int]:
    """Return a page without code, and its words with code.

    Fully generated pages lose their table rows and printed runs.
    """
    text = _blanked(_GENERATED, text)
    if is_generated:
        for pattern in (_TABLE_ROW, _FENCE):
            text = _blanked(pattern, text)
    words = len(text.split())
    for pattern in (_COMMENT, _FENCE, _INDENTED):
        text = _blanked(pattern, text)
    return _blanked(_INLINE, text, "_"), words


def docstring_prose(source: str) -> tuple[str, int]:
    """Return a module's docstrings and their words."""
    lines = source.splitlines()
    kept = [""] * len(lines)
    words = 0
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text)), lineno=first, end_lineno=last):
                words += len(text.split())
                kept[first - 1 : last] = lines[first - 1 : last]
    prose = "\n".join(line.strip().replace('"""', "\n" if line == '"""' else "") for line in kept)
    return _blanked(_INLINE, _blanked(_FENCE, prose), "_"), words


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield each command's help by name."""
    yield "paraply", "\n\n".join(f"{command.summary}." for command in COMMANDS)
    parser = build_parser([command.name for command in COMMANDS])
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                texts = [command.description, *(one.help for one in command._actions)]
                yield f"paraply {name}", "\n\n".join(filter(None, texts))


def error_texts() -> Iterator[tuple[str, str]]:
    """Yield each error's message and remedy."""
    for module in registering_modules():
        importlib.import_module(module)
    for error in registered_errors():
        yield error.code, f"{error.message}.\n\n{error.remedy}."


def prose_of(root: Path) -> Iterator[Prose]:
    """Yield every checked text."""
    for path in tracked(root):
        source = path.relative_to(root).as_posix()
        if path.suffix == ".md" and not source.startswith("tests/"):
            text = path.read_text(encoding="utf-8")
            area = "readme" if source == "README.md" else "docs"
            is_generated = source.startswith("proofs/")
            yield Prose(area, source, *markdown_prose(text, is_generated=is_generated))
        elif path.suffix == ".py" and source.startswith(("paraply/", "ci/")):
            yield Prose("docstrings", source, *docstring_prose(path.read_text(encoding="utf-8")))
    for area, texts in (("help", help_texts()), ("errors", error_texts())):
        for name, text in texts:
            yield Prose(area, name, _blanked(_INLINE, text, "_"), len(text.split()))


def banned_hits(prose: Prose) -> Iterator[Hit]:
    """Yield banned patterns and too long sentences."""
    for pattern in PATTERNS:
        for match in pattern.finditer(prose.text):
            words = " ".join(match.group().split())
            yield Hit(prose.source, prose.text.count("\n", 0, match.start()) + 1, f"“{words}”")
    for start, count in _sentences(prose.text):
        if count > SENTENCE_WORDS_MAX:
            line = prose.text.count("\n", 0, start) + 1
            yield Hit(prose.source, line, f"a sentence of {count} words")


_SENTENCE_END = re.compile(r"[.!?:;](?=\s|$)|\n\s*\n|\n\s*(?:[-*#>|]|\d+\.)(?=\s)|\|")


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        yield start, len(_WORD.findall(text, start, end))
        start = end


def linted_hits(proses: Sequence[Prose]) -> Iterator[Hit]:
    """Yield the findings of codespell and proselint."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources: dict[str, str] = {}
        for number, prose in enumerate(proses):
            (folder / f"{number}.md").write_text(prose.text, encoding="utf-8")
            sources[f"{number}.md"] = prose.source
        yield from _codespell(folder, sources)
        yield from _proselint(folder, sources)


def _run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1, 65):  # 65: codespell and proselint found something.
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _codespell(folder: Path, sources: Mapping[str, str]) -> Iterator[Hit]:
    for found in _run("codespell_lib", "-L", SPELLED, str(folder)).splitlines():
        path, line, what = found.split(":", 2)
        yield Hit(sources[Path(path).name], int(line), f"spelling:{what}")


def _proselint(folder: Path, sources: Mapping[str, str]) -> Iterator[Hit]:
    default = json.loads(_run("proselint", "dump-config"))
    checks = {name: on and name not in PROSELINT_OFF for name, on in default["checks"].items()}
    config = folder / "proselint.json"
    config.write_text(json.dumps({"checks": checks, "max_errors": 100_000}), encoding="utf-8")
    found = _run("proselint", "check", "--config", str(config), "-o", "json", str(folder))
    for path, result in json.loads(found)["result"].items():
        for one in result.get("diagnostics", ()):
            line, _ = one["pos"]
            yield Hit(sources[Path(path).name], line, f"{one['check_path']}: {one['message']}")


def over_the_limit(area: str, hits: int, words: int, limit: Limit) -> list[str]:
    """Return an area's breaches of its limit."""
    found = []
    rate = 1_000 * hits / max(words, 1)
    if rate > limit.hits:
        found.append(f"{area}: {rate:.1f} hits per 1,000 words; at most {limit.hits:g}")
    if words > limit.words:
        found.append(f"{area}: {words:,} words; at most {limit.words:,}")
    return found


def measured(root: Path) -> dict[str, tuple[list[Hit], int]]:
    """Return each area's hits and words."""
    proses = list(prose_of(root))
    area_of = {prose.source: prose.area for prose in proses}
    found: dict[str, list[Hit]] = {area: [] for area in LIMITS}
    words = dict.fromkeys(LIMITS, 0)
    for prose in proses:
        words[prose.area] += prose.words
        found[prose.area] += banned_hits(prose)
    for hit in linted_hits(proses):
        found[area_of[hit.source]].append(hit)
    return {area: (sorted(found[area]), words[area]) for area in LIMITS}


def report(areas: Mapping[str, tuple[list[Hit], int]]) -> tuple[list[str], list[str]]:
    """Return a line per area, and breaches."""
    lines, faults = [], []
    for area, (hits, words) in areas.items():
        lines.append(
            f"{area:10} {words:8,} words {1_000 * len(hits) / max(words, 1):6.2f} per 1,000"
        )
        faults += over_the_limit(area, len(hits), words, LIMITS[area])
    markdown = sum(areas[area][1] for area in ("readme", "docs"))
    if markdown > MARKDOWN_WORDS_MAX:
        faults.append(f"Markdown has {markdown:,} words; at most {MARKDOWN_WORDS_MAX:,}")
    return lines, faults


def violations(root: Path) -> list[str]:
    """Return breaches of limits with measurements."""
    lines, faults = report(measured(root))
    return [*faults, *lines, "`python -m ci.english --list AREA` lists the hits"] if faults else []


def main(argv: Sequence[str] | None = None) -> int:
    """Print areas or hits; exit code 1 for breaches."""
    parser = argparse.ArgumentParser(prog="python -m ci.english", description=__doc__)
    parser.add_argument(
        "--list", choices=LIMITS, metavar="AREA", help=f"one of {', '.join(LIMITS)}"
    )
    parser.add_argument("--under", default="", help="list only sources that begin with this")
    arguments = parser.parse_args(argv)
    areas = measured(ROOT)
    for hit in areas[arguments.list][0] if arguments.list else ():
        if hit.source.startswith(arguments.under):
            print(f"{hit.source}:{hit.line}: {hit.what}")
    lines, faults = report(areas)
    print("\n".join([*lines, *faults]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
