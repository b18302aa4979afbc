"""Servers for ``paraply live --dsn`` at fixed sockets."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ci.check import ROOT
from paraply.adapters.live.pair.windows import OPTIONS as WINDOW_OPTIONS
from paraply.adapters.servers import ServerRoom, find_mariadb, find_mysql, replicate
from paraply.adapters.servers.existing import PASSWORD_VARIABLE
from paraply.adapters.servers.installation import MARIADB_BASEDIR_VARIABLE, unpacked_tree

_FAMILIES = {
    "mariadb": (find_mariadb, ("--slave-parallel-threads=8", "--slave-parallel-mode=optimistic")),
    "mysql": (find_mysql, (*WINDOW_OPTIONS, "--replica-parallel-workers=8")),
}
"""Search function and start options."""
_OPTIONS = ("--sync-binlog=0", "--innodb-flush-log-at-trx-commit=2", "--binlog-row-metadata=FULL")
_NAMES = ("source", "replica1", "replica2")
_FOLDER = Path("out", "live-servers")


def data_source_names() -> Iterator[tuple[str, ...]]:
    """Yield each family's servers, source first."""
    for family in _FAMILIES:
        yield tuple(f"mysql://root@/?socket={_socket(family, name)}" for name in _NAMES)


def add_server_option(parser: argparse.ArgumentParser) -> None:
    """Let a runner use an unpacked MariaDB in place of the system's."""
    parser.add_argument(
        "--server", metavar="NAME", help="a MariaDB of `ci/servers --only NAME`, as mariadb-11.8"
    )


def use_server(name: str | None) -> None:
    """Let this process and its children find MariaDB in an unpacked tree."""
    if name is not None:
        os.environ[MARIADB_BASEDIR_VARIABLE] = str(unpacked_tree(name))


@contextmanager
def servers_named_in(command: str) -> Iterator[None]:
    """Start the servers in a command.

    Raises ``ParaplyError`` P601 if they are not installed.
    """
    with ExitStack() as stack:
        for family, (find, options) in _FAMILIES.items():
            if str(_socket(family, _NAMES[0])) not in command:
                continue
            installation = find()
            room = stack.enter_context(ServerRoom())
            source, *replicas = [
                room.start(installation, name=name, options=(*_OPTIONS, *options))
                for name in _NAMES
            ]
            for server in (source, *replicas):
                socket = ROOT / _socket(family, server.name)
                socket.parent.mkdir(parents=True, exist_ok=True)
                socket.unlink(missing_ok=True)
                socket.symlink_to(server.socket)
                stack.callback(socket.unlink)
                os.environ[PASSWORD_VARIABLE] = server.password
            for replica in replicas:
                replicate(source, replica)
        yield


def _socket(family: str, name: str) -> Path:
    return _FOLDER / f"{family}-{name}"
