"""A server with a GTID position, and a replication link."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.reference_impl.mariadb_gtid.binlog_files import Binlog, Cursor, Logged
from paraply.vocabulary.mariadb_gtid import (
    MariadbBinlogState,
    MariadbGtid,
    MariadbPosition,
    compute_current_position,
)
from paraply.vocabulary.transactions import TransactionId


@dataclass(eq=False)
class Server:
    """A server with its GTID rules."""

    number: int
    """server_id, from 1."""
    domain: int = 0
    """gtid_domain_id."""
    is_strict: bool = True
    """gtid_strict_mode."""
    warns: bool = False
    """Warn without strict mode, as in the text."""
    ignores_duplicates: bool = False
    """gtid_ignore_duplicates."""
    filters: frozenset[int] = frozenset()
    """IGNORE_DOMAIN_IDS."""
    is_writable: bool = False
    is_up: bool = True
    binlog: Binlog = field(default_factory=Binlog)
    state: MariadbBinlogState = field(default_factory=MariadbBinlogState)
    """``gtid_binlog_state``, with counters."""
    position: MariadbPosition = field(default_factory=MariadbPosition)
    """``gtid_slave_pos``, crash-safe here."""
    data: list[TransactionId] = field(default_factory=list)
    owners: dict[int, Link] = field(default_factory=dict)
    """Applying links by domain."""

    @property
    def name(self) -> str:
        """Return the name in histories."""
        return f"s{self.number}"

    def next_gtid(self, domain: int) -> MariadbGtid:
        """Return the next local GTID."""
        return MariadbGtid(domain, self.number, self.state.next_sequence(domain))

    def refuses(self, gtid: MariadbGtid) -> bool:
        """Return whether strict mode rejects it (error 1950)."""
        return self.is_strict and self.state.is_out_of_order(gtid)

    def warning(self, gtid: MariadbGtid) -> str:
        """Return the smaller number's warning."""
        is_noticed = self.warns and self.state.is_out_of_order(gtid)
        return f"warning: not above {self.state.position[gtid.domain]}" if is_noticed else ""

    def log(self, group: Logged) -> None:
        """Write to the binary log."""
        self.binlog.append(group)
        self.state = self.state.log(group.gtid)

    def advance(self, gtid: MariadbGtid) -> None:
        """Advance ``gtid_slave_pos``."""
        self.position = self.position.advance(gtid)

    @property
    def current_position(self) -> MariadbPosition:
        """Return ``gtid_current_pos``: applied or later executed locally."""
        return compute_current_position(self.position, self.state, self.number)

    def is_duplicate(self, gtid: MariadbGtid) -> bool:
        """Return whether gtid_ignore_duplicates skips it."""
        return self.ignores_duplicates and self.position.covers(gtid)

    def is_own(self, gtid: MariadbGtid) -> bool:
        """Return whether it is local (replicate_same_server_id)."""
        return gtid.server == self.number

    def restart(self, half_written: MariadbGtid | None) -> None:
        """Restart with the newest file's state, without the ``half_written`` group."""
        del half_written
        self.state = self.binlog.scan()
        self.owners.clear()


@dataclass(eq=False)
class Link:
    """A replica's connection to one source."""

    source: Server
    replica: Server
    uses_current_position: bool = False
    """MASTER_USE_GTID=current_pos."""
    cursor: Cursor | None = None
    relay: list[Logged] = field(default_factory=list)
    """Received groups."""
    applying: Logged | None = None
    error: str = ""
    """Permanent error."""
    refused_at: int = -1
    """Source log length at the refusal."""

    @property
    def asked(self) -> MariadbPosition:
        """Return the requested position."""
        server = self.replica
        return server.current_position if self.uses_current_position else server.position

    @property
    def is_drained(self) -> bool:
        """Return whether applying has ended."""
        return bool(self.error) or not (self.relay or self.applying)

    def disconnect(self) -> None:
        """Drop relay log and cursor."""
        self.cursor, self.applying, self.refused_at = None, None, -1
        self.relay.clear()
