"""The certifier, branch by branch."""

from __future__ import annotations

import pytest

from paraply.reference_impl.certification.certifier import Certifier, PreemptiveCollection
from paraply.reference_impl.certification.dialects import DIALECTS, dialect_named
from paraply.reference_impl.certification.gtids import Gtid, format_gtid_set
from paraply.reference_impl.certification.run import HERE, CertifierRun
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.timestamps import VIEW_CHANGE
from tests.reference_impl.certifying import run_of, timestamps


def test_first_certified_wins_and_the_second_is_refused():
    run = run_of()
    assert run.deliver(["a"], snapshot=0).outcome is Outcome.POSITIVE
    refused = run.deliver(["a", "b"], snapshot=0)
    assert refused.outcome is Outcome.NEGATIVE
    assert refused.reason == "conflict on a"


def test_refused_transaction_changes_nothing():
    run = run_of()
    run.deliver(["a"], snapshot=0)
    before = (
        dict(run.certifier.certification_info),
        run.certifier.indexes.window,
        run.certifier.group_gtid_executed,
    )
    run.deliver(["a", "b"], snapshot=0)
    assert before == (
        run.certifier.certification_info,
        run.certifier.indexes.window,
        run.certifier.group_gtid_executed,
    )


def test_local_transaction_gets_no_timestamp_and_stores_no_number():
    run = run_of()
    decision = run.deliver(["a"], origin=HERE)
    assert decision.is_positive
    assert decision.timestamp is None
    assert run.certifier.certification_info["a"].sequence_number is None
    assert timestamps(run) == []
    # The remote one after it waits for the window only.
    run.deliver(["a"])
    assert timestamps(run) == [(1, 2)]


def test_local_transaction_without_items_is_no_barrier_to_remote_ones():
    run = run_of()
    run.deliver(["a"])
    run.deliver([], origin=HERE)
    run.deliver(["b"])
    assert timestamps(run) == [(1, 2), (1, 3)]


def test_specified_gtid_is_taken_once():
    run = run_of()
    assert run.deliver(["a"], specified=Gtid("group", 5)).gtid == Gtid("group", 5)
    refused = run.deliver(["b"], specified=Gtid("group", 5))
    assert refused.outcome is Outcome.NEGATIVE
    assert refused.reason == "group:5 was used"
    # Automatic numbers fill the holes from below.
    assert [run.deliver(["b"]).gtid.number for _ in range(5)] == [1, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("dialect", "outcome"), [("mysql_8_0", "negative"), ("mysql_8_4", "positive")]
)
def test_retried_gtid_that_was_never_committed_may_be_certified_again_from_8_4(dialect, outcome):
    # A worker certified, lost a commit-order deadlock, rolled back, and tries again.
    run = run_of(dialect)
    run.deliver(["a"], specified=Gtid("uuid", 1))
    assert run.deliver(["a"], specified=Gtid("uuid", 1)).outcome.value == outcome
    run.commit_here(1)
    assert not run.deliver(["a"], specified=Gtid("uuid", 1)).is_positive


def test_conflict_detection_off_still_orders_by_items():
    run = run_of()
    run.certifier.detects_conflicts = False
    run.deliver(["a"], snapshot=0)
    assert run.deliver(["a"], snapshot=0).is_positive
    assert timestamps(run) == [(1, 2), (2, 3)]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("wl8440", [(1, 2), (2, 3)]),
        ("wl8440_literal", [(1, 2), (3, 3)]),
        ("mysql_8_0", [(1, 2), (3, 4)]),
        ("mysql_8_3", [(0, 0), (3, 4)]),
        ("mysql_8_4", [(0, 0), (2, 3)]),
    ],
)
def test_window_after_a_collection_in_each_dialect(dialect, expected):
    run = run_of(dialect)
    run.deliver(["a"])
    run.collect()
    run.deliver(["b"])
    assert timestamps(run) == expected


def test_collection_that_teaches_nothing_opens_no_window_in_8_4_only():
    for dialect, last in (("mysql_8_4", (1, 4)), ("mysql_8_3", (4, 5))):
        run = run_of(dialect)
        run.deliver(["a"])
        run.deliver(["b"])
        run.collect(stable=0)
        run.deliver(["c"])
        assert timestamps(run)[-1] == last


def test_preemptive_collection_stores_no_large_transaction_and_orders_it_with_all():
    certifier = Certifier(
        dialect_named("mysql_8_4"),
        detects_conflicts=False,
        preemptive=PreemptiveCollection(is_on=True, rows_threshold=2),
    )
    run = CertifierRun(certifier)
    for items in ("a", "b c", "d"):
        run.deliver(items.split())
    assert timestamps(run) == [(0, 0), (2, 3), (3, 4)]
    assert set(certifier.certification_info) == {"a", "d"}


def test_preemptive_collection_forgets_everything_and_calls_it_stable():
    certifier = Certifier(
        dialect_named("mysql_8_4"),
        detects_conflicts=False,
        preemptive=PreemptiveCollection(is_on=True, rows_threshold=2),
    )
    run = CertifierRun(certifier)
    run.deliver(["a"])
    assert not certifier.must_collect_preemptively()
    run.deliver(["b"])
    assert certifier.must_collect_preemptively()
    assert certifier.on_preemptive_collection() == {"a", "b"}
    assert certifier.stable_set == certifier.group_gtid_executed
    run.deliver(["a"])
    assert timestamps(run)[-1] == (3, 4)


def test_view_change_takes_a_gtid_of_the_group_and_no_number():
    run = run_of()
    run.deliver(["a"])
    run.change_view()
    assert run.certified[-1][1] == Gtid("group", 2)
    assert run.certifier.indexes.on_view_change() == VIEW_CHANGE
    assert run.certifier.indexes.sequence_number == 3


def test_joiner_imports_versions_without_numbers():
    donor = run_of()
    donor.deliver(["a"])
    joiner = run_of()
    executed = donor.certifier.group_gtid_executed
    joiner.certifier.import_certification_info(
        donor.certifier.export_certification_info(), executed, executed
    )
    assert joiner.certifier.certification_info["a"].sequence_number is None
    assert not joiner.deliver(["a"], snapshot=0).is_positive


def test_joiner_that_recovered_past_the_view_gives_the_groups_numbers():
    # Bug 89938: the free numbers are those that the donor had left at the view.
    donor = run_of()
    donor.deliver(["a"])
    info = donor.certifier.export_certification_info()
    extracted = donor.certifier.group_gtid_executed
    donor.deliver(["b"])
    joiner = run_of()
    joiner.certifier.import_certification_info(info, extracted, donor.certifier.group_gtid_executed)
    assert joiner.certifier.is_certifying_already_applied
    assert joiner.deliver(["b"]).gtid == donor.certified[-1][1]
    assert not joiner.certifier.is_certifying_already_applied


def test_unknown_dialect_lists_those_that_exist():
    with pytest.raises(ParaplyError, match=r"P401 .*'wl9999'") as raised:
        dialect_named("wl9999")
    assert all(name in raised.value.remedy for name in DIALECTS)


def test_gtid_sets_are_printed_as_servers_print_them():
    assert format_gtid_set([]) == ""
    assert format_gtid_set({Gtid("b", 7), Gtid("a", 2), Gtid("a", 1)}) == "a:1-2,b:7"
