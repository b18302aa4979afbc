"""Every live target by name; add new ones here."""

from __future__ import annotations

from paraply.adapters.live.existing.target import EXISTING
from paraply.adapters.live.galera.target import GALERA
from paraply.adapters.live.group.target import MYSQL_GROUP
from paraply.adapters.live.pair.mariadb.target import MARIADB
from paraply.adapters.live.pair.mysql.target import MYSQL
from paraply.adapters.live.semi_sync.mariadb import MARIADB_SEMI_SYNC
from paraply.adapters.live.semi_sync.mysql.target import MYSQL_SEMI_SYNC
from paraply.adapters.live.target import LiveTarget

TARGETS: tuple[LiveTarget, ...] = (
    MARIADB,
    MARIADB_SEMI_SYNC,
    GALERA,
    MYSQL,
    MYSQL_SEMI_SYNC,
    MYSQL_GROUP,
    EXISTING,
)  # fmt: skip
