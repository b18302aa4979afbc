"""The GTID list at the begin of a binary log file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from paraply.properties.gtid.replication_state import is_purge
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import listed_files
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.mariadb_gtid import MariadbBinlogState, parse_mariadb_gtid


@dataclass(frozen=True, slots=True, kw_only=True)
class ListUnlikeLog(Violation):
    """A file's GTID list is not the state of the log before it."""

    member: str
    listed: str
    logged: str

    def __str__(self) -> str:
        return (
            f"{self.member} began a file with the GTID list ({self.listed}), and had logged up to "
            f"({self.logged})"
        )


def _new_files(history: History) -> Iterator[tuple[Event, str]]:
    """Yield each rotation, and the state of the member's log before it.

    A member that recovers before it logged anything was restored from a backup. A purge begins no
    file.
    """
    states: dict[str, MariadbBinlogState] = {}
    for event in history.events_of(EventKind.FLUSHED, EventKind.RECOVERED, EventKind.RELAY_ROTATED):
        state = states.get(event.member, MariadbBinlogState())
        if event.kind is EventKind.RELAY_ROTATED and not is_purge(event):
            yield event, str(state)
        elif event.kind is EventKind.FLUSHED:
            states[event.member] = logging(state, [event.gtid])
        elif event.kind is EventKind.RECOVERED and not state:
            gtids = (history.transaction(one).gtid for one in event.transactions)
            states[event.member] = logging(state, gtids)


def logging(state: MariadbBinlogState, gtids: Iterable[str]) -> MariadbBinlogState:
    """Return the state after more GTIDs, without those that are malformed."""
    for gtid in gtids:
        with suppress(ParaplyError):
            state = state.log(parse_mariadb_gtid(gtid))
    return state


@always(
    of=listed_files,
    source="Gtid_list_log_event; facts on MariaDB, section 2",
    witness=lambda history: sum(1 for _ in _new_files(history)),
)
def files_list_what_was_logged_before(history: History) -> tuple[ListUnlikeLog, ...]:
    """A new file begins with the list of the last GTID of each domain and server in the log."""
    return tuple(
        ListUnlikeLog(member=event.member, listed=event.gtid_set, logged=logged)
        for event, logged in _new_files(history)
        if event.gtid_set != logged
    )
