"""Translate a cluster run into a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paraply.adapters.live.galera.order import with_order
from paraply.adapters.live.galera.windows import SeenInside
from paraply.adapters.live.group.confirmations import ConfirmedStory, add_lost
from paraply.adapters.live.observed import Member
from paraply.adapters.live.pair.windows import Window, WindowStory
from paraply.adapters.live.source_log import Keys, SourceLog, source_log
from paraply.adapters.live.translation import Run
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.transactions import TransactionId


class ClusterStory(ConfirmedStory, WindowStory):
    """A certifying member: its log shows its decisions."""

    def __init__(
        self,
        log: SourceLog,
        member: Member,
        keys: Keys,
        group: Sequence[str],
        windows: Sequence[Window],
    ) -> None:
        super().__init__(log, member, keys, group)
        self.windows = [window for window in windows if window.gtid in log.ids]

    def _engine_commit(self, place: int, attempts: Mapping[TransactionId, int]) -> Iterator[Event]:
        for event in super()._engine_commit(place, attempts):
            if event.kind is EventKind.FLUSHED:
                yield event._replace(kind=EventKind.CERTIFIED, outcome=Outcome.POSITIVE, group=None)
            yield event


def reference_of(members: Sequence[Member]) -> Sequence[LoggedTransaction]:
    """Return the longest log, the first if equal."""
    return max((member.log for member in members), key=len, default=())


def cluster_history(
    run: Run, members: Sequence[Member], keys: Keys, seen: SeenInside
) -> tuple[History, int]:
    """Return the history, and the number of groups outside the reference log.

    The history has no transactions for them; any is a difference between members.
    """
    log = source_log(reference_of(members), keys, origin="")
    log.transactions = with_order(log.transactions, seen)
    add_lost(log, members)
    group = tuple(member.name for member in members)
    stories = [
        ClusterStory(log, member, keys, group, seen.windows.get(member.name, ()))
        for member in members
    ]
    history = run.history(
        group,
        log.transactions,
        (event for story in stories for event in story.events()),
        tier=EvidenceTier.ROW_OUTCOMES if seen.begun else EvidenceTier.COMMIT_ORDER,
    )
    return history, sum(len(story.unknown) for story in stories)
