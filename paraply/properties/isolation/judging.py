"""A client history judged: every phenomenon, guarantee and level.

HOLDS requires the situation *and* no anomaly, and describes this history only. UNKNOWN follows from
no reads or an unknown version order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from paraply.properties.isolation.cycles import Cycle, Shape, find_cycles
from paraply.properties.isolation.list_append import versions_of_lists
from paraply.properties.isolation.orders import are_ordered, orders_of
from paraply.properties.isolation.phenomena import (
    DATA,
    LEVELS,
    PHENOMENA,
    Level,
    Phenomenon,
    phenomenon_named,
)
from paraply.properties.isolation.prefixes import judge_prefixes
from paraply.properties.isolation.registers import versions_of_registers
from paraply.properties.isolation.sessions import Guarantee, Judged, session_guarantees
from paraply.properties.isolation.telling import breach_of
from paraply.properties.isolation.versions import Dependency, Kind, Versions
from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import (
    Access,
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
)
from paraply.vocabulary.verdict import Verdict, combine

PREFIX, MONOTONIC_PREFIX = map(phenomenon_named, ("prefix", "monotonic prefix"))
READABLE_MAX = 2_000
"""Largest history searched without compiled kernels."""
_TRANSACTION_BYTES_MIN = 16
"""Of a transaction in any format that is read."""


class CycleSearch(Protocol):
    """A search for cycles."""

    def __call__(
        self, versions: Versions, shape: Shape, *, with_unread: bool = False
    ) -> list[Cycle]:
        """Return a shortest cycle of each strong part.

        ``with_unread`` adds the order of ``versions.unread``.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result for one phenomenon or guarantee."""

    phenomenon: Phenomenon
    verdict: Verdict
    reason: str = ""
    breaches: tuple[Violation, ...] = ()
    did_occur: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFinding:
    """The result for one isolation level."""

    level: Level
    verdict: Verdict
    because: tuple[str, ...] = ()
    """Refuting phenomena, or the reason for UNKNOWN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """All findings of one history."""

    history: ClientHistory
    findings: tuple[Finding, ...]
    levels: tuple[LevelFinding, ...]

    def finding(self, label: str) -> Finding:
        """Return a phenomenon's finding."""
        return next(one for one in self.findings if one.phenomenon.label == label)

    def level(self, name: str) -> LevelFinding:
        """Return a level's finding."""
        return next(one for one in self.levels if one.level.name == name)


def judge(history: ClientHistory, *, search: CycleSearch | None = None) -> Isolation:
    """Judge a history of lists or registers.

    Args:
        search: by default chosen by size; the results are equal.

    Raises:
        ParaplyError: P508 where a value is written twice.
    """
    versions = versions_of(history)
    find = search or search_for(history)
    judge_one = _Judge(versions, find)
    findings = tuple(
        finding for one in PHENOMENA if (finding := judge_one.finding(one)) is not None
    )
    return Isolation(history=history, findings=findings, levels=tuple(levels_of(findings, history)))


def versions_of(history: ClientHistory) -> Versions:
    """Return the history's versions."""
    if history.data_type is DataType.LIST:
        return versions_of_lists(history)
    return versions_of_registers(history)


def prefix_findings(history: ClientHistory) -> tuple[Finding, Finding]:
    """Return whether reads show prefixes of the log, and growing ones in a session."""
    if history.log is None:
        reason = "the order of the source's log is not known"
        return finding_of(PREFIX, (), False, reason), finding_of(
            MONOTONIC_PREFIX, (), False, reason
        )
    judged = judge_prefixes(history)
    return (
        finding_of(
            PREFIX, judged.impossible, judged.reads > 0, "nothing was read that the log has"
        ),
        finding_of(
            MONOTONIC_PREFIX, judged.went_back, judged.sessions_with_two > 0,
            "no session read twice",
        ),
    )  # fmt: skip


def readable_search(
    versions: Versions, shape: Shape, *, with_unread: bool = False, any_suffices: bool = False
) -> list[Cycle]:
    """Find cycles by the readable search, which need not be shortest if ``any_suffices``."""
    more = orders_of(versions.history, shape.path)
    if with_unread:
        more += [Dependency(*one) for one in versions.unread]
    return find_cycles([*versions.dependencies(), *more], shape, any_suffices=any_suffices)


def search_for(history: ClientHistory) -> CycleSearch:
    """Return the search for the history's size."""
    if len(history.transactions) <= READABLE_MAX:
        return readable_search
    # A late import: the kernels take a second to load.
    from paraply.properties.isolation.compiled.cycles import CompiledSearch

    return CompiledSearch()


def load_search_for(size_bytes: int) -> None:
    """Load the search on arrays if a history of so many bytes may need it.

    A history with a cycle loads, or compiles and stores, its kernels.
    """
    if size_bytes < READABLE_MAX * _TRANSACTION_BYTES_MIN:
        return
    try:
        from paraply.properties.isolation.compiled.cycles import CompiledSearch
        from paraply.properties.isolation.compiled.sessions import kept_guarantees
    except ImportError:
        return
    transactions = tuple(
        ClientTransaction(
            number,
            Ending.COMMITTED,
            (
                Access(AccessKind.APPEND, number, number),
                Access(AccessKind.READ, 3 - number, (3 - number,)),
                Access(AccessKind.READ, 3, ()),
                Access(AccessKind.APPEND, 3 + number, 1),
            ),
            session="s",
            invoked=number,
            completed=number + 2,
        )
        for number in (1, 2)
    )
    history = ClientHistory(data_type=DataType.LIST, transactions=transactions)
    judge(history, search=CompiledSearch())
    kept_guarantees(versions_of(history))


def guarantees_of(versions: Versions) -> dict[Guarantee, Judged]:
    """Judge the session guarantees, on arrays if large."""
    if len(versions.history.transactions) > READABLE_MAX:
        from paraply.properties.isolation.compiled.sessions import kept_guarantees

        kept = kept_guarantees(versions)
        if kept is not None:
            return kept
    return session_guarantees(versions)


class _Judge:
    def __init__(self, versions: Versions, find: CycleSearch) -> None:
        self._versions = versions
        self._history = versions.history
        self._find = find
        self._kinds = versions.kinds()
        self._sessions = guarantees_of(versions)
        self._prefixes = prefix_findings(self._history)
        self._has_reads = any(
            access.kind is AccessKind.READ
            for transaction in self._history.transactions
            if transaction.ending is Ending.COMMITTED
            for access in transaction.accesses
        )

    def finding(self, one: Phenomenon) -> Finding | None:
        if one.of_lists_only and self._history.data_type is not DataType.LIST:
            return None
        if one.cycle is not None:
            return self._cycles(one, one.cycle)
        if isinstance(one.guarantee, Guarantee):
            return self._guarantee(one, one.guarantee)
        if one in (PREFIX, MONOTONIC_PREFIX):
            return next(each for each in self._prefixes if each.phenomenon is one)
        breaches = [breach for breach in self._versions.breaches if isinstance(breach, one.breach)]
        occurred = self._has_reads
        reason = "no committed transaction read anything"
        if one.label == "internal":
            occurred = self._returns_to_a_key()
            reason = "no transaction read a key that it had written or read"
        if one.label == "P4":
            occurred = self._updates()
            reason = "no transaction wrote a key that it had read"
        return finding_of(one, breaches, occurred, reason)

    def _cycles(self, one: Phenomenon, shape: Shape) -> Finding:
        cycles = self._find(self._versions, shape)
        breaches = [breach_of(cycle, self._versions) for cycle in cycles]
        occurred = bool(self._kinds & shape.anchor)
        reason = f"no {one.needs} was observed"
        if one.orders & Kind.REALTIME and not self._history.has_times:
            occurred, reason = False, "the history does not say what was over before what began"
        elif one.orders and not are_ordered(self._history, one.orders):
            occurred, reason = False, "no two transactions are ordered but by what they read"
        undecided = self._undecided() or self._doubt(shape)
        if undecided and not breaches:
            return Finding(phenomenon=one, verdict=Verdict.UNKNOWN, reason=undecided)
        return finding_of(one, breaches, occurred, reason)

    def _doubt(self, shape: Shape) -> str:
        """Return why unread appends might close a cycle, otherwise empty.

        Without a cycle, one order fits the rest; otherwise the order of their ends is tried.
        """
        unread = self._versions.unread
        every = Shape(DATA, DATA | shape.path)
        if not unread or not self._find(self._versions, every):
            return ""
        if not self._find(self._versions, shape, with_unread=True):
            return ""
        key = self._versions.keys[unread[0].after]
        return f"{key}: it depends on the order of appends that were never read"

    def _guarantee(self, one: Phenomenon, guarantee: Guarantee) -> Finding:
        judged = self._sessions[guarantee]
        if judged.undecided and not judged.breaches:
            reason = self._undecided() or "appends that nobody read have no known order"
            return Finding(phenomenon=one, verdict=Verdict.UNKNOWN, reason=reason)
        return finding_of(
            one, judged.breaches, judged.compared > 0,
            "no session came back to a key in such a way",
        )  # fmt: skip

    def _undecided(self) -> str:
        if not self._versions.unordered:
            return ""
        key, reason = next(iter(self._versions.unordered.items()))
        more = len(self._versions.unordered) - 1
        return f"{key}: {reason}" + (f"; and so of {more} more keys" if more else "")

    def _returns_to_a_key(self) -> bool:
        for transaction in self._history.transactions:
            known = set()
            if transaction.ending is Ending.COMMITTED:
                for kind, key, _ in transaction.accesses:
                    if kind is AccessKind.READ and key in known:
                        return True
                    known.add(key)
        return False

    def _updates(self) -> bool:
        writers = self._versions.writers
        return any(
            version + 1 < len(writers) and writers[version + 1] == reader
            for reader, version in zip(self._versions.readers, self._versions.read, strict=True)
        )


def finding_of(
    one: Phenomenon, breaches: Iterable[Violation], occurred: bool, reason: str
) -> Finding:
    """Return a phenomenon's finding; ``reason`` is of UNKNOWN, where its situation is absent."""
    found = tuple(breaches)
    if found:
        return Finding(phenomenon=one, verdict=Verdict.VIOLATED, breaches=found)
    if occurred:
        return Finding(phenomenon=one, verdict=Verdict.HOLDS)
    return Finding(phenomenon=one, verdict=Verdict.UNKNOWN, reason=reason, did_occur=False)


def levels_of(findings: Sequence[Finding], history: ClientHistory) -> Iterable[LevelFinding]:
    """Yield each level's result.

    HOLDS requires the situation of the level's main phenomenon.
    """
    by_label = {finding.phenomenon.label: finding for finding in findings}
    for level in LEVELS:
        forbidden = [by_label[label] for label in level.forbids if label in by_label]
        broken = [one for one in forbidden if one.verdict is Verdict.VIOLATED]
        if broken:
            labels = tuple(one.phenomenon.label for one in broken)
            yield LevelFinding(level=level, verdict=Verdict.VIOLATED, because=labels)
            continue
        main = by_label[level.main]
        doubted = [
            one for one in forbidden
            if one.verdict is Verdict.UNKNOWN and (one.did_occur or one is main)
        ]  # fmt: skip
        verdict = combine([main.verdict, *(one.verdict for one in doubted)])
        reason = (doubted[0].reason,) if doubted else ()
        yield LevelFinding(level=level, verdict=verdict, because=reason)
