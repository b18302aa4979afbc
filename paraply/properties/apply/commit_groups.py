"""How a server counts the groups that it writes to its binary log together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import RESTARTS
from paraply.properties.registry import Violation, always
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPassedOver(Violation):
    """A commit group does not continue or follow the last one."""

    member: str
    group: int
    before: int

    def __str__(self) -> str:
        return f"{self.member} wrote commit group {self.group} after group {self.before}"


def counted_groups(history: History) -> bool:
    """Servers count the commit groups of their binary log."""
    return any(event.group is not None for event in history.events_of(EventKind.FLUSHED))


def _following(history: History) -> Iterator[tuple[str, int, int]]:
    """Yield a member, the number of a group, and that of the write before.

    A controlled run begins with the servers' first write.
    """
    is_whole = history.header.tier is EvidenceTier.CONTROLLED_RUN
    last = dict.fromkeys(history.members, 0) if is_whole else {}
    for event in history.events:
        if event.kind in RESTARTS and last.get(event.member):
            del last[event.member]
        elif event.kind is EventKind.FLUSHED and event.group is not None:
            if event.member in last:
                yield event.member, event.group, last[event.member]
            last[event.member] = event.group


@always(
    of=counted_groups,
    source="MariaDB manual, Binlog_group_commits; MYSQL_BIN_LOG::trx_group_commit_leader",
    witness=lambda history: sum(1 for _ in _following(history)),
)
def commit_groups_are_counted_one_by_one(history: History) -> list[GroupPassedOver]:
    """A write to the binary log belongs to the group of the write before, or to the next one.

    The first group is number 1.
    """
    return [
        GroupPassedOver(member=member, group=group, before=before)
        for member, group, before in _following(history)
        if group < 1 or group not in (before, before + 1)
    ]
