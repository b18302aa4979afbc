"""A server with a binary log and a position, and a link over which it replicates."""

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
    """One server; its methods are the rules of GTIDs that a mutant replaces."""

    number: int
    """server_id, from 1."""
    domain: int = 0
    """gtid_domain_id of a source that writes in a domain of its own."""
    is_strict: bool = True
    """gtid_strict_mode."""
    warns: bool = False
    """Without strict mode: whether a smaller number is at least warned of, as the text says."""
    ignores_duplicates: bool = False
    """gtid_ignore_duplicates."""
    filters: frozenset[int] = frozenset()
    """IGNORE_DOMAIN_IDS."""
    is_writable: bool = False
    is_up: bool = True
    binlog: Binlog = field(default_factory=Binlog)
    state: MariadbBinlogState = field(default_factory=MariadbBinlogState)
    """``gtid_binlog_state``, with the counters."""
    position: MariadbPosition = field(default_factory=MariadbPosition)
    """``gtid_slave_pos``; that it fits the data after a crash is another subject."""
    data: list[TransactionId] = field(default_factory=list)
    owners: dict[int, Link] = field(default_factory=dict)
    """Which link is applying in a domain (gtid_ignore_duplicates)."""

    @property
    def name(self) -> str:
        """Return the name in histories."""
        return f"s{self.number}"

    def next_gtid(self, domain: int) -> MariadbGtid:
        """Return the GTID of the next transaction that this server executes itself."""
        return MariadbGtid(domain, self.number, self.state.next_sequence(domain))

    def refuses(self, gtid: MariadbGtid) -> bool:
        """Return whether the GTID may not be logged here (error 1950)."""
        return self.is_strict and self.state.is_out_of_order(gtid)

    def warning(self, gtid: MariadbGtid) -> str:
        """Return the warning about a smaller number in the same domain, empty if there is none."""
        if not (self.warns and self.state.is_out_of_order(gtid)):
            return ""
        return f"warning: not above {self.state.position[gtid.domain]}"

    def log(self, group: Logged) -> None:
        """Write a group to the binary log."""
        self.binlog.append(group)
        self.state = self.state.log(group.gtid)

    def advance(self, gtid: MariadbGtid) -> None:
        """Move ``gtid_slave_pos`` to what was applied last in its domain."""
        self.position = self.position.advance(gtid)

    @property
    def current_position(self) -> MariadbPosition:
        """Return ``gtid_current_pos``: what it applied, or executed itself after that."""
        return compute_current_position(self.position, self.state, self.number)

    def is_duplicate(self, gtid: MariadbGtid) -> bool:
        """Return whether gtid_ignore_duplicates says that the GTID was applied already."""
        return self.ignores_duplicates and self.position.covers(gtid)

    def is_own(self, gtid: MariadbGtid) -> bool:
        """Return whether the GTID is this server's, come back to it (replicate_same_server_id)."""
        return gtid.server == self.number

    def restart(self, half_written: MariadbGtid | None) -> None:
        """Come back after a crash: the binlog state is read from the newest file.

        ``half_written`` is a group at its end that the crash cut off; it counts for nothing.
        """
        del half_written
        self.state = self.binlog.scan()
        self.owners.clear()


@dataclass(eq=False)
class Link:
    """A replica's connection to one source."""

    source: Server
    replica: Server
    uses_current_position: bool = False
    """MASTER_USE_GTID=current_pos; otherwise slave_pos."""
    cursor: Cursor | None = None
    """None while not connected."""
    relay: list[Logged] = field(default_factory=list)
    """Received, not yet applied."""
    applying: Logged | None = None
    error: str = ""
    """Why it stopped for good."""
    refused_at: int = -1
    """Length of the source's log when it refused to start; it is asked again when that grows."""

    @property
    def asked(self) -> MariadbPosition:
        """Return the position that the replica asks for."""
        server = self.replica
        return server.current_position if self.uses_current_position else server.position

    @property
    def is_drained(self) -> bool:
        """Return whether everything received is applied, or nothing more can be."""
        return bool(self.error) or not (self.relay or self.applying)

    def disconnect(self) -> None:
        """Forget what was received and where the source was read: the position is enough."""
        self.cursor, self.applying, self.refused_at = None, None, -1
        self.relay.clear()
