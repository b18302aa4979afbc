"""Every table that the audit keeps is bounded, and what a bound hides is said, not guessed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

import paraply.properties.logs.conflict_index
import paraply.properties.logs.lint_gtids
import paraply.properties.logs.overlap_rules
import paraply.properties.logs.replay_state
import paraply.properties.logs.safety_evidence
import paraply.properties.logs.scheduling_models
import paraply.properties.logs.worker_timeline
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.logs.log_lint import LogLint
from paraply.properties.logs.naive_conflict_graph import check_all_pairs
from paraply.properties.logs.row_replay import RowReplay
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.builders.logged import (
    Tables,
    audited,
    grouped,
    insert,
    log,
    maria_log,
    stamped,
    transaction,
)
from tests.properties.logged_strategies import mysql_logs

ONCE_PATCHED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def reasons(result):
    return " | ".join(
        reason.reason
        for reason in result.unknown_because
        if reason.property == "conflicting_transactions_are_ordered"
    )


@pytest.mark.long
@ONCE_PATCHED
@given(mysql_logs())
def test_few_stretches_of_numbers_never_change_what_is_found(monkeypatch, transactions):
    with monkeypatch.context() as patch:
        patch.setattr(paraply.properties.logs.overlap_rules, "STRETCHES_MAX", 2)
        result = audited(transactions)
    naive = check_all_pairs(transactions, "logical-clock")
    assert {(v.earlier.ordinal, v.later.ordinal) for v in result.violations} == naive.violating
    assert result.pairs_allowed_to_overlap <= len(naive.allowed)
    assert bool(result.pairs_allowed_to_overlap) == bool(naive.allowed)


@pytest.mark.long
@ONCE_PATCHED
@given(mysql_logs())
def test_short_window_never_overstates_parallelism(monkeypatch, transactions):
    whole = {entry.model: entry for entry in audited(transactions).parallelism}
    with monkeypatch.context() as patch:
        patch.setattr(paraply.properties.logs.scheduling_models, "WINDOW_MAX", 1)
        patch.setattr(paraply.properties.logs.worker_timeline, "LEVELS_MAX", 1)
        short = {entry.model: entry for entry in audited(transactions).parallelism}
    for model, entry in short.items():
        assert entry.critical_path >= whole[model].critical_path
        assert entry.width_max <= whole[model].width_max
        assert entry.work == whole[model].work


def test_too_many_domains_make_the_verdict_unknown(monkeypatch):
    # Domain 0 is pushed out between two members of its group, which then look apart.
    between = [grouped(n, "- x", domain=n) for n in (3, 4)]
    transactions = maria_log("7 a", "8 c", *between, "8 c", "9 a", "9 b")
    assert audited(transactions).verdict is Verdict.VIOLATED
    monkeypatch.setattr(paraply.properties.logs.overlap_rules, "LANES_MAX", 2)
    monkeypatch.setattr(paraply.properties.logs.conflict_index, "LANES_MAX", 2)
    monkeypatch.setattr(paraply.properties.logs.safety_evidence, "LANES_MAX", 2)
    result = audited(transactions)
    assert result.verdict is Verdict.UNKNOWN
    assert "too many to follow" in reasons(result)


def test_forgotten_lane_of_the_index_counts_as_within_reach(monkeypatch):
    monkeypatch.setattr(paraply.properties.logs.conflict_index, "LANES_MAX", 1)
    texts = ["7 a", *(grouped(n, f"- k{n}", domain=n) for n in range(2, 7)), "7 a"]
    result = audited(maria_log(*texts), horizon=Horizon(keys=2, transactions=2))
    assert result.violations == []
    assert "horizon" in reasons(result)


def test_forgotten_changes_of_an_unkeyed_table_are_unknown():
    unkeyed = [stamped(n, f"{n}<0", unkeyed=[f"d.k{n}"]) for n in range(3, 9)]
    again = stamped(9, "9<0", unkeyed=["d.k3"])
    transactions = log("1<0 a", "2<1 a", *unkeyed, again)
    assert "d.k3" in reasons(audited(transactions))
    forgetful = audited(transactions, horizon=Horizon(keys=2, transactions=2))
    assert "d.k3" not in reasons(forgetful)
    assert "horizon" in reasons(forgetful)


def test_forgotten_ddl_is_unknown():
    ddl = [
        stamped(n, f"{n}<0", kind=LoggedKind.DDL, statements=(f"ALTER TABLE t{n} ADD x INT",))
        for n in range(1, 6)
    ]
    result = audited(log(*ddl, "6<0 t1.a"), horizon=Horizon(keys=2, transactions=2))
    assert result.violations == []
    assert "horizon" in reasons(result)


def test_undecided_tables_past_the_limit_are_counted(monkeypatch):
    monkeypatch.setattr(paraply.properties.logs.safety_evidence, "UNDECIDED_TABLES_MAX", 1)
    unkeyed = [stamped(n, f"{n}<0", unkeyed=["d.k", "d.l", "d.m"]) for n in (1, 2)]
    assert "2 more such overlaps" in reasons(audited(log(*unkeyed)))


def test_scattered_gtids_make_uniqueness_unknown(monkeypatch):
    monkeypatch.setattr(paraply.properties.logs.lint_gtids, "INTERVALS_MAX", 4)
    numbers = [10, 20, 30, 40, 50, 60, 15, 10]
    lint = LogLint()
    for n, number in enumerate(numbers, start=1):
        lint.observe(stamped(n, f"{n}<{n - 1}", gtid=f"u:{number}"))
    # 10 is there twice, but it was forgotten: not a violation, and not silently unique.
    assert lint.violations == 0
    assert [reason.property for reason in lint.reasons()] == ["gtids_are_unique"]


def test_too_many_origins_make_uniqueness_unknown(monkeypatch):
    monkeypatch.setattr(paraply.properties.logs.lint_gtids, "ORIGINS_MAX", 2)
    lint = LogLint()
    for n in range(1, 5):
        lint.observe(grouped(n, "- a", domain=n, gtid=f"{n}-1-1"))
    lint.observe(grouped(5, "- a", domain=1, gtid="1-1-1"))
    assert lint.violations == 0
    assert lint.reasons()


def test_gtids_in_order_are_remembered_as_one_interval_whatever_their_number(monkeypatch):
    monkeypatch.setattr(paraply.properties.logs.lint_gtids, "INTERVALS_MAX", 4)
    lint = LogLint()
    for n in range(1, 200):
        lint.observe(stamped(n, f"{n}<{n - 1}"))
    assert lint.reasons() == []


def test_malformed_gtid_is_nobodys_number():
    lint = LogLint()
    for gtid in ("nonsense", "u:x", "", "0-1-y"):
        lint.observe(transaction(1, gtid=gtid))
        lint.observe(transaction(2, gtid=gtid, domain=0))
    assert lint.violations == 0


def test_table_pushed_out_of_the_replay_counts_as_never_seen(monkeypatch):
    monkeypatch.setattr(paraply.properties.logs.replay_state, "TABLES_MAX", 2)
    tables = Tables()
    for name in "abc":
        tables.add(f"d.{name}", "id")
    replay = RowReplay(tables)
    for n, name in enumerate("abca", start=1):
        replay.observe(transaction(n, rows=[insert(f"d.{name}", 1)]))
    assert replay.result().findings == []


@pytest.mark.parametrize("model", ["by-table", "by-schema", "commit-group", "row-conflicts"])
def test_partitions_pushed_out_leave_the_work_alone(model, monkeypatch):
    transactions = [grouped(n, f"- t{n % 5}.a", domain=n % 4) for n in range(1, 30)]
    whole = {entry.model: entry for entry in audited(transactions).parallelism}
    monkeypatch.setattr(paraply.properties.logs.scheduling_models, "PARTITIONS_MAX", 2)
    bounded = {entry.model: entry for entry in audited(transactions).parallelism}
    assert bounded[model].work == whole[model].work
    assert bounded[model].critical_path <= whole[model].critical_path
