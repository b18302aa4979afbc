"""MariaDB GTIDs (``domain-server-sequence``), positions and binlog states.

A *position* (``gtid_slave_pos``, ``gtid_current_pos``, ``gtid_binlog_pos``) has one GTID per
domain, a *binlog state* (``gtid_binlog_state``) one per domain and server, the most recent of a
domain last. Sequence numbers may fall, and positions with them, unless ``gtid_strict_mode``; holes
are legal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from paraply.vocabulary.errors import MALFORMED_MARIADB_GTID, ParaplyError

DOMAIN_MAX = SERVER_MAX = (1 << 32) - 1
SEQUENCE_MAX = (1 << 64) - 1

_GTID = re.compile(r"\s*([0-9]{1,10})-([0-9]{1,10})-([0-9]{1,20})\s*")
_SHOWN_MAX = 60


@dataclass(frozen=True, slots=True, order=True)
class MariadbGtid:
    """32-bit domain and server, 64-bit sequence number."""

    domain: int
    server: int
    sequence: int

    def __post_init__(self) -> None:
        bounds = (DOMAIN_MAX, SERVER_MAX, SEQUENCE_MAX)
        for value, greatest in zip((self.domain, self.server, self.sequence), bounds, strict=True):
            if not 0 <= value <= greatest:
                raise ValueError(f"{value} of {self} lies outside [0, {greatest}]")

    def __str__(self) -> str:
        return f"{self.domain}-{self.server}-{self.sequence}"


def parse_mariadb_gtid(text: str, *, where: str = "") -> MariadbGtid:
    """Parse a GTID; else P002."""
    gtids = _parse_list(text, where)
    if len(gtids) != 1:
        raise _malformed(text, f"expected one GTID, got {len(gtids)}", where)
    return gtids[0]


class MariadbPosition:
    """At most one GTID per domain. Immutable.

    Comparison uses only sequence numbers, like the server, so holes and other servers count.
    """

    __slots__ = ("_by_domain",)

    def __init__(self, gtids: Iterable[MariadbGtid] = ()) -> None:
        by_domain: dict[int, MariadbGtid] = {}
        for gtid in sorted(gtids):
            if gtid.domain in by_domain:
                raise ValueError(
                    f"domain {gtid.domain} comes twice: {by_domain[gtid.domain]}, {gtid}"
                )
            by_domain[gtid.domain] = gtid
        self._by_domain = by_domain

    def __iter__(self) -> Iterator[MariadbGtid]:
        return iter(self._by_domain.values())

    def __len__(self) -> int:
        return len(self._by_domain)

    def __getitem__(self, domain: int) -> MariadbGtid:
        return self._by_domain[domain]

    def __contains__(self, domain: object) -> bool:
        return domain in self._by_domain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        return self._by_domain == other._by_domain

    def __hash__(self) -> int:
        return hash(tuple(self._by_domain.values()))

    def covers(self, gtid: MariadbGtid) -> bool:
        """Return whether it reaches ``gtid`` in its domain."""
        reached = self._by_domain.get(gtid.domain)
        return reached is not None and gtid.sequence <= reached.sequence

    def __le__(self, other: MariadbPosition) -> bool:
        return all(other.covers(gtid) for gtid in self)

    def advance(self, gtid: MariadbGtid) -> MariadbPosition:
        """Return the next position; numbers may fall (no strict mode)."""
        return MariadbPosition([*(g for g in self if g.domain != gtid.domain), gtid])

    def __str__(self) -> str:
        """Format like ``@@gtid_slave_pos``."""
        return ",".join(map(str, self))

    def __repr__(self) -> str:
        return f"<MariadbPosition {self}>"


def parse_position(text: str, *, where: str = "") -> MariadbPosition:
    """Parse a position, perhaps empty; else P002."""
    try:
        return MariadbPosition(_parse_list(text, where))
    except ValueError as fault:
        raise _malformed(text, str(fault), where) from None


class MariadbBinlogState:
    """The last logged GTIDs by domain and server. Immutable.

    ``counters`` are greatest sequence numbers, for :meth:`next_sequence`; text lacks them.
    """

    __slots__ = ("_counters", "_last", "_state")

    def __init__(
        self, gtids: Iterable[MariadbGtid] = (), *, counters: Mapping[int, int] | None = None
    ) -> None:
        """The last of a domain is its most recent; duplicates raise ``ValueError``."""
        state: dict[tuple[int, int], MariadbGtid] = {}
        last: dict[int, MariadbGtid] = {}
        greatest = dict(counters or {})
        for gtid in gtids:
            if (gtid.domain, gtid.server) in state:
                raise ValueError(f"domain {gtid.domain} and server {gtid.server} come twice")
            state[gtid.domain, gtid.server] = gtid
            last[gtid.domain] = gtid
            greatest[gtid.domain] = max(greatest.get(gtid.domain, 0), gtid.sequence)
        self._state = state
        self._last = last
        self._counters = greatest

    def __iter__(self) -> Iterator[MariadbGtid]:
        return iter(
            sorted(
                self._state.values(),
                key=lambda gtid: (gtid.domain, gtid == self._last[gtid.domain], gtid.server),
            )
        )

    def __len__(self) -> int:
        return len(self._state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MariadbBinlogState):
            return NotImplemented
        return (self._state, self._last, self._counters) == (
            other._state,
            other._last,
            other._counters,
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    def position(self) -> MariadbPosition:
        """Return ``gtid_binlog_pos``."""
        return MariadbPosition(self._last.values())

    def has_logged(self, gtid: MariadbGtid) -> bool:
        """Return whether ``gtid`` counts as logged; holes count."""
        logged = self._state.get((gtid.domain, gtid.server))
        return logged is not None and gtid.sequence <= logged.sequence

    def is_out_of_order(self, gtid: MariadbGtid) -> bool:
        """Return whether strict mode refuses it (error 1950)."""
        recent = self._last.get(gtid.domain)
        return recent is not None and gtid.sequence <= recent.sequence

    def next_sequence(self, domain: int) -> int:
        """Return the domain's next local number."""
        return self._counters.get(domain, 0) + 1

    def log(self, gtid: MariadbGtid) -> MariadbBinlogState:
        """Return the next state; numbers may fall (no strict mode)."""
        others = [g for g in self if (g.domain, g.server) != (gtid.domain, gtid.server)]
        return MariadbBinlogState([*others, gtid], counters=self._counters)

    def __str__(self) -> str:
        """Format like ``@@gtid_binlog_state``."""
        return ",".join(map(str, self))

    def __repr__(self) -> str:
        return f"<MariadbBinlogState {self}>"


def parse_binlog_state(text: str, *, where: str = "") -> MariadbBinlogState:
    """Parse a binlog state, perhaps empty; else P002."""
    try:
        return MariadbBinlogState(_parse_list(text, where))
    except ValueError as fault:
        raise _malformed(text, str(fault), where) from None


def compute_current_position(
    applied: MariadbPosition, logged: MariadbBinlogState, server: int
) -> MariadbPosition:
    """Return a server's ``gtid_current_pos``.

    A logged GTID counts only if it is its domain's most recent, from this ``server``, and above the
    applied one.
    """
    position = applied
    for gtid in logged.position:
        if gtid.server == server and not applied.covers(gtid):
            position = position.advance(gtid)
    return position


def _parse_list(text: str, where: str) -> list[MariadbGtid]:
    if not text.strip():
        return []
    gtids = []
    offset = 0
    for word in text.split(","):
        match = _GTID.fullmatch(word)
        if match is None:
            raise _malformed(text, f"no domain-server-sequence at character {offset + 1}", where)
        try:
            gtids.append(MariadbGtid(int(match[1]), int(match[2]), int(match[3])))
        except ValueError:
            reason = f"a number at character {offset + 1} is too large"
            raise _malformed(text, reason, where) from None
        offset += len(word) + 1
    return gtids


def _malformed(text: str, reason: str, where: str) -> ParaplyError:
    shown = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
    return ParaplyError(MALFORMED_MARIADB_GTID, where=where, text=shown, reason=reason)
