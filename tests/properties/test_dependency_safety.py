"""conflicting_transactions_are_ordered and definitions_change_alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.logs.safety_evidence import SafetyEvidence
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import CREATES_NOTHING, WHOLE_ROW, LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.builders.logged import (
    audited,
    grouped,
    log,
    maria_log,
    stamped,
    transaction,
)

EQUAL = frozenset({ConflictKey(table="d.k", index=WHOLE_ROW, values=(b"digest",), shown="1")})


def violating_pairs(result: AuditResult) -> list[tuple[int, int]]:
    return [(v.earlier.ordinal, v.later.ordinal) for v in result.violations]


def safety_reasons(result: AuditResult) -> str:
    return " | ".join(
        reason.reason
        for reason in result.unknown_because
        if reason.property == "conflicting_transactions_are_ordered"
    )


def ddl(ordinal: int, stamp: str, statement: str):
    return stamped(ordinal, stamp, kind=LoggedKind.DDL, statements=(statement,))


# --- the prefix rule -----------------------------------------------------------------------


def test_conflict_is_kept_apart_when_last_committed_covers_it():
    result = audited(log("1<0 a", "2<0 b", "3<1 a"))
    assert result.verdict is Verdict.HOLDS
    assert result.conflicting_pairs_ordered == 1
    # 2 beside 1; 3 beside 2.
    assert result.pairs_allowed_to_overlap == 2


def test_conflict_is_reported_when_last_committed_lies_before_it():
    result = audited(log("1<0 a", "2<1 b", "3<0 a"))
    assert result.verdict is Verdict.VIOLATED
    (violation,) = result.violations
    assert (violation.earlier.ordinal, violation.later.ordinal) == (1, 3)
    assert violation.property == "conflicting_transactions_are_ordered"
    assert violation.applier == "logical-clock"
    assert (violation.table, violation.index, violation.key) == ("d.t", "PRIMARY", "PRIMARY(a)")
    assert violation.certain


def test_last_committed_is_a_prefix_and_not_a_single_parent():
    # 4 names 3 as its parent and conflicts with 1: the prefix up to 3 holds 1, so it is safe.
    result = audited(log("1<0 a", "2<0 b", "3<0 c", "4<3 a", "5<3 d"))
    assert result.verdict is Verdict.HOLDS


def test_conflict_at_last_committed_plus_one_may_overlap():
    assert violating_pairs(audited(log("1<0 a", "2<1 b", "3<1 b"))) == [(2, 3)]


def test_every_violating_pair_is_listed_and_not_only_the_last_writer():
    result = audited(log("1<0 a", "2<0 a", "3<0 a", "4<2 a"))
    assert violating_pairs(result) == [(1, 2), (1, 3), (2, 3), (3, 4)]


def test_rotation_keeps_conflicts_apart_although_numbers_restart():
    result = audited(
        log("1<0 a", "2<0 b", "3<2 a", stamped(4, "1<0 a", clock=1), stamped(5, "2<1 c", clock=1))
    )
    assert result.verdict is Verdict.HOLDS


def test_view_change_at_zero_keeps_conflicts_apart():
    view = stamped(3, "0<0", kind=LoggedKind.VIEW_CHANGE)
    result = audited(log("1<0 a", "2<0 b", view, "3<1 a", "4<1 b"))
    assert violating_pairs(result) == []


def test_gap_that_only_mysql_waits_at_is_a_violation_that_says_so():
    result = audited(log("1<0 a", "5<0 a"))
    assert violating_pairs(result) == [(1, 2)]
    assert "a gap in the sequence numbers" in result.violations[0].consequence


def test_last_committed_of_zero_is_no_excuse_but_is_named():
    result = audited(log("1<0 a", "2<1 b", "3<0 a", "4<2 c"))
    assert "last_committed=0" in result.violations[0].consequence


def test_violation_without_any_break_names_no_scheduler():
    result = audited(log("1<0 b", "2<1 a", "3<1 a"))
    assert "scheduler" not in result.violations[0].consequence


# --- commit groups -------------------------------------------------------------------------


def test_members_of_one_commit_group_conflict_and_are_reported():
    result = audited(maria_log("7 a", "7 b", "7 a", "- a"))
    assert violating_pairs(result) == [(1, 3)]
    assert result.violations[0].applier == "commit-group"


def test_transactions_without_commit_id_never_overlap():
    result = audited(maria_log("- a", "- a", "7 b", "7 c", "8 b", "8 d"))
    assert result.verdict is Verdict.HOLDS
    assert result.pairs_allowed_to_overlap == 2


def test_commit_group_that_comes_back_is_two_groups():
    assert violating_pairs(audited(maria_log("7 a", "- b", "7 a"))) == []


def test_ddl_without_a_commit_id_runs_alone():
    middle = grouped(2, "-", kind=LoggedKind.DDL, statements=("ALTER TABLE t ADD x INT",))
    assert violating_pairs(audited(maria_log("7 a", middle, "7 a"))) == []


@pytest.mark.parametrize("statement", ["TRUNCATE t", "ALTER TABLE t ADD x INT", "DROP DATABASE d"])
def test_ddl_that_was_forged_into_a_commit_group_does_not_hold(statement):
    middle = grouped(2, "7", kind=LoggedKind.DDL, statements=(statement,))
    result = audited(maria_log("7 a", middle, "7 b"))
    assert violating_pairs(result) == [(1, 2), (2, 3)]
    assert {each.property for each in result.violations} == {"definitions_change_alone"}


def test_commit_groups_are_followed_per_domain():
    other = grouped(2, "9 x", domain=1)
    assert violating_pairs(audited(maria_log("7 a", other, "7 a"))) == [(1, 3)]


def test_conflict_across_domains_is_unknown():
    safe = ["7 a", "7 b", "- a"]
    other = grouped(4, "- x", domain=1)
    assert audited(maria_log(*safe, other)).verdict is Verdict.HOLDS
    crossing = grouped(4, "- a", domain=1)
    result = audited(maria_log(*safe, crossing))
    assert result.verdict is Verdict.UNKNOWN
    assert "another replication domain" in safety_reasons(result)


# --- foreign keys, uncertain keys, barriers -------------------------------------------------


def test_two_children_of_one_parent_do_not_conflict():
    assert violating_pairs(audited(log("1<0 c1/p.1", "2<0 c2/p.1"))) == []


@pytest.mark.parametrize("texts", [("1<0 p.1", "2<0 c1/p.1"), ("1<0 c1/p.1", "2<0 p.1")])
def test_child_and_writer_of_its_parent_conflict(texts):
    result = audited(log(*texts))
    assert violating_pairs(result) == [(1, 2)]
    assert "child row" in result.violations[0].consequence


def test_children_behind_a_later_writer_are_all_listed():
    result = audited(log("1<0 c1/p.1", "2<0 c2/p.1", "3<0 p.1"))
    assert violating_pairs(result) == [(1, 3), (2, 3)]


def test_conflict_by_an_uncertain_key_makes_the_verdict_unknown():
    result = audited(log("1<0 a?", "2<0 a?", "3<2 b", "4<3 b"))
    assert result.verdict is Verdict.UNKNOWN
    assert [violation.certain for violation in result.violations] == [False]
    assert "assumption" in safety_reasons(result)


def test_certain_key_outranks_an_uncertain_one_of_the_same_pair():
    result = audited(log("1<0 a? z", "2<0 a? z"))
    assert result.verdict is Verdict.VIOLATED
    assert result.violations[0].key == "PRIMARY(z)"


def test_ddl_overlapping_a_change_of_its_table_is_a_violation():
    result = audited(log("1<0 a", ddl(2, "2<0", "ALTER TABLE t ADD x INT"), "3<1 b"))
    assert violating_pairs(result) == [(1, 2), (2, 3)]
    assert {v.property for v in result.violations} == {"definitions_change_alone"}


def test_ddl_overlapping_other_tables_is_noted_only():
    result = audited(
        log("1<0 a", ddl(2, "2<0", "CREATE TABLE other (i INT)"), "3<1 b", "4<2 a", "5<3 b")
    )
    assert result.verdict is Verdict.HOLDS
    assert "definitions_change_alone" in {f.rule for f in result.lint if f.severity == "note"}


def test_dropping_a_schema_conflicts_with_every_table_in_it():
    result = audited(log("1<0 u.a", ddl(2, "2<0", "DROP DATABASE d")))
    assert violating_pairs(result) == [(1, 2)]


def test_xa_commit_must_follow_its_own_prepare():
    prepare = stamped(1, "1<0 a", kind=LoggedKind.XA, xa_id="X'61',X'',1")
    commit = stamped(2, "2<0", kind=LoggedKind.XA, xa_id="X'61',X'',1")
    assert violating_pairs(audited([prepare, commit])) == [(1, 2)]


# --- unknown is never shown as holds --------------------------------------------------------


def test_serial_metadata_is_unknown():
    result = audited(log("1<0 a", "2<1 a", "3<2 a"))
    assert result.verdict is Verdict.UNKNOWN
    assert "no two transactions to overlap" in safety_reasons(result)


def test_log_without_any_conflict_is_unknown():
    result = audited(log("1<0 a", "2<0 b", "3<0 c"))
    assert result.verdict is Verdict.UNKNOWN
    assert "same key" in safety_reasons(result)


def test_conflict_seen_only_by_an_uncertain_key_is_no_evidence():
    assert audited(log("1<0 a?", "2<0 b", "3<2 a?")).verdict is Verdict.UNKNOWN


def test_overlap_in_a_table_with_unknown_keys_is_unknown_and_names_it():
    first = stamped(4, "4<3", unkeyed=["d.k"])
    second = stamped(5, "5<3", unkeyed=["d.k"])
    result = audited(log("1<0 a", "2<0 b", "3<1 a", first, second))
    assert result.verdict is Verdict.UNKNOWN
    (reason,) = [r for r in result.unknown_because if "may overlap" in r.reason]
    assert reason.subject == "d.k"
    assert "--schema" in reason.remedy


@pytest.mark.parametrize(
    ("sql", "words", "helps"),
    [
        ("id int PRIMARY KEY, UNIQUE ((id + 1))", "a part of it is an expression", "verify"),
        ("id int PRIMARY KEY) WITH SYSTEM VERSIONING (", "system-versioned", "verify"),
        ("id int PRIMARY KEY", "in the log", "full row images"),
        ("LIKE other", "like a table that is not known", "--schema"),
    ],
)
def test_reason_says_why_keys_are_unknown_and_what_helps(sql, words, helps):
    registry = SchemaRegistry()
    registry.observe_statement(f"CREATE TABLE k ({sql})", "d")
    refs = [stamped(number, f"{number}<0") for number in (1, 2)]
    evidence = SafetyEvidence("logical-clock", pairs_allowed=1)
    evidence.add_undecided("d.k", 1, *map(get_reference, refs))
    (reason,) = evidence.doubts({"d.k": registry.table("d.k")})
    assert words in reason.reason
    assert helps in reason.remedy
    assert ("--schema" in reason.remedy) == (helps == "--schema")


def test_tables_whose_foreign_keys_are_unknown_are_named():
    evidence = SafetyEvidence("logical-clock", pairs_allowed=1)
    evidence.add_undecided("", 1, *(get_reference(stamped(n, f"{n}<0")) for n in (1, 2)))
    (reason,) = evidence.doubts({"d.b": None, "d.a": None})
    assert "(d.a and 1 more)" in reason.reason


def test_pair_by_equal_rows_speaks_of_no_parent():
    one, two = (
        stamped(number, f"{number}<0", unkeyed=["d.k"], **rows)
        for number, rows in ((1, {"left_rows": EQUAL}), (2, {"searched_rows": EQUAL}))
    )
    (violation,) = audited([one, two]).violations
    assert not violation.certain
    assert "no key tells apart" in violation.consequence


def test_serial_changes_of_a_table_with_unknown_keys_do_not_overlap():
    first = stamped(4, "4<3", unkeyed=["d.k"])
    second = stamped(5, "5<4", unkeyed=["d.k"])
    assert safety_reasons(audited(log("1<0 a", "2<0 b", "3<1 a", first, second))) == ""


def test_change_with_partly_known_keys_may_conflict_with_any_change_of_its_table():
    partly = stamped(4, "4<2 e", partly_keyed_tables=frozenset({"d.t"}))
    result = audited(log("1<0 a", "2<0 b", "3<1 a", partly))
    assert result.verdict is Verdict.UNKNOWN
    assert "d.t" in {reason.subject for reason in result.unknown_because}
    ordered = stamped(4, "4<3 e", partly_keyed_tables=frozenset({"d.t"}))
    assert audited(log("1<0 a", "2<0 b", "3<1 a", ordered)).verdict is Verdict.HOLDS


def test_change_after_one_with_partly_known_keys_may_conflict_with_it():
    partly = stamped(4, "4<3 e", partly_keyed_tables=frozenset({"d.t"}))
    result = audited(log("1<0 a", "2<0 b", "3<1 a", partly, "5<3 f"))
    assert result.verdict is Verdict.UNKNOWN


def test_foreign_keys_reach_conflicts_with_changes_but_not_with_another_reach():
    def reaching(ordinal, stamp):
        return stamped(ordinal, stamp, reached_tables=frozenset({"d.t"}))

    safe = ("1<0 a", "2<0 b", "3<1 a")
    both = audited(log(*safe, reaching(4, "4<3 u.a"), reaching(5, "5<3 u.b")))
    assert both.verdict is Verdict.HOLDS
    result = audited(log(*safe, reaching(4, "4<3 u.a"), "5<3 c"))
    assert result.verdict is Verdict.UNKNOWN
    result = audited(log(*safe, reaching(4, "4<2 u.a")))
    assert result.verdict is Verdict.UNKNOWN


def test_statement_based_changes_that_may_overlap_are_unknown():
    statement = stamped(4, "4<2", kind=LoggedKind.STATEMENT, statements=("UPDATE t SET a=1",))
    result = audited(log("1<0 a", "2<0 b", "3<1 a", statement))
    assert result.verdict is Verdict.UNKNOWN
    assert "statement-based" in safety_reasons(result)


def test_log_without_metadata_is_unknown():
    result = audited([transaction(1, "a"), transaction(2, "a")])
    assert result.verdict is Verdict.UNKNOWN
    assert "no parallelisation metadata" in safety_reasons(result)


def test_log_without_transactions_is_unknown():
    result = audited([])
    assert result.verdict is Verdict.UNKNOWN
    assert "no transactions" in safety_reasons(result)


def test_dependency_beyond_the_horizon_is_unknown_and_not_silently_safe():
    transactions = log("1<0 a", *(f"{n}<{n - 1} k{n}" for n in range(2, 40)), "40<38 k38", "41<0 a")
    assert violating_pairs(audited(transactions)) == [(1, 41)]
    forgetful = audited(transactions, horizon=Horizon(keys=10, transactions=10))
    assert violating_pairs(forgetful) == []
    assert forgetful.verdict is Verdict.UNKNOWN
    assert "horizon" in safety_reasons(forgetful)


def test_horizon_does_not_matter_where_last_committed_is_recent():
    transactions = log("1<0 a", *(f"{n}<{n - 2} k{n // 2}" for n in range(2, 60)))
    forgetful = audited(transactions, horizon=Horizon(keys=10, transactions=10))
    assert "horizon" not in safety_reasons(forgetful)


def test_list_of_violations_is_bounded_and_the_rest_is_counted():
    result = audited(log(*(f"{n}<0 a" for n in range(1, 30))), violations_max=5)
    assert len(result.violations) == 5
    assert result.violations_dropped >= 20
    assert result.verdict is Verdict.VIOLATED


def test_half_a_transaction_is_not_judged():
    half = stamped(3, "3<0 a", complete=False)
    assert violating_pairs(audited(log("1<0 a", "2<1 b", half))) == []


@pytest.mark.parametrize("ddl_first", [True, False])
def test_conflict_with_a_definition_shows_the_statement(ddl_first):
    statement = "ALTER TABLE t ADD x INT"
    first, second = ddl(1, "1<0", statement), "2<0 a"
    if not ddl_first:
        first, second = "1<0 a", ddl(2, "2<0", statement)
    (violation,) = audited(log(first, second)).violations
    assert violation.key == statement


@pytest.mark.parametrize("keys", ["a b c", "c b a", "b a c"])
def test_pair_with_several_common_keys_shows_the_smallest(keys):
    (violation,) = audited(log(f"1<0 {keys}", f"2<0 {keys}")).violations
    assert violation.key == "PRIMARY(a)"


def test_assumptions_are_those_of_the_appliers_that_are_judged():
    def assumed(transactions, *appliers):
        lines = audited(transactions, appliers=appliers).assumptions
        return {line.split(":")[0] for line in lines if line.startswith(appliers_of)}

    appliers_of = ("logical-clock:", "commit-group:")
    mysql, mariadb = log("1<0 a", "2<0 b"), maria_log("1 a", "1 b")
    assert assumed(mysql, "logical-clock", "commit-group") == {"logical-clock"}
    assert assumed(mysql, "commit-group") == set()
    assert assumed(mariadb, "logical-clock", "commit-group") == {"commit-group"}
    assert assumed(mariadb, "logical-clock") == set()


def test_gap_of_one_number_is_a_gap():
    result = audited(log("1<0 a", "3<0 a"))
    assert "a gap in the sequence numbers" in result.violations[0].consequence
    result = audited(log("1<0 b", "2<1 a", "3<1 a"))
    assert "a gap" not in result.violations[0].consequence


def test_conflicts_of_one_clock_are_counted_as_ordered():
    one = log("1<0 a", "2<1 a", "3<2 a", "4<2 b")
    assert audited(one).conflicting_pairs_ordered == 2
    restarted = [*one, *(replace(txn, clock=1, ordinal=txn.ordinal + 4) for txn in one[:2])]
    assert audited(restarted).conflicting_pairs_ordered == 3


READING = (
    "ANALYZE TABLE t", "FLUSH TABLES t", "CREATE TABLE copy LIKE t", "CREATE VIEW v AS TABLE t",
)  # fmt: skip


@pytest.mark.parametrize("statement", READING)
def test_ddl_that_only_reads_a_table_overlaps_its_rows_and_not_its_ddl(statement):
    beside = audited(log("1<0 a", "2<1 a", ddl(3, "3<1", statement), "4<2 b"))
    assert beside.verdict is Verdict.HOLDS
    altered = ddl(4, "4<2", "ALTER TABLE t ADD c INT")
    assert violating_pairs(audited(log("1<0 a", "2<1 a", ddl(3, "3<2", statement), altered))) == [
        (3, 4)
    ]


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE IF NOT EXISTS t (i INT)", "CREATE DATABASE IF NOT EXISTS d"],
)
def test_ddl_that_creates_nothing_overlaps_rows_and_not_a_drop(statement):
    tried = replace(ddl(3, "3<1", statement), flags=frozenset({CREATES_NOTHING}))
    assert audited(log("1<0 a", "2<1 a", tried, "4<2 b")).verdict is Verdict.HOLDS
    dropped = ddl(4, "4<2", "DROP DATABASE d" if "DATABASE" in statement else "DROP TABLE t")
    result = audited(log("1<0 a", "2<1 a", replace(tried, last_committed=2), dropped))
    assert violating_pairs(result) == [(3, 4)]
