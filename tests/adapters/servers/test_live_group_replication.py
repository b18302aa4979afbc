"""A group of three forms on loopback, takes writes everywhere, and changes its view."""

from __future__ import annotations

import pytest

from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.adapters.servers.group_replication import GroupReplication, member_uuid
from paraply.vocabulary.errors import ParaplyError

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def group():
    try:
        installation = find_mysql()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {installation.version_text}")
    with ServerRoom() as room:
        formed = GroupReplication.provision(room, installation, is_multi_primary=True)
        formed.bootstrap()
        yield formed


def test_members_write_and_agree_through_leave_and_rejoin(group):
    first, second, third = group.members
    assert [view.role for view in group.view(first)] == ["PRIMARY"] * 3
    first.run(["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"])
    group.wait_until_equal()
    group.leave(third)
    group.wait_until_online(first, size=2)
    second.query("INSERT INTO d.t VALUES (1)")
    group.join(third, size=3)
    third.query("INSERT INTO d.t VALUES (2)")
    executed = group.wait_until_equal()
    assert "1000001" in executed
    for member in group.members:
        assert member.query("SELECT id FROM d.t ORDER BY id") == [(1,), (2,)]
    assert [view.uuid for view in group.view(first)] == [member_uuid(n) for n in (1, 2, 3)]


def test_member_that_cannot_join_says_why(group):
    third = group.members[2]
    group.leave(third)
    third.run(["SET GLOBAL super_read_only=0", "SET GLOBAL read_only=0"])
    third.query("CREATE DATABASE of_its_own")
    with pytest.raises(ParaplyError, match=r"P605|P611"):
        group.join(third, size=3)
