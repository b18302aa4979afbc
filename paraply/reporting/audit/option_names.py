"""Names of server options, as the version that wrote a log has them."""

from __future__ import annotations

REPLICA_NAMES_FROM = (8, 0, 26)
"""MySQL from here on has options named replica_... for those named slave_... before."""
PARALLEL_MODE_FROM = (10, 1, 3)
"""The first MariaDB with slave_parallel_mode; before, conservative is the only way."""
_BY_GROUPS = "slave_parallel_mode=conservative"
_SHORT_ORDER = " preserve_commit_order"


def serial_setting(version: tuple[int, ...], *, is_mariadb: bool) -> str:
    """Return what makes a replica apply serially; an unknown version has the newest names."""
    if is_mariadb:
        return "slave_parallel_threads=0"
    return f"{_replica(version)}_parallel_workers=1"


def setting_of(meaning: str, version: tuple[int, ...]) -> str:
    """Return the meaning of an applier with the option names of a version."""
    if version and version < PARALLEL_MODE_FROM:
        meaning = meaning.replace(_BY_GROUPS, "by groups of commits")
    return meaning.replace(_SHORT_ORDER, f" {_replica(version)}_preserve_commit_order")


def _replica(version: tuple[int, ...]) -> str:
    return "slave" if version and version < REPLICA_NAMES_FROM else "replica"
