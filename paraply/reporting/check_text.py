"""A judged history as text, JSON and JUnit XML."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Any
from xml.etree import ElementTree

from paraply.judging.checking import Checked, Row
from paraply.reporting.escape import shortened, visible
from paraply.reporting.evidence import decidable, evidence_json
from paraply.reporting.json_document import json_document
from paraply.reporting.page import page
from paraply.reporting.plain_table import plain_table
from paraply.vocabulary.verdict import OVER_SERIALISES, WORDS, Verdict

BREACHES_SHOWN_MAX = 3
SENTENCE_MAX = 1_000
LABELS_SHOWN_MAX = 2


def check_text(checked: Checked) -> str:
    """Return the verdicts, breaches and reasons."""
    lines = [f"{visible(checked.name)}: {visible(checked.title)}", ""]
    if checked.level or any(row.group == "level" for row in checked.rows):
        lines += _isolation_lines(checked)
    else:
        lines += _property_lines(checked)
    return "\n".join([*lines, "", _summary(checked), ""])


def _isolation_lines(checked: Checked) -> list[str]:
    phenomena = [row for row in checked.rows if row.group == "phenomenon"]
    levels = [row for row in checked.rows if row.group == "level"]
    lines = plain_table(
        ("phenomenon", "verdict", "what it says"),
        [(row.label, row.verdict.word, _remark(row)) for row in phenomena],
    )
    told: set[str] = set()
    for row in phenomena:
        lines += _breach_lines(row, told)
    lines.append("")
    rows = [
        (f"{row.name}{' *' if row.counts else ''}", row.verdict.word, _first_labels(row))
        for row in levels
    ]
    return lines + plain_table(("level", "verdict", "because of"), rows)


def _first_labels(row: Row) -> str:
    labels = row.reason.split(", ") if row.verdict is Verdict.VIOLATED else [row.reason]
    more = f" and {len(labels) - LABELS_SHOWN_MAX} more" if labels[LABELS_SHOWN_MAX:] else ""
    return ", ".join(labels[:LABELS_SHOWN_MAX]) + more


def _remark(row: Row) -> str:
    if row.verdict is Verdict.UNKNOWN:
        return row.reason
    return row.name if row.verdict is Verdict.HOLDS else row.meaning


def _property_lines(checked: Checked) -> list[str]:
    decided = [row for row in checked.rows if row.verdict is not Verdict.UNKNOWN]
    lines = plain_table(
        ("property", "verdict", "breaches", "decidable"),
        [
            (
                row.name,
                "reached" if row.group == "situation" else row.word,
                row.broken,
                str(row.evidence),
            )
            for row in decided
        ],
    )
    told: set[str] = set()
    for row in decided:
        lines += _breach_lines(row, told)
        if row.said and row.verdict is Verdict.HOLDS:
            lines += textwrap.wrap(f"{row.name}: {visible(row.said)}", page().width)
    unknown = [row for row in checked.rows if row.verdict is Verdict.UNKNOWN]
    if unknown:
        lines.append("")
        lines += plain_table(
            ("unknown", "because"),
            [(row.name, row.said or row.reason) for row in unknown if row.counts],
        )
        situations = [row.name for row in unknown if not row.counts]
        if situations:
            lines += textwrap.wrap(f"not reached: {', '.join(situations)}", page().width)
    if checked.silent:
        lines += ["", *textwrap.wrap(f"says nothing of: {', '.join(checked.silent)}", page().width)]
    return lines


def _breach_lines(row: Row, told: set[str]) -> list[str]:
    fresh = [sentence for sentence in row.breaches if sentence not in told]
    told.update(fresh)
    if not fresh:
        return []
    lines = ["", row.label if row.group == "phenomenon" else row.name]
    for sentence in fresh[:BREACHES_SHOWN_MAX]:
        lines += textwrap.wrap(
            shortened(sentence, SENTENCE_MAX),
            page().width,
            initial_indent="  ",
            subsequent_indent="    ",
        )
    more = row.broken - min(len(fresh), BREACHES_SHOWN_MAX)
    if more:
        lines.append(f"  and {more:,} more")
    return lines


def _summary(checked: Checked) -> str:
    verdict = checked.verdict
    if checked.level:
        (row,) = (row for row in checked.rows if row.counts)
        if verdict is Verdict.HOLDS:
            return f"holds: nothing in this history contradicts {checked.level}"
        word = "refuted by" if verdict is Verdict.VIOLATED else "not decided:"
        return f"{verdict.word}: {checked.level} is {word} {visible(row.reason)}"
    counted = Counter(row.word for row in checked.rows if row.counts or row.word == OVER_SERIALISES)
    parts = [f"{counted[word]} {word}" for word in WORDS if counted[word]]
    return f"{verdict.word}: {', '.join(parts) or 'nothing was judged'}"


def check_json(checked: Checked) -> str:
    """Return the result as JSON."""
    return json_document(
        {
            "file": checked.name,
            "history": checked.title,
            "verdict": checked.verdict.word,
            "level": checked.level or None,
            "rows": [_row_json(row) for row in checked.rows],
            "says_nothing_of": list(checked.silent),
        }
    )


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "group": row.group,
        "name": row.name,
        "label": row.label,
        "verdict": row.word,
        "reason": row.reason,
        "said": row.said,
        "decides": row.counts,
        "breaches": row.broken,
        "situations": evidence_json(row.evidence),
        "sentences": list(row.breaches),
    }


def check_junit(checked: Checked) -> str:
    """Return JUnit XML; unknown and non-deciding rows are skipped."""
    root = ElementTree.Element("testsuites", name="paraply check")
    suite = ElementTree.SubElement(root, "testsuite", name="paraply check")
    failures = skipped = 0
    for row in checked.rows:
        element = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"paraply.check.{row.group}",
            name=visible(f"{row.label}: {row.name}" if row.label else row.name),
        )
        sentences = "\n".join(visible(sentence) for sentence in row.breaches)
        message = visible(row.reason or row.meaning)
        if row.verdict is Verdict.VIOLATED and row.counts:
            failures += 1
            ElementTree.SubElement(
                element, "failure", type="violated", message=message
            ).text = sentences
        elif row.verdict is not Verdict.HOLDS:
            skipped += 1
            word = "does not decide: " if row.verdict is Verdict.VIOLATED else "unknown: "
            ElementTree.SubElement(element, "skipped", message=word + message)
        says = [visible(row.said)] if row.said else []
        if row.evidence.relevant:
            says.append(decidable(row.evidence))
        if says:
            ElementTree.SubElement(element, "system-out").text = "\n".join(says)
    for element in (root, suite):
        element.set("tests", str(len(checked.rows)))
        element.set("failures", str(failures))
        element.set("errors", "0")
        element.set("skipped", str(skipped))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
