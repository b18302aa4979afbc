"""One order of rows for all jobs: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.row_order import jobs_take_rows_in_one_order
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def run(*jobs, dialect="c3", workers=2, between="crashed ; recovered ; "):
    """Return a run of jobs, each given as its rows in the order taken; ``|`` is a restart."""
    events, listed = "scheduled T1 worker=1 ; ", []
    for job in jobs:
        if job == "|":
            events += between
            continue
        listed.append(f"T{len(listed) + 1}{{{' '.join(job)}}}")
        one = f"T{len(listed)}"
        rows = "".join(f"row_applied {one} worker=1 outcome=ok items={row} ; " for row in job)
        events += f"begun {one} worker=1 ; {rows}engine_committed {one} worker=1 ; "
    header = f'members=r1 dialect={dialect} options={{"workers":{workers}}}'
    return history_of(" | ".join((header, *listed, events.rstrip(" ;"))))


@pytest.mark.parametrize("jobs", [("ab", "ab"), ("ab", "bc", "ac"), ("ab", "|", "ba")])
def test_jobs_that_keep_one_order_between_restarts_hold(jobs):
    assert verdict(run(*jobs), jobs_take_rows_in_one_order) is Verdict.HOLDS


def test_two_jobs_that_take_two_rows_crosswise_are_reported():
    (breach,) = jobs_take_rows_in_one_order(run("ab", "ba"))
    assert str(breach) == (
        "r1: jobs that take rows one after the other close a circle: b, then a, then b"
    )


def test_circle_of_three_jobs_is_reported():
    (breach,) = jobs_take_rows_in_one_order(run("ab", "bc", "ca"))
    assert set(breach.rows) == set("abc")


@pytest.mark.parametrize("jobs", [("a", "b"), ("a",)])
def test_jobs_of_one_row_say_nothing(jobs):
    assert verdict(run(*jobs), jobs_take_rows_in_one_order) is Verdict.UNKNOWN


@pytest.mark.parametrize("options", [{"dialect": "c2"}, {"workers": 0}])
def test_only_coordinators_that_sort_are_judged(options):
    name = jobs_take_rows_in_one_order.__name__
    (prop,) = [one for one in registered_properties() if one.name == name]
    assert not prop.applies_to(run("ab", "ba", **options))
