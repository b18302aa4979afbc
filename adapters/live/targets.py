"""Every live target, by name; to add one, write its module and name it here."""

from __future__ import annotations

from adapters.live.mariadb_target import MARIADB
from adapters.live.target import LiveTarget

TARGETS: tuple[LiveTarget, ...] = (
    MARIADB,
)  # fmt: skip
