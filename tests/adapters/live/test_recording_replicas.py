"""A recorded run of a replica is one in which its applier was never restarted."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from paraply.adapters.live.pair.mariadb import recording
from paraply.vocabulary.errors import ParaplyError
from tests.conformance.test_recorded_parallel_replica import CONSERVATIVE, recorded


@pytest.fixture
def labs(monkeypatch):
    """Servers whose n-th run is restarted or not, as the n-th of ``restarts`` says."""
    restarts = []

    class Lab:
        def __init__(self, request):
            self.was_restarted = restarts.pop(0)

        def __enter__(self):
            return self

        def __exit__(self, *failure):
            return None

        def round(self, number):
            name = CONSERVATIVE[self.was_restarted]
            return SimpleNamespace(history=recorded(name))

    monkeypatch.setattr(recording, "_BackloggedLab", Lab)
    return restarts


def test_run_with_a_restart_is_made_again(labs):
    labs += [True, True, False, True]
    history = recording.record_replica(mode="conservative", workload="scans")
    assert history.events == recorded(CONSERVATIVE[False]).events
    assert len(labs) == 1


def test_recording_gives_up_when_every_run_is_restarted(labs):
    labs += [True] * recording.RUNS_MAX
    with pytest.raises(ParaplyError, match="restarted in each of"):
        recording.record_replica(mode="conservative")
