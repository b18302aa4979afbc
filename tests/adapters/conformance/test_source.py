"""The source of the harness stamps its log as a source with WRITESET does."""

import pytest

from paraply.adapters.conformance.cases import FAMILIES, cases_named, suite
from paraply.adapters.conformance.database import Database
from paraply.adapters.conformance.source import EntryKind, SourceLog, delete, insert, update
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Outcome

T = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, UNIQUE KEY uv (v))"


def stamps(log):
    return [
        (one.timestamp.last_committed, one.timestamp.sequence_number) for one in log.transactions
    ]


def test_last_committed_is_the_newest_conflicting_transaction():
    log = SourceLog(T)
    log.transaction(insert("d.t", 1, 1))
    log.transaction(insert("d.t", 2, 2))
    log.transaction(update("d.t", {"id": 1}, v=3))
    log.transaction(insert("d.t", 3, 1))
    assert stamps(log) == [(0, 1), (1, 2), (1, 3), (3, 4)]


def test_rotation_starts_the_numbers_again():
    log = SourceLog(T)
    log.transaction(insert("d.t", 1, 1))
    log.rotate()
    log.transaction(delete("d.t", id=1))
    assert stamps(log) == [(0, 1), (0, 1)]
    assert [one.clock for one in log.transactions] == [0, 1]
    assert log.transactions[1].position == "bin.000002:4"


def test_schema_change_is_ordered_with_all():
    log = SourceLog(T)
    log.transaction(insert("d.t", 1, 1))
    log.ddl("ALTER TABLE d.t ADD COLUMN w INT")
    log.transaction(insert("d.t", 2, 2, 2))
    assert stamps(log) == [(0, 1), (1, 2), (2, 3)]


def test_numbers_may_be_missing_and_said():
    log = SourceLog(T)
    log.skip_numbers(4)
    log.transaction(insert("d.t", 1, 1))
    log.transaction(insert("d.t", 2, 2), last_committed=3, sequence_number=9)
    assert stamps(log) == [(1, 5), (3, 9)]


def test_spellings_that_collate_alike_are_one_item():
    log = SourceLog(
        "CREATE TABLE d.n (name VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci "
        "NOT NULL, PRIMARY KEY (name))"
    )
    log.transaction(insert("d.n", "a"))
    log.transaction(delete("d.n", name="a"))
    log.transaction(insert("d.n", "A "))
    assert len({one.write_set for one in log.transactions}) == 1


def test_rows_without_a_key_share_an_item_and_are_ordered_with_all():
    log = SourceLog("CREATE TABLE d.k (a INT)", T)
    log.transaction(insert("d.k", 1), insert("d.t", 1, 1))
    log.transaction(insert("d.t", 2, 2))
    log.transaction(insert("d.k", 7))
    first, _, last = log.transactions
    assert first.write_set & last.write_set == {"d.k.*"}
    assert stamps(log) == [(0, 1), (1, 2), (2, 3)]


def test_transaction_without_rows_is_ordered_with_all_and_conflicts_with_none():
    log = SourceLog(T)
    log.transaction(insert("d.t", 1, 1))
    log.transaction()
    log.transaction(insert("d.t", 2, 2))
    assert stamps(log) == [(0, 1), (1, 2), (2, 3)]
    assert not log.transactions[0].conflicts_with(log.transactions[1])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (insert("d.t", 1, 9), "duplicate entry"),
        (update("d.t", {"id": 5}, v=1), "no row"),
        (update("d.t", {"id": 1}, w=1), "no column w"),
        (insert("d.none", 1), "does not exist"),
    ],
)
def test_what_a_source_refuses_is_an_error_that_says_why(change, reason):
    log = SourceLog(T)
    log.transaction(insert("d.t", 1, 1))
    with pytest.raises(ParaplyError, match=reason) as error:
        log.transaction(change)
    assert error.value.error.code == "P221"


def test_schema_that_is_not_understood_is_an_error():
    with pytest.raises(ParaplyError) as error:
        SourceLog("CREATE NONSENSE")
    assert error.value.error.code == "P220"


def test_suite_has_every_family_and_stable_ids():
    cases = suite()
    assert len(cases) >= 100
    assert len({case.id for case in cases}) == len(cases)
    assert {case.family for case in cases} == set(FAMILIES)
    for case in cases:
        assert case.fact
        assert case.source


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("case", suite(), ids=lambda case: case.id)
def test_every_log_of_the_suite_applies_serially(case):
    for seed in range(10 if "random" in case.id else 1):
        log = case.log(seed)
        database = Database(log.target_schema)
        for transaction in log.transactions:
            if transaction.statement:
                applied = database.execute(transaction.id, transaction.statement)
                assert applied.outcome is Outcome.OK
            for row in transaction.rows:
                assert database.apply(transaction.id, row).outcome is Outcome.OK
            database.engine_commit(transaction.id)
        assert database.contents() == log.database.contents()


def test_one_seed_makes_one_log():
    (case,) = cases_named(["A-random-01"])
    assert case.log(5).transactions == case.log(5).transactions
    assert case.log(5).transactions != case.log(6).transactions


def test_cases_are_named_by_their_beginning():
    assert [case.id for case in cases_named(["B-prefix-01"])] == ["B-prefix-01"]
    assert {case.family for case in cases_named(["A", "B-p"])} == {"A", "B"}
    with pytest.raises(ParaplyError) as error:
        cases_named(["Z"])
    assert error.value.error.code == "P632"


def counting_log():
    log = SourceLog("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
    log.transaction(insert("d.t", 1, 0))
    log.transaction(insert("d.t", 2, 0))
    log.rotate()
    log.transaction(update("d.t", {"id": 1}, v=1))
    log.transaction(update("d.t", {"id": 2}, v=2))
    return log


def test_log_with_transactions_left_out_is_that_of_a_source_without_them():
    short = counting_log().only([1, 3])
    assert [one.rows[0].after for one in short.transactions] == [(1, 0), (1, 1)]
    assert [one.id for one in short.transactions] == [1, 2]
    assert [entry.kind for entry in short.entries][1] is EntryKind.ROTATE


def test_transaction_that_cannot_run_without_another_is_left_out_too():
    short = counting_log().only([2, 3, 4])
    assert [one.rows[0].after for one in short.transactions] == [(2, 0), (2, 2)]


def test_log_with_given_timestamps_is_not_shortened():
    log = counting_log()
    log.transaction(insert("d.t", 9, 0), last_committed=1)
    assert log.only([1]) is None
