"""Every log that a server of this tier writes is read by us and by the server's own program."""

from __future__ import annotations

from functools import partial

import pytest

from paraply.adapters.servers import ServerRoom
from tests.live.decoding import compare_logs_of


@pytest.fixture(autouse=True, scope="package")
def logs_are_compared(tmp_path_factory):
    """Compare all logs of a room before it is closed, and fail whoever closes it."""
    folder = tmp_path_factory.mktemp("dumps")
    compared = {}

    def close(room, *, closes):
        try:
            for server in room.servers:
                family = server.installation.flavour.value
                compared[family] = compared.get(family, 0) + compare_logs_of(server, folder)
        finally:
            closes(room)

    patch = pytest.MonkeyPatch()
    original = ServerRoom.close
    patch.setattr(ServerRoom, "close", lambda room: partial(close, closes=original)(room))
    yield
    patch.undo()
    for family, count in sorted(compared.items()):
        print(f"\nlive: {count:,} transactions of {family} decoded as its own program prints them")
