"""One history as an HTML page to step through."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from paraply.counterexamples.showing.document import Shown, document_of
from paraply.reporting import words
from paraply.reporting.html import content_policy, resource, template_environment
from paraply.version import VERSION
from paraply.vocabulary.verdict import Verdict

TRANSACTIONS_MAX = 200
BROKEN_EDGES_MAX = 5


def show_html(shown: Shown, *, verdict: Verdict | None = None) -> str:
    """Return the page; any breach is VIOLATED."""
    document = document_of(shown)
    if verdict is None:
        verdict = Verdict.VIOLATED if document["breaches"] else Verdict.UNKNOWN
    style = resource("audit.css") + "\n" + resource("show.css")
    script = resource("show.js")
    heading, headline = _headings(document)
    return (
        template_environment()
        .get_template("show.html.j2")
        .render(
            document=document,
            heading=heading,
            headline=headline,
            verdict=verdict.word,
            mark=words.MARKS[verdict],
            nearest=_nearest(document),
            broken_edges=[one for one in document["edges"] if one["broken"]][:BROKEN_EDGES_MAX],
            transactions_max=TRANSACTIONS_MAX,
            is_tried_out=shown.alternatives is None or shown.alternatives.is_complete,
            data=Markup(_as_script(document)),
            version=VERSION,
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
        )
    )


def _headings(document: dict[str, Any]) -> tuple[str, str]:
    breaches = document["breaches"]
    if not breaches:
        return "Nothing is broken", document["title"]
    first = breaches[0]
    heading = str(first["property"]).replace("_", " ")
    return f"Not so: {heading}", first["sentences"][0] if first["sentences"] else first["meaning"]


def _nearest(document: dict[str, Any]) -> dict[str, Any] | None:
    found = enumerate(document["alternatives"])
    return next(({**one, "index": index} for index, one in found if one["isNearest"]), None)


def _as_script(document: dict[str, Any]) -> str:
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
