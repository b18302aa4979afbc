"""Every live target, by name; to add one, write its module and name it here."""

from __future__ import annotations

from adapters.live.existing_target import EXISTING
from adapters.live.galera_target import GALERA
from adapters.live.group_target import MYSQL_GROUP
from adapters.live.mariadb_target import MARIADB
from adapters.live.mysql_semi_sync_target import MYSQL_SEMI_SYNC
from adapters.live.mysql_target import MYSQL
from adapters.live.semi_sync_target import MARIADB_SEMI_SYNC
from adapters.live.target import LiveTarget

TARGETS: tuple[LiveTarget, ...] = (
    MARIADB,
    MARIADB_SEMI_SYNC,
    GALERA,
    MYSQL,
    MYSQL_SEMI_SYNC,
    MYSQL_GROUP,
    EXISTING,
)  # fmt: skip
