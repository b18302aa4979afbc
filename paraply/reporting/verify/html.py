"""``paraply verify`` as one HTML page."""

from __future__ import annotations

from markupsafe import Markup

from paraply.reporting.html import content_policy, resource, template_environment
from paraply.reporting.verify import words
from paraply.reporting.verify.timeline import marker_of, timeline_picture
from paraply.reporting.words import MARKS
from paraply.verifying.result import REQUIREMENTS, VerifyResult
from paraply.version import VERSION

SNAPSHOTS_MAX = 3


def verify_html(result: VerifyResult) -> str:
    """Return the HTML page."""
    style, script = resource("audit.css") + "\n" + resource("verify.css"), resource("verify.js")
    excepted = result.except_rows.rows if result.except_rows is not None else []
    return (
        template_environment()
        .get_template("verify.html.j2")
        .render(
            result=result,
            words=words,
            mark=MARKS[result.verdict],
            levels=[(name, level, result.level >= level) for name, level in REQUIREMENTS.items()],
            facts=_facts(result),
            timeline=timeline_picture(result),
            markers=[marker_of(result, witness) for witness in result.witnesses],
            excepted=excepted,
            version=VERSION,
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
        )
    )


def _facts(result: VerifyResult) -> list[tuple[str, str]]:
    facts = [("States", words.states_text(result))]
    if result.states.longest is not None:
        facts.append(("Longest stretch without", words.stretch_text(result.states.longest)))
    if result.states.batch_count:
        facts.append(("Batches", words.batches_text(result)))
    if result.states.snapshot_count:
        facts.append(("Snapshot order", words.snapshots_text(result)))
        facts += [("", words.snapshot_text(one)) for one in result.states.snapshots[:SNAPSHOTS_MAX]]
    if result.names is not None:
        facts += [
            ("Transactions", words.names_text(result)),
            ("Order", words.order_text(result)),
        ]
    if result.metadata is not None:
        facts.append(("Metadata", words.metadata_text(result.metadata)))
    return [
        *facts,
        ("Delivery", words.delivery_text(result)),
        ("End", words.end_text(result)),
        ("Lag", words.lag_text(result)),
        ("WL#4648", words.wl4648_text(result)),
    ]
