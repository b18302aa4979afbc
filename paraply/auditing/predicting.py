"""What ways to apply a log would gain, by the simulated clock of ``paraply compare``.

The clock is held to measured replicas (``docs/measured-replicas.md``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paraply.auditing.counterfactuals import TRACKED, Setting, Ways, counterfactuals
from paraply.auditing.logged_source import Extent, Source, logged_source
from paraply.auditing.pipeline import AuditRequest, moment_of
from paraply.reference_impl.comparison.appliers import APPLIERS, AS_LOGGED, WRITESET
from paraply.reference_impl.comparison.measures import is_as_serial
from paraply.reference_impl.comparison.runs import Run
from paraply.reporting.audit.advice import LEVERS
from paraply.reporting.audit.option_names import PARALLEL_MODE_FROM, setting_of
from paraply.reporting.words import current_prediction
from paraply.vocabulary.audit_result import AuditResult, Prediction
from paraply.vocabulary.collector import without_collector
from paraply.vocabulary.verdict import Verdict

EXTENT = Extent(transactions_max=2_000, rows_max=10_000)
"""The part of a log that is simulated: a second or two."""
WORKERS_MAX = 64
WORKERS = 8
"""Tried at least for changes of a log."""
MARIADB = ("minimal", "conservative", "optimistic", "aggressive")
_TRACKS_FROM, _ALWAYS_TRACKS_FROM = (5, 7, 22), (8, 4, 0)
"""MySQL's binlog_transaction_dependency_tracking exists from the first version to the second; from
there on WRITESET is the only way."""
_WAITS_FROM = {False: (5, 7, 5), True: (10, 0, 5)}
"""By whether it is MariaDB: the first version that can delay group commits."""
_REMEMBERS_FROM = (9, 5, 0)
"""Since then binlog_transaction_dependency_history_size is a million by default."""


def predict(request: AuditRequest, result: AuditResult) -> None:
    """Add predictions for the beginning of the log to an audit's result.

    There are none for a part of the log, for input that cannot be read twice, and for a schema
    that the log contradicts.
    """
    is_readable_again = all(Path(file).is_file() for file in request.files)
    if result.range is not None or not result.transactions or not is_readable_again:
        return
    if request.schema is not None and not Path(request.schema).is_file():
        return
    with without_collector():
        _predict(request, result)


def _predict(request: AuditRequest, result: AuditResult) -> None:
    source = logged_source(request.files, request.schema, EXTENT)
    if moment_of(request).doubted(source.doubts):
        return
    workers = [count for count in request.workers if count <= WORKERS_MAX]
    result.predicted_transactions = source.log.count
    result.unpredicted_keys = sorted(source.log.unfollowed_tables)
    result.predictions = [
        replace(one, setting=setting_of(one.setting, result.newest_version))
        for one in _predictions(source, _names(result, source), workers)
    ]
    ways = _ways(result, source, workers)
    if ways is not None:
        result.counterfactuals = counterfactuals(source, ways, result.predictions, prediction)
        result.unpredicted_delay = source.unpredicted_delay


def _predictions(source: Source, names: Sequence[str], workers: Sequence[int]) -> list[Prediction]:
    found: dict[str, Prediction] = {}
    for name in names:
        twin = found.get(_twin(source, name))
        found[name] = (
            replace(twin, applier=name, setting=APPLIERS[name].meaning)
            if twin is not None
            else prediction(source, name, workers)
        )
    return list(found.values())


def _twin(source: Source, name: str) -> str:
    """Return an applier that does the same on this log."""
    is_tracked = source.stamps.get(AS_LOGGED) == source.stamps.get(WRITESET)
    if name == "mysql-writeset" and is_tracked:
        return "mysql-as-logged"
    marked = (task for task in source.log.tasks if task.is_marked and not task.is_barrier)
    if name == "mariadb-aggressive" and all(task.is_irreversible for task in marked):
        return "mariadb-optimistic"
    return name


def _ways(result: AuditResult, source: Source, workers: Sequence[int]) -> Ways | None:
    """Return how this log's servers may apply it; None if that is not known to be safe."""
    now = current_prediction(result)
    if now is None or not now.speedup:
        return None
    settings = tuple(
        Setting(applier=one.applier, change=LEVERS[one.applier])
        for one in result.predictions
        if one.applier in LEVERS
    )
    # What gains nothing from more workers now may do so after a change.
    count = max(n for n in workers if n <= WORKERS or n == min(workers))
    count = max(count, *(one.workers for one in result.predictions))
    version = _version(result)
    waits = not version or version >= _WAITS_FROM[result.is_mariadb]
    if now.applier == "mariadb-conservative":
        speculates = any(one.applier == "mariadb-optimistic" for one in settings)
        return Ways(
            now=now.applier,
            settings=settings,
            workload="mariadb-optimistic" if speculates else now.applier,
            delay="binlog_commit_wait_usec" if source.has_commit_ids and waits else "",
            workers=count,
        )
    tracks = not version or version >= _TRACKS_FROM
    return Ways(
        now=now.applier,
        settings=settings,
        workload=TRACKED if tracks else now.applier,
        forgets=tracks and version < _REMEMBERS_FROM,
        always_tracks=result.newest_version >= _ALWAYS_TRACKS_FROM,
        delay="binlog_group_commit_sync_delay" if waits else "",
        workers=count,
    )


def _version(result: AuditResult) -> tuple[int, ...]:
    return min((file.version for file in result.files if file.version), default=())


def _names(result: AuditResult, source: Source) -> list[str]:
    """Return the appliers that the servers of this log have."""
    version = _version(result)
    if result.is_mariadb:
        modes = MARIADB if not version or version >= PARALLEL_MODE_FROM else ("conservative",)
        return [f"mariadb-{mode}" for mode in modes]
    found = ["mysql-as-logged", "mysql-as-logged-unordered"]
    # A server that wrote the log before and after an upgrade must have the option still.
    has_choice = _TRACKS_FROM <= version and result.newest_version < _ALWAYS_TRACKS_FROM
    if not version or has_choice:
        found.append("mysql-writeset")
    return [name for name in found if APPLIERS[name].stamps in source.stamps]


def prediction(source: Source, name: str, workers: Sequence[int]) -> Prediction:
    """Return an applier's prediction for some numbers of workers."""
    applier = APPLIERS[name]
    work = source.log.work
    speedup: dict[int, float] = {}
    verdict, unknown = Verdict.HOLDS, False
    run: Run | None = None
    for count in sorted(workers):
        if count == 1:
            speedup[count] = 1.0  # One worker applies a log serially.
            continue
        if run is None or not run.has_spare_workers:
            run = source.moments(applier, count)
            if not is_as_serial(source.log, run):
                verdict = Verdict.VIOLATED
        makespan = run.makespan if run.has_finished else None
        unknown |= source.rests_on_unknown(applier, count, makespan)
        if makespan is not None:
            source.makespans[name, count] = makespan
            speedup[count] = round(work / makespan, 4) if makespan else 1.0
    if unknown:
        verdict = Verdict.UNKNOWN
    return Prediction(
        applier=name,
        setting=applier.meaning,
        safe=verdict,
        speedup={} if verdict is not Verdict.HOLDS else speedup,
        unknown_tables=source.unknown_tables if unknown else (),
    )
