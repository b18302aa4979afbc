"""Which rows snapshots show, and whose versions: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.readers.shown_rows import (
    snapshots_show_every_row,
    versions_are_of_their_writers,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | begun T1@w1 ; engine_committed T1@w1 ; "
BOTH = "read [a=T0 b=T0]"


def run(*events):
    return history_of(LOG + " ; ".join(events))


@pytest.mark.parametrize("last", ["read [a=T1 b=T0]", "read [b=T0 a=T1]"])
def test_snapshots_of_all_rows_hold(last):
    assert verdict(run(BOTH, last), snapshots_show_every_row) is Verdict.HOLDS


def test_snapshot_without_a_row_is_reported():
    (breach,) = snapshots_show_every_row(run(BOTH, "read [a=T1]"))
    assert str(breach) == "r1: a snapshot at 4 leaves out b"


def test_row_that_is_inserted_later_may_be_missing():
    assert not snapshots_show_every_row(run("read [a=T1]", "read [a=T1 b=T2]"))


def test_version_is_of_a_transaction_that_writes_the_row():
    assert verdict(run("read [a=T1 b=T0]"), versions_are_of_their_writers) is Verdict.HOLDS
    (breach,) = versions_are_of_their_writers(run("read [b=T1]"))
    assert str(breach) == "r1: a reader saw b of T1, which does not write it"
