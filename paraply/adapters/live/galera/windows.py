"""Match a cluster's error logs (seqnos) with its binary logs (GTIDs), which share one order.

A member with different counts is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from paraply.adapters.live.galera.log import Committed, ProviderLog, SentWriteSet
from paraply.adapters.live.observed import Member
from paraply.adapters.live.pair.windows import Window

NOTHING_SEEN = dict.fromkeys(
    ("no_conflicting_parallel_apply", "starts_respect_last_committed"),
    "no two appliers of a member were seen at work at once",
)


@dataclass(slots=True)
class SeenInside:
    """One round's observations from error logs."""

    windows: dict[str, list[Window]] = field(default_factory=dict)
    """By member."""
    seqnos: dict[str, int] = field(default_factory=dict)
    """By GTID."""
    sent: dict[int, tuple[str, SentWriteSet]] = field(default_factory=dict)
    unmatched: list[str] = field(default_factory=list)

    @property
    def begun(self) -> int:
        """Return the observed applier beginnings."""
        return sum(one.start is not None for windows in self.windows.values() for one in windows)

    @property
    def overlapping(self) -> int:
        """Return the overlapping beginnings at one member."""
        count = 0
        for windows in self.windows.values():
            last_end = 0
            for start, end in sorted((w.start, w.end) for w in windows if w.start is not None):
                count += start < last_end
                last_end = max(last_end, end)
        return count


def seen_inside(members: Iterable[Member], logs: Mapping[str, ProviderLog]) -> SeenInside:
    """Match every member's two logs."""
    seen = SeenInside()
    for member in members:
        log = logs.get(member.name)
        if log is None or not member.has_log:
            # A member may have counted alone before its state transfer.
            continue
        committed = sorted(log.committed, key=lambda one: one.seqno)
        gtids = [one.gtid for one in member.log]
        if not _go_together(gtids, committed, seen.seqnos):
            seen.unmatched.append(member.name)
            continue
        pairs = list(zip(gtids, committed, strict=True))
        seen.seqnos.update((gtid, one.seqno) for gtid, one in pairs)
        seen.sent.update((one.seqno, (member.name, one)) for one in log.sent)
        seen.windows[member.name] = [
            Window(gtid=gtid, worker=one.thread, is_committed=True, start=one.begun, end=one.place)
            for gtid, one in pairs
        ]
    return seen


def _go_together(
    gtids: Sequence[str], committed: Sequence[Committed], known: Mapping[str, int]
) -> bool:
    return len(gtids) == len(committed) and all(
        known.get(gtid, one.seqno) == one.seqno for gtid, one in zip(gtids, committed, strict=True)
    )
