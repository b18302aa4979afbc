"""Pages of live rounds: one to step through for each round kept, and an index of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraply.registries import property_named
from paraply.report.files import write_report
from paraply.report.show_html import show_html
from paraply.report.table_page import index_html
from paraply.showing.document import Shown
from vocabulary.history import History
from vocabulary.verdict import Verdict, combine


class LivePages:
    """Writes pages into a folder as rounds come in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._rows: list[dict[str, Any]] = []
        self._verdicts: list[Verdict] = []

    def add(self, name: str, history: History, broken: Sequence[str]) -> None:
        """Write the page of one round; ``broken`` are the properties that it breaks."""
        verdict = Verdict.VIOLATED if broken else Verdict.HOLDS
        shown = Shown(history=history, broken=[property_named(one) for one in broken])
        write_report(str(self.folder / f"{name}.html"), show_html(shown, verdict=verdict))
        self._verdicts.append(verdict)
        self._rows.append(
            {
                "href": f"{name}.html",
                "name": name,
                "verdict": verdict.word,
                "cells": {
                    "subject": history.header.subject,
                    "broken": ", ".join(broken),
                    "transactions": len(history.transactions),
                    "events": len(history.events),
                },
            }
        )

    def write_index(self) -> None:
        """Write the index of all pages."""
        found = sum(verdict is Verdict.VIOLATED for verdict in self._verdicts)
        headline = f"{found:,} of {len(self._rows):,} rounds shown break something."
        page = index_html("Live rounds", headline, combine(self._verdicts), self._rows)
        write_report(str(self.folder / "index.html"), page)
