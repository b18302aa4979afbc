"""Commit ids of a MariaDB log: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.mariadb.commit_ids import (
    a_commit_group_overlaps,
    a_source_commits_a_group,
    commit_ids_number_the_groups,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

ROWS = "domain=0 flags=transactional,allow_parallel"
SERIAL = "scheduled T1@w1 ; begun T1@w1 ; engine_committed T1@w1"


def history(*numbers, events=SERIAL):
    log = " ".join(
        f"| T{place}{{r{place}}} {ROWS} {number}" for place, number in enumerate(numbers, start=1)
    )
    return history_of(f"{log} | {events}")


def test_groups_numbered_from_1_hold():
    run = history("commit_id=1", "commit_id=1", "", "commit_id=2", "commit_id=2")
    assert a_source_commits_a_group(run)
    assert verdict(run, commit_ids_number_the_groups) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (("commit_id=1", ""), "T1 has commit id 1, which no neighbour in the log has"),
        (("commit_id=0", "commit_id=0"), "T1 has commit id 0, not above 0"),
        (("commit_id=2",) * 2 + ("commit_id=1",) * 2, "T3 has commit id 1, not above 2"),
        (("commit_id=1",) * 2 + ("",) + ("commit_id=1",) * 2, "T4 has commit id 1, not above 1"),
    ],
)
def test_number_of_no_group_or_out_of_order_is_reported(numbers, message):
    (breach,) = commit_ids_number_the_groups(history(*numbers))
    assert str(breach) == message


def test_numbers_begin_again_after_a_restart():
    run = history("commit_id=1", "commit_id=1", "commit_id=1 clock=1", "commit_id=1 clock=1")
    assert not commit_ids_number_the_groups(run)


def test_part_of_a_log_is_not_judged():
    run = history("commit_id=1", "")
    part = replace(run, header=replace(run.header, tier=EvidenceTier.ROW_OUTCOMES))
    (prop,) = (one for one in registered_properties() if one.name == "commit_ids_number_the_groups")
    assert prop.applies_to(run)
    assert not prop.applies_to(part)


def test_group_overlaps_on_two_workers_only():
    both = "scheduled T1@w1 ; scheduled T2@w2 ; begun T1@w1 ; begun T2@w2 ; "
    commits = "engine_committed T1@w1 ; engine_committed T2@w2"
    assert a_commit_group_overlaps(history(*["commit_id=1"] * 2, events=both + commits))
    assert not a_commit_group_overlaps(history("", "", events=both + commits))
    assert not a_commit_group_overlaps(history(*["commit_id=1"] * 2))
