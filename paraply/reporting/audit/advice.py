"""Next steps, each with its number from the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraply.reporting.escape import shortened
from paraply.reporting.words import metadata_model, share
from paraply.vocabulary.audit_result import AuditResult, Parallelism, Reason
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict

GAIN_WORTH_MENTIONING = 1.25
"""Minimum speed gain."""

ALWAYS_WRITESET = ("8.4.", "9.")
"""Servers without binlog_transaction_dependency_tracking, always WRITESET."""

SUBJECTS_MAX = 3

SHARE_WORTH_MENTIONING = 0.25
"""Minimum share of the critical path."""


def next_steps(result: AuditResult) -> list[str]:
    """Return distinct suggested steps, most useful first."""
    return list(dict.fromkeys(_steps(result)))


def _steps(result: AuditResult) -> Iterator[str]:
    for reason, subjects in grouped(result.unknown_because):
        names = f" ({about(subjects)})" if reason.subject else ""
        remedy = reason.remedy
        if len(subjects) > 1:
            remedy = remedy.replace(reason.subject, "each")
        yield f"To turn unknown into an answer{names}: {remedy}."
    models = {model.model: model for model in result.parallelism}
    metadata = metadata_model(result)
    if result.violations:
        yield f"Until it is understood, apply this log serially ({_serially(result)})."
        yield "Keep the files: they are the evidence for a bug report to whoever wrote them."
    if metadata is not None:
        yield from _tuning(result, metadata, models.get("row-conflicts"))
        yield from _keys_to_add(result, models)


def grouped(reasons: Sequence[Reason]) -> list[tuple[Reason, list[str]]]:
    """Merge reasons that differ in subject."""
    found: dict[tuple[str, str], tuple[Reason, list[str]]] = {}
    for reason in reasons:
        remedy = reason.remedy.replace(reason.subject, "") if reason.subject else reason.remedy
        known = found.setdefault((reason.property, remedy), (reason, []))
        if reason.subject not in known[1]:
            known[1].append(reason.subject)
    return list(found.values())


def about(subjects: Sequence[str]) -> str:
    """Return first names and the others' number."""
    named = ", ".join(shortened(subject) for subject in subjects[:SUBJECTS_MAX])
    more = len(subjects) - SUBJECTS_MAX
    return f"{named} and {more:,} more" if more > 0 else named


def _is_mariadb(result: AuditResult) -> bool:
    return any(file.format == "mariadb" for file in result.files)


def _serially(result: AuditResult) -> str:
    return "slave_parallel_threads=0" if _is_mariadb(result) else "replica_parallel_workers=1"


def _lever(result: AuditResult) -> str:
    if _is_mariadb(result):
        return "slave_parallel_mode=optimistic on the replica (its default from 10.5.1) finds it"
    if any(file.server.startswith(ALWAYS_WRITESET) for file in result.files):
        return (
            "this source already tracks write sets; tables without a primary key, foreign key "
            "parents, DDL and binlog_transaction_dependency_history_size are what limits them"
        )
    return "set binlog_transaction_dependency_tracking=WRITESET on the source"


def _keys_to_add(result: AuditResult, models: dict[str, Parallelism]) -> Iterator[str]:
    now, then = models.get("row-conflicts"), models.get("with-keys")
    if now is None or then is None:
        return
    without = [
        (table.inserts + table.updates + table.deletes, table.name)
        for table in result.tables
        if table.keys_known and not table.keys
    ]
    names = [name for changes, name in sorted(without, reverse=True) if changes]
    if names and then.ideal_speedup >= GAIN_WORTH_MENTIONING * now.ideal_speedup:
        yield (
            f"A PRIMARY KEY on {about(names)} would raise the limit that the rows set from "
            f"{now.ideal_speedup:.1f} to {then.ideal_speedup:.1f} times one worker, and lets a "
            "replica find a row without reading the table."
        )


def _tuning(
    result: AuditResult, metadata: Parallelism, conflicts: Parallelism | None
) -> Iterator[str]:
    if metadata.safe is Verdict.HOLDS and metadata.knee > 1:
        gained = metadata.speedup.get(metadata.knee)
        reached = f": they are {gained:.1f} times as fast as one" if gained else ""
        yield f"{metadata.knee} workers are worth having{reached}."
    elif metadata.safe is Verdict.HOLDS and result.transactions > 1:
        yield "More than one worker gains next to nothing with this metadata."
    if conflicts is not None and metadata.ideal_speedup > 0:
        gain = conflicts.ideal_speedup / metadata.ideal_speedup
        if gain >= GAIN_WORTH_MENTIONING:
            yield (
                f"The rows would allow up to {gain:.1f} times the parallelism of the metadata "
                f"({conflicts.ideal_speedup:.1f} against {metadata.ideal_speedup:.1f}): "
                f"{_lever(result)}."
            )
    for blocker in result.blockers[:1]:
        if blocker.share >= SHARE_WORTH_MENTIONING:
            yield (
                f"{share(blocker.share)} of the critical path is {blocker.kind} {blocker.name} "
                f"({counted(blocker.transactions, 'link')}): without it the log could be applied "
                "faster; more workers will not help."
            )
