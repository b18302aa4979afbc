"""Our servers give no local user a way to the account that runs the harness."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pymysql
import pytest

from paraply.adapters.servers import ServerRoom, find_mariadb, find_mysql
from paraply.vocabulary.errors import ParaplyError

pytestmark = pytest.mark.live


@pytest.fixture(scope="module", params=[find_mariadb, find_mysql], ids=["mariadb", "mysql"])
def server(request):
    try:
        found = request.param()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {found.version_text}")
    with ServerRoom() as room:
        yield room.start(found)


def test_server_does_not_run_as_root(server):
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    (line,) = [one for one in status.splitlines() if one.startswith("Uid:")]
    assert "0" not in line.split()[1:]


def test_only_the_owner_enters_the_directories(server):
    for folder in (server.directory.parent, server.directory, server.files):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


@pytest.mark.parametrize("password", ["", "root", "wrong"])
@pytest.mark.parametrize("way", ["socket", "port"])
def test_root_needs_the_password(server, way, password):
    where = (
        {"unix_socket": str(server.socket)}
        if way == "socket"
        else {"host": "127.0.0.1", "port": server.port}
    )
    with pytest.raises((pymysql.MySQLError, RuntimeError)):
        pymysql.connect(user="root", password=password, **where)


def test_every_account_has_a_password_or_a_lock(server):
    accounts = server.query("SELECT User, Host FROM mysql.user WHERE User IN ('root', '')")
    assert list(accounts) == [("root", "localhost")]


def test_statements_write_files_into_one_directory_only(server):
    allowed = server.files / "rows.txt"
    server.query(f"SELECT 1 INTO OUTFILE '{allowed}'")
    assert allowed.read_text() == "1\n"
    assert allowed.stat().st_uid != 0 or os.geteuid() != 0
    for refused in (server.directory / "rows.txt", Path("/tmp/paraply-refused.txt")):
        with pytest.raises(ParaplyError, match="P605"):
            server.query(f"SELECT 1 INTO OUTFILE '{refused}'")
        assert not refused.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's servers run as another user")
def test_folder_that_the_account_cannot_enter_is_named(tmp_path):
    closed = tmp_path / "closed"
    inner = closed / "inner"
    inner.mkdir(parents=True)
    closed.chmod(0o700)
    with pytest.raises(ParaplyError, match="P625") as caught:
        ServerRoom(parent=inner)
    assert "TMPDIR" in caught.value.remedy
