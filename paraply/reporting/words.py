"""Shared words of all report forms."""

from __future__ import annotations

import re

from paraply.vocabulary.audit_result import (
    AuditResult,
    FileSummary,
    LintFinding,
    Parallelism,
    Prediction,
    SafetyViolation,
    TransactionRef,
)
from paraply.vocabulary.counting import counted
from paraply.vocabulary.timestamps import waits_for
from paraply.vocabulary.verdict import Verdict

MARKS = {Verdict.HOLDS: "✓", Verdict.UNKNOWN: "?", Verdict.VIOLATED: "✗"}

MODEL_MEANINGS = {
    "logical-clock": "last_committed and sequence_number as logged (MySQL LOGICAL_CLOCK)",
    "commit-group": "transactions of one group commit together (MariaDB conservative)",
    "row-conflicts": "only transactions that share a key wait (what WRITESET could reach)",
    "with-keys": "the same, if every table had a PRIMARY KEY",
    "by-table": "one worker per table",
    "by-schema": "one worker per schema (MySQL DATABASE)",
    "by-primary-key": "one worker per primary key value (a CDC topic keyed by row)",
}

METADATA_MODELS = ("logical-clock", "commit-group")
"""Models that the log prescribes; the others are hypothetical."""


_VERSION = re.compile(r"\d+(\.\d+)+")


def share(part: float) -> str:
    """Return a percentage; nonzero shares never show as 0."""
    return f"{part:.0%}" if part >= 0.01 or part == 0 else "<1%"


def timestamp(reference: TransactionRef) -> str:
    """Return a transaction's metadata, or empty."""
    if reference.sequence_number is not None:
        return (
            f"last_committed={reference.last_committed} sequence_number={reference.sequence_number}"
        )
    if reference.commit_id is not None:
        return f"commit_id={reference.commit_id}"
    return ""


def name_of(reference: TransactionRef) -> str:
    """Return the GTID, else the ordinal."""
    return reference.gtid or f"anonymous transaction {reference.ordinal:,}"


def place_of_finding(finding: LintFinding) -> str:
    """Return ``file:offset``, empty for the whole log."""
    return f"{finding.file}:{finding.offset}" if finding.file else ""


def drawable_widths(result: AuditResult) -> list[tuple[int, float]]:
    """Return the widths, empty if only one."""
    return result.width_over_time if len(result.width_over_time) > 1 else []


def place_of(reference: TransactionRef) -> str:
    """Return ``file:offset`` of a transaction."""
    return f"{reference.file}:{reference.offset}"


def server_of(file: FileSummary) -> str:
    """Return the product and version, if recorded.

    Omits packagers' suffixes and MariaDB's ``5.5.5-`` prefix.
    """
    product = {"mysql": "MySQL", "mariadb": "MariaDB", "text": "text dump"}.get(
        file.format, file.format
    )
    version = file.server.removeprefix("5.5.5-") if file.format == "mariadb" else file.server
    number = _VERSION.match(version)
    return f"{product} {number[0] if number else version}".strip()


def metadata_model(result: AuditResult) -> Parallelism | None:
    """Return the parallelism by metadata, if any."""
    models = {model.model: model for model in result.parallelism}
    return next((models[name] for name in METADATA_MODELS if name in models), None)


def current_prediction(result: AuditResult) -> Prediction | None:
    """Return the prediction of the way that goes by the metadata alone, if any."""
    found = {one.applier: one for one in result.predictions}
    return found.get("mariadb-conservative") or found.get("mysql-as-logged")


def best_prediction(result: AuditResult) -> Prediction | None:
    """Return the fastest prediction; of nearly equal ones the first."""
    gain = max((one.gain for one in result.predictions), default=0.0)
    return next((one for one in result.predictions if one.gain * 1.1 >= gain > 0), None)


def about_predictions(result: AuditResult) -> str:
    """Return what the predictions are about."""
    part = "the log"
    if result.predicted_transactions < result.transactions:
        part = f"the first {counted(result.predicted_transactions, 'transaction')}"
    tables = sorted({table for one in result.predictions for table in one.unknown_tables})
    unknown = f"; ? rests on unknown keys or rows of {', '.join(tables)}" if tables else ""
    return f"predicted for {part} by the clock of paraply compare{unknown}"


def safety_word(model: Parallelism) -> str:
    """Return whether conflicts stay in order."""
    if model.safe is Verdict.VIOLATED:
        return f"no: {counted(model.conflicting_pairs_apart, 'pair')}"
    return "yes" if model.safe is Verdict.HOLDS else "unknown"


def distance_label(power: int) -> str:
    """Return one bar's SN-LC range."""
    return str(power) if power <= 1 else f"{power}–{2 * power - 1}"


def why_they_may_overlap(violation: SafetyViolation) -> str:
    """Return why B may start before A commits."""
    earlier, later = violation.earlier, violation.later
    if earlier.sequence_number is not None and later.last_committed is not None:
        if waits_for(later.last_committed, earlier.sequence_number):
            return ""
        return (
            f"B waits for sequence numbers up to {later.last_committed} (its last_committed); "
            f"A has {earlier.sequence_number}."
        )
    if earlier.commit_id is not None and earlier.commit_id == later.commit_id:
        return f"Both have commit_id {earlier.commit_id}: they may run side by side."
    return ""


def what_they_share(violation: SafetyViolation) -> str:
    """Return the shared key, table definition or XA transaction."""
    if violation.index == "DDL":
        return f"the definition of {violation.table}: {violation.key}"
    if violation.index == "XA":
        return f"the XA transaction {violation.key}"
    return f"{violation.table} {violation.key}"


def consequence_of(violation: SafetyViolation) -> str:
    """Return the consequence, with A and B for GTIDs."""
    text = violation.consequence
    for letter, reference in (("A", violation.earlier), ("B", violation.later)):
        if reference.gtid:
            # A GTID may be the beginning of another one: uuid:7 of uuid:70.
            text = re.sub(rf"(?<!\w){re.escape(reference.gtid)}(?!\d)", letter, text)
    return sentence(text)


def size_bars(sizes: dict[int, int], bars_max: int) -> list[tuple[str, int]]:
    """Return labelled bars; the largest sizes share one."""
    bars = [(str(size), number) for size, number in sorted(sizes.items())]
    if len(bars) <= bars_max:
        return bars
    kept, rest = bars[: bars_max - 1], bars[bars_max - 1 :]
    return [*kept, (f"≥{rest[0][0]}", sum(number for _, number in rest))]


def headline(result: AuditResult) -> str:
    """Return the verdict's reason, and the judged range if any."""
    return " ".join(part for part in (judged_range(result), _because(result)) if part)


def judged_range(result: AuditResult) -> str:
    """Return what of the log was judged, empty for all."""
    part = result.range
    if part is None:
        return ""
    ends = " to ".join(dict.fromkeys(filter(None, (part.first_gtid, part.last_gtid))))
    judged = f", {ends}" if ends else ""
    counts = [
        text
        for number, text in (
            (part.before, f"{part.before:,} before"),
            (part.after, f"{part.after:,} after"),
            (part.other_domains, f"{part.other_domains:,} of other domains"),
        )
        if number
    ]
    left_out = f"; left out: {', '.join(counts)}" if counts else ""
    every = result.transactions + part.left_out
    return f"Judged {result.transactions:,} of {every:,} transactions{judged}{left_out}."


def _because(result: AuditResult) -> str:
    reasons = _breaches(result)
    if result.verdict is Verdict.VIOLATED and reasons:
        return " ".join(reasons)
    if result.verdict is Verdict.HOLDS:
        return (
            f"No conflict among the {counted(result.pairs_allowed_to_overlap, 'pair')} of "
            "transactions that the log allows to overlap; "
            f"{counted(result.conflicting_pairs_ordered, 'conflicting pair')} "
            f"{'is' if result.conflicting_pairs_ordered == 1 else 'are'} kept apart."
        )
    if not result.unknown_because:
        return "The evidence does not suffice for a verdict."
    first, *others = result.unknown_because
    more = f" And {counted(len(others), 'more reason')}." if others else ""
    return f"{sentence(first.reason)}{more}"


def sentence(text: str) -> str:
    """Return ``text`` with capital and full stop."""
    first_word = text.partition(" ")[0].rstrip(",:")
    # Names (P104, shop.orders, 0-1-7) stay unchanged.
    is_word = first_word.isalpha() and first_word.islower()
    start = text[:1].upper() + text[1:] if is_word else text
    return start if start.endswith((".", "!", "?")) else f"{start}."


def _breaches(result: AuditResult) -> list[str]:
    reasons = []
    pairs = len(result.violations) + result.violations_dropped
    certain = sum(violation.certain for violation in result.violations)
    if certain:
        known = f"{certain:,} of {pairs:,}" if certain < len(result.violations) else f"{pairs:,}"
        noun = "pair" if pairs == 1 else "pairs"
        reasons.append(
            f"{known} {noun} of conflicting transactions may be applied at the same time."
        )
    broken = sum(finding.severity == "violation" for finding in result.lint)
    if broken:
        reasons.append(f"The metadata breaks its own rules in {counted(broken, 'place')}.")
    findings = result.replay.before_images_missing + result.replay.duplicate_keys
    if findings:
        do_not = "does not" if findings == 1 else "do not"
        reasons.append(
            f"{counted(findings, 'row image')} {do_not} fit the rows the log itself built up."
        )
    return reasons
