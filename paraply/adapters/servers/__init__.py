"""Start real MariaDB and MySQL servers on the loopback interface.

``ServerRoom`` always stops them.
"""

from __future__ import annotations

from paraply.adapters.servers.installation import (
    Flavour,
    Installation,
    find_mariadb,
    find_mariadb_11_8,
    find_mysql,
)
from paraply.adapters.servers.replication import replicate, wait_until_applied
from paraply.adapters.servers.room import ServerRoom
from paraply.adapters.servers.server import Server

__all__ = [
    "Flavour",
    "Installation",
    "Server",
    "ServerRoom",
    "find_mariadb",
    "find_mariadb_11_8",
    "find_mysql",
    "replicate",
    "wait_until_applied",
]
