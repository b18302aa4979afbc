"""A server without a connection is an error of ours, whoever asks."""

import pymysql
import pytest

from paraply.adapters.servers.errors import SERVER_UNREACHABLE
from paraply.adapters.servers.reachable import Reachable
from paraply.vocabulary.errors import ParaplyError


class Leaving(Reachable):
    name = "m1"
    is_mariadb = True

    def __init__(self, fault):
        self.fault = fault

    def connect(self, **arguments):
        raise self.fault


@pytest.mark.parametrize(
    "fault",
    [
        pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query"),
        pymysql.err.OperationalError(2003, "Can't connect"),
        pymysql.err.InternalError("Packet sequence number wrong"),
        ConnectionResetError(104, "Connection reset by peer"),
    ],
)
def test_lost_connection_names_the_server(fault):
    with pytest.raises(ParaplyError, match=r"P614 m1: no connection") as caught:
        Leaving(fault).query("SELECT 1")
    assert caught.value.error is SERVER_UNREACHABLE
