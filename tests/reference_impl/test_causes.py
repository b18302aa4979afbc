"""A known breach is expected only where its cause comes first: a cause occurs, or is refuted."""

from __future__ import annotations

import pytest

from paraply.mining.judges import is_expected
from paraply.reference_impl.causes import (
    COLLECTION,
    COMMITS_REORDERED,
    COMMITTED_BETWEEN,
    FORGOTTEN_OR_SESSION,
    GTID_TWICE,
    IRREVERSIBLE,
    LOCK_WAIT_TIMED_OUT,
    LOGGED_BESIDE,
    NUMBER_SKIPPED,
    OVERLAP,
    OVERLAP_IN_CONFLICT,
    OVERLAP_IN_SESSION,
    OVERLAP_WITH_COMMIT,
    OVERTAKEN_AS_STAMPED,
    OWN_GTID_USED,
    SAVED_AMID,
    SESSION_LOGS_TWO,
    SEVERAL_ROWS,
    SKIPPED_OR_OF_TWO,
    STAMPED_WITH_NEXT,
    STARTED_AFTER_FILTERING,
    TOO_LARGE_TO_STORE,
    VIEW_CHANGED,
    WRITERS_FORGOTTEN,
)
from paraply.reference_impl.semi_sync.subject import (
    ROTATION_UNDER_WAY,
    SENT_UNSYNCED,
    TWO_GROUPS_LOGGED,
)
from paraply.reference_impl.semi_sync.timed_subject import MUTEX_AWAITED
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named, registered_subjects, subject_named
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


def test_every_known_breach_has_a_cause():
    for subject in registered_subjects():
        for dialect, names in subject.breaks.items():
            for name in names:
                assert subject.causes_of(Workload(dialect=dialect), name), (subject.name, name)


def test_number_is_stamped_with_itself():
    assert STAMPED_WITH_NEXT.occurs(history_of("T1{a} 1<0 | T2{b} 2<2 | "))
    assert not STAMPED_WITH_NEXT.occurs(history_of("T1{a} 1<0 | T2{b} 0<0 | T3{a} 2<3 | "))


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


PLAIN = "flags=transactional"
TABLES = f"| T1{{a}} domain=0 {PLAIN} | T2{{b}} domain=0 | T3{{c}} domain=1 {PLAIN} | "
ONE = "certified T1 outcome=positive gtid=g:1"
TWO = f"{ONE} ; certified T2 outcome=positive gtid=g:2"
SOURCE = "| T1{a} session=s1 | T2{b} session=s1 | T3{a} session=s2 | "
PREPARED = "begun T1 ; prepared T1 ; begun T2"
FLUSHED = {one: f"flushed T{one} {one}<0 note=plain" for one in (1, 2, 3)}
STAMPED = "certified T1 1<0 outcome=positive ; certified T2 2<{} outcome=positive ; "
LOGGED = "flushed T1@source group=1 ; flushed T2@source group={} ; "
ANSWERED = "client_acknowledged T1@source"
ROTATED = "relay_rotated @source"


@pytest.mark.parametrize(
    ("cause", "log", "occurs", "refuted"),
    [
        (OVERLAP_WITH_COMMIT, TABLES, PREPARED, "begun T1 ; begun T2"),
        (OVERLAP_WITH_COMMIT, TABLES, PREPARED, f"{PREPARED} ; rolled_back T1 ; begun T2"),
        (OVERLAP_WITH_COMMIT, TABLES, PREPARED, "begun T1 ; prepared T1 ; begun T3"),
        (
            OVERLAP_WITH_COMMIT, f"dialect=minimal {TABLES}",
            "begun T1 ; prepared T1 ; begun T3", "begun T1 ; begun T3",
        ),
        (IRREVERSIBLE, TABLES, "begun T2", "begun T1 ; begun T3"),
        (COLLECTION, LOG, "garbage_collected", "executed_set_broadcast"),
        (
            OWN_GTID_USED, LOG,
            'certified T1 attempt=2 outcome=negative note="g:1 was used"',
            'certified T1 attempt=2 outcome=negative note="conflict on a"',
        ),
        (
            GTID_TWICE, LOG, f"{ONE} ; certified T2 outcome=positive gtid=g:1",
            f"{ONE} ; certified T2 outcome=positive gtid=g:2",
        ),
        (
            COMMITTED_BETWEEN, SOURCE, f"{FLUSHED[1]} ; engine_committed T1 ; {FLUSHED[2]}",
            f"{FLUSHED[1]} ; {FLUSHED[2]} ; engine_committed T1",
        ),
        (
            COMMITTED_BETWEEN, SOURCE, f"{FLUSHED[2]} ; engine_committed T2 ; {FLUSHED[3]}",
            f"{FLUSHED[1]} ; engine_committed T1 ; {FLUSHED[3]}",
        ),
        (
            SESSION_LOGS_TWO, SOURCE, f"{FLUSHED[1]} ; {FLUSHED[2]}",
            f"{FLUSHED[1]} ; relay_rotated ; {FLUSHED[2]}",
        ),
        (SESSION_LOGS_TWO, SOURCE, f"{FLUSHED[1]} ; {FLUSHED[2]}", f"{FLUSHED[2]} ; {FLUSHED[3]}"),
        (WRITERS_FORGOTTEN, SOURCE, f"{FLUSHED[1]} ; relay_rotated", FLUSHED[1]),
        (WRITERS_FORGOTTEN, SOURCE, "flushed T1 1<0 note=keyless", FLUSHED[1]),
        (
            WRITERS_FORGOTTEN, f'options={{"history_size":2}} {SOURCE}',
            f"{FLUSHED[1]} ; {FLUSHED[2]} ; {FLUSHED[3]}", f"{FLUSHED[1]} ; {FLUSHED[2]}",
        ),
        (COMMITTED_BETWEEN, SOURCE, "flushed T1 1<0 note=blocking", FLUSHED[1]),
        (
            FORGOTTEN_OR_SESSION, SOURCE, f"{FLUSHED[1]} ; {FLUSHED[2]}",
            f"{FLUSHED[2]} ; {FLUSHED[3]}",
        ),
        (
            LOGGED_BESIDE, SOURCE, f"{FLUSHED[1]} ; {FLUSHED[2]}",
            f"{FLUSHED[1]} ; engine_committed T1 ; {FLUSHED[2]}",
        ),
        (
            COMMITS_REORDERED, LOG, f"{TWO} ; engine_committed T2",
            f"{TWO} ; engine_committed T1 ; engine_committed T2",
        ),
        (COMMITS_REORDERED, LOG, f"{TWO} ; engine_committed T2", f"{TWO} ; engine_committed T3"),
        (NUMBER_SKIPPED, LOG, "flushed T1 gtid=s:2", "flushed T1 gtid=s:1 ; flushed T2 gtid=s:2"),
        (
            NUMBER_SKIPPED, LOG, "flushed T1 gtid=s:1 ; flushed T2 gtid=s:3",
            "flushed T1@r1 gtid=s:1 ; flushed T1@r2 gtid=s:1",
        ),
        (
            SKIPPED_OR_OF_TWO, LOG, "flushed T1 gtid=s:1 ; flushed T2 gtid=t:1",
            "flushed T1 gtid=s:1 ; flushed T2 gtid=s:2",
        ),
        (SKIPPED_OR_OF_TWO, LOG, "flushed T1 gtid=s:2", "flushed T1 gtid=s:1"),
        (
            STARTED_AFTER_FILTERING, LOG, "skipped T1 note=filtered ; started",
            "started ; skipped T1 note=filtered ; started @r2",
        ),
        (
            OVERTAKEN_AS_STAMPED, LOG, f"{STAMPED.format(0)}engine_committed T2",
            f"{STAMPED.format(1)}engine_committed T2",
        ),
        (
            OVERTAKEN_AS_STAMPED, LOG, f"{STAMPED.format(0)}engine_committed T2",
            f"{STAMPED.format(0)}engine_committed T1 ; engine_committed T2",
        ),
        # (0, 0) waits for all before it.
        (
            OVERTAKEN_AS_STAMPED, LOG, f"{STAMPED.format(0)}engine_committed T2",
            "certified T1 1<0 outcome=positive ; certified T2 0<0 outcome=positive ; "
            "engine_committed T2",
        ),
        (
            TOO_LARGE_TO_STORE, 'options={"preemptive_rows_threshold":2} | T1{a b} | T2{c} | ',
            "certified T1 outcome=positive", "certified T2 outcome=positive",
        ),
        (SENT_UNSYNCED, LOG, "flushed T1@source ; delivered T1@r1",
         "flushed T1@source ; synced T1@source ; delivered T1@r1"),
        (SENT_UNSYNCED, LOG, "flushed T1@source ; delivered T1@r1", "delivered T1@r1"),
        (TWO_GROUPS_LOGGED, LOG, LOGGED.format(2), LOGGED.format(1)),
        (TWO_GROUPS_LOGGED, LOG, LOGGED.format(2), f"{LOGGED.format(2)}{ANSWERED}"),
        (TWO_GROUPS_LOGGED, LOG, LOGGED.format(2), f"{LOGGED.format(2)}crashed @source"),
        (ROTATION_UNDER_WAY, f'options={{"rotations":1}} {LOG}', "flushed T1@source group=1",
         f"flushed T1@source group=1 ; {ROTATED}"),
        (ROTATION_UNDER_WAY, f'options={{"rotations":1}} {LOG}', "flushed T1@source group=1",
         f"flushed T1@source group=1 ; {ANSWERED}"),
        (MUTEX_AWAITED, LOG, "prepared T1 ; prepared T2 ; flushed T1 ; engine_committed T1@source",
         "prepared T1 ; flushed T1 ; engine_committed T1@source ; prepared T2"),
        (
            VIEW_CHANGED, LOG, "view_installed view=1 ; view_installed view=2",
            "view_installed @r1 view=1 ; view_installed @r2 view=1",
        ),
    ],
)  # fmt: skip
def test_cause_of_a_rule_occurs_and_is_refuted(cause, log, occurs, refuted):
    assert cause.occurs(history_of(f"{log}{occurs}"))
    assert not cause.occurs(history_of(f"{log}{refuted}"))


MARKED = (
    "| T1{a} domain=0 flags=transactional,allow_parallel "
    "| T2{b} domain=0 flags=transactional,waited | started ; scheduled T1@w1 ; scheduled T2@w2 ; "
)
HELD_BACK = "flushed T3 3<2 note=plain"
"""Only T1 has written its row."""
CERTIFIED = "certified T1 3<1 outcome=positive ; {}certified T2 5<1 outcome=positive"


@pytest.mark.parametrize(
    ("subject", "dialect", "name", "cause", "other"),
    [
        (
            "mariadb_parallel", "conservative", "marked_transactions_wait_for_all_before",
            f"{MARKED}begun T1@w1 ; prepared T1@w1 ; begun T2@w2",
            f"{MARKED}begun T1@w1 ; begun T2@w2",
        ),
        (
            "mariadb_parallel", "aggressive", "marked_transactions_wait_for_all_before",
            f"{MARKED}begun T1@w1 ; begun T2@w2",
            f"{MARKED}stopped ; started ; scheduled T2@w2 ; begun T2@w2",
        ),
        (
            "certifier", "mysql_8_0", "sequence_numbers_are_contiguous",
            "| T1{a} origin=r2 | T2{b} origin=r2 | " + CERTIFIED.format("garbage_collected ; "),
            "| T1{a} origin=r2 | T2{b} origin=r2 | " + CERTIFIED.format(""),
        ),
        (
            "source", "commit_order", "last_committed_is_minimal",
            f"{SOURCE}{FLUSHED[1]} ; {FLUSHED[2]} ; engine_committed T2 ; {HELD_BACK}",
            f"{SOURCE}{FLUSHED[1]} ; {FLUSHED[2]} ; engine_committed T1 ; {HELD_BACK}",
        ),
        (
            "source", "writeset", "last_committed_is_minimal",
            f"{SOURCE}{FLUSHED[1]} ; flushed T2 2<0 note=keyless ; {HELD_BACK}",
            f"{SOURCE}{FLUSHED[1]} ; {FLUSHED[2]} ; {HELD_BACK}",
        ),
    ],
)  # fmt: skip
def test_rule_is_excused_where_its_cause_comes_first(subject, dialect, name, cause, other):
    prop = property_named(name)
    for events, expected in ((cause, True), (other, False)):
        history = history_of(f"subject={subject} dialect={dialect} {events}")
        assert prop.violations(history)
        workload = Workload(dialect=dialect)
        assert is_expected(subject_named(subject), workload, prop, history) is expected
