"""Text layout: width, colour on terminals, or plain for screen readers."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TextIO

WIDTH_IN_PIPES = 100
WIDTH_MIN, WIDTH_MAX = 60, 180
_RED = "\x1b[31m"
_END = "\x1b[0m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The layout of printed text; ``width`` in columns.

    ``is_plain`` gives sentences without columns.
    """

    width: int = WIDTH_IN_PIPES
    is_plain: bool = False
    has_colour: bool = False

    def alarm(self, text: str) -> str:
        """Return text in the alarm colour."""
        return f"{_RED}{text}{_END}" if self.has_colour and text else text


_PAGE: ContextVar[Page] = ContextVar("page")


def page() -> Page:
    """Return this run's layout."""
    return _PAGE.get(Page())


def page_for(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Page:
    """Return the layout for a terminal or pipe."""
    if not stream.isatty():
        return Page()
    columns = shutil.get_terminal_size((WIDTH_IN_PIPES, 24)).columns
    is_dumb = environment.get("TERM") == "dumb" or bool(environment.get("NO_COLOR"))
    return Page(width=min(WIDTH_MAX, max(WIDTH_MIN, columns)), has_colour=not is_dumb)


def use_page(chosen: Page) -> None:
    """Set the layout."""
    _PAGE.set(chosen)


def add_plain_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--plain`` to a command."""
    parser.add_argument(
        "--plain",
        action="store_true",
        help="sentences one below the other, without columns or colour, for screen readers",
    )


def use_plain(arguments: argparse.Namespace) -> None:
    """Apply ``--plain`` if given."""
    if getattr(arguments, "plain", False):
        use_page(replace(page(), is_plain=True, has_colour=False))
