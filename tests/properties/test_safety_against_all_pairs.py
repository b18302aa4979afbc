"""The linear safety check against its definition over all pairs, and against mutants of itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import paraply.properties.logs.dependency_safety as dependency_safety
from paraply.properties.logs.conflict_index import AccessTable, Horizon
from paraply.properties.logs.naive_conflict_graph import check_all_pairs
from paraply.properties.logs.overlap_rules import RULES, CommitGroupRule, LogicalClockRule
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict
from tests.builders.logged import audited, log, maria_log
from tests.properties.logged_strategies import TABLES, mariadb_logs, mysql_logs

# To find one is enough here; shrinking it would take most of the time.
SEARCH = settings(
    max_examples=4_000,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
)


def listed_pairs(result):
    return [(v.earlier.ordinal, v.later.ordinal) for v in result.violations]


def disagreement(transactions, applier):
    """Return what the linear check and the definition say differently, None if nothing."""
    naive = check_all_pairs(transactions, applier)
    result = audited(transactions, appliers=(applier,))
    pairs = listed_pairs(result)
    if len(pairs) != len(set(pairs)):
        return f"a pair is listed twice: {pairs}"
    if set(pairs) != naive.violating:
        return f"linear {sorted(pairs)} differs from all pairs {sorted(naive.violating)}"
    if result.pairs_allowed_to_overlap != len(naive.allowed):
        return f"{result.pairs_allowed_to_overlap} allowed pairs, not {len(naive.allowed)}"
    for entry in result.parallelism:
        if entry.model == "row-conflicts" and entry.critical_path != naive.critical_path:
            return f"critical path {entry.critical_path}, not {naive.critical_path}"
    return None


@pytest.mark.long
@given(mariadb_logs())
def test_nothing_that_conflicts_across_domains_holds(transactions):
    assert not holds_across_domains(transactions)


def holds_across_domains(transactions):
    """Return whether a log holds though two of its domains conflict."""
    domain_of = {txn.ordinal: txn.domain for txn in transactions}
    crosses = any(
        domain_of[earlier] != domain_of[later]
        for earlier, later in check_all_pairs(transactions, "commit-group").conflicting
    )
    result = audited(transactions, appliers=("commit-group",))
    safe = {entry.safe for entry in result.parallelism if entry.model == "commit-group"}
    return crosses and Verdict.HOLDS in safe


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("what", ["note_domains", "newest_outside"])
def test_audit_blind_to_other_domains_is_caught(what, monkeypatch):
    if what == "note_domains":
        monkeypatch.setattr(dependency_safety, "note_domains", lambda *_: None)
    else:
        # Only the newest reader of a key is asked, in whatever domain.
        monkeypatch.setattr(AccessTable, "newest_outside", lambda *_: None)
    assert find(mariadb_logs(), holds_across_domains, settings=SEARCH)


@pytest.mark.long
@given(mysql_logs())
def test_logical_clock_finds_exactly_the_violating_pairs(transactions):
    assert disagreement(transactions, "logical-clock") is None


@pytest.mark.long
@given(mariadb_logs())
def test_commit_groups_find_exactly_the_violating_pairs(transactions):
    assert disagreement(transactions, "commit-group") is None


@pytest.mark.long
@given(mysql_logs(broken=False, uncertain=True))
def test_only_a_pair_that_conflicts_by_a_certain_key_is_certain(transactions):
    certain = check_all_pairs([_without_uncertain(txn) for txn in transactions], "logical-clock")
    result = audited(transactions)
    assert {
        (v.earlier.ordinal, v.later.ordinal) for v in result.violations if v.certain
    } == certain.violating


@pytest.mark.long
@given(mysql_logs(unkeyed=True))
def test_waits_and_undecided_pairs_are_those_of_the_definition(transactions):
    naive = check_all_pairs(transactions, "logical-clock")
    result = audited(transactions)
    assert result.may_wait == len(naive.waiting)
    undecided = Counter(table for _, table in naive.undecided)
    assert {
        (one.subject, one.reason.partition(" may overlap another that changes")[0])
        for one in result.unknown_because
        if one.subject in TABLES and " may overlap another " in one.reason
    } == {(table, counted(later, "transaction")) for table, later in undecided.items()}


@pytest.mark.long
@given(mysql_logs(), st.integers(1, 6))
def test_small_horizon_never_turns_a_violation_into_holds(transactions, size):
    naive = check_all_pairs(transactions, "logical-clock")
    result = audited(transactions, horizon=Horizon(keys=size, transactions=size))
    assert set(listed_pairs(result)) <= naive.violating
    if naive.violating:
        assert result.verdict is not Verdict.HOLDS


@pytest.mark.long
@given(mysql_logs(), st.integers(1, 3))
def test_full_list_still_gives_the_verdict_and_counts_the_rest(transactions, listed_max):
    naive = check_all_pairs(transactions, "logical-clock")
    result = audited(transactions, violations_max=listed_max)
    assert set(listed_pairs(result)) <= naive.violating
    assert len(result.violations) == min(listed_max, len(naive.violating))
    assert (result.violations_dropped > 0) == (len(naive.violating) > listed_max)


def _without_uncertain(txn):
    unsure = txn.uncertain_keys
    return replace(txn, keys=txn.keys - unsure, shared_keys=txn.shared_keys - unsure)


# --- mutants: each must disagree with the definition on some log ---------------------------


class SingleParent(LogicalClockRule):
    """Waits for the transaction numbered LC only, not for the prefix up to it."""

    def place(self, txn):
        place = super().place(txn)
        return replace(place, floor=place.rank - 1) if place.floor else place


class KeepsClockAcrossRotation(LogicalClockRule):
    """Compares numbers of different files (gh-ost PR 1454)."""

    def place(self, txn):
        return super().place(replace(txn, clock=0))


class TakesEqualForAbove(LogicalClockRule):
    """Allows overlap with the transaction numbered LC itself."""

    def place(self, txn):
        place = super().place(txn)
        return replace(place, floor=place.floor - 1)


class DdlIsAlone(CommitGroupRule):
    """Takes DDL for alone, also where a forged log puts it into a commit group."""

    def place(self, txn):
        return super().place(replace(txn, commit_id=None) if txn.is_ddl else txn)


class GroupsAcrossDomains(CommitGroupRule):
    """Takes all domains for one."""

    def place(self, txn):
        return super().place(replace(txn, domain=0))


def ignores_before_images(monkeypatch):
    """Drops all but one key of every transaction, as if only after-images counted."""
    real = dependency_safety.get_touches

    def fewer(txn):
        touches = real(txn)
        touches.writes = dict(sorted(touches.writes.items(), key=str)[:1])
        return touches

    monkeypatch.setattr("paraply.properties.logs.audit.get_touches", fewer)


def forgets_foreign_key_reads(monkeypatch):
    real = dependency_safety.get_touches

    def fewer(txn):
        touches = real(txn)
        touches.reads = {}
        return touches

    monkeypatch.setattr("paraply.properties.logs.audit.get_touches", fewer)


def takes_reads_for_writes(monkeypatch):
    real = dependency_safety.get_touches

    def more(txn):
        touches = real(txn)
        touches.writes = {**touches.reads, **touches.writes}
        return touches

    monkeypatch.setattr("paraply.properties.logs.audit.get_touches", more)


def forgets_definitions(monkeypatch):
    real = dependency_safety.get_touches

    def fewer(txn):
        touches = real(txn)
        touches.redefinitions = frozenset()
        return touches

    monkeypatch.setattr("paraply.properties.logs.audit.get_touches", fewer)


def lists_last_writers_only(monkeypatch):
    real = dependency_safety.DependencySafety._overlapping

    def first_only(self, head, rule, place):
        for access in real(self, head, rule, place):
            yield access
            return

    monkeypatch.setattr(dependency_safety.DependencySafety, "_overlapping", first_only)


def with_rule(rule):
    def install(monkeypatch):
        monkeypatch.setitem(RULES, rule.name, rule)

    install.__name__ = rule.__name__
    return install


MYSQL_MUTANTS = [
    *map(with_rule, (SingleParent, KeepsClockAcrossRotation, TakesEqualForAbove)),
    ignores_before_images,
    forgets_foreign_key_reads,
    takes_reads_for_writes,
    forgets_definitions,
    lists_last_writers_only,
]
MARIADB_MUTANTS = [*map(with_rule, (DdlIsAlone, GroupsAcrossDomains))]


def smallest_disagreement(strategy, applier):
    found = find(
        strategy,
        lambda transactions: disagreement(transactions, applier) is not None,
        settings=SEARCH,
    )
    return disagreement(found, applier)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("mutate", MYSQL_MUTANTS, ids=lambda mutate: mutate.__name__)
def test_mutant_of_the_mysql_check_is_caught(mutate, monkeypatch):
    mutate(monkeypatch)
    assert smallest_disagreement(mysql_logs(), "logical-clock")


@pytest.mark.parametrize("mutate", MARIADB_MUTANTS, ids=lambda mutate: mutate.__name__)
def test_mutant_of_the_mariadb_check_is_caught(mutate, monkeypatch):
    mutate(monkeypatch)
    assert smallest_disagreement(mariadb_logs(), "commit-group")


# --- witnesses: the random logs reach what they are for ------------------------------------

WITNESSES = {
    "two transactions overlap": lambda naive: naive.allowed,
    "a conflict is kept apart": lambda naive: naive.conflicting - naive.violating,
    "a conflict may overlap": lambda naive: naive.violating,
    "a log is safe though its transactions overlap and conflict": lambda naive: (
        naive.allowed and naive.conflicting and not naive.violating
    ),
}


@pytest.mark.parametrize("strategy", [mysql_logs(), mariadb_logs()], ids=["mysql", "mariadb"])
@pytest.mark.parametrize("name", WITNESSES)
def test_random_logs_sometimes_show_that(name, strategy):
    applier = "commit-group" if "mariadb" in str(strategy) else "logical-clock"
    try:
        find(
            strategy,
            lambda transactions: bool(WITNESSES[name](check_all_pairs(transactions, applier))),
            settings=SEARCH,
        )
    except NoSuchExample:
        pytest.fail(f"no random log where {name}")


def test_definition_itself_on_the_golden_cases():
    # Prefix rule: 3 may overlap 2 (LC=1 < SN=2) and conflicts with it; 1 is covered.
    naive = check_all_pairs(log("1<0 a", "2<1 b", "3<1 a b"), "logical-clock")
    assert naive.allowed == {(2, 3)}
    assert naive.violating == {(2, 3)}
    assert naive.conflicting == {(1, 3), (2, 3)}
    # Work 2 and 2 and 3: the longest chain is 1 -> 3 or 2 -> 3.
    assert naive.critical_path == 5
    groups = check_all_pairs(maria_log("7 a", "7 b", "- a"), "commit-group")
    assert groups.allowed == {(1, 2)}
    assert groups.violating == set()
