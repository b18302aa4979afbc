"""A room starts servers and always stops them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Unpack

from paraply.adapters.servers.caretaker import end_processes, temporary_folder
from paraply.adapters.servers.installation import Installation
from paraply.adapters.servers.link import Heard, Link
from paraply.adapters.servers.network import PrivateNetwork
from paraply.adapters.servers.server import Server, ServerSettings
from paraply.adapters.servers.unprivileged import give, server_account

_PREFIX = "paraply-"


class ServerRoom:
    """A temporary directory and its servers.

    Leaving the context or killing the process stops the servers and removes the directory.
    ``keep=True`` keeps it. Data directories are created once per process and copied, to save
    seconds.

    >>> with ServerRoom() as room:                            # doctest: +SKIP
    ...     source = room.start(find_mariadb(), options=["--sync-binlog=1"])
    ...     source.query("SELECT VERSION()")
    """

    def __init__(
        self,
        *,
        keep: bool = False,
        parent: Path | None = None,
        equip: Callable[[Server], None] | None = None,
    ) -> None:
        self.equip = equip
        """Receives each new server before its first start."""
        self._keep = keep or bool(os.environ.get("PARAPLY_KEEP_SERVERS"))
        if self._keep:
            self.directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        else:
            self.directory = temporary_folder(_PREFIX, parent)
        give(self.directory, server_account())
        self.servers: list[Server] = []
        self.links: list[Link] = []
        self._networks: list[PrivateNetwork] = []

    def __enter__(self) -> ServerRoom:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def add(self, installation: Installation, **settings: Unpack[ServerSettings]) -> Server:
        """Return an initialised server; ids count from 1."""
        number = len(self.servers) + 1
        numbered: ServerSettings = {"name": f"server{number}", "server_id": number}
        directory = self.directory / f"n{number}"
        server = Server(installation, directory, **(numbered | settings))
        self.servers.append(server)
        server.initialise(_template(installation))
        if self.equip is not None:
            self.equip(server)
        return server

    def start(self, installation: Installation, **settings: Unpack[ServerSettings]) -> Server:
        """Return a new running server."""
        server = self.add(installation, **settings)
        server.start()
        return server

    def network(self, size: int) -> PrivateNetwork:
        """Return a network of ``size`` hosts."""
        self._networks.append(PrivateNetwork(size))
        return self._networks[-1]

    def link(self, source: Server, heard: Heard | None = None) -> Link:
        """Return a link to a server; ``heard`` gets what it carries."""
        self.links.append(Link(source.port, heard))
        return self.links[-1]

    def close(self) -> None:
        """End all servers and remove the directory, unless kept.

        Servers not kept are killed: a MySQL source with a replica takes ten seconds to shut down.
        """
        try:
            for link in self.links:
                link.close()
            for server in reversed(self.servers):
                if self._keep:
                    server.stop()
                server.kill()
        finally:
            end_processes(self.directory)
            for network in self._networks:
                network.close()
            if self._keep:
                sys.stderr.write(f"kept: {self.directory}\n")
            else:
                shutil.rmtree(self.directory, ignore_errors=True)


@cache
def _template(installation: Installation) -> Path:
    template = Server(installation, temporary_folder(f"{_PREFIX}template-"))
    template.initialise()
    return template.datadir
