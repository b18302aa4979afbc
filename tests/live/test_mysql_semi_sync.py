"""MySQL semi-synchronous replication keeps its promise, and breaks it where that is documented."""

from __future__ import annotations

import pytest

from paraply.adapters.live.target import HEALTHY
from paraply.adapters.servers import find_mysql
from paraply.vocabulary.errors import ParaplyError
from tests.live.runs import broken, documented, run

pytestmark = pytest.mark.live


@pytest.mark.parametrize("fault", [HEALTHY, "restart-source", "discard-relay-log"])
def test_loss_of_the_source_breaks_what_is_documented_and_nothing_else(fault):
    try:
        print(f"live: {find_mysql().version_text}")
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    result = run("mysql-semisync", "AFTER_SYNC", fault)
    assert broken(result) == documented("mysql-semisync", "AFTER_SYNC", fault)
    assert result.evidence["confirmed"] > 30
