"""A short run of random schema statements, nightly with a fresh seed, and its control."""

from __future__ import annotations

import os
import random

import pytest

from paraply.adapters.binlog.schema.tables import TableDraft
from paraply.adapters.servers import ServerRoom
from tests.builders.seeds import SEEDS
from tests.live.runs import installed
from tests.oracle.definitions import compare
from tests.oracle.recorder import OPTIONS
from tests.oracle.run import FLAVOURS, memory
from tests.oracle.schema_statements import Statements

STATEMENTS = int(os.environ.get("PARAPLY_ORACLE_STATEMENTS", "3000"))
WITNESSES = {"keys", "prefixes", "generated columns", "foreign keys"}


@pytest.fixture(scope="module", params=sorted(FLAVOURS))
def server(request):
    installation = installed(FLAVOURS[request.param])
    with ServerRoom(parent=memory()) as room:
        yield request.param, room.start(installation, options=OPTIONS)


@pytest.mark.live
@pytest.mark.parametrize("seed", SEEDS)
def test_audit_reads_definitions_as_the_servers_catalogue_has_them(server, seed):
    flavour, running = server
    found = compare(running, seed, STATEMENTS)
    replay = f"replay: python -m tests.oracle.definitions --flavour {flavour} --seed {seed}"
    assert not found.differences, "\n".join([replay, *found.differences])
    assert found.seen.keys() >= WITNESSES, replay
    # Statements that servers refuse, and tables that the audit leaves open, show nothing.
    assert found.compared > STATEMENTS // 10, replay
    assert found.unknown.total() < found.compared // 3, replay


@pytest.mark.live
@pytest.mark.parametrize("server", ["mariadb"], indirect=True)
def test_reader_that_forgets_conversions_is_found_out(server, monkeypatch):
    monkeypatch.setattr(TableDraft, "convert", lambda draft: None)
    flavour, running = server
    assert compare(running, 1, 20_000, differences_max=1).differences, flavour


def test_statements_come_from_the_seed_alone():
    def drawn(seed):
        names = ["a", "b"]
        source = Statements(random.Random(seed), True, lambda _: names, lambda _: names)
        return [source.draw() for _ in range(50)]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)
