"""Saved positions, discarded changes and parts: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.row_changes import (
    only_older_changes_are_discarded,
    parts_are_shown_when_all_rows_are_changed,
)
from paraply.properties.apply.saved_positions import (
    positions_are_saved_when_due,
    saved_positions_keep_up,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{a b} | T3{c} | "
COMMITS = " ; ".join(
    f"scheduled T{one}@w1 ; begun T{one}@w1 ; engine_committed T{one}@w1" for one in (1, 2, 3)
)


def history(events, head=""):
    return history_of(f"{head}{LOG}{events}" if head else LOG + events)


@pytest.mark.parametrize(
    ("saved", "is_late"), [("transactions=1,2", False), ("transactions=1", True), ("", True)]
)
def test_position_may_lack_one_transaction_per_worker(saved, is_late):
    run = history(f"{COMMITS} ; position_saved {saved}")
    assert verdict(run, saved_positions_keep_up) is (Verdict.VIOLATED if is_late else Verdict.HOLDS)


def test_breach_names_how_far_it_stays_behind():
    (breach,) = saved_positions_keep_up(history(f"{COMMITS} ; position_saved"))
    assert "a position of 0 transactions when all up to the 3th" in str(breach)


def test_more_workers_leave_more_open():
    run = history(f"{COMMITS} ; position_saved", head='options={"workers":3} ')
    assert verdict(run, saved_positions_keep_up) is Verdict.UNKNOWN


def test_hole_and_crash_free_a_position_from_the_rest():
    hole = "scheduled T3@w1 ; engine_committed T3@w1 ; position_saved"
    assert not saved_positions_keep_up(history(hole))
    assert not saved_positions_keep_up(history(f"{COMMITS} ; crashed ; recovered ; position_saved"))


LATER_FIRST = "scheduled T2@w2 ; engine_committed T2@w2 ; "
DISCARDED = "scheduled T1@w1 ; row_applied T1@w1 {a} discarded"


def test_change_is_discarded_for_a_later_one_only():
    assert verdict(history(LATER_FIRST + DISCARDED), only_older_changes_are_discarded) is (
        Verdict.HOLDS
    )
    (breach,) = only_older_changes_are_discarded(history(DISCARDED))
    assert str(breach).startswith("r1 discarded a change of T1")


def test_later_writer_of_another_row_discards_nothing():
    other = LATER_FIRST.replace("T2", "T3")
    assert only_older_changes_are_discarded(history(other + DISCARDED))


PARTS = "begun T2@w0 ; row_applied T2@w1 {a} ok ; "


def test_part_that_is_shown_before_the_last_change_is_reported():
    good = history(f"{PARTS}row_applied T2@w2 {{b}} ok ; visible T2@w1 {{a}}")
    assert verdict(good, parts_are_shown_when_all_rows_are_changed) is Verdict.HOLDS
    run = history(f"{PARTS}visible T2@w1 {{a}} ; row_applied T2@w2 {{b}} ok")
    (breach,) = parts_are_shown_when_all_rows_are_changed(run)
    assert str(breach) == "r1 changed a row of T2 after a part of it was visible"


def test_crash_between_parts_begins_anew():
    run = history(f"{PARTS}visible T2@w1 {{a}} ; crashed ; recovered ; {PARTS}stopped")
    assert not parts_are_shown_when_all_rows_are_changed(run)


EXACT = 'options={"workers":2,"watermark":"exact"} '


def test_position_after_a_commit_for_each_worker_is_due():
    run = history(f"{COMMITS} ; position_saved transactions=1,2", head=EXACT)
    assert verdict(run, positions_are_saved_when_due) is Verdict.HOLDS


def test_position_that_is_saved_again_at_once_is_reported():
    saved = "position_saved transactions=1,2"
    (breach,) = positions_are_saved_when_due(history(f"{COMMITS} ; {saved} ; {saved}", head=EXACT))
    assert str(breach) == "r1 saved a position after 1 new commits; 2 are due"
    crash = history(f"{COMMITS} ; {saved} ; crashed ; recovered ; {saved}", head=EXACT)
    assert not positions_are_saved_when_due(crash)


def test_only_the_exact_watermark_states_when_a_position_is_due():
    due = positions_are_saved_when_due.__name__
    for head, applies in ((EXACT, True), (EXACT.replace("exact", "as_written"), False)):
        run = history(f"{COMMITS} ; position_saved", head=head)
        judged = {one.name for one in registered_properties() if one.applies_to(run)}
        assert (due in judged) is applies
