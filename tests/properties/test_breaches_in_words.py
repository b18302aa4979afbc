"""Every breach of certification and its neighbours, as the sentence a reader gets."""

from __future__ import annotations

import pytest

from paraply.properties.certification.decisions import (
    ConcurrentWritersCertified,
    DecisionsDiffer,
    ExecutedSetsDiffer,
    GtidGivenTwice,
    GtidOutOfRange,
    RefusedWithoutConflict,
)
from paraply.properties.certification.garbage_collection import (
    DecisionChangedByCollection,
    NeededVersionPurged,
    NewestVersionPurged,
    PurgeableItemKept,
    PurgedWriterUncovered,
    UnstableCalledStable,
    window_covers_what_was_purged,
)
from paraply.properties.certification.retries import RetryNotCertified
from paraply.properties.certification.rounds import RoundWithoutEnd
from paraply.properties.certification.timestamps import (
    BarrierUnordered,
    SequenceNumberRepeated,
    SequenceNumberSkipped,
    TimestampMalformed,
    TransactionHeldBack,
)
from paraply.properties.certification.write_sets import MeetingUnseen
from paraply.properties.group.view_change import (
    DeliveriesDifferInView,
    JoinerDecidedOtherwise,
    MemberNotAtRest,
    RecoveryIncomplete,
    ViewChangeNumbered,
    ViewChangeOvertaken,
)
from paraply.vocabulary.timestamps import LogicalTimestamp
from tests.properties.histories import history_of

STAMP = LogicalTimestamp.as_recorded


@pytest.mark.parametrize(
    ("breach", "sentence"),
    [
        (
            ConcurrentWritersCertified(member="r1", winner=1, second=2, items=("a", "b")),
            "r1 certified T2 although T1, certified before it, wrote a, b and is not in its "
            "snapshot",
        ),
        (
            RefusedWithoutConflict(member="r1", transaction=2),
            "r1 refused T2, which saw every earlier certified writer of its rows",
        ),
        (
            DecisionsDiffer(
                transaction=3,
                member="r1",
                decision="negative",
                other_member="r2",
                other_decision="positive g:3",
            ),
            "T3 is negative on r1 and positive g:3 on r2",
        ),
        (
            GtidGivenTwice(gtid="g:1", transaction=1, other=2, members=("r1", "r2")),
            "g:1 names T1 and T2 (r1, r2)",
        ),
        (
            ExecutedSetsDiffer(member="r1", other_member="r2", only_here=(2, 3), only_there=()),
            "only r1 executed T2 T3, only r2 executed nothing",
        ),
        (
            DecisionChangedByCollection(member="r1", transaction=3, purged_writer=1),
            "r1 certified T3, having purged the rows of T1 that it wrote without seeing",
        ),
        (
            UnstableCalledStable(member="r1", transaction=1, missing_at="r2"),
            "r1 takes T1 for stable, which r2 has not executed",
        ),
        (
            NeededVersionPurged(member="r1", writer=1, undecided=3, items=("a",)),
            "r1 purged a of T1 before it decided T3, which writes there and has not seen T1",
        ),
        (
            PurgedWriterUncovered(
                member="r1", purged_writer=1, later=3, sequence_number=2, last_committed=1
            ),
            "on r1 T3 waits for 1, but the rows of T1 (sequence_number 2) are forgotten",
        ),
        (
            PurgeableItemKept(member="r1", writer=1, item="a"),
            "r1 keeps a of T1, which is older than stable",
        ),
        (
            NewestVersionPurged(member="r1", writer=1, item="a"),
            "r1 purged a of T1, which is not older than stable",
        ),
        (
            TimestampMalformed(member="r1", transaction=1, timestamp=STAMP(4, 4)),
            "r1 gave T1 last_committed=4, not below sequence_number=4",
        ),
        (
            SequenceNumberRepeated(member="r1", earlier=1, later=2, numbers=(3, 2)),
            "in r1's relay log sequence_number 2 of T2 follows 3 of T1",
        ),
        (
            BarrierUnordered(
                member="r1",
                earlier=1,
                later=2,
                earlier_timestamp=STAMP(1, 2),
                later_timestamp=STAMP(1, 3),
            ),
            "on r1 T2 (last_committed 1) may start before T1 (sequence_number 2) has committed",
        ),
        (
            TransactionHeldBack(member="r1", transaction=3, last_committed=3, needed=2),
            "r1 makes T3 wait for 3; it depends on nothing past 2",
        ),
        (
            SequenceNumberSkipped(member="r1", transaction=2, numbers=(2, 4)),
            "r1 numbers T2 4 after 2",
        ),
        (
            ViewChangeNumbered(member="r1", view_change=2, timestamp=STAMP(2, 3)),
            "r1 gave the view change T2 3<2, not 0<0",
        ),
        (
            ViewChangeOvertaken(
                member="r1", view_change=2, transaction=3, was_delivered_before=False
            ),
            "r1 was given T3 after the view change T2 and committed it before",
        ),
        (
            ViewChangeOvertaken(
                member="r1", view_change=2, transaction=1, was_delivered_before=True
            ),
            "r1 was given T1 before the view change T2 and committed it after",
        ),
        (
            JoinerDecidedOtherwise(
                joiner="r3", other="r1", transaction=4, decision="negative", expected="positive g:4"
            ),
            "r3, having joined, decided T4 negative; r1 decided positive g:4",
        ),
        (
            DeliveriesDifferInView(view=2, member="r1", other_member="r2", transactions=(3, 4)),
            "in view 2 only one of r1, r2 got T3 T4",
        ),
        (
            RecoveryIncomplete(joiner="r3", view=2, transaction=1),
            "r3 ended recovery without T1, which was certified before view 2",
        ),
        (
            MemberNotAtRest(member="r3"),
            "r3 still waits when the others are at rest, and nothing more happens",
        ),
        (
            RoundWithoutEnd(member="r1", stable=(1, 2)),
            "r1 never collected, though every member reported T1 T2",
        ),
        (
            GtidOutOfRange(member="r1", transaction=1, gtid="g:0"),
            "r1 gave T1 'g:0', which is no GTID",
        ),
        (
            RetryNotCertified(member="r1", transaction=1, attempt=2),
            "r1 never certified T1 at its attempt 2",
        ),
        (
            MeetingUnseen(earlier=1, later=2, table="test.t", index="uk"),
            "T1 and T2 have one key of test.t.uk, and their write sets share no item",
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_breach_reads_as_a_sentence(breach, sentence):
    assert str(breach) == sentence


def test_window_is_owed_only_until_the_member_starts_anew():
    # A restarted certifier knows nothing and its relay log begins with (0, 0).
    history = history_of(
        """| T1{a} | T2{b} | T3{a} | certified T1@r1 positive gtid=g:1 2<1
        ; certified T2@r1 positive gtid=g:2 3<1 ; garbage_collected @r1 {a} transactions=1,2
        ; started @r1 ; certified T3@r1 positive gtid=g:3 2<1"""
    )
    assert not window_covers_what_was_purged(history)
