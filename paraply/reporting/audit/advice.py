"""Next steps, each with its number from the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraply.reporting.audit.option_names import serial_setting
from paraply.reporting.escape import shortened
from paraply.reporting.words import current_prediction, metadata_model, share
from paraply.vocabulary.audit_result import AuditResult, Parallelism, Reason
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict

GAIN_WORTH_MENTIONING = 1.25
"""Minimum speed gain."""

ALWAYS_WRITESET_FROM = (8, 4, 0)
"""MySQL from here on has no binlog_transaction_dependency_tracking: it always is WRITESET."""

LEVERS = {
    "mariadb-optimistic": "slave_parallel_mode=optimistic on the replica",
    "mariadb-aggressive": "slave_parallel_mode=aggressive on the replica",
    "mysql-writeset": "binlog_transaction_dependency_tracking=WRITESET on the source",
}
"""What to set, by applier. Only those that the log's servers have are predicted."""

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
        serially = serial_setting(result.newest_version, is_mariadb=result.is_mariadb)
        yield f"Until it is understood, apply this log serially ({serially})."
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


def _lever(result: AuditResult) -> str:
    """Return the setting that is predicted to gain enough, or ''."""
    now = current_prediction(result)
    gain_now = max(1.0, now.gain) if now is not None else 1.0
    levers = [one for one in result.predictions if one.applier in LEVERS]
    best = max((one.gain for one in levers), default=0.0)
    for one in levers:
        # The first of nearly equal ones: optimistic undoes less work than aggressive.
        if one.gain * 1.1 >= best and one.gain >= GAIN_WORTH_MENTIONING * gain_now:
            return (
                f"{LEVERS[one.applier]} is predicted to make {counted(one.workers, 'worker')} "
                f"{one.gain:.1f} times as fast as one; the metadata alone allows {gain_now:.1f}"
            )
    return ""


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
    now = current_prediction(result)
    workers, reached = metadata.knee, f"at most {metadata.speedup.get(metadata.knee, 1.0):.1f}"
    if now is not None and now.speedup:
        workers, reached = now.workers, f"{now.gain:.1f}"
    if metadata.safe is Verdict.HOLDS and workers > 1:
        yield f"{workers} workers are worth having: they are {reached} times as fast as one."
    elif metadata.safe is Verdict.HOLDS and result.transactions > 1:
        yield "More than one worker gains next to nothing with this metadata."
    if conflicts is not None and metadata.ideal_speedup > 0:
        gain = conflicts.ideal_speedup / metadata.ideal_speedup
        if gain >= GAIN_WORTH_MENTIONING:
            limits = (
                "; this source already tracks write sets, so tables without a primary key, foreign "
                "key parents, DDL and binlog_transaction_dependency_history_size set the limit"
            )
            is_tracking = not result.is_mariadb and result.newest_version >= ALWAYS_WRITESET_FROM
            yield (
                f"The rows would allow up to {gain:.1f} times the parallelism of the metadata "
                f"({conflicts.ideal_speedup:.1f} against {metadata.ideal_speedup:.1f})"
                f"{limits if is_tracking else ''}."
            )
    lever = _lever(result)
    if lever and metadata.safe is not Verdict.VIOLATED:
        yield f"{lever}."
    for blocker in result.blockers[:1]:
        if blocker.share >= SHARE_WORTH_MENTIONING:
            yield (
                f"{share(blocker.share)} of the critical path is {blocker.kind} {blocker.name} "
                f"({counted(blocker.transactions, 'link')}): without it the log could be applied "
                "faster; more workers will not help."
            )
