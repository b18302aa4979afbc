"""Each phenomenon: a smallest history that has it, its neighbour that has not, and the edge."""

from __future__ import annotations

import pytest

from paraply.properties.isolation.breaches import (
    AbortedValueRead,
    AppendsReordered,
    ForkObserved,
    InformationCycleFormed,
    IntermediateValueRead,
    OrdersContradicted,
    OwnWriteForeseen,
    OwnWriteMissed,
    OwnWriteUnseen,
    PrefixImpossible,
    PrefixWentBack,
    ReadSkewed,
    ReadWentBackInSession,
    RepeatedElementRead,
    UnwrittenValueRead,
    UpdateLost,
    WriteBeforeWhatWasRead,
    WriteCycleFormed,
    WriteSkewed,
    WritesReorderedInSession,
    shown,
)
from paraply.properties.isolation.judging import judge
from paraply.properties.isolation.phenomena import LEVELS, PHENOMENA, level_named
from paraply.vocabulary.client_history import LOG_UNLIKE_HISTORY, REPEATED_WRITE, check_log
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.properties.isolation.notation import lists, registers

FOUND = [
    (
        "G0", WriteCycleFormed, lists("ax1 ay1", "ax2 ay2", "rx12 ry21"),
        "T1 appended 1 to x before T2 appended 2; T2 appended 2 to y before T1 appended 1: "
        "so T1 < T2 < T1, in a circle",
    ),
    (
        "orders", OrdersContradicted, lists("ax1", "ax2", "rx12", "rx2"),
        "T4 read x as [2] and T3 as [1 2]: no one order of appends explains both",
    ),
    (
        "orders", RepeatedElementRead, lists("ax1", "rx11"),
        "T2 read x with 1 twice, written only once",
    ),
    (
        "orders", AppendsReordered, lists("ax1 ax2", "rx2"),
        "T2 read x with 2 out of turn: T1 appended [1 2]",
    ),
    (
        "G1a", AbortedValueRead, registers("wx1 fail", "rx1"),
        "T2 read x with 1 of T1, and T1 was aborted",
    ),
    (
        "G1a", AbortedValueRead, lists("ax1 fail", "ax2", "rx12"),
        "T3 read x with 1 of T1, and T1 was aborted",
    ),
    (
        "G1b", IntermediateValueRead, registers("wx1 wx2", "rx1"),
        "T2 read x with 1 of T1, which went on to write 2 there before it committed",
    ),
    (
        "G1b", IntermediateValueRead, lists("ax1 ax2", "rx1"),
        "T2 read x with 1 of T1, which went on to write 2 there before it committed",
    ),
    (
        "G1c", InformationCycleFormed, registers("wx1 ry2", "wy2 rx1"),
        "T2 read x=1 of T1; T1 read y=2 of T2: so T1 < T2 < T1, in a circle",
    ),
    (
        "garbage", UnwrittenValueRead, registers("wx1", "rx2"),
        "T2 read x with 2, which nobody wrote",
    ),
    (
        "internal", OwnWriteMissed, registers("wx1 rx"),
        "T1 wrote x = 1 and then read nothing there",
    ),
    (
        "internal", OwnWriteForeseen, lists("rx1 ax1"),
        "T1 read x = [1] before it wrote that",
    ),
    (
        "internal", OwnWriteForeseen, registers("rx1 wx1"),
        "T1 read x = 1 before it wrote that",
    ),
    (
        "P4", UpdateLost, registers("wx1", "rx1 wx2", "rx1 wx3"),
        "T2 and T3 both read x = 1 and both wrote it anew: one update was lost",
    ),
    (
        "G-single", ReadSkewed, lists("ax1 ay1", "rx1 ry"),
        "T2 read x with the 1 that T1 appended; T2 read y before T1 wrote 1 there: "
        "so T1 < T2 < T1, in a circle",
    ),
    (
        "G-nonadjacent", ForkObserved, registers("wx1", "wy2", "rx1 ry", "rx ry2"),
        "T3 read x=1 of T1; T3 read y before T2 wrote 2 there; T4 read y=2 of T2; T4 read x "
        "before T1 wrote 1 there: so T1 < T3 < T2 < T4 < T1, in a circle",
    ),
    (
        "G2-item", WriteSkewed, registers("rx ry wx1", "rx ry wy2"),
        "T1 read y before T2 wrote 2 there; T2 read x before T1 wrote 1 there: "
        "so T1 < T2 < T1, in a circle",
    ),
    (
        "prefix", PrefixImpossible, registers("wx1", "wy2", "rx ry2", log=(1, 2)),
        "T3 saw y of T2 but not x of T1, which the log has before it: no prefix of the log shows "
        "this",
    ),
    (
        "monotonic prefix", PrefixWentBack, registers("wx1", "A: rx1", "A: rx", log=(1,)),
        "T2 of session A showed the log up to T1; then T3 of that session missed x of T1",
    ),
    (
        "read your writes", OwnWriteUnseen, registers("A: wx1", "A: rx"),
        "in session A T1 wrote x=1, and after it T2 read x before anything was written there: "
        "an older version",
    ),
    (
        "monotonic reads", ReadWentBackInSession, lists("ax1", "ax2", "A: rx12", "A: rx1"),
        "in session A T3 read x=2, and after it T4 read x=1: an older version",
    ),
    (
        "monotonic writes", WritesReorderedInSession, lists("A: ax1", "A: ax2", "rx21"),
        "in session A T1 wrote x=1, and after it T2 wrote x=2: an older version",
    ),
    (
        "writes follow reads", WriteBeforeWhatWasRead,
        registers("wx1", "A: rx1", "A: wx2", log=(3, 1)),
        "in session A T2 read x=1, and after it T3 wrote x=2: an older version",
    ),
    (
        "SI-session", ReadSkewed, registers("A: wx1", "A: rx"),
        "T1 is before T2 in session A; T2 read x before T1 wrote 1 there: so T1 < T2 < T1, in a "
        "circle",
    ),
    (
        "SI-realtime", ReadSkewed, registers("wx1", "rx"),
        "T1 had ended when T2 was invoked; T2 read x before T1 wrote 1 there: so T1 < T2 < T1, "
        "in a circle",
    ),
    (
        "cycle-session", ForkObserved, registers("A: wx1", "B: wy2", "A: ry", "B: rx"),
        "T1 is before T3 in session A; T3 read y before T2 wrote 2 there; T2 is before T4 in "
        "session B; T4 read x before T1 wrote 1 there: so T1 < T3 < T2 < T4 < T1, in a circle",
    ),
    (
        "cycle-realtime", ReadSkewed, lists("ax1", "rx", "rx1"),
        "T1 had ended when T2 was invoked; T2 read x before T1 wrote 1 there: so T1 < T2 < T1, "
        "in a circle",
    ),
]  # fmt: skip

CLEAN = {
    "G0": lists("ax1 ay1", "ax2 ay2", "rx12 ry12"),
    "orders": lists("ax1", "ax2", "rx12", "rx1"),
    "G1a": lists("ax1 fail", "ax2", "rx2"),
    "G1b": lists("ax1 ax2", "rx12"),
    "G1c": registers("wx1 ry", "wy2 rx1"),
    "garbage": registers("wx1", "rx1"),
    "internal": lists("ax1", "rx1 ax2 rx12"),
    "P4": registers("wx1", "rx1 wx2", "rx2 wx3"),
    "G-single": lists("ax1 ay1", "rx1 ry1", "rx ry"),
    "G-nonadjacent": registers("wx1", "wy2", "rx1 ry", "rx1 ry2"),
    "G2-item": registers("rx ry wx1", "rx1 ry wy2"),
    "prefix": registers("wx1", "wy2", "rx1 ry", "rx ry", log=(1, 2)),
    "monotonic prefix": registers("wx1", "A: rx", "A: rx1", log=(1,)),
    "read your writes": registers("A: wx1", "A: rx1"),
    "monotonic reads": lists("ax1", "ax2", "A: rx1", "A: rx12"),
    "monotonic writes": lists("A: ax1", "A: ax2", "rx12"),
    "writes follow reads": lists("ax1", "A: rx1", "A: ax2", "rx12"),
    "SI-session": registers("A: wx1", "A: rx1", "rx"),
    "cycle-session": registers("A: wx1", "B: wy2", "A: ry", "B: rx1"),
    "SI-realtime": registers("wx1", "rx", "rx1", at=[(1, 5), (2, 3), (7, 8)]),
    "cycle-realtime": lists("ax1", "rx", "rx1", at=[(1, 5), (2, 3), (7, 8)]),
}

NOTHING_TO_JUDGE = {
    "G0": (lists("ax1", "ay1", "rx1"), "no overwriting of one transaction by another was observed"),
    "orders": (lists("ax1"), "no committed transaction read anything"),
    "G1a": (registers("wx1 fail"), "no committed transaction read anything"),
    "G1b": (registers("wx1 wx2"), "no committed transaction read anything"),
    "G1c": (registers("wx1", "rx"), "no read of another transaction's write was observed"),
    "garbage": (registers("wx1"), "no committed transaction read anything"),
    "internal": (
        registers("wx1", "rx1"), "no transaction read a key that it had written or read",
    ),
    "P4": (registers("wx1", "rx1"), "no transaction wrote a key that it had read"),
    "G-single": (lists("ax1", "rx1"), "no read of a version that was overwritten was observed"),
    "G-nonadjacent": (registers("wx1", "rx1"),
                      "no read of a version that was overwritten was observed"),
    "G2-item": (registers("wx1 wx2", "wx3", "rx2"),
                "x: the order of its 2 versions is not known"),
    "prefix": (registers("wx1", "rx1"), "the order of the source's log is not known"),
    "monotonic prefix": (registers("wx1", "A: rx1", "B: rx1", log=(1,)),
                         "no session read twice"),
    "read your writes": (registers("A: wx1", "B: rx1"),
                         "no session came back to a key in such a way"),
    "monotonic reads": (registers("wx1", "wx2", "A: rx1", "A: rx2"),
                        "x: the order of its 2 versions is not known"),
    "monotonic writes": (registers("A: wx1", "A: wy1"),
                         "no session came back to a key in such a way"),
    "writes follow reads": (registers("wx1", "A: rx1"),
                            "no session came back to a key in such a way"),
    "SI-session": (lists("ax1", "rx1"), "no two transactions are ordered but by what they read"),
    "cycle-session": (lists("A: ax1", "A: ry"),
                      "no dependency between two transactions was observed"),
    "SI-realtime": (lists("ax1", "rx1", at=[(1, 5), (2, 6)]),
                    "no two transactions are ordered but by what they read"),
    "cycle-realtime": (lists("ax1", "ry"), "no dependency between two transactions was observed"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("label", "breach", "history", "sentence"), FOUND, ids=lambda one: getattr(one, "__name__", "")
)
def test_phenomenon_is_found_by_its_own_name(label, breach, history, sentence):
    finding = judge(history).finding(label)
    assert finding.verdict is Verdict.VIOLATED
    assert [type(one) for one in finding.breaches] == [breach]
    assert str(finding.breaches[0]) == sentence


@pytest.mark.parametrize("label", CLEAN)
def test_neighbour_without_the_phenomenon_holds(label):
    finding = judge(CLEAN[label]).finding(label)
    assert (finding.verdict, finding.reason, finding.breaches) == (Verdict.HOLDS, "", ())


@pytest.mark.parametrize("label", NOTHING_TO_JUDGE)
def test_history_that_shows_nothing_of_it_is_unknown_with_the_reason(label):
    history, reason = NOTHING_TO_JUDGE[label]
    finding = judge(history).finding(label)
    assert (finding.verdict, finding.reason) == (Verdict.UNKNOWN, reason)


def test_every_phenomenon_has_all_three():
    labels = {one.label for one in PHENOMENA}
    assert {label for label, *_ in FOUND} == labels
    assert set(CLEAN) == labels
    assert set(NOTHING_TO_JUDGE) == labels


# The table of docs/isolation.md: what no checker without the log can tell apart. T1 writes x, T2
# writes y, in this order; "gap" is a breach of a parallel applier, "stale" is no breach.
ROWS = {
    "A: two readers disagree": (registers("wx1", "wy2", "rx1 ry", "rx ry2", log=(1, 2)),
                                ("prefix", "snapshot-isolation")),
    "B: gap": (registers("wx1", "wy2", "rx ry2", log=(1, 2)), ("prefix", "strict-serializable")),
    "C: gap in one session": (registers("S: wx1", "S: wy2", "rx ry2", log=(1, 2)),
                              ("prefix", "strong-session-serializable")),
    "D: reader goes back": (registers("wx1", "wy2", "R: rx1 ry2", "R: rx1 ry", log=(1, 2)),
                            ("monotonic-prefix", "strong-session-serializable")),
    "E: stale": (registers("wx1", "wy2", "rx1 ry", log=(1, 2)), ("strict-serializable",)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_gap_and_stale_read_are_told_apart_by_the_log(name):
    history, refuted = ROWS[name]
    result = judge(history)
    for level in ("prefix", "monotonic-prefix"):
        broken = result.level(level).verdict is Verdict.VIOLATED
        assert broken == (level in refuted or (level == "monotonic-prefix" and "prefix" in refuted))
    for level in refuted:
        assert result.level(level).verdict is Verdict.VIOLATED
    if name.startswith(("B", "E")):
        assert result.level("serializable").verdict is not Verdict.VIOLATED


def test_order_of_versions_that_nobody_knows_leaves_the_verdict_open():
    history = registers("wx1", "wx2", "rx1 ry")
    assert judge(history).level("serializable").verdict is Verdict.UNKNOWN
    known = registers("wx1", "wx2", "rx1 ry", log=(1, 2))
    assert judge(known).level("serializable").verdict is Verdict.HOLDS
    assert judge(history).level("serializable").because == (
        "x: the order of its 2 versions is not known",
    )


def test_cycle_through_what_is_known_of_an_unordered_register_is_found_all_the_same():
    history = registers("wx1 wy1", "wx2", "rx1 ry")
    assert judge(history).level("snapshot-isolation").verdict is Verdict.VIOLATED


def test_unread_appends_that_break_a_snapshot_in_either_order_leave_it_open():
    # Write skew over y and z, and both append to x: some order of x suits, but not of a snapshot.
    history = lists("ry ax1 az1", "rz ax2 ay2", "rz1", "ry2")
    finding = judge(history).finding("G-nonadjacent")
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.reason == "x: it depends on the order of appends that were never read"


def test_many_unread_appends_to_one_key_are_unknown_and_not_a_flood_of_edges():
    appends = [f"ax{number}" for number in range(1, 51)]
    history = lists(*appends, "rx")
    assert judge(history).finding("G2-item").reason == "x: 50 appends to it were never read"


def test_indeterminate_write_counts_once_it_was_read():
    assert judge(lists("ax1 ay1 info", "rx1 ry")).level("consistent-view").because == ("G-single",)
    unread = judge(lists("ax1 info", "ay1", "rx ry1"))
    assert unread.level("serializable").verdict is not Verdict.VIOLATED


def test_value_that_is_written_twice_is_refused():
    for history in (lists("ax1", "ax1"), registers("wx1", "wx1")):
        with pytest.raises(ParaplyError) as caught:
            judge(history)
        assert caught.value.error is REPEATED_WRITE
        assert caught.value.where == "T2"


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        (registers("wx1", "wx2", log=(1, 1)), "it lists a transaction twice"),
        (registers("wx1", "wx2", log=(1,)), "it misses T2, which committed"),
        (registers("wx1 fail", log=(1,)), "it has T1, which was aborted"),
    ],
)
def test_log_of_another_run_is_refused(history, reason):
    with pytest.raises(ParaplyError) as caught:
        check_log(history)
    assert caught.value.error is LOG_UNLIKE_HISTORY
    assert reason in caught.value.text


def test_log_that_fits_is_taken():
    history = registers("wx1", "rx1", "wx2 info", log=(1, 3))
    assert check_log(history) is history
    assert check_log(registers("wx1")).log is None


def test_levels_name_phenomena_that_there_are():
    labels = {one.label for one in PHENOMENA}
    for level in LEVELS:
        assert set(level.forbids) <= labels
        assert level.main in level.forbids
    assert level_named("prefix") in LEVELS
    assert level_named("chaos") is None


def test_long_lists_are_shown_by_their_end():
    assert shown(tuple(range(9))) == "[… 3 4 5 6 7 8]"
    assert shown(None) == "nothing"


@pytest.mark.parametrize(
    ("history", "sentence"),
    [
        (lists("ax1", "ax2", "rx1 ax3 rx123"),
         "T3 read x = [1] and then [1 2], its own writes aside"),
        (registers("wx1", "rx rx1"), "T2 read x = nothing and then 1, its own writes aside"),
    ],
)  # fmt: skip
def test_second_read_of_a_key_must_not_differ(history, sentence):
    finding = judge(history).finding("internal")
    assert finding.verdict is Verdict.VIOLATED
    assert [str(one) for one in finding.breaches] == [sentence]
    # The same history violates read skew, so no verdict on a level depends on this alone.
    assert judge(history).finding("G-single").verdict is not Verdict.HOLDS


def test_own_appends_do_not_make_reads_differ():
    assert judge(lists("ax1", "rx1 ax2 rx12 ax3 rx123")).finding("internal").breaches == ()


@pytest.mark.parametrize(
    ("ending", "orders", "of_order"),
    [("fail", Verdict.HOLDS, Verdict.HOLDS), ("info", Verdict.VIOLATED, Verdict.UNKNOWN)],
)
def test_dirty_read_of_what_was_taken_back_leaves_the_order_of_the_rest(ending, orders, of_order):
    told = judge(lists("ax1", f"ax2 {ending}", "rx12", "ax3", "rx13"))
    assert told.finding("orders").verdict is orders
    assert told.finding("G0").verdict is of_order
    levels = {one.level.name: one.verdict for one in told.levels}
    assert levels["read-uncommitted"] is of_order
    assert levels["read-committed"] is Verdict.VIOLATED
