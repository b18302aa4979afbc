"""Every state that a subject can reach, each once, whatever the number of runs that lead to it.

Breadth first, so that the first way to a state is a shortest one. A state is that of the subject
together with what its *watch* has seen: the readers' and clients' knowledge that properties ask
for. Every step out of every state is judged, so that nothing is lost by visiting a state once.

Two reductions, both sound; ``is_reduced=False`` does without them and finds the same breaches:

- *Replicas are alike.* A state is named by the multiset of its replicas, not by their names: they
  start equal and no rule asks for a name, but to break ties between replicas that have the same.
- *Applying is nobody's business* (partial order). A replica's step of applying what is in its relay
  log commutes with every other step: nobody reads at a replica before it is promoted, promotion
  waits until everything is applied, and a restart keeps the relay log. So where one is possible it
  is taken first and alone. Not done where relay logs are discarded, nor for a cluster that says
  that applying matters (``applying_is_private``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

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
"""About a minute."""


class Way(NamedTuple):
    """One shortest way to a state; a choice is None where there was nothing to choose."""

    before: Way | None
    choice: int | None

    def program(self) -> tuple[int, ...]:
        """Return the choices of the way, as a schedule records them."""
        choices = []
        way: Way | None = self
        while way is not None:
            if way.choice is not None:
                choices.append(way.choice)
            way = way.before
        return tuple(reversed(choices))


@dataclass(slots=True)
class Node:
    """A state, what was watched, and how it was reached. States that were left are forgotten."""

    state: Cluster
    watch: Watch
    way: Way


@dataclass
class StateSpace:
    """What an enumeration found; iterating over it yields the runs that stand for all of them.

    Attributes:
        states: of source, replicas and what may still happen to them.
        watched: the same together with what was seen, confirmed and given up.
        steps: from one state to a next one, a known one included.
        ends: states in which nothing is left to happen.
        breaches: each breach with the first state after it.
        is_complete: whether no state was left out.
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
        """Return the ends at which some client has no answer and the source is not lost."""
        return [n for n in self.ends if not (n.state.is_at_rest or n.state.is_lost)]

    def run(self, node: Node) -> History:
        """Return the run that leads to a state, and on by the first option of each question."""
        return self.subject.run(RecordedSchedule(node.way.program()), self.workload)

    def __len__(self) -> int:
        """Return how many runs it takes to show every breach and every end."""
        return len(self.breaches) + len(self.ends)

    def __iter__(self) -> Iterator[RecordedSchedule]:
        """Yield a schedule for every breach and for every end."""
        for node in (*self.breaches.values(), *self.ends):
            yield RecordedSchedule(node.way.program())

    def in_words(self) -> str:
        """Return how much there is."""
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
    """Visit every state of a subject in a small scope.

    Args:
        workload: the scope; options not named have their defaults.
        states_max: gives up after so many.
        is_reduced: uses the reductions of this module.
        on_state: called now and then with the number of states so far.

    Raises:
        ParaplyError: P310 for a subject whose states have no names.
    """
    if not isinstance(subject, SemiSyncSubject):
        raise ParaplyError(NO_STATES, subject=subject.name)
    space = StateSpace(subject, workload)
    first = _first(subject, workload)
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
    """Return the state before anything has happened."""
    options = subject.options_of(workload)
    dialect = subject.dialect_of(workload)
    state = subject.start(workload, dialect, options, Recorder())
    members = (SOURCE, *(replica.name for replica in state.replicas))
    header = HistoryHeader(subject=subject.name, options=options, members=members)
    watch = Watch.of(History(header=header, transactions=(), events=()))
    return Node(state, watch, Way(None, None))


def _after(node: Node, index: int, count: int, space: StateSpace) -> Node:
    """Return what comes of a step, and note what it breaks."""
    state, watch = node.state.fork(), node.watch.fork()
    state.take(state.steps()[index])
    after = Node(state, watch, Way(node.way, index if count > 1 else None))
    for event in state.recorder.events:
        for breach in watch.follow(event):
            space.breaches.setdefault(breach, after)
    state.recorder.events.clear()
    return after


def _names(node: Node, *, is_reduced: bool) -> tuple[Hashable, Hashable]:
    """Return the name of the state, and that with what was watched.

    Digests of 64 bits stand for names: among a million states two share one with a probability
    below 1 in ten million.
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
