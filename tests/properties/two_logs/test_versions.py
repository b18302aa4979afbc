"""Versions of rows, one by one."""

from __future__ import annotations

import pytest

from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.versions import (
    TransactionTorn,
    VersionLost,
    VersionReordered,
    VersionRepeated,
    VersionUnknown,
    versions_are_the_sources,
)


def commits(*changes):
    """Commits from ``{row: value}``; values before follow from earlier commits."""
    state = {}
    found = []
    for change in changes:
        found.append(Commit(changes={k: (state.get(k, 0), v) for k, v in change.items()}))
        state |= change
    return found


SOURCE = commits({1: 10}, {1: 11, 2: 20}, {1: 12}, {2: 21})


def test_equal_versions_in_another_order_of_independent_transactions_hold():
    target = commits({1: 10}, {1: 11, 2: 20}, {2: 21}, {1: 12})
    assert versions_are_the_sources(SOURCE, target) == ()


def test_several_source_transactions_in_one_target_transaction_are_not_torn():
    source = commits({1: 10}, {2: 20})
    assert versions_are_the_sources(source, commits({1: 10, 2: 20})) == ()


def test_lost_transaction_is_named_although_a_later_one_overwrites_it():
    target = commits({1: 10}, {2: 20}, {1: 12}, {2: 21})
    (fault,) = versions_are_the_sources(SOURCE, target)
    assert isinstance(fault, VersionLost)
    assert (fault.key, fault.source, fault.target, fault.after) == (1, 2, 3, 3)


def test_last_version_that_never_comes_is_lost():
    (fault,) = versions_are_the_sources(SOURCE, commits({1: 10}, {1: 11, 2: 20}, {1: 12}))
    assert isinstance(fault, VersionLost)
    assert (fault.key, fault.source, fault.after) == (2, 4, 2)


def test_reordered_transactions_are_both_named():
    target = commits({1: 10}, {1: 12}, {1: 11, 2: 20}, {2: 21})
    (fault,) = versions_are_the_sources(SOURCE, target)
    assert isinstance(fault, VersionReordered)
    assert (fault.source, fault.after, fault.target) == (2, 3, 2)


def test_old_version_written_again_is_repeated():
    target = commits({1: 10}, {1: 11, 2: 20}, {1: 10}, {1: 11}, {1: 12}, {2: 21})
    (fault,) = versions_are_the_sources(SOURCE, target)
    assert isinstance(fault, VersionRepeated)
    assert (fault.source, fault.target) == (1, 3)


def test_write_that_changes_nothing_is_no_version():
    target = [*commits({1: 10}, {1: 11, 2: 20}, {1: 12}, {2: 21}), Commit(changes={2: (21, 21)})]
    assert versions_are_the_sources(SOURCE, target) == ()


def test_value_that_the_source_never_had_is_unknown():
    target = commits({1: 10}, {1: 99}, {1: 11, 2: 20}, {1: 12}, {2: 21})
    (fault,) = versions_are_the_sources(SOURCE, target)
    assert isinstance(fault, VersionUnknown)
    assert fault.target == 2


def test_transaction_in_two_target_transactions_is_torn():
    target = commits({1: 10}, {1: 11}, {2: 20}, {1: 12}, {2: 21})
    (fault,) = versions_are_the_sources(SOURCE, target)
    assert isinstance(fault, TransactionTorn)
    assert (fault.source, fault.target, fault.after) == (2, 2, 3)


@pytest.mark.parametrize("missing", range(len(SOURCE)))
def test_each_missing_transaction_is_reported(missing):
    target = [one for at, one in enumerate(SOURCE) if at != missing]
    faults = versions_are_the_sources(SOURCE, target)
    assert any(isinstance(f, VersionLost) and f.source == missing + 1 for f in faults)
