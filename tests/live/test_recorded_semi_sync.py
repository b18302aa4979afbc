"""New runs of semi-synchronous sources are runs of the model of their settings."""

from __future__ import annotations

import pytest

from paraply.adapters.live.semi_sync.recording import RESTART, SCENARIOS, record_source
from paraply.adapters.servers import find_mariadb, find_mysql
from paraply.models.recorded import sources
from paraply.vocabulary.events import EventKind
from tests.conformance.test_recorded_semi_sync import refusal, settings
from tests.live.runs import installed

pytestmark = pytest.mark.live


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("mode", ["AFTER_SYNC", "AFTER_COMMIT"])
@pytest.mark.parametrize(("flavour", "find", "clients"), [("mariadb", find_mariadb, 4),
                                                          ("mysql", find_mysql, 1)])  # fmt: skip
def test_source_follows_the_model_of_its_settings(flavour, find, clients, mode, scenario):
    installed(find)
    if mode == "AFTER_COMMIT":
        # MariaDB answers each transaction when it is acknowledged; the model, a whole group.
        clients = 1
    history = record_source(
        flavour, mode=mode, scenario=scenario, seed=77, transactions=24, clients=clients
    )
    steps = len(sources.seen_outside(history).steps)
    print(f"live: {history.header.subject} {mode} {scenario}: {steps} steps")
    assert steps >= 60
    assert (EventKind.RECOVERED in history.kinds) is (scenario == RESTART)
    assert refusal(history, settings(history)) == ""
