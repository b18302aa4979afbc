"""Pages of sortable tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from paraply.reporting import words
from paraply.reporting.html import content_policy, resource, template_environment
from paraply.reporting.sortable import Cell, Table, columns, verdict_cell
from paraply.version import VERSION
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Heading, sentences, optional list of steps, picture and table.

    Attributes:
        name: unique; by default the table's.
        steps: sentences with the address that each links to, or empty.
        is_folded: the table is shown on request, and in print.
    """

    table: Table | None = None
    title: str = ""
    name: str = ""
    text: Sequence[str] = ()
    steps: Sequence[tuple[str, str]] = ()
    picture: Markup | None = None
    legend: str = ""
    is_folded: bool = False

    @property
    def id(self) -> str:
        """Return the anchor."""
        return self.name or (self.table.id if self.table else "")


def table_page(
    title: str,
    headline: str,
    verdict: Verdict,
    sections: Sequence[Section],
    *,
    figures: Sequence[tuple[str, str]] = (),
    command: str = "",
) -> str:
    """Return the page.

    ``figures`` are labels and values of large numbers; ``command`` repeats the run.
    """
    style = resource("audit.css") + "\n" + resource("show.css")
    script = resource("sortable.js")
    return (
        template_environment()
        .get_template("index.html.j2")
        .render(
            title=title,
            headline=headline,
            verdict=verdict.word,
            mark=words.MARKS[verdict],
            sections=sections,
            figures=figures,
            command=command,
            version=VERSION,
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
        )
    )


def index_html(title: str, headline: str, verdict: Verdict, rows: Sequence[dict[str, Any]]) -> str:
    """Return an index with a row per page.

    All rows have the same cells, named like the headings.
    """
    names = list(rows[0]["cells"]) if rows else []
    table = Table(
        id="pages",
        caption="All pages.",
        columns=columns("name", "verdict", *names),
        rows=[
            [
                Cell(row["name"], href=row["href"]),
                verdict_cell(row["verdict"]),
                *(Cell(str(row["cells"][name])) for name in names),
            ]
            for row in rows
        ],
    )
    return table_page(title, headline, verdict, [Section(table=table)])
