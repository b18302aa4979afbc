"""Every lint rule: holds, breaks, on the edge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.lint_gtids import _SeenNumbers
from paraply.properties.logs.log_lint import LogLint
from paraply.vocabulary.log import LoggedKind
from tests.builders.logged import grouped, log, maria_log, stamped, transaction


def linted(transactions, **options):
    lint = LogLint(**options)
    for txn in transactions:
        lint.observe(txn)
    return lint


def rules(transactions, severity=None):
    return {
        finding.rule: finding
        for finding in linted(transactions).results()
        if severity in (None, finding.severity)
    }


def test_contiguous_log_has_no_finding():
    assert rules(log("1<0 a", "2<1 b", "3<1 c")) == {}


# last_committed_is_below_sequence_number


def test_last_committed_equal_to_sequence_number_is_a_violation():
    found = rules(log("1<0 a", "2<2 b"))["last_committed_is_below_sequence_number"]
    assert found.severity == "violation"
    assert found.transactions[-1].ordinal == 2
    assert found.offset == 200


def test_last_committed_one_below_sequence_number_is_fine():
    assert "last_committed_is_below_sequence_number" not in rules(log("1<0", "2<1"))


def test_zero_timestamp_of_a_view_change_is_fine():
    assert rules(log("1<0 a", stamped(2, "0<0", kind=LoggedKind.VIEW_CHANGE), "2<1 b")).keys() == {
        "log_begins_with_its_clock"
    }


def test_zero_timestamp_of_another_kind_is_a_note():
    assert rules(log("0<0 a", "1<0 b"))["zero_timestamps_mark_view_changes"].severity == "note"


def test_view_change_that_may_overlap_is_a_warning():
    found = rules(log("1<0", stamped(2, "2<0", kind=LoggedKind.VIEW_CHANGE)))
    assert found["view_changes_are_alone"].severity == "warning"


# sequence_number_increases, clock_restarts_only_at_rotation, sequence_numbers_are_contiguous


def test_sequence_number_that_repeats_is_a_violation():
    found = rules(log("4<3 a", "5<4 b", "5<4 c"))["sequence_number_increases"]
    assert found.severity == "violation"
    assert [ref.ordinal for ref in found.transactions] == [2, 3]


def test_clock_that_restarts_inside_a_file_is_a_merged_file():
    # Percona PS-11080: binlogs concatenated without their rotation.
    found = rules(log("1<0 a", "2<1 b", "1<0 c", "2<1 d"))
    assert found["clock_restarts_only_at_rotation"].severity == "violation"
    assert "sequence_number_increases" not in found


def test_merged_file_is_one_finding_per_seam():
    merged = log("1<0", "2<1", "3<2", "1<0", "2<1", "3<2")
    assert linted(merged).violations == 1


def test_clock_that_restarts_with_the_next_file_is_fine():
    texts = ["1<0 a", "2<1 b", stamped(3, "1<0 c", clock=1, file="bin.000002")]
    assert rules(log(*texts)) == {}


def test_clock_that_restarts_after_a_zero_timestamp_is_fine():
    assert "clock_restarts_only_at_rotation" not in rules(log("1<0", "2<1", "0<0", "1<0"))


def test_gaps_are_one_note_with_their_number():
    found = rules(log("1<0", "4<1", "5<4", "9<5"))["sequence_numbers_are_contiguous"]
    assert found.severity == "note"
    assert "2 gaps, 5 numbers" in found.message


def test_log_that_begins_late_is_a_note_and_so_are_parents_before_it():
    found = rules(log("8<3", "9<8"))
    assert found["log_begins_with_its_clock"].severity == "note"
    assert found["parents_are_in_the_log"].severity == "note"
    assert "parents_are_in_the_log" not in rules(log("8<7", "9<7"))


def test_last_committed_of_zero_is_a_note_past_the_first_transaction():
    assert "last_committed_names_a_parent" not in rules(log("1<0", "2<1"))
    assert rules(log("1<0", "2<0"))["last_committed_names_a_parent"].severity == "note"


def test_transaction_without_timestamp_among_others_is_a_warning():
    found = rules([*log("1<0"), transaction(2)])
    assert found["every_transaction_is_stamped"].severity == "warning"


# GTIDs


def test_mysql_gtid_twice_is_a_violation():
    again = stamped(3, "3<2", gtid="00000000-0000-0000-0000-000000000001:1")
    found = rules(log("1<0", "2<1", again))["gtids_are_unique"]
    assert found.severity == "violation"


def test_mysql_gtids_out_of_order_are_a_note():
    later = stamped(1, "1<0", gtid="u:9")
    earlier = stamped(2, "2<1", gtid="u:7")
    assert rules(log(later, earlier))["gtids_are_in_order"].severity == "note"


def test_mysql_tags_are_numbered_apart():
    plain = stamped(1, "1<0", gtid="u:9")
    tagged = stamped(2, "2<1", gtid="u:tag:9")
    assert rules(log(plain, tagged)) == {}


def test_mariadb_gtid_twice_is_a_violation():
    found = rules(maria_log("- a", "- b", grouped(3, "- c", gtid="0-1-2")))
    assert found["gtids_are_unique"].severity == "violation"


def test_mariadb_number_that_goes_back_is_a_warning():
    found = rules(maria_log(grouped(1, "-", gtid="0-1-100"), grouped(2, "-", gtid="0-1-50")))
    assert found["gtids_are_in_order"].severity == "warning"


def test_mariadb_number_of_another_server_is_a_warning():
    found = rules(maria_log(grouped(1, "-", gtid="0-1-7"), grouped(2, "-", gtid="0-2-7")))
    assert "two servers" in found["gtids_are_in_order"].message


def test_mariadb_holes_and_other_domains_are_fine():
    texts = [grouped(1, "-", gtid="0-1-7"), grouped(2, "-", gtid="1-1-3", domain=1)]
    assert rules(maria_log(*texts, grouped(3, "-", gtid="0-1-99"))) == {}


def test_anonymous_transaction_among_gtids_is_a_note():
    found = rules(log("1<0", stamped(2, "2<1", gtid="")))
    assert found["every_transaction_has_a_gtid"].severity == "note"
    assert rules(log(stamped(1, "1<0", gtid=""), stamped(2, "2<1", gtid=""))) == {}


@given(st.lists(st.integers(1, 30)))
def test_seen_numbers_answer_as_a_set_does(numbers):
    seen, naive = _SeenNumbers(), set()
    for number in numbers:
        assert seen.add(number) == (number in naive)
        naive.add(number)
    # One interval per maximal run of neighbours.
    assert len(seen) == sum(number - 1 not in naive for number in naive)


# commit groups


def test_commit_group_sizes_are_counted_and_singles_are_groups_of_one():
    lint = linted(maria_log("7 a", "7 b", "- c", "8 d", "8 e", "8 f"))
    assert lint.groups.sizes() == {1: 1, 2: 1, 3: 1}
    assert lint.results() == []


def test_mysql_groups_are_runs_of_one_last_committed():
    assert linted(log("1<0", "2<1", "3<1", "4<1")).groups.sizes() == {1: 1, 3: 1}


def test_commit_id_that_comes_back_is_a_warning_naming_both():
    found = rules(maria_log("7 a", "7 b", "- c", "7 d"))["commit_groups_are_contiguous"]
    assert found.severity == "warning"
    assert [ref.ordinal for ref in found.transactions] == [2, 4]


def test_commit_id_that_comes_back_after_a_restart_is_fine():
    texts = ["7 a", "7 b", grouped(3, "7 c", clock=1), grouped(4, "7 d", clock=1)]
    assert rules(maria_log(*texts)) == {}


def test_commit_id_with_one_member_is_a_note():
    assert rules(maria_log("7 a", "- b"))["commit_ids_are_shared"].severity == "note"


# halves, statements, times


def test_half_transaction_followed_in_its_file_is_a_violation():
    found = rules(log("1<0", stamped(2, "2<1", complete=False), "3<2"))
    assert found["transactions_are_complete"].severity == "violation"


@pytest.mark.parametrize(("place", "severity"), [(1, "warning"), (2, "violation")])
def test_transaction_without_a_beginning_may_be_the_first_of_a_relay_log(place, severity):
    texts = ["1<0", "2<1", "3<2"]
    texts[place - 1] = stamped(
        place, f"{place}<{place - 1}", complete=False, lacks_beginning=True, gtid=""
    )
    assert rules(log(*texts))["transactions_are_complete"].severity == severity


def test_half_transaction_at_the_end_of_a_file_is_a_warning():
    half = stamped(2, "2<1", complete=False)
    following = stamped(3, "1<0", clock=1, file="bin.000002")
    assert rules(log("1<0", half, following))["transactions_are_complete"].severity == "warning"


def test_half_transaction_at_the_end_of_the_log_is_a_warning():
    found = rules(log("1<0", stamped(2, "2<1", complete=False)))
    assert found["transactions_are_complete"].severity == "warning"


def test_statements_and_incidents_are_warnings():
    texts = [
        stamped(1, "1<0", kind=LoggedKind.STATEMENT, statements=("UPDATE t SET a = 1",)),
        stamped(2, "2<1", kind=LoggedKind.INCIDENT),
    ]
    found = rules(log(*texts))
    assert found["changes_are_row_based"].severity == "warning"
    assert found["server_logged_no_incident"].severity == "warning"


def test_time_that_goes_back_is_a_note_past_a_minute():
    def at(ordinal, seconds):
        return stamped(ordinal, f"{ordinal}<{ordinal - 1}", event_time_s=seconds)

    assert rules(log(at(1, 1000), at(2, 940))) == {}
    assert rules(log(at(1, 1000), at(2, 939)))["time_moves_forward"].severity == "note"


def test_second_server_is_a_note():
    texts = [stamped(1, "1<0", server_id=1), stamped(2, "2<1", server_id=2)]
    assert rules(log(*texts))["one_server_wrote_the_log"].severity == "note"


def test_findings_past_the_limit_are_counted():
    lint = linted(log(*["1<1"] * 30), listed_max=10)
    assert len(lint.findings.listed) == 10
    assert lint.findings.dropped + 10 == len(lint.findings.listed) + lint.findings.dropped
    assert lint.violations >= 30
