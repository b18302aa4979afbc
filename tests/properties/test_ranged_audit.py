"""The audit of a part of a log against the audit of all of it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, LOGICAL_CLOCK, RULES
from paraply.properties.logs.ranged_audit import RangedAuditor
from tests.builders.logged import NotationKeys, Tables, delete, insert, log, update, with_keys
from tests.properties.logged_strategies import mariadb_logs, mysql_logs

APPLIERS = (LOGICAL_CLOCK, COMMIT_GROUP)


@st.composite
def logs_and_judged(draw):
    """A log, and in each of its domains a stretch to judge."""
    whole = draw(st.one_of(mysql_logs(transactions_max=20), mariadb_logs(transactions_max=20)))
    judged = set()
    for domain in {txn.domain for txn in whole}:
        lane = [txn.ordinal for txn in whole if txn.domain == domain]
        ends = sorted(draw(st.tuples(*[st.integers(0, len(lane))] * 2)))
        judged.update(lane[slice(*ends)])
    return whole, judged


def ranged(transactions, judged, keys=None):
    auditor = RangedAuditor(keys or NotationKeys(), AuditOptions(appliers=APPLIERS))
    for txn in transactions:
        if txn.ordinal in judged:
            auditor.observe(txn)
        else:
            auditor.pass_over(txn, follow_rows=True)
    return auditor


def unranged(transactions, keys=None):
    auditor = Auditor(keys or NotationKeys(), AuditOptions(appliers=APPLIERS))
    for txn in transactions:
        auditor.observe(txn)
    return auditor


@pytest.mark.long
@given(logs_and_judged())
def test_violations_are_those_of_the_whole_log_inside_of_the_range(drawn):
    whole, judged = drawn
    part, all_of_it = ranged(whole, judged), unranged(whole)
    assert part._safety.violations == [
        violation
        for violation in all_of_it._safety.violations
        if {violation.earlier.ordinal, violation.later.ordinal} <= judged
    ]
    assert part._lint.findings.listed == [
        finding
        for finding in all_of_it._lint.findings.listed
        if finding.transactions[-1].ordinal in judged
    ]
    assert part.result().transactions == len(judged)


@pytest.mark.long
@given(logs_and_judged())
def test_pairs_that_may_overlap_are_those_inside_of_the_range(drawn):
    whole, judged = drawn
    part = ranged(whole, judged)
    for number, name in enumerate(APPLIERS):
        rule = RULES[name]()
        places = [(txn, rule.place(txn)) for txn in whole]
        pairs = sum(
            later.may_overlap(earlier)
            for (one, earlier), (two, later) in combinations(places, 2)
            if {one.ordinal, two.ordinal} <= judged
        )
        assert part._safety.evidence[number].pairs_allowed == pairs


@pytest.mark.long
@given(logs_and_judged())
def test_what_is_counted_adds_up_over_the_range_and_the_rest(drawn):
    whole, judged = drawn
    rest = {txn.ordinal for txn in whole} - judged
    parts = [ranged(whole, each) for each in (judged, rest)]
    all_of_it = unranged(whole)
    for number, tally in enumerate(all_of_it._lint.tallies()):
        assert tally.count == sum(part._lint.tallies()[number].count for part in parts)
    results = [part.result() for part in parts]
    expected = all_of_it.result()
    assert sum((Counter(result.kinds) for result in results), Counter()) == expected.kinds
    members = [
        sum(size * number for size, number in result.commit_group_sizes.items())
        for result in (*results, expected)
    ]
    assert members[0] + members[1] == members[2]


@pytest.mark.long
@given(st.one_of(mysql_logs(), mariadb_logs()))
def test_range_of_everything_is_the_audit_of_everything(whole):
    judged = {txn.ordinal for txn in whole}
    assert ranged(whole, judged).result() == unranged(whole).result()


TABLES = Tables().add("d.t", "id")


@st.composite
def row_logs(draw):
    """Changes of three rows, some of which contradict what the log did before."""
    changes = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        row, value = draw(st.integers(1, 3)), draw(st.integers(0, 1))
        change = draw(
            st.sampled_from(
                [
                    insert("d.t", row, value),
                    update("d.t", (row, value), (row, 1 - value)),
                    delete("d.t", row, value),
                ]
            )
        )
        changes.append(
            with_keys(TABLES, number, change, last_committed=number - 1, sequence_number=number)
        )
    return changes


@given(row_logs(), st.data())
def test_rows_before_the_range_are_known_inside_of_it(whole, data):
    start, stop = sorted(data.draw(st.tuples(*[st.integers(1, len(whole) + 1)] * 2)))
    judged = set(range(start, stop))
    part, all_of_it = ranged(whole, judged, TABLES), unranged(whole, TABLES)
    assert part._replay.result().findings == [
        finding
        for finding in all_of_it._replay.result().findings
        if finding.transaction.ordinal in judged
    ]
    rest = ranged(whole, set(range(1, len(whole) + 1)) - judged, TABLES)
    for count in ("before_images_found", "before_images_missing", "duplicate_keys"):
        told = [getattr(each._replay.result(), count) for each in (part, rest, all_of_it)]
        assert told[0] + told[1] == told[2]


@pytest.mark.parametrize("end", ["judged", "passed over"])
def test_half_a_transaction_is_told_of_where_it_is_judged(end):
    whole = log("1<0 a", "2<1 b", "3<2 c")
    whole[1].complete = False
    judged = {1, 2} if end == "judged" else {1, 3}
    rules = [finding.rule for finding in ranged(whole, judged).result().lint]
    assert rules.count("transactions_are_complete") == (end == "judged")


def test_contradicting_stamp_before_the_range_ends_the_run_for_it_as_well():
    # 5<2 follows 7: an applier drains there, so 6<2 does not overlap it.
    whole = log("7<6 a", "5<2 b", "6<2 b")
    assert ranged(whole, {2, 3})._safety.violations == []
