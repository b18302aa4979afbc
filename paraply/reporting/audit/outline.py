"""The audit report as an outline of sections."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.reporting.audit.advice import about, grouped, next_steps
from paraply.reporting.audit.faster_outline import faster_blocks
from paraply.reporting.audit.parallelism_outline import blocker_blocks, parallelism_blocks
from paraply.reporting.escape import shortened
from paraply.reporting.evidence import decidable_pairs
from paraply.reporting.outline import (
    Block,
    Facts,
    Line,
    Outline,
    Section,
    Table,
    Tone,
)
from paraply.reporting.words import (
    consequence_of,
    headline,
    name_of,
    place_of,
    place_of_finding,
    sentence,
    server_of,
    timestamp,
    what_they_share,
    why_they_may_overlap,
)
from paraply.vocabulary.audit_result import (
    AuditResult,
    LintFinding,
    SafetyViolation,
    TransactionRef,
)
from paraply.vocabulary.counting import counted

CARDS_MAX = 5
"""JSON and HTML contain all."""

ROWS_MAX = 12
"""JSON and HTML contain all."""

STATEMENT_MAX = 600
"""Each statement that --dsn asks is shorter; JSON contains all in any case."""

_SEVERITY_TONES = {"violation": Tone.BAD, "warning": Tone.WARNING, "note": Tone.QUIET}


def audit_outline(result: AuditResult) -> Outline:
    """Return one audit's report, verdict first."""
    sections = {
        "Why unknown": _unknown(result),
        "Safety": _safety(result),
        "Metadata": _lint(result),
        "Replay of the row images": _replay(result),
        "Parallelism": parallelism_blocks(result),
        "What would be faster": faster_blocks(result),
        "What makes the critical path": blocker_blocks(result),
        "Tables and their keys": _tables(result),
        "Files": _files(result),
        "Assumed": (Line(text=assumption) for assumption in result.assumptions),
        "Asked of the server": (
            Line(text=shortened(statement, STATEMENT_MAX)) for statement in result.statements_asked
        ),
        "Next": (
            Line(lead=f"{number}.", text=step)
            for number, step in enumerate(next_steps(result), start=1)
        ),
    }
    filled = ((title, list(blocks)) for title, blocks in sections.items())
    return Outline(
        verdict=result.verdict,
        headline=shortened(headline(result), 600),
        subtitle=size_of(result),
        sections=[Section(title=title, blocks=blocks) for title, blocks in filled if blocks],
    )


def size_of(result: AuditResult) -> str:
    """Return the size of the audit, and how much of it is decidable."""
    size = ", ".join(
        (
            counted(result.transactions, "transaction"),
            counted(result.row_changes, "row change"),
            counted(len(result.tables), "table"),
            counted(len(result.files), "file"),
        )
    )
    return "; ".join(filter(None, (size, decidable_pairs(result))))


def _files(result: AuditResult) -> Iterator[Block]:
    yield Table(
        columns=("file", "written by", "checksum", "bytes read", "transactions"),
        rows=[
            (
                shortened(file.name),
                shortened(server_of(file)),
                shortened(file.checksum or "none"),
                f"{file.bytes_read:,}",
                f"{file.transactions:,}",
            )
            for file in result.files
        ],
        left=frozenset({0, 1, 2}),
    )
    for file in result.files:
        if file.stopped:
            yield Line(lead="not read to its end", text=shortened(file.stopped), tone=Tone.UNSURE)
        if file.skipped_event_types:
            kinds = ", ".join(
                f"{shortened(kind, 60)} ({number:,})"
                for kind, number in sorted(file.skipped_event_types.items())
            )
            yield Line(
                lead="skipped", text=f"{shortened(file.name)}: unknown events {kinds}",
                tone=Tone.WARNING,
            )  # fmt: skip


def _unknown(result: AuditResult) -> Iterator[Block]:
    alike = grouped(result.unknown_because)
    for reason, subjects in alike[:ROWS_MAX]:
        rows = [("because", shortened(sentence(reason.reason), 400))]
        if reason.subject:
            rows.insert(0, ("about", about(subjects)))
        rows.append(("to find out", shortened(sentence(reason.remedy), 400)))
        yield Facts(title=shortened(reason.property), rows=rows, tone=Tone.UNSURE)
    yield from _more(len(alike) - ROWS_MAX, "reason")


def _safety(result: AuditResult) -> Iterator[Block]:
    overlapping = result.pairs_allowed_to_overlap
    apart = result.conflicting_pairs_ordered
    yield Line(
        text=f"The log allows {counted(overlapping, 'pair')} of transactions to overlap and keeps "
        f"{counted(apart, 'conflicting pair')} apart."
        + (
            ""
            if overlapping or apart
            else " A log in which nothing may overlap shows nothing about its metadata."
        )
    )
    for number, violation in enumerate(result.violations[:CARDS_MAX], start=1):
        yield card(violation, number)
    yield from _more(len(result.violations) - CARDS_MAX + result.violations_dropped, "such pair")


def card(violation: SafetyViolation, number: int = 0) -> Facts:
    """Return a violation's values; ``number`` 0 is unnumbered."""
    certain = violation.certain
    rows = (
        (
            "breaks" if certain else "may break",
            f"{shortened(violation.property)} under {shortened(violation.applier)}",
        ),
        ("A", _described(violation.earlier)),
        ("B", _described(violation.later)),
        ("overlap", why_they_may_overlap(violation)),
        ("both touch", shortened(what_they_share(violation), 400)),
        ("so", shortened(consequence_of(violation), 400)),
    )
    place = f"{number}. " if number else ""
    return Facts(
        title=f"{place}{shortened(violation.table)} {shortened(violation.key)}",
        tone=Tone.BAD if certain else Tone.UNSURE,
        rows=[(label, value) for label, value in rows if value],
    )


def _described(reference: TransactionRef) -> str:
    parts = (shortened(name_of(reference)), shortened(place_of(reference)), timestamp(reference))
    return "  ".join(part for part in parts if part)


def findings_by_gravity(result: AuditResult) -> list[LintFinding]:
    """Return the lint findings, gravest first."""
    order = list(_SEVERITY_TONES)
    return sorted(
        result.lint,
        key=lambda finding: (
            order.index(finding.severity) if finding.severity in order else len(order)
        ),
    )


def _lint(result: AuditResult) -> Iterator[Block]:
    if not result.lint:
        yield Line(text="No fault found in the logical clock, commit groups or GTIDs.")
        return
    for finding in findings_by_gravity(result)[:ROWS_MAX]:
        yield Line(
            lead=shortened(finding.severity, 20),
            text=": ".join(
                shortened(part, 400)
                for part in (finding.rule, place_of_finding(finding), finding.message)
                if part
            ),
            tone=_SEVERITY_TONES.get(finding.severity, Tone.NEUTRAL),
        )
    yield from _more(len(result.lint) - ROWS_MAX + result.lint_dropped, "finding")


def _replay(result: AuditResult) -> Iterator[Block]:
    replay = result.replay
    yield Line(
        text=f"{counted(replay.before_images_found, 'before image')} found as the log left them, "
        f"{replay.before_images_missing:,} missing, "
        f"{replay.before_images_unknown:,} of rows not known before; "
        f"{counted(replay.duplicate_keys, 'duplicate key')}; "
        f"{'at most ' if replay.cascaded_tables else ''}{counted(replay.final_rows, 'row')} known "
        "at the end."
    )
    if replay.rows_in_doubt:
        yield Line(
            lead="in doubt",
            text=f"{counted(replay.rows_in_doubt, 'row image does', 'row images do')} not fit, but "
            "a change without a record may explain it: a foreign key's cascade, or a row whose key "
            "was not logged.",
            tone=Tone.UNSURE,
        )
    if replay.rows_without_key:
        yield Line(
            lead="not followed",
            text=f"{counted(replay.rows_without_key, 'row change')} of tables without a known key.",
            tone=Tone.UNSURE,
        )
    if replay.cascaded_tables:
        yield Line(
            lead="at most",
            text="a cascade may have deleted rows without logging them: "
            + shortened(", ".join(replay.cascaded_tables), 400),
            tone=Tone.QUIET,
        )
    for finding in replay.findings[:ROWS_MAX]:
        yield Line(
            lead=shortened(finding.property),
            text=f"{shortened(finding.table)} {shortened(finding.key)} in "
            f"{_described(finding.transaction)}, rows event at {finding.offset}: "
            f"{shortened(finding.message, 400)}",
            tone=Tone.BAD,
        )
    yield from _more(len(replay.findings) - ROWS_MAX, "finding")


def _tables(result: AuditResult) -> Iterator[Block]:
    if result.tables:
        busiest = sorted(
            result.tables, key=lambda table: -(table.inserts + table.updates + table.deletes)
        )
        yield Table(
            columns=("table", "inserts", "updates", "deletes", "keys", "known from"),
            rows=[
                (
                    shortened(table.name),
                    f"{table.inserts:,}",
                    f"{table.updates:,}",
                    f"{table.deletes:,}",
                    shortened(", ".join(table.keys)) or ("none" if table.keys_known else "unknown"),
                    shortened(", ".join(table.sources)) or "nothing",
                )
                for table in busiest[:ROWS_MAX]
            ],
            left=frozenset({0, 4, 5}),
            tones=[
                Tone.NEUTRAL if table.keys_known else Tone.UNSURE for table in busiest[:ROWS_MAX]
            ],
        )
        yield from _more(len(busiest) - ROWS_MAX, "table")


def _more(number: int, noun: str) -> Iterator[Block]:
    if number > 0:
        yield Line(
            text=f"… and {counted(number, 'more ' + noun)}; --json and --html list them.",
            tone=Tone.QUIET,
        )
