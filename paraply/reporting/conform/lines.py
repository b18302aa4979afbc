"""Lines of the page's width, and short lists of case ids."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from paraply.adapters.conformance.cases import suite
from paraply.reporting.page import page

_COLOUR = re.compile(r"\x1b\[\d*m")


def wrapped(text: str, indent: str = "", hanging: str = "") -> list[str]:
    """Return the text in lines of the page's width; words are not cut at hyphens."""
    return textwrap.wrap(
        text,
        page().width,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_on_hyphens=False,
    )


def height(lines: Sequence[str]) -> int:
    """Return how many lines of a terminal they fill."""
    lengths = (len(_COLOUR.sub("", line)) for line in lines)
    return sum(max(1, -(-length // page().width)) for length in lengths)


def cut_ids(title: str, ids: Sequence[str], indent: str, lines_max: int | None) -> list[str]:
    """Return the title and as many ids as fit, with the number left out."""
    words = id_words(ids)
    lines: list[str] = []
    for shown in range(len(words), -1, -1):
        left = sum(count for _, count in words[shown:])
        parts = [title, *(word for word, _ in words[:shown]), f"and {left} more" if left else ""]
        lines = wrapped(" ".join(part for part in parts if part), indent, "  ")
        if lines_max is None or len(lines) <= lines_max:
            break
    return lines


def id_words(ids: Iterable[str]) -> list[tuple[str, int]]:
    """Return ``B`` for a whole family and ``A-rotation-{01,03}``, each with its number of cases."""
    families: dict[str, list[str]] = {}
    for one in sorted(ids):
        families.setdefault(one[0], []).append(one)
    whole: dict[str, set[str]] = {}
    for case in suite():
        whole.setdefault(case.family, set()).add(case.id)
    words = []
    for family, members in families.items():
        if len(members) > 1 and whole.get(family) == set(members):
            words.append((family, len(members)))
        else:
            words += _braced(members)
    return words


def _braced(ids: Iterable[str]) -> list[tuple[str, int]]:
    stems: dict[str, list[str]] = {}
    for one in ids:
        stem, _, end = one.rpartition("-")
        stems.setdefault(stem, []).append(end)
    return [
        (f"{stem}-{ends[0]}" if len(ends) == 1 else f"{stem}-{{{','.join(ends)}}}", len(ends))
        for stem, ends in stems.items()
    ]
