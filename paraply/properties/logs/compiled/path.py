"""The twin of ``paraply.properties.logs.critical_path``.

Arrays contain predecessors and key digests. Only reported links read the log.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.batches import BatchSource
from paraply.properties.logs.compiled.model_kernel import WORK_SHIFT
from paraply.properties.logs.compiled.state import State
from paraply.properties.logs.critical_path import START, Cause, TracedPath, first_and_last, ranked
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import PathLink, TransactionRef
from paraply.vocabulary.keys import ConflictKey


def key_order(key: ConflictKey) -> tuple[bool, str, str, str]:
    """Return the sort key of ``parallelism``."""
    return key.index != "PRIMARY", key.table, key.index, str(key)


@dataclass(slots=True)
class _Link:
    ordinal: int
    waits_for: int
    cause: Cause
    work: int
    at: int


@dataclass(slots=True)
class CompiledPath:
    """The chain; ``barriers`` and ``odd`` come decoded."""

    links_max: int
    source: BatchSource | None = None
    barriers: dict[int, Cause] = field(default_factory=dict)
    odd: dict[int, TransactionRef] = field(default_factory=dict)
    state: State | None = None
    tables: Callable[[int], str] = str
    """Name of a table in the kernels' order of changes."""
    skipped: deque[int] = field(default_factory=deque)
    """Recent incomplete transactions, which are no links."""
    _first: int = 1
    _kept: TracedPath | None = None
    _names: dict[int, str] = field(default_factory=dict)

    def begin_at(self, ordinal: int) -> None:
        """Trace no further back than this transaction."""
        self._first, self._kept = ordinal, None

    def keep(self) -> None:
        """Trace before links are overwritten."""
        self._kept = self._trace()
        assert self.state is not None
        self.state.scalars[C.S_PATH_TRACED] = 1

    def trace(self) -> TracedPath:
        """Return the longest chain so far."""
        assert self.state is not None
        if self.state.scalars[C.S_PATH_TRACED] and self._kept is not None:
            return self._kept
        return self._trace()

    def first_kept(self, latest: int) -> int:
        """Return the oldest transaction whose link is kept when ``latest`` is the last."""
        first = latest - self.links_max + 1
        for ordinal in reversed(self.skipped):
            if ordinal < first:
                break
            first -= 1
        return first

    def forget(self, latest: int) -> None:
        """Drop what no kept link can reference; it may wait for one barrier."""
        ordinal = self.first_kept(latest) - 1
        while self.skipped and self.skipped[0] < ordinal:
            self.skipped.popleft()
        old_barriers = [number for number in self.barriers if number < ordinal]
        for number in old_barriers[:-1]:
            del self.barriers[number]
        for number in [number for number in self.odd if number < ordinal]:
            del self.odd[number]

    def _trace(self) -> TracedPath:
        state = self.state
        assert state is not None
        latest = int(state.scalars[C.S_ORDINAL])
        ordinal = int(state.scalars[C.S_PATH_END])
        links: list[_Link] = []
        first = max(self._first, self.first_kept(latest))
        while ordinal >= first:
            links.append(self._link(state, ordinal))
            ordinal = links[-1].waits_for
        whole = ordinal < self._first
        links.reverse()
        reasons = Counter(link.cause for link in links if link.waits_for)
        return TracedPath(
            links=tuple(
                PathLink(
                    transaction=self._reference(link),
                    waits_for=link.waits_for,
                    because=link.cause[1],
                    work=link.work,
                )
                for link in first_and_last(links)
            ),
            blockers=ranked(reasons, len(links)),
            traced=len(links),
            whole=whole,
        )

    def _link(self, state: State, ordinal: int) -> _Link:
        past = state.past[ordinal % len(state.past)]
        meta, waits_for, at = (int(past[c]) for c in (C.H_META, C.H_WAITS_FOR, C.H_AT))
        code = meta >> 4 & 15
        if code == C.CAUSE_KEY:
            cause = ("key", self._key_name(state, ordinal, at))
        elif code == C.CAUSE_TABLE:
            first = int(past[C.H_TIE_START])
            cause = ("table", self.tables(int(state.ties[first % len(state.ties)])))
        elif code == C.CAUSE_START:
            cause = START
        else:
            cause = self.barriers[ordinal if code == C.CAUSE_SELF else waits_for]
        return _Link(ordinal, waits_for, cause, meta >> WORK_SHIFT, at)

    def _key_name(self, state: State, ordinal: int, at: int) -> str:
        first = int(state.past[ordinal % len(state.past), C.H_TIE_START])
        last = int(state.scalars[C.S_TIE_NEXT])
        if ordinal < state.scalars[C.S_ORDINAL]:
            last = int(state.past[(ordinal + 1) % len(state.past), C.H_TIE_START])
        digests = [int(state.ties[tie % len(state.ties)]) for tie in range(first, last)]
        if len(digests) == 1 and digests[0] in self._names:
            return self._names[digests[0]]
        assert self.source is not None
        keys = self.source.keys_with(ordinal, at, frozenset(digests))
        smallest = min(keys.values(), key=key_order)
        name = str(smallest)
        # A number is always shown alike, text may be spelled differently in each row.
        if len(digests) == 1 and all(type(value) is int for value in smallest.values):
            self._names[digests[0]] = name
        return name

    def _reference(self, link: _Link) -> TransactionRef:
        known = self.odd.get(link.ordinal)
        if known is not None:
            return known
        assert self.source is not None
        return get_reference(self.source.reread(link.ordinal, link.at))
