"""``paraply verify`` on one screen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from paraply.properties.two_logs.judgement import Level
from paraply.reporting.escape import shortened
from paraply.reporting.page import page
from paraply.reporting.verify import words
from paraply.verifying.result import SideSummary, VerifyResult
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict

ROWS_MAX = 5
REASONS_MAX = 5
_LABEL = 13


def verify_text(result: VerifyResult) -> str:
    """Return verdict, facts and evidence."""
    lines = []
    title = f"{result.verdict.name}: {words.headline(result)}"
    wrapped = _wrapped(title, "", "")
    if result.verdict is Verdict.VIOLATED:
        wrapped = [page().alarm(line) for line in wrapped]
    lines += wrapped
    lines += _wrapped(words.level_sentence(result), "", "")
    lines.append("")
    for label, text in _facts(result):
        lines += _wrapped(text, f"  {label:<{_LABEL}}", " " * (_LABEL + 2))
    for heading, items in _evidence(result):
        lines += ["", heading]
        for item in items:
            lines += _wrapped(item, "  - ", "    ")
    return "\n".join([*lines, ""])


def _facts(result: VerifyResult) -> Iterator[tuple[str, str]]:
    yield "source", _side(result.source)
    yield "target", _side(result.target)
    tables = list(
        dict.fromkeys(
            table.source if table.source == table.target else f"{table.source} = {table.target}"
            for table in result.tables
        )
    )
    more = f" and {len(tables) - 6} more" if len(tables) > 6 else ""
    yield "tables", (", ".join(tables[:6]) + more) if tables else "none"
    yield "states", words.states_text(result)
    if result.states.longest is not None:
        yield "", f"longest stretch without: {words.stretch_text(result.states.longest)}"
    if result.states.batch_count:
        yield "batches", words.batches_text(result)
    if result.states.snapshot_count:
        yield "snapshots", words.snapshots_text(result)
    if result.names is not None:
        yield "transactions", words.names_text(result)
        yield "order", words.order_text(result)
    if result.metadata is not None:
        yield "metadata", words.metadata_text(result.metadata)
    for found in result.monitors:
        yield "monitor", words.monitor_text(found)
    yield "delivery", words.delivery_text(result)
    yield "end", words.end_text(result)
    yield "lag", words.lag_text(result)
    yield "WL#4648", words.wl4648_text(result)


def _side(side: SideSummary) -> str:
    server = f" ({side.server})" if side.server else ""
    span = f", {side.first.name} to {side.last.name}" if side.first and side.last else ""
    return (
        f"{counted(side.judged, 'transaction')}, {counted(side.changes, 'row change')}"
        f"{span}{server}"
    )


def _evidence(result: VerifyResult) -> Iterator[tuple[str, list[str]]]:
    missed: dict[str, list[str]] = {}
    for witness in result.witnesses:
        place = witness.target or witness.source
        text = f"{witness.text} ({_short(place.place)})" if place else witness.text
        missed.setdefault(text, []).append(witness.level)
    for text, levels in missed.items():
        yield f"Why not {' or '.join(levels)}", [text]
    if result.states.snapshots:
        texts = [words.snapshot_text(one) for one in result.states.snapshots]
        yield "Snapshot order: transactions without a common row, swapped", _limited(texts, 3)
    if result.except_rows is not None:
        excepted = result.except_rows
        since = f" since {excepted.since.name}" if excepted.since else ""
        least = "" if excepted.is_minimal else " (perhaps not the fewest)"
        yield (
            f"All other rows reach {excepted.level.word}. Rows to except{least}{since}:",
            _limited([words.row_text(row) for row in excepted.rows]),
        )
    elif result.differing:
        yield "Rows that differ at the end", _limited([words.row_text(r) for r in result.differing])
    if result.drifted:
        yield (
            f"{counted(result.drifted_count, 'row')} changed outside of the target's log",
            _limited([words.row_text(row) for row in result.drifted]),
        )
    healed = [stretch for stretch in result.states.stretches if stretch.healed]
    others = result.level if result.except_rows is None else result.except_rows.level
    if healed and result.level < Level.ATOMIC and others is not Level.ATOMIC:
        yield (
            "Healed: states of no source transaction that no checksum shows afterwards",
            _limited([words.stretch_text(stretch) for stretch in healed], 3),
        )
    if result.names is not None and result.names.findings:
        texts = []
        for finding in result.names.findings:
            row = f"; {words.row_text(finding.row)}" if finding.row else ""
            texts.append(f"{finding.text}{row}")
        yield "Transactions by name", _limited(texts)
    if result.unknown:
        reasons = [
            f"{reason.subject}: {reason.reason}. To find out: {reason.remedy}"
            for reason in result.unknown
        ]
        yield "Unknown", _limited(reasons, REASONS_MAX)
    yield "Notes", [*result.notes, words.error_text(result)]


def _short(place: str) -> str:
    return place.rpartition("/")[2]


def _limited(items: list[str], most: int = ROWS_MAX) -> list[str]:
    more = len(items) - most
    return [*items[:most], f"and {more:,} more (--json lists them)"] if more > 0 else items


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        shortened(text, 1_000),
        width=page().width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
