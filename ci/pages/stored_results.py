"""A page of results that a command wrote as JSON: one stored per line, replaced by newer ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ci.pages import writing
from ci.pages.writing import filled, pages_main
from paraply.cli import Parser, report
from paraply.errors import NOTHING_READ, USAGE
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import EXIT_UNREADABLE

Result = dict[str, Any]


def read_results(path: Path) -> list[Result]:
    """Return the stored results, one per line."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def beside_measured(predicted: float, measured: Sequence[float]) -> str:
    """Return a cell with a prediction, and median, least and greatest of what was measured.

    >>> beside_measured(2, [1, 3, 2.5])
    '2.00 / 2.50 (1.00–3.00)'
    """
    low, high = min(measured), max(measured)
    return f"{predicted:.2f} / {median(measured):.2f} ({low:.2f}–{high:.2f})"


def release_of(result: Result) -> str:
    """Return the server's family and release: results of several stand side by side.

    >>> release_of({"evidence": {"server": "MariaDB 10.11.19"}})
    'MariaDB 10.11'
    """
    return str(result["evidence"].get("server", "")).rpartition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsPage:
    """A page and its stored results; paths are relative to the repository.

    Attributes:
        written_by: the command whose files ``--add`` takes.
        key: results of one key replace each other, and are sorted by it.
        lines: the page's block "results".
        kept: what is stored of a result.
    """

    module: str
    page: str
    results: str
    written_by: str
    key: Callable[[Result], tuple[str, ...]]
    lines: Callable[[Sequence[Result]], Iterable[str]]
    kept: Callable[[Result], Result] = dict

    def merged(self, stored: Sequence[Result], new: Sequence[Result]) -> list[Result]:
        """Return all results in a fixed order; new ones replace stored ones."""
        by_key = {self.key(one): self.kept(one) for one in (*stored, *new)}
        return [by_key[key] for key in sorted(by_key)]

    def stored(self) -> list[Result]:
        """Return the stored results."""
        return read_results(writing.ROOT / self.results)

    def generated(self) -> dict[str, str]:
        """Return the page by its path."""
        return {self.page: filled(self.page, {"results": self.lines(self.stored())})}

    def added(self, files: Sequence[str]) -> list[Result]:
        """Return the results in files.

        Raises:
            ParaplyError: P307 for an unreadable file or other content.
        """
        new: list[Result] = []
        for file in files:
            try:
                found = json.loads(Path(file).read_text(encoding="utf-8"))["results"]
                # A result without the page's fields must fail before anything is stored.
                list(self.lines(self.merged([], found)))
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise ParaplyError(
                    NOTHING_READ,
                    where=file,
                    reason=f"{type(error).__name__}: {error}",
                    remedy=f"name files that `{self.written_by}` wrote",
                ) from error
            new += found
        return new

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Add results, or write or check the page."""
        parser = Parser(prog=f"python -m {self.module}", add_help=False)
        parser.add_argument("--add", nargs="+", metavar="FILE", default=[])
        try:
            given, arguments = parser.parse_known_args(argv)
            if given.add:
                if arguments not in ([], ["--write"]):
                    reason = f"--add writes the page, and does not go with {' '.join(arguments)}"
                    raise ParaplyError(USAGE, reason=reason, command=parser.prog)
                results = self.merged(self.stored(), self.added(given.add))
                lines = [json.dumps(one, sort_keys=True) for one in results]
                text = "".join(f"{line}\n" for line in lines)
                (writing.ROOT / self.results).write_text(text, encoding="utf-8")
                arguments = ["--write"]
        except ParaplyError as error:
            report(error, sys.stderr)
            return EXIT_UNREADABLE
        return pages_main(self.module, self.generated(), arguments)
