"""MySQL semi-synchronous replication keeps its promise, and breaks it where that is documented."""

from __future__ import annotations

import pytest

import properties.all  # noqa: F401
from adapters.live.mysql_semi_sync_target import MYSQL_SEMI_SYNC
from adapters.live.target import HEALTHY, LiveRequest
from adapters.servers import find_mysql
from properties.registry import property_named
from vocabulary.errors import ParaplyError

pytestmark = pytest.mark.live


@pytest.mark.parametrize("fault", [HEALTHY, "restart-source", "discard-relay-log"])
def test_loss_of_the_source_breaks_what_is_documented_and_nothing_else(fault):
    try:
        print(f"live: {find_mysql().version_text}")
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    request = LiveRequest(mode="AFTER_SYNC", fault=fault, transactions=300, clients=4, seed=3)
    (one,) = MYSQL_SEMI_SYNC.run(request)
    broken = {
        name for name in MYSQL_SEMI_SYNC.properties if property_named(name).violations(one.history)
    }
    assert broken == set(MYSQL_SEMI_SYNC.documented.get(f"AFTER_SYNC/{fault}", ()))
    assert int(one.evidence["confirmed"]) > 30
