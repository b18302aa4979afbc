"""A group's decisions in one member's logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.gtid_events import parse_gtid, parse_tagged_gtid
from paraply.adapters.binlog.source import open_source
from paraply.adapters.group_wire.messages import content_of
from paraply.vocabulary.group_trace import LoggedDecision, MemberUuid
from paraply.vocabulary.gtid_set import Gtid
from paraply.vocabulary.gtid_set_text import parse_gtid as gtid_of_text

_BETWEEN_TRANSACTIONS = (
    EventType.FORMAT_DESCRIPTION,
    EventType.PREVIOUS_GTIDS,
    EventType.ROTATE,
    EventType.STOP,
    EventType.VIEW_CHANGE,
)


class LoggedContents:
    """One member's logged transactions, by content."""

    def __init__(self, uuid: MemberUuid, own_logs: Sequence[Path], relay: Sequence[Path]) -> None:
        self.uuid = uuid
        self._unclaimed: dict[str, list[LoggedDecision]] = {}
        for path in relay:
            self._read(path, is_relay=True)
        for path in own_logs:
            self._read(path, is_relay=False)

    def _read(self, path: Path, *, is_relay: bool) -> None:
        gtid: Gtid | None = None
        numbers: tuple[int | None, int | None] = (None, None)
        server_id = own_id = 0
        events: list[tuple[int, bytes]] = []

        def close() -> None:
            nonlocal gtid, events
            if gtid is not None and events:
                content = content_of(server_id, events)
                # The binary log repeats the applier channel's transactions with other table ids.
                if is_relay or server_id == own_id:
                    logged = LoggedDecision(gtid, *numbers) if is_relay else LoggedDecision(gtid)
                    self._unclaimed.setdefault(content, []).append(logged)
            gtid, events = None, []

        with open_source(str(path)) as source:
            for raw in BinlogReader(source).raw_events():
                code = raw.header.type_code
                if code in (EventType.GTID, EventType.GTID_TAGGED):
                    close()
                    tagged = code == EventType.GTID_TAGGED
                    event = parse_tagged_gtid(raw) if tagged else parse_gtid(raw)
                    gtid, server_id = gtid_of_text(event.gtid), raw.header.server_id
                    numbers = (event.last_committed, event.sequence_number)
                elif code in _BETWEEN_TRANSACTIONS:
                    close()
                    if code == EventType.FORMAT_DESCRIPTION:
                        own_id = raw.header.server_id
                elif gtid is not None:
                    events.append((code, raw.body))
        close()

    def claim(self, content: str, specified: Gtid | None) -> LoggedDecision | None:
        """Return a transaction's logged decision, or None.

        Empty transactions of one session differ only in specified GTIDs.
        """
        candidates = self._unclaimed.get(content, [])
        for logged in candidates:
            if specified is None or logged.gtid == specified:
                candidates.remove(logged)
                return logged
        return None

    def unclaimed(self, group_name: str) -> list[Gtid]:
        """Return the group's GTIDs without traffic."""
        return [
            logged.gtid
            for candidates in self._unclaimed.values()
            for logged in candidates
            if logged.gtid.source.uuid == group_name
        ]
