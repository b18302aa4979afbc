"""The examples of WL#8440, printed as the document prints them."""

from __future__ import annotations

from paraply.reference_impl.mutants import mutant_named
from paraply.vocabulary.history import HistoryHeader
from tests.builders.timestamp_table import format_timestamp_table
from tests.reference_impl.certifying import run_of


def table_of(run):
    history = run.recorder.history(HistoryHeader()).check()
    return format_timestamp_table(history, "r1")


def table(rows):
    rule = "-" * 65
    head = f"{rule}\nTrx  | WS       | trx.LC  | trx.SN\n{rule}\n"
    return head + "\n".join(line.rstrip() for line in rows.strip("\n").splitlines()) + "\n"


def test_ex2_second_writer_saw_the_first_and_must_still_wait_for_it():
    # The snapshot versions of the document's table include the writer's own GTID.
    run = run_of()
    first = run.deliver(["ws1"])
    second = run.deliver(["ws1", "ws2"])
    info = run.certifier.certification_info
    assert first.is_positive
    assert second.is_positive
    assert info["ws1"].version == {first.gtid, second.gtid}
    assert second.timestamp.last_committed == first.timestamp.sequence_number


def test_ex3_dependencies_raise_last_committed():
    run = run_of()
    for items in ("ws1", "ws2", "ws1 ws3", "ws4", "ws5", "ws5 ws6", "ws7", "ws8"):
        run.deliver(items.split())
    assert table_of(run) == table(
        """
     |          |         | 0  (group boot)
T1   | ws1      | 1       | 2
T2   | ws2      | 1       | 3
T3   | ws1, ws3 | 2       | 4
T4   | ws4      | 1       | 5
T5   | ws5      | 1       | 6
T6   | ws5, ws6 | 6       | 7
T7   | ws7      | 1       | 8
T8   | ws8      | 1       | 9
"""
    )


def test_ex4_transactions_without_write_set_are_ordered_with_all():
    run = run_of()
    for items in ("", "ws1", "ws2", "", "ws1"):
        run.deliver(items.split())
    assert table_of(run) == table(
        """
     |          |         | 0  (group boot)
T1   |          | 1       | 2
T2   | ws1      | 2       | 3
T3   | ws2      | 2       | 4
T4   |          | 4       | 5
T5   | ws1      | 5       | 6
"""
    )


def run_example_with_collection(run):
    """EX5 and EX6: T1 is purged and T2 stays, being the newest stable version."""
    run.deliver(["ws1"])
    run.deliver(["ws2"])
    assert run.collect(stable=2) == {"ws1"}
    assert set(run.certifier.certification_info) == {"ws2"}
    run.deliver(["ws1"])
    run.deliver(["ws4"])
    return table_of(run)


def test_ex5_without_a_window_both_writers_of_a_row_may_overlap():
    faulty = mutant_named("collection_opens_no_window").module("tests.reference_impl.certifying")
    assert run_example_with_collection(faulty.run_of()) == table(
        """
     |          |         | 0  (group boot)
T1   | ws1      | 1       | 2
T2   | ws2      | 1       | 3
     |          |         |    (garbage collection, purged: ws1)
T3   | ws1      | 1       | 4
T4   | ws4      | 1       | 5
"""
    )


def test_ex6_the_window_orders_everything_after_the_collection():
    assert run_example_with_collection(run_of()) == table(
        """
     |          |         | 0  (group boot)
T1   | ws1      | 1       | 2
T2   | ws2      | 1       | 3
     |          |         |    (garbage collection, purged: ws1)
T3   | ws1      | 3       | 4
T4   | ws4      | 3       | 5
"""
    )


def test_ex7_view_change_is_zero_zero_and_the_counters_go_on():
    run = run_of()
    run.deliver(["ws1"])
    run.deliver(["ws2"])
    run.change_view()
    run.deliver(["ws3"])
    assert table_of(run) == table(
        """
     |          |         | 0  (group boot)
T1   | ws1      | 1       | 2
T2   | ws2      | 1       | 3
     |          | 0       | 0  (view change)
T3   | ws3      | 1       | 4
"""
    )
