"""The audit as one HTML page: no network, light and dark, readable without colour.

Against hostile logs, texts pass ``visible`` and autoescaping, and a content security policy allows
only the page's style and script, by hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from paraply.reporting import words
from paraply.reporting.audit.advice import next_steps
from paraply.reporting.audit.faster_outline import LAG_MEANING, LINES_MAX, price_words
from paraply.reporting.escape import shortened, visible
from paraply.reporting.evidence import decidable_pairs
from paraply.reporting.pictures.overlap import overlap_picture
from paraply.reporting.pictures.path import path_picture, reason_colour, reasons_by_frequency
from paraply.reporting.pictures.svg_charts import Bar, Series, area_chart, bar_chart, speedup_chart
from paraply.reporting.words import sentence
from paraply.version import VERSION
from paraply.vocabulary.audit_result import AuditResult

CARDS_MAX = 200

LEGEND_LENGTH_MAX = 48

BARS_MAX = 16


def render_html(result: AuditResult) -> str:
    """Return the page for one audit."""
    style, script = resource("audit.css"), resource("audit.js")
    links = result.critical_path
    named = reasons_by_frequency(links)
    return (
        template_environment()
        .get_template("audit.html.j2")
        .render(
            result=result,
            words=words,
            decidable=decidable_pairs(result),
            mark=words.MARKS[result.verdict],
            steps=next_steps(result),
            pictures=_pictures(result),
            lags=list(_lags(result)),
            lag_meaning=sentence(LAG_MEANING),
            price_words=price_words,
            overlap_picture=overlap_picture,
            violations=result.violations[:CARDS_MAX],
            violations_more=len(result.violations[CARDS_MAX:]) + result.violations_dropped,
            # With one worker all models are equal.
            workers=sorted(
                {number for model in result.parallelism for number in model.speedup} - {1}
            ),
            named_reasons=named,
            links=[(link, reason_colour(link, named)) for link in links],
            version=VERSION,
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
        )
    )


@cache
def template_environment() -> Environment:
    """Return an environment that escapes all output."""
    environment = Environment(
        loader=PackageLoader("paraply.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Spell out hidden characters before escaping.
        finalize=_finalize,
    )
    environment.filters["short"] = shortened
    environment.filters["brief"] = _brief
    environment.filters["share"] = words.share
    environment.filters["sentence"] = words.sentence
    environment.filters["comma"] = lambda number: f"{number:,}"
    return environment


def _pictures(result: AuditResult) -> dict[str, Markup]:
    pictures: dict[str, Markup] = {}
    widths = words.drawable_widths(result)
    if widths:
        pictures["width"] = area_chart(
            widths,
            title="Transactions that may run at once, round after round",
            description=f"{len(widths)} slices of the rounds, each with its mean",
            x="round",
            y="may run at once",
        )
    curves = [
        Series(name=model.model, points=sorted(model.speedup.items()), marked=model.knee)
        for model in result.parallelism
        if model.speedup
    ]
    # Flat lines at one only repeat the table.
    if any(speed > 1 for curve in curves for _, speed in curve.points):
        pictures["speedup"] = speedup_chart(
            curves,
            title="Limit of the speed-up by number of workers",
            description="One curve per model; a ring marks its knee. The table below has the "
            "numbers.",
        )
    if result.clock_distance:
        pictures["distance"] = bar_chart(
            [
                Bar(label=_compact(power), meaning=words.distance_label(power), value=number)
                for power, number in sorted(result.clock_distance.items())
            ],
            title="Distance from last_committed to sequence_number",
            description="How many transactions have each distance; a longer one is freer to "
            "overlap.",
            x="sequence_number − last_committed, from",
            y="transactions",
        )
    if result.commit_group_sizes:
        pictures["groups"] = bar_chart(
            [
                Bar(label=label, meaning=f"groups of {label}", value=number)
                for label, number in words.size_bars(result.commit_group_sizes, BARS_MAX)
            ],
            title="Commit groups by size",
            description="How many groups of each number of transactions the source committed.",
            x="transactions in the group",
            y="groups",
        )
    if result.critical_path:
        pictures["path"] = path_picture(result.critical_path)
    return pictures


def _lags(result: AuditResult) -> Iterator[tuple[str, Markup]]:
    for one in [each for each in result.counterfactuals if each.lag][:LINES_MAX]:
        for word, points in (
            ("Without the change", [(point.second, point.now) for point in one.lag]),
            (f"Then: {one.change}", [(point.second, point.then) for point in one.lag]),
        ):
            yield (
                word,
                area_chart(
                    points,
                    title=f"Seconds behind. {shortened(word)}",
                    description=f"{len(points)} slices of the log, each with its greatest lag",
                    x="second of the log",
                    y="seconds behind",
                ),
            )


def _brief(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= LEGEND_LENGTH_MAX else f"{shown[:LEGEND_LENGTH_MAX]}…"


def _compact(number: int) -> str:
    return f"{number // 1024}k" if number >= 8192 else str(number)


def _finalize(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def resource(name: str) -> str:
    """Return a style sheet or script."""
    return (
        resources.files("paraply.reporting")
        .joinpath("templates", name)
        .read_text(encoding="utf-8")
        .strip()
    )


def content_policy(style: str, script: str) -> Markup:
    """Return a policy for one style and one script, by hash."""
    return Markup(
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
