"""A known breach is expected only where its cause comes first: a cause occurs, or is refuted."""

from __future__ import annotations

import pytest

from paraply.mining.judges import is_expected
from paraply.reference_impl.causes import (
    LOCK_WAIT_TIMED_OUT,
    OVERLAP,
    OVERLAP_IN_CONFLICT,
    OVERLAP_IN_SESSION,
    SAVED_AMID,
    SEVERAL_ROWS,
)
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named, subject_named
from tests.properties.histories import history_of

LOG = "| T1{a} session=s1 | T2{b} session=s2 | T3{a} session=s2 | "


@pytest.mark.parametrize(
    ("cause", "occurs", "refuted"),
    [
        (OVERLAP, "begun T1 ; begun T2", "begun T1 ; engine_committed T1 ; begun T2"),
        # Who takes the later one first overlaps with nothing.
        (OVERLAP, "begun T1 ; begun T2", "begun T2 ; engine_committed T2 ; begun T1"),
        (OVERLAP, "begun T1 ; begun T2", "begun T1 ; crashed ; begun T2"),
        # T1 and T2 are merged into one job.
        (OVERLAP, "begun T1 ; begun T2", "begun T1 transactions=1,2 ; begun T2 transactions=1,2"),
        (OVERLAP, "scheduled T1@r1 ; begun T2@r1", "scheduled T1@r2 ; begun T2@r1"),
        (
            OVERLAP_IN_CONFLICT,
            "begun T1 ; begun T2 ; engine_committed T2 ; begun T3",
            "begun T1 ; begun T2 ; engine_committed T1 ; begun T3",
        ),
        (
            OVERLAP_IN_SESSION,
            "begun T1 ; engine_committed T1 ; begun T2 ; begun T3",
            "begun T1 ; begun T2 ; engine_committed T2 ; begun T3",
        ),
        (
            LOCK_WAIT_TIMED_OUT,
            'row_applied T1 outcome=error note="lock wait timeout"',
            'row_applied T1 outcome=error note="row error"',
        ),
        (
            SAVED_AMID,
            "scheduled T1@w1 ; position_saved transactions=1",
            "scheduled T1@w1 ; position_saved transactions=2",
        ),
    ],
)
def test_cause_occurs_and_is_refuted(cause, occurs, refuted):
    assert cause.occurs(history_of(f"{LOG}{occurs}"))
    assert not cause.occurs(history_of(f"{LOG}{refuted}"))


def test_parts_need_a_transaction_of_several_rows():
    assert SEVERAL_ROWS.occurs(history_of("T1{a} | T2{b c} | "))
    assert not SEVERAL_ROWS.occurs(history_of(LOG))


APPLIED = {1: "begun T1@w1", 2: "begun T2@w2", 3: "begun T3@w1"}
DONE = {1: "engine_committed T1@w1", 2: "engine_committed T2@w2", 3: "engine_committed T3@w1"}


@pytest.mark.parametrize(
    ("dialect", "name", "cause", "other"),
    [
        (
            "c0", "engine_commits_follow_the_log",
            (APPLIED[1], APPLIED[2], DONE[2], DONE[1]),
            (APPLIED[2], DONE[2], APPLIED[1], DONE[1]),
        ),
        (
            "c3", "sessions_keep_their_order",
            (APPLIED[2], APPLIED[3], DONE[3], DONE[2]),
            (APPLIED[3], DONE[3], APPLIED[2], DONE[2]),
        ),
        (
            "c0", "sound_log_never_fails",
            (APPLIED[1], APPLIED[3], 'failed T3@w1 note="row error"'),
            (APPLIED[1], APPLIED[2], DONE[1], APPLIED[3], 'failed T3@w1 note="row error"'),
        ),
        (
            "p3_serializable", "sound_log_never_fails",
            (APPLIED[1], 'row_applied T1@w1 outcome=error note="lock wait timeout"',
             'failed T1@w1 note="row error"'),
            (APPLIED[1], 'failed T1@w1 note="row error"'),
        ),
    ],
)  # fmt: skip
def test_scheme_is_excused_where_its_cause_comes_first(dialect, name, cause, other):
    subject, prop = subject_named("wl4648"), property_named(name)
    for events, expected in ((cause, True), (other, False)):
        history = history_of(f"subject=wl4648 dialect={dialect} {LOG}{' ; '.join(events)}")
        assert prop.violations(history)
        assert is_expected(subject, Workload(dialect=dialect), prop, history) is expected
