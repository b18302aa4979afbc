"""Real servers come up, replicate, fail with a reason, and are gone afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraply.adapters.servers import (
    ServerRoom,
    find_mariadb,
    find_mysql,
    replicate,
    wait_until_applied,
)
from paraply.adapters.servers.replication import executed_position
from paraply.vocabulary.errors import ParaplyError

pytestmark = pytest.mark.live


@pytest.fixture(scope="module", params=[find_mariadb, find_mysql], ids=["mariadb", "mysql"])
def installation(request):
    try:
        found = request.param()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {found.version_text}")
    return found


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_room_leaves_nothing_behind_when_its_user_fails(installation):
    class UserError(Exception):
        pass

    def use() -> None:
        with ServerRoom() as room:
            seen.append(room)
            room.start(installation)
            raise UserError

    seen: list[ServerRoom] = []
    with pytest.raises(UserError):
        use()
    (room,) = seen
    assert not _runs(room.servers[0].process.pid)
    assert not room.directory.exists()


def test_replica_follows_through_a_crash_of_either_side(installation):
    with ServerRoom() as room:
        source, replica = room.start(installation), room.start(installation)
        replicate(source, replica)
        source.run(["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"])
        source.query("INSERT INTO d.t VALUES (1)")
        wait_until_applied(source, replica)
        replica.kill()
        source.query("INSERT INTO d.t VALUES (2)")
        replica.start()
        wait_until_applied(source, replica)
        source.kill()
        source.start()
        source.query("INSERT INTO d.t VALUES (3)")
        wait_until_applied(source, replica)
        assert replica.query("SELECT id FROM d.t ORDER BY id") == [(1,), (2,), (3,)]
        assert executed_position(source) == executed_position(replica)
        assert source.port != replica.port


def test_frozen_server_answers_again_once_thawed(installation):
    with ServerRoom() as room:
        server = room.start(installation)
        server.freeze()
        with pytest.raises(Exception, match=r"timed out|Lost connection|Can't connect"):
            server.connect(read_timeout=1, connect_timeout=1).close()
        server.thaw()
        assert server.query("SELECT 1") == [(1,)]


def test_server_that_cannot_start_says_why_and_where(installation):
    with ServerRoom() as room:
        with pytest.raises(ParaplyError, match="P604") as caught:
            room.start(installation, options=["--no-such-option=1"])
        assert "no-such-option" in caught.value.text
        assert str(room.servers[0].log) in caught.value.text
        assert not room.servers[0].is_running


def test_refused_statement_is_quoted(installation):
    with ServerRoom() as room:
        server = room.start(installation)
        with pytest.raises(ParaplyError, match="P605 server1: the server refused 'SELEKT 1'"):
            server.query("SELEKT 1")


def test_replica_with_other_data_stops_and_says_so(installation):
    with ServerRoom() as room:
        source, replica = room.start(installation), room.start(installation)
        replicate(source, replica)
        source.run(["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"])
        wait_until_applied(source, replica)
        replica.run(["SET SESSION sql_log_bin=0", "INSERT INTO d.t VALUES (1)"])
        source.query("INSERT INTO d.t VALUES (1)")
        with pytest.raises(ParaplyError, match=r"P608 .*(Duplicate entry|failed executing)"):
            wait_until_applied(source, replica)
