"""Audit and compare on drawn logs: one verdict per way to apply, limits above predictions."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from paraply.auditing.comparing import BINLOG, CompareRequest, compare
from paraply.auditing.logged_source import Source
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.auditing.predicting import MARIADB, predict, prediction
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.reference_impl.comparison.appliers import APPLIERS
from paraply.reference_impl.comparison.jobs import Blind
from paraply.reference_impl.comparison.logged import LoggedTasks
from paraply.reference_impl.comparison.measures import measured
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, TRANSACTIONAL
from paraply.reporting.audit.advice import LEVERS, next_steps
from paraply.vocabulary.audit_result import FileSummary
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.builders.logged import NotationKeys, grouped, maria_log
from tests.properties.logged_strategies import mariadb_logs, mysql_logs

LOGS = Path(__file__).parent.parent / "fixtures" / "binlogs"
WORKERS = (1, 2, 3, 8)
SPECULATIVE = {TRANSACTIONAL, ALLOW_PARALLEL}
SHARED = {
    "logical-clock": ("mysql-as-logged", "mysql-as-logged-unordered"),
    "commit-group": ("mariadb-conservative",),
    "by-schema": ("mysql-database", "mysql-database-unordered"),
    "by-table": ("by-table",),
}
"""Ways to apply that both commands model: the audit's name, and those of compare."""


def limits_of(transactions):
    """Return the audit's models of a log by name."""
    auditor = Auditor(NotationKeys(), AuditOptions(workers=WORKERS))
    for txn in transactions:
        auditor.observe(txn)
    return {entry.model: entry for entry in auditor.result().parallelism}


def tasks_of(transactions):
    """Return the log as compare runs it; its changes can be rolled back."""
    tasks = LoggedTasks(NotationKeys())
    for txn in transactions:
        is_rows = txn.kind is LoggedKind.ROWS and txn.domain is not None
        tasks.add(replace(txn, flags=txn.flags | SPECULATIVE) if is_rows else txn)
    return tasks.log()


def disagreement(transactions, appliers=APPLIERS):
    """Return in what the two commands differ on a log, or None."""
    limits, log = limits_of(transactions), tasks_of(transactions)
    # Compare takes DDL to meet every change; the audit asks what it names.
    meets_all = any(txn.is_ddl for txn in transactions)
    for model, names in SHARED.items():
        limit = limits.get(model)
        for name in names if limit is not None else ():
            if model == "commit-group" and any(txn.domain is None for txn in transactions):
                continue
            for workers in WORKERS:
                what = measured(log, appliers[name].run(log, workers))
                is_wrong = bool(what.misapplied) or not what.ends_as_serial
                is_wrong |= bool(what.overlaps) and not meets_all
                if limit.safe is Verdict.HOLDS and is_wrong:
                    return f"{name} with {workers}: the audit says safe, the run is not"
                if limit.work != log.work:
                    return f"{name}: {limit.work} steps, and {log.work} ticks"
                if limit.safe is Verdict.HOLDS and what.speedup(log.work) > (
                    limit.speedup[workers] * 1.0001
                ):
                    return (
                        f"{name} with {workers}: {what.speedup(log.work)} is above the limit "
                        f"{limit.speedup[workers]}"
                    )
    return None


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(mysql_logs())
def test_what_the_audit_calls_safe_runs_so_below_its_limit_for_mysql(transactions):
    assert disagreement(transactions) is None


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(mariadb_logs())
def test_what_the_audit_calls_safe_runs_so_below_its_limit_for_mariadb(transactions):
    assert disagreement(transactions) is None


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("logs", "name"), [(mysql_logs(), "mysql-as-logged"), (mariadb_logs(), "mariadb-conservative")]
)
def test_applier_without_conflicts_is_caught(logs, name):
    class Careless:
        def run(self, log, workers):
            return Blind(log, workers).run()

    appliers = {**APPLIERS, name: Careless()}
    # Any log will do, and the smallest takes half a minute.
    unshrunk = settings(
        phases=[Phase.generate], max_examples=2_000, suppress_health_check=[HealthCheck.too_slow]
    )
    found = find(logs, lambda log: disagreement(log, appliers) is not None, settings=unshrunk)
    assert disagreement(found) is None


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    "path", ["mysql-9.7.4/load-full-metadata", "mariadb-10.11.19/load-full-metadata",
             "mariadb-10.11.19/domains", "mysql-9.7.4/load-minimal-image"],
)  # fmt: skip
def test_predictions_of_an_audit_are_the_speed_ups_of_compare(path):
    file = str(LOGS / path / "bin.000001")
    request = AuditRequest(files=(file,), workers=(2, 8))
    result = audit(request)
    predict(request, result)
    assert result.predicted_transactions == result.transactions
    assert len(result.predictions) >= 2
    for workers in request.workers:
        compared = compare(
            CompareRequest(workload=BINLOG, files=(file,), workers=workers, transactions=0)
        )
        lines = {line.applier.name: line for line in compared.lines}
        for one in result.predictions:
            line = lines[one.applier]
            if line.rests_on_unknown:
                assert one.safe is Verdict.UNKNOWN
                assert not one.speedup
            elif one.safe is Verdict.HOLDS:
                speedup = line.measured.speedup(compared.bounds.work)
                assert one.speedup[workers] == round(speedup, 4)


@pytest.mark.long
def test_no_number_rests_on_unknown_keys():
    file = LOGS / "mariadb-10.11.19" / "keys-minimal-metadata" / "bin.000001"
    found = {}
    for unknown in (True, False):
        request = AuditRequest(
            files=(str(file),), workers=(8,),
            schema=None if unknown else str(file.with_name("schema.sql")),
        )  # fmt: skip
        result = audit(request)
        predict(request, result)
        found[unknown] = {one.applier: one for one in result.predictions}
    assert found
    for name, one in found[True].items():
        if one.unknown_tables:
            assert (one.speedup, one.gain, one.workers) == ({}, 0.0, 0)
        else:
            assert one.speedup == found[False][name].speedup


def test_input_that_cannot_be_read_twice_has_no_prediction(tmp_path):
    file = tmp_path / "bin.000001"
    shutil.copy(LOGS / "mysql-9.7.4" / "load-full-metadata" / "bin.000001", file)
    request = AuditRequest(files=(str(file),))
    result = audit(request)
    predict(AuditRequest(files=("-",)), result)
    assert result.predictions == []
    assert "at most" in " ".join(next_steps(result))


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(mariadb_logs())
def test_advice_recommends_only_what_its_own_simulation_makes_faster(transactions):
    assert not recommends_slower(transactions)


def test_speculation_is_recommended_where_nothing_conflicts_and_no_commit_is_shared():
    assert recommended(maria_log(*(f"- {key}" for key in "abcde"))) == ["mariadb-optimistic"]
    assert recommended(maria_log(*("- a" for _ in range(5)))) == []


def simulated(transactions):
    """Return the audit of a drawn log with the simulated speed-ups of MariaDB's modes."""
    auditor = Auditor(NotationKeys(), AuditOptions(workers=WORKERS))
    for txn in transactions:
        auditor.observe(txn)
    result = auditor.result()
    source = Source(log=tasks_of(transactions), stamps={}, has_commit_ids=True)
    result.predictions = [prediction(source, f"mariadb-{mode}", WORKERS) for mode in MARIADB]
    return result, source


def recommended(transactions):
    """Return the appliers that the advice recommends."""
    steps = " ".join(next_steps(simulated(transactions)[0]))
    return [name for name, setting in LEVERS.items() if setting in steps]


def recommends_slower(transactions):
    """Return whether a recommended mode is not faster, with its workers, than going by groups."""
    result, source = simulated(transactions)
    found = {one.applier: one for one in result.predictions}
    for name in recommended(transactions):
        workers, log = found[name].workers, source.log
        best = source.run(APPLIERS[name], workers).speedup(log.work)
        now = [1.0]
        if found["mariadb-conservative"].safe is Verdict.HOLDS:  # Else it ends in another state.
            runs = (source.run(APPLIERS["mariadb-conservative"], n) for n in WORKERS)
            now = [run.speedup(log.work) for run in runs]
        # Fewer workers within a tenth of the best count as the best.
        if best < 1.2 or 1.1 * best < max(now):
            return True
    return False


MENTIONED = {"mariadb-optimistic": (10, 1, 3), "mariadb-aggressive": (10, 1, 3),
             "mysql-writeset": (5, 7, 22)}  # fmt: skip
"""First version with each setting that the advice may name."""


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    ("family", "version"),
    [("mariadb", one) for one in ("10.0.38", "10.1.2", "10.1.48", "10.11.19", "11.8.2")]
    + [("mysql", one) for one in ("5.6.51", "5.7.21", "5.7.44", "8.0.36", "8.4.0", "9.7.4")],
)
def test_only_what_a_version_has_is_predicted_and_advised(family, version):
    folder = "mariadb-10.11.19" if family == "mariadb" else "mysql-9.7.4"
    request = AuditRequest(files=(str(LOGS / folder / "load-full-metadata" / "bin.000001"),))
    result = audit(request)
    result.files = [FileSummary(name="bin.000001", server=version, format=family)]
    predict(request, result)
    number = tuple(map(int, version.split(".")))
    names = {one.applier for one in result.predictions}
    assert names
    for applier, first in MENTIONED.items():
        is_there = number >= first and applier.startswith(family)
        if applier == "mysql-writeset":
            is_there &= number < (8, 4, 0)
        assert (applier in names) == is_there
        assert is_there or LEVERS[applier] not in " ".join(next_steps(result))


def test_conflicts_across_domains_end_in_every_mode():
    # Two domains that lock each other's rows once retried at once, with the same locks, forever.
    texts, domains = ("- a", "- a b c", "- c a / b"), (0, 1, 0)
    log = tasks_of(maria_log(*(grouped(n, texts[n - 1], domain=domains[n - 1]) for n in (1, 2, 3))))
    for mode in MARIADB:
        for workers in WORKERS:
            assert APPLIERS[f"mariadb-{mode}"].run(log, workers).has_finished
