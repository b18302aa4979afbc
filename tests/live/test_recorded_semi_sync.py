"""New runs of semi-synchronous sources are runs of the model of their settings."""

from __future__ import annotations

import pytest

from ci.record_semi_sync import record
from paraply.adapters.live.semi_sync.recording import RESTART, SCENARIOS
from paraply.adapters.servers import find_mariadb, find_mysql
from paraply.models.recorded import sources
from paraply.vocabulary.events import EventKind
from tests.conformance.test_recorded_semi_sync import refusal, settings
from tests.live.runs import installed

pytestmark = [pytest.mark.live(minutes=5), pytest.mark.long(each=1, by_row=True)]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("mode", ["AFTER_SYNC", "AFTER_COMMIT"])
@pytest.mark.parametrize(("flavour", "find"), [("mariadb", find_mariadb), ("mysql", find_mysql)])
def test_source_follows_the_model_of_its_settings(flavour, find, mode, scenario):
    installed(find)
    _, history = record((flavour, mode, scenario), 77, 24)
    recorded = sources.seen_outside(history, by_transaction=mode == "AFTER_COMMIT")
    steps = len(recorded.steps)
    print(f"live: {history.header.subject} {mode} {scenario}: {steps} steps")
    assert steps >= 60
    assert (EventKind.RECOVERED in history.kinds) is (scenario == RESTART)
    assert refusal(history, settings(history)) == ""
