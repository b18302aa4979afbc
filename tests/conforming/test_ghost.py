"""Programs that copy a table within one server: which logs they can be given."""

import re
from types import SimpleNamespace

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import log_for
from paraply.adapters.wire.case_logs import NotOnWireError
from paraply.conforming.wire.ghost import GhostTable

GHOST = GhostTable(pattern="_{table}_gho", begin=re.compile("ready"))


def test_log_that_was_shrunk_to_no_row_is_not_run():
    (case,) = cases_named(["B-random-01"])
    log = log_for(case, 0, ())
    assert not any(one.rows for one in log.transactions)
    assert GHOST.steps(log) == len(log.transactions)
    with pytest.raises(NotOnWireError, match="its log is empty"):
        GHOST.stage(SimpleNamespace(is_mariadb=True), log, None)
