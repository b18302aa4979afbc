"""Check the settings of existing servers before any write."""

from __future__ import annotations

from paraply.adapters.live.target import SERVERS_UNFIT
from paraply.adapters.servers.existing import ExistingServer
from paraply.vocabulary.errors import ParaplyError

_ROW_LOG = {"log_bin": ("1", "ON"), "binlog_format": ("ROW",), "binlog_row_image": ("FULL",)}
_CONSUMERS = ("events_transactions_current", "events_transactions_history_long")


def check_source(source: ExistingServer) -> None:
    """Raise ``ParaplyError`` P623 unless it is writable and logs whole rows."""
    wanted = {**_ROW_LOG, "read_only": ("0", "OFF")}
    if not source.is_mariadb:
        wanted["gtid_mode"] = ("ON",)
    for name, values in wanted.items():
        found = _variable(source, name)
        if found is not None and found.upper() not in values:
            reason = f"{name} is {found}, and must be {values[-1]}"
            raise ParaplyError(SERVERS_UNFIT, where=source.name, reason=reason)


def check_replica(source: ExistingServer, replica: ExistingServer) -> None:
    """Raise ``ParaplyError`` P623 unless it follows a source of its family."""
    if replica.is_mariadb != source.is_mariadb:
        reason = f"it is {replica.version_text}, the source {source.version_text}"
        raise ParaplyError(SERVERS_UNFIT, where=replica.name, reason=reason)
    if not replica.query("SHOW SLAVE STATUS" if replica.is_mariadb else "SHOW REPLICA STATUS"):
        raise ParaplyError(SERVERS_UNFIT, where=replica.name, reason="it follows no source")


def why_no_log(replica: ExistingServer) -> str | None:
    """Return why the replica's log is unusable, or None."""
    for name in ("log_bin", "log_slave_updates" if replica.is_mariadb else "log_replica_updates"):
        found = _variable(replica, name)
        if found is not None and found.upper() not in ("1", "ON"):
            return f"{name} is {found} on {replica.name}: what it commits is not in its log"
    return None


def why_no_windows(replica: ExistingServer) -> str | None:
    """Return why worker windows are unobservable, or None."""
    if replica.is_mariadb:
        return "MariaDB does not tell which transaction a worker is at"
    rows = replica.query(
        "SELECT name FROM performance_schema.setup_consumers"
        f" WHERE enabled = 'YES' AND name IN {_CONSUMERS}"
    )
    missing = sorted(set(_CONSUMERS) - {str(name) for (name,) in rows})
    if missing:
        return f"performance_schema's consumer {missing[0]} is off on {replica.name}"
    return None


def _variable(server: ExistingServer, name: str) -> str | None:
    rows = server.query(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
    return str(rows[0][1]) if rows else None
