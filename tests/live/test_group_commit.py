"""A real source with a delay of group commits, beside what its log without one predicts."""

from __future__ import annotations

import pytest

from ci.group_commit import effect_of, record, schema, source_of
from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.auditing.counterfactuals import delayed
from tests.live.runs import installed
from tests.timing.loads import first_rows

pytestmark = pytest.mark.live

DELAY_US = 50_000
WITHIN = 3.0
"""Also on a busy machine, which changes the gaps between a session's transactions."""


def test_delay_gathers_about_as_many_transactions_as_predicted(tmp_path):
    tables = tmp_path / "schema.sql"
    tables.write_text("".join(f"{one};\n" for one in schema()))
    with ServerRoom() as room:
        options = ["--binlog-row-metadata=FULL", "--sync-binlog=1"]
        server = room.start(installed(find_mysql), options=options)
        server.run([*schema(), *first_rows()])
        logs = [record(server, "tables", delay, tmp_path) for delay in (0, DELAY_US)]
    before, after = (source_of(log, tables) for log in logs)
    assert before.log.why_not_delayed == ""
    predicted = effect_of(delayed(before, DELAY_US, is_tracking=True)[0])
    measured, without = effect_of(after), effect_of(before)
    assert measured.group > without.group
    assert predicted.group > without.group
    assert 1 / WITHIN < predicted.group / measured.group < WITHIN
    assert 1 / WITHIN < predicted.speedup / measured.speedup < WITHIN
