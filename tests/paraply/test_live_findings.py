"""What live runs found, kept as small histories: judged again without any server."""

from __future__ import annotations

from pathlib import Path

import pytest

import properties.all
from paraply.recorded_files import histories_in
from properties.registry import property_named, verdict_of
from vocabulary.transactions import TransactionKind
from vocabulary.verdict import Verdict

assert properties.all

FINDINGS = Path(__file__).parents[1] / "fixtures" / "live"


@pytest.fixture(scope="module")
def recovered_ddl():
    """MariaDB 10.11.19, optimistic: the source was killed in an ALTER TABLE, cut to 12 around it.

    Recovery logged the statement, without the ddl flag that lets a replica run it alone.
    """
    (history,) = histories_in(FINDINGS / "recovered_ddl_unmarked.jsonl")
    return history.check()


def test_schema_change_that_recovery_logged_has_no_ddl_flag(recovered_ddl):
    (change,) = [one for one in recovered_ddl.transactions if one.kind is TransactionKind.DDL]
    assert change.statement.startswith("ALTER TABLE")
    assert "ddl" not in change.flags


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("domains_apply_without_conflict", Verdict.VIOLATED),
        ("sound_log_never_fails", Verdict.VIOLATED),
        ("replica_logs_domains_in_order", Verdict.HOLDS),
        ("domains_commit_in_order", Verdict.HOLDS),
    ],
)
def test_later_transactions_overtook_it(recovered_ddl, name, expected):
    assert verdict_of(recovered_ddl, property_named(name)) is expected


def test_those_that_overtook_it_are_named(recovered_ddl):
    breaches = property_named("domains_apply_without_conflict").violations(recovered_ddl)
    assert str(breaches[0]) == "replica1: T5 began before T4 had committed"
