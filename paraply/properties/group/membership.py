"""What members learn about the group: its views, and who is online in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from paraply.properties.group.stream import MemberStream, is_rest, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import recorded, several_views, views_with_members
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

Names = tuple[str, ...]
NO_DONOR = "no donor"
"""Note of STOPPED where a joiner gives up its recovery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewPassedOver(Violation):
    """A member's next view is not numbered next."""

    member: str
    view: int
    before: int

    def __str__(self) -> str:
        return f"{self.member} installed view {self.view} after view {self.before}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewsDiffer(Violation):
    """Two members install one view with different members."""

    view: int
    member: str
    members: Names
    other_member: str
    other_members: Names

    def __str__(self) -> str:
        return (
            f"view {self.view} has {', '.join(self.members)} at {self.member} and "
            f"{', '.join(self.other_members)} at {self.other_member}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineDiffers(Violation):
    """In one view, two members learn different online members."""

    view: int
    member: str
    online: tuple[Names, ...]
    other_member: str
    other_online: tuple[Names, ...]

    def __str__(self) -> str:
        return (
            f"in view {self.view} {self.member} learned {_in_words(self.online)} as online, "
            f"{self.other_member} {_in_words(self.other_online)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineTooEarly(Violation):
    """A joiner counts as online and never had an empty queue."""

    joiner: str
    told: str
    waiting: tuple[TransactionId, ...]

    def __str__(self) -> str:
        waiting = " ".join(f"T{one}" for one in self.waiting)
        why = f"still had to apply {waiting}" if waiting else "had not installed its view"
        return f"{self.told} learned {self.joiner} as online, which {why} all the time"


@dataclass(frozen=True, slots=True, kw_only=True)
class DonorNotOnline(Violation):
    """A joiner recovers before an online member can be its donor."""

    joiner: str
    view: int

    def __str__(self) -> str:
        return (
            f"{self.joiner} ended recovery before any online member had installed its view "
            f"{self.view}"
        )


def _in_words(sets: tuple[Names, ...]) -> str:
    return " then ".join(f"({', '.join(names)})" for names in sets) or "nobody new"


def _stays(stream: MemberStream) -> Iterator[list[Event]]:
    """Yield the events between two starts of a member."""
    stay: list[Event] = []
    for _, event in stream.events:
        if event.kind is EventKind.STARTED and stay:
            yield stay
            stay = []
        stay.append(event)
    if stay:
        yield stay


def _views(stay: list[Event]) -> list[Event]:
    return [event for event in stay if event.kind is EventKind.VIEW_INSTALLED and event.view]


def controlled_members(history: History) -> bool:
    """Members of a controlled run learn who is online."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and EventKind.ONLINE in history.kinds


def _passings(history: History) -> Iterator[tuple[str, int, int]]:
    """Yield a member, the number of a view that it installs, and that of the view before.

    A controlled run of members begins with the group, and so with the first view.
    """
    if controlled_members(history):
        for event in islice(history.events_of(EventKind.VIEW_INSTALLED), 1):
            yield event.member, event.view or 0, 0
    for stream in member_streams(history):
        for stay in _stays(stream):
            numbers = [event.view or 0 for event in _views(stay)]
            for before, after in pairwise(numbers):
                yield stream.member, after, before


@always(
    of=several_views,
    source="virtual synchrony: Birman and Joseph, 1987; Gcs_xcom_view_identifier::increment_by_one",
    witness=lambda history: sum(1 for _ in _passings(history)),
)
def views_follow_one_another(history: History) -> list[ViewPassedOver]:
    """A member installs every view of the group while it is in it, each numbered one higher.

    The first one has number 1.
    """
    return [
        ViewPassedOver(member=member, view=after, before=before)
        for member, after, before in _passings(history)
        if after != before + 1
    ]


def _shared_views(history: History) -> Iterator[tuple[Event, Event]]:
    """Yield two installations of one view: the first and another one."""
    first: dict[int, Event] = {}
    for event in history.events_of(EventKind.VIEW_INSTALLED):
        if event.view and event.members:
            earlier = first.setdefault(event.view, event)
            if earlier is not event:
                yield earlier, event


@always(
    of=views_with_members,
    source="virtual synchrony: Birman and Joseph, 1987",
    witness=lambda history: sum(1 for _ in _shared_views(history)),
)
def members_agree_on_views(history: History) -> list[ViewsDiffer]:
    """All members that install a view see the same members in it, in one order."""
    return [
        ViewsDiffer(
            view=earlier.view or 0,
            member=earlier.member,
            members=earlier.members,
            other_member=later.member,
            other_members=later.members,
        )
        for earlier, later in _shared_views(history)
        if earlier.members != later.members
    ]


def _online_by_view(history: History) -> dict[int, dict[str, tuple[Names, ...]]]:
    """Return view -> member -> online members that it learned until the next view or the end.

    Repeated sets count once, and the set before the view does not count.
    """
    found: dict[int, dict[str, tuple[Names, ...]]] = {}
    for stream in member_streams(history):
        for stay in _stays(stream):
            view: int | None = None
            known: Names = ()
            learned: list[Names] = []
            for event in stay:
                if event.kind is EventKind.ONLINE:
                    names = tuple(sorted(event.members))
                    if names != known:
                        learned.append(names)
                    known = names
                elif event.kind is EventKind.VIEW_INSTALLED and event.view:
                    if view is not None and event.view == view + 1:
                        found.setdefault(view, {})[stream.member] = tuple(learned)
                    view, learned = event.view, []
            if view is not None and is_rest(stay[-1]):
                found.setdefault(view, {})[stream.member] = tuple(learned)
    return found


@sometimes(of=recorded(EventKind.ONLINE), source="recovery.cc: Recovery_module, ONLINE state")
def members_learn_in_a_view_who_is_online(history: History) -> bool:
    """Two members pass a view in which a set of online members became known."""
    return any(
        len(passing) > 1 and any(passing.values()) for passing in _online_by_view(history).values()
    )


@always(
    of=recorded(EventKind.VIEW_INSTALLED, EventKind.ONLINE),
    source="Recovery_message, RECOVERY_END_MESSAGE: in the total order; MySQL manual, "
    "replication_group_members",
    witness=members_learn_in_a_view_who_is_online,
)
def members_agree_on_who_is_online(history: History) -> list[OnlineDiffers]:
    """Members that pass from one view to the next learn the same online members between.

    In the last view, members at rest do.
    """
    found = []
    for view, passing in sorted(_online_by_view(history).items()):
        (first, expected), *others = passing.items()
        found += [
            OnlineDiffers(
                view=view,
                member=first,
                online=expected,
                other_member=member,
                other_online=learned,
            )
            for member, learned in others
            if learned != expected
        ]
    return found


@dataclass(slots=True)
class _Joiner:
    """A member from its recovery on."""

    view: int | None = None
    """Its first view."""
    has_caught_up: bool = False
    waiting: set[TransactionId] = field(default_factory=set)
    """Certified, remote and not yet applied."""

    def follow(self, event: Event) -> None:
        """Apply one of its events."""
        one = event.transaction
        if event.kind is EventKind.VIEW_INSTALLED:
            self.view = self.view or event.view
        elif event.kind is EventKind.CERTIFIED and one is not None:
            if event.outcome is Outcome.POSITIVE and event.timestamp is not None:
                self.waiting.add(one)
        elif event.kind in (EventKind.ENGINE_COMMITTED, EventKind.SKIPPED) and one is not None:
            self.waiting.discard(one)
        self.has_caught_up = self.has_caught_up or (bool(self.view) and not self.waiting)


def _joiners_online(history: History) -> Iterator[tuple[str, str, _Joiner]]:
    """Yield a joiner, the first member that learns it as online, and its state then.

    Another member that has not installed the joiner's view may mean an earlier stay.
    """
    joiners: dict[str, _Joiner] = {}
    views: dict[str, int] = {}
    for event in history.events:
        if event.kind is EventKind.RECOVERED:
            joiners[event.member] = _Joiner()
        elif event.kind in (EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED):
            joiners.pop(event.member, None)
        elif event.kind is EventKind.ONLINE:
            for name in sorted(joiners.keys() & set(event.members)):
                view = joiners[name].view
                if name == event.member or (view and views.get(event.member, 0) >= view):
                    yield name, event.member, joiners.pop(name)
            continue
        if event.kind is EventKind.VIEW_INSTALLED:
            views[event.member] = event.view or 0
        if event.member in joiners:
            joiners[event.member].follow(event)


@sometimes(
    of=recorded(EventKind.RECOVERED, EventKind.ONLINE),
    source="MySQL manual, group_replication_recovery_complete_at",
)
def a_joiner_becomes_online(history: History) -> bool:
    """A member that recovered from a donor becomes online."""
    return any(True for _ in _joiners_online(history))


def _queues_unrecorded(history: History) -> Iterator[str]:
    """Yield what lacks where joiners may have had something to apply."""
    is_unrecorded = bool(history.transactions) and EventKind.CERTIFIED not in history.kinds
    if is_unrecorded and any(_joiners_online(history)):
        yield "no certified events"


@always(
    gaps=(_queues_unrecorded,),
    of=recorded(EventKind.RECOVERED, EventKind.ONLINE),
    source="MySQL manual, group_replication_recovery_complete_at=TRANSACTIONS_APPLIED",
    witness=lambda history: any(_joiners_online(history)) and not any(_queues_unrecorded(history)),
)
def joiners_catch_up_before_they_are_online(history: History) -> list[OnlineTooEarly]:
    """A joiner is online only after a moment when it had applied all that it had certified."""
    return [
        OnlineTooEarly(joiner=joiner, told=told, waiting=tuple(sorted(state.waiting)))
        for joiner, told, state in _joiners_online(history)
        if not state.has_caught_up
    ]


def _recoveries(history: History) -> Iterator[tuple[str, int, bool]]:
    """Yield a joiner, its first view, and whether an online member had installed it.

    A member is online from its own ONLINE event with its name on.
    """
    views: dict[str, int] = {}
    online: set[str] = set()
    recovered: dict[str, int] = {}
    for event in history.events:
        member = event.member
        if event.kind in (EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED):
            views.pop(member, None)
            recovered.pop(member, None)
            online.discard(member)
        elif event.kind is EventKind.ONLINE and member in event.members:
            online.add(member)
        elif event.kind is EventKind.RECOVERED:
            recovered[member] = max((views.get(one, 0) for one in online), default=0)
        elif event.kind is EventKind.VIEW_INSTALLED and event.view:
            if member in recovered:
                yield member, event.view, recovered.pop(member) >= event.view
            views[member] = event.view


@always(
    of=recorded(EventKind.RECOVERED, EventKind.ONLINE, EventKind.VIEW_INSTALLED),
    source="MySQL manual, distributed recovery: the donor is a member that is ONLINE",
    witness=lambda history: sum(1 for _ in _recoveries(history)),
)
def joiners_recover_from_online_donors(history: History) -> list[DonorNotOnline]:
    """A joiner ends recovery only after an online member installed the joiner's view."""
    return [
        DonorNotOnline(joiner=joiner, view=view)
        for joiner, view, is_due in _recoveries(history)
        if not is_due
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedAgain(Violation):
    """A member learns that an online member is online."""

    member: str
    online: Names

    def __str__(self) -> str:
        return f"{self.member} learned ({', '.join(self.online)}) as online, which it knew"


def _learned(history: History) -> Iterator[tuple[str, Names, Names]]:
    """Yield a member, the online members that it learns, and those that it knew."""
    for stream in member_streams(history):
        for stay in _stays(stream):
            known: Names = ()
            for event in stay:
                if event.kind is EventKind.ONLINE:
                    yield stream.member, event.members, known
                    known = event.members


def news_of_online_members(history: History) -> bool:
    """A member of a controlled run learns again who is online."""
    learned = [event.member for event in history.events_of(EventKind.ONLINE)]
    return controlled_members(history) and len(learned) > len(set(learned))


@always(
    of=news_of_online_members,
    source="recovery.cc: a joiner sends RECOVERY_END_MESSAGE once, when its recovery is over",
    witness=lambda history: sum(bool(known) for _, _, known in _learned(history)),
)
def members_are_announced_online_once(history: History) -> list[AnnouncedAgain]:
    """What a member learns of who is online is new to it: nobody online is announced again."""
    return [
        AnnouncedAgain(member=member, online=online)
        for member, online, known in _learned(history)
        if set(online) == set(known)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class GaveUpBesideDonor(Violation):
    """A joiner gives up although a member can be its donor."""

    joiner: str
    donor: str

    def __str__(self) -> str:
        return (
            f"{self.joiner} gave up its recovery, though {self.donor} was online and had been in "
            "the group before it"
        )


def joining_members(history: History) -> bool:
    """A member of a controlled run recovers, or gives up."""
    return controlled_members(history) and (
        EventKind.RECOVERED in history.kinds
        or any(event.note == NO_DONOR for event in history.events_of(EventKind.STOPPED))
    )


def _ends(history: History) -> Iterator[tuple[str, list[str]]]:
    """Yield joiners that recover, or that give up beside online members of an earlier stay."""
    stays: dict[str, int] = {}
    online: set[str] = set()
    for place, event in enumerate(history.events):
        member = event.member
        if event.kind is EventKind.RECOVERED:
            yield member, []
        elif event.kind is EventKind.STOPPED and event.note == NO_DONOR:
            before = stays.get(member, -1)
            yield member, sorted(one for one in online if stays.get(one, -1) < before)
        if event.kind in (EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED):
            online.discard(member)
            stays[member] = place
        elif event.kind is EventKind.ONLINE and member in event.members:
            online.add(member)


@always(
    of=joining_members,
    source="MySQL manual, distributed recovery: a joiner that finds no donor leaves the group",
    witness=lambda history: sum(1 for _ in _ends(history)),
)
def joiners_give_up_for_want_of_donors(history: History) -> list[GaveUpBesideDonor]:
    """A joiner recovers, or gives up if no online member was in the group before it.

    Such a member has installed the joiner's view, or will.
    """
    return [
        GaveUpBesideDonor(joiner=joiner, donor=donors[0])
        for joiner, donors in _ends(history)
        if donors
    ]
