"""The four session guarantees, each kept, broken and on the edge."""

from __future__ import annotations

import pytest

from paraply.properties.readers.session_guarantees import (
    session_reads_never_go_back,
    session_writes_are_logged_in_order,
    session_writes_follow_its_reads,
    sessions_read_their_writes,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{x} session=s1 | T2{y} session=s1 | T3{x} session=s2 | "

RYW, MR = sessions_read_their_writes, session_reads_never_go_back
MW, WFR = session_writes_are_logged_in_order, session_writes_follow_its_reads


@pytest.mark.parametrize(
    ("check", "events", "sentence"),
    [
        (
            RYW, "client_acknowledged T1 ; read @r1 session=s1 [x=T0]",
            "session s1 was told that T1 is done, and then read x of T0 at r1",
        ),
        (
            MR, "read @r1 session=c [x=T1 y=T2] ; read @r2 session=c [x=T1 y=T0]",
            "session c had seen T2, and then missed y of T2 at r2",
        ),
        (
            MW, "client_acknowledged T2 ; submitted T1",
            "session s1 issued T1 after it was told that T2 is done; the log has it before",
        ),
        (
            WFR, "read @r1 session=s1 [x=T3] ; submitted T2",
            "session s1 issued T2 after it had read of T3; the log has it before",
        ),
    ],
)  # fmt: skip
def test_broken_guarantee_is_told(check, events, sentence):
    (breach,) = check(history_of(LOG + events))
    assert str(breach) == sentence


@pytest.mark.parametrize(
    ("check", "events"),
    [
        (RYW, "client_acknowledged T1 ; read @r1 session=s1 [x=T1]"),
        (RYW, "client_acknowledged T1 ; read @r1 session=s1 [x=T3 y=T0]"),
        (MR, "read @r1 session=c [x=T1 y=T0] ; read @r2 session=c [x=T1 y=T2]"),
        (MW, "client_acknowledged T1 ; submitted T2"),
        (WFR, "read @r1 session=s1 [x=T1] ; submitted T2"),
    ],
)
def test_guarantee_that_was_put_to_the_test_holds(check, events):
    assert verdict(history_of(LOG + events), check) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("check", "events"),
    [
        # Not told that it is done, another row, another session: nothing is promised.
        (RYW, "submitted T1 ; read @r1 session=s1 [x=T0]"),
        (RYW, "client_acknowledged T1 ; read @r1 session=s1 [y=T0]"),
        (RYW, "client_acknowledged T1 ; read @r1 session=s2 [x=T0]"),
        (MR, "read @r1 session=c [x=T1] ; read @r2 session=d [x=T0]"),
        (MR, "read @r1 [x=T1] ; read @r2 [x=T0]"),
        (MW, "submitted T2 ; submitted T1"),
        (WFR, "read @r1 session=s1 [x=T0 y=T0] ; submitted T1"),
    ],
)
def test_where_nothing_is_promised_nothing_is_known(check, events):
    assert verdict(history_of(LOG + events), check) is Verdict.UNKNOWN


def test_prefixes_on_each_replica_do_not_make_a_session_monotonic():
    # MPC holds on each backup alone, and the session that moves sees less.
    history = history_of(LOG + "read @r1 session=c [x=T3 y=T2] ; read @r2 session=c [x=T1 y=T0]")
    assert verdict(history, MR) is Verdict.VIOLATED
