"""A view that lists dead members is no primary component to join."""

from __future__ import annotations

import pytest

from paraply.adapters.live.galera.recovery import has_primary


def status(state, size):
    return {"cluster_status": state, "cluster_size": str(size)}


@pytest.mark.parametrize(
    ("statuses", "found"),
    [
        ([status("Primary", 3)] * 3, True),
        ([status("Primary", 2)] * 2 + [status("non-Primary", 1)], True),
        ([status("Primary", 1)], True),
        # It was paused while the two others were killed.
        ([status("Primary", 3)], False),
        ([status("non-Primary", 1)] * 3, False),
        ([], False),
    ],
)
def test_a_primary_component_runs_in_full(statuses, found):
    assert has_primary(statuses) == found
