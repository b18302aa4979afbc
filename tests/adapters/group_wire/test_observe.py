"""Views stand where members took them, whatever their announcements seemed to say."""

from __future__ import annotations

import pytest

from adapters.group_wire.observe import views_before_what_joiners_certified
from tests.conformance.test_recorded_groups import MULTI_PRIMARY, SINGLE_PRIMARY, recorded
from vocabulary.group_trace import TransactionDelivered, ViewInstalled


@pytest.mark.parametrize("name", [MULTI_PRIMARY, SINGLE_PRIMARY])
def test_views_of_recorded_runs_stay_where_they_are(name):
    steps = recorded(name).steps
    assert tuple(views_before_what_joiners_certified(steps)) == steps


def test_view_that_was_announced_again_goes_before_what_its_joiner_certified():
    steps = recorded().steps
    last = max(n for n, step in enumerate(steps) if isinstance(step, ViewInstalled) and step.joined)
    (joiner,) = steps[last].joined
    remote = [
        n for n, step in enumerate(steps)
        if n > last and isinstance(step, TransactionDelivered) and joiner in step.decided
    ]  # fmt: skip
    later = remote[3]
    shifted = (*steps[:last], *steps[last + 1 : later], steps[last], *steps[later:])
    mended = views_before_what_joiners_certified(shifted)
    view = mended.index(steps[last])
    assert view < mended.index(steps[remote[0]])
    certified = [
        step for step in mended[:view]
        if isinstance(step, TransactionDelivered) and joiner in step.decided
    ]  # fmt: skip
    assert certified == [
        step for step in steps[:last]
        if isinstance(step, TransactionDelivered) and joiner in step.decided
    ]  # fmt: skip
