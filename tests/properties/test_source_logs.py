"""A source's commits beside its log: holds, breaks, and edges."""

from __future__ import annotations

from paraply.properties.certification.source_logs import (
    files_end_with_committed_transactions,
    numbering_sources_commit_in_log_order,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOGGED = "T1{a} | T2{b} | flushed T1 1<0 ; flushed T2 2<0 ; "


def test_source_commits_in_the_order_of_its_log():
    good = history_of(f"{LOGGED}engine_committed T1 ; engine_committed T2")
    assert verdict(good, numbering_sources_commit_in_log_order) is Verdict.HOLDS
    (breach,) = numbering_sources_commit_in_log_order(
        history_of(f"{LOGGED}engine_committed T2 ; engine_committed T1")
    )
    assert str(breach) == "r1 committed T2 before T1, which comes first in its log"


def test_commits_of_single_transactions_have_no_order():
    alone = "T1{a} | T2{b} | flushed T1 1<0 ; engine_committed T1 ; flushed T2 2<0 ; "
    run = history_of(f"{alone}engine_committed T2")
    assert verdict(run, numbering_sources_commit_in_log_order) is Verdict.UNKNOWN


def test_file_ends_when_all_in_it_committed():
    commits = "engine_committed T1 ; engine_committed T2"
    good = history_of(f"{LOGGED}{commits} ; relay_rotated")
    assert verdict(good, files_end_with_committed_transactions) is Verdict.HOLDS
    early = history_of(f"{LOGGED}engine_committed T1 ; relay_rotated ; engine_committed T2")
    (breach,) = files_end_with_committed_transactions(early)
    assert str(breach) == "r1 began the next file of its log before it committed T2"
