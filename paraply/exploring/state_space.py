"""Enumerate every reachable state of a subject once.

Breadth first, so ways are shortest. A state includes its *watch*: what readers and clients have
seen, for the properties. Every step out of every state is judged.

Two sound reductions, without which (``is_reduced=False``) breaches are the same:

- *Symmetry*: a state has the multiset of its replicas, not their names. They start equal, and names
  only break ties between equal ones.
- *Partial order*: an apply step commutes with every other. No read happens at a replica before
  promotion, which waits for all applies, and a restart keeps the relay log. So it runs first and
  alone, unless relay logs are discarded or the cluster clears ``applying_is_private``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from paraply.errors import NO_STATES
from paraply.properties.registry import Violation
from paraply.properties.semi_sync.watch import Watch
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.reference_impl.semi_sync.subject import SemiSyncSubject
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.schedule import RecordedSchedule

STATES_MAX = 200_000


class Way(NamedTuple):
    """A shortest way; a None choice had one option."""

    before: Way | None
    choice: int | None

    def program(self) -> tuple[int, ...]:
        """Return the way's choices for a schedule."""
        choices = []
        way: Way | None = self
        while way is not None:
            if way.choice is not None:
                choices.append(way.choice)
            way = way.before
        return tuple(reversed(choices))


@dataclass(slots=True)
class Node:
    """A state with watch and way; left states are dropped."""

    state: Cluster
    watch: Watch
    way: Way


@dataclass
class StateSpace:
    """An enumeration; iteration yields representative runs.

    Attributes:
        states: of source, replicas and pending faults.
        watched: states with watches.
        ends: states without next step.
        breaches: each with the first state after it.
    """

    subject: SemiSyncSubject
    workload: Workload
    states: int = 0
    watched: int = 0
    steps: int = 0
    ends: list[Node] = field(default_factory=list)
    breaches: dict[Violation, Node] = field(default_factory=dict)
    is_complete: bool = False

    @property
    def stalls(self) -> list[Node]:
        """Return ends with an unanswered client and a surviving source."""
        return [n for n in self.ends if not (n.state.is_at_rest or n.state.is_lost)]

    def run(self, node: Node) -> History:
        """Return the run to a state, continued by first options."""
        return self.subject.run(RecordedSchedule(node.way.program()), self.workload)

    def __len__(self) -> int:
        return len(self.breaches) + len(self.ends)

    def __iter__(self) -> Iterator[RecordedSchedule]:
        for node in (*self.breaches.values(), *self.ends):
            yield RecordedSchedule(node.way.program())

    def in_words(self) -> str:
        """Return the sizes in words."""
        return (
            f"{self.states:,} states, {self.watched:,} with what readers and clients know, "
            f"{self.steps:,} steps, {len(self.ends):,} ends"
        )


def state_space(
    subject: Subject,
    workload: Workload,
    *,
    states_max: int = STATES_MAX,
    is_reduced: bool = True,
    on_state: Callable[[int], None] = lambda count: None,
) -> StateSpace:
    """Visit every state of a small scope.

    ``on_state`` gets the number so far. Raises ParaplyError P310 for a subject without state names.
    """
    if subject.name != SemiSyncSubject.name:
        raise ParaplyError(NO_STATES, subject=subject.name)
    # A mutant's class is a changed copy.
    space = StateSpace(cast(SemiSyncSubject, subject), workload)
    first = _first(space.subject, workload)
    cluster = first.state
    is_eager = is_reduced and cluster.settings.keeps_relay_log and cluster.applying_is_private
    name, watched_name = _names(first, is_reduced=is_reduced)
    states, watched = {hash(name)}, {hash(watched_name)}
    frontier = deque([first])
    while frontier and len(watched) < states_max:
        node = frontier.popleft()
        options = node.state.steps()
        if not options:
            space.ends.append(node)
            continue
        applying = (i for i, step in enumerate(options) if step.label.endswith(" applies"))
        alone = next(applying, None) if is_eager else None
        for index in range(len(options)) if alone is None else (alone,):
            space.steps += 1
            after = _after(node, index, len(options), space)
            name, watched_name = _names(after, is_reduced=is_reduced)
            digest = hash(watched_name)
            if digest not in watched:
                watched.add(digest)
                states.add(hash(name))
                frontier.append(after)
        on_state(len(watched))
    space.is_complete = not frontier
    space.states, space.watched = len(states), len(watched)
    return space


def _first(subject: SemiSyncSubject, workload: Workload) -> Node:
    options = subject.options_of(workload)
    dialect = subject.dialect_of(workload)
    state = subject.start(workload, dialect, options, Recorder())
    members = (SOURCE, *(replica.name for replica in state.replicas))
    header = HistoryHeader(subject=subject.name, options=options, members=members)
    watch = Watch.of(History(header=header, transactions=(), events=()))
    return Node(state, watch, Way(None, None))


def _after(node: Node, index: int, count: int, space: StateSpace) -> Node:
    state, watch = node.state.fork(), node.watch.fork()
    state.take(state.steps()[index])
    after = Node(state, watch, Way(node.way, index if count > 1 else None))
    for event in state.recorder.events:
        for breach in watch.follow(event):
            space.breaches.setdefault(breach, after)
    state.recorder.events.clear()
    return after


def _names(node: Node, *, is_reduced: bool) -> tuple[Hashable, Hashable]:
    """Return names of the state alone and with its watch.

    64 bits: a million states collide with probability below 1 in ten million.
    """
    state, watch = node.state, node.watch
    replicas = [hash(state.name_of(one)) for one in state.replicas]
    seen = [hash((own, watch.replicas[one.name].name()))
            for own, one in zip(replicas, state.replicas, strict=True)]  # fmt: skip
    if is_reduced:
        replicas.sort()
        seen.sort()
    own = state.name()
    return (own, tuple(replicas)), (own, tuple(seen), watch.name())
