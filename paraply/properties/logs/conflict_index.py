"""Each key's earlier transactions, in bounded memory.

Beyond the horizon the index forgets whole transactions, oldest first: of a table with too many
touches, and all that are too many transactions ago. Per lane the last forgotten one lets
:meth:`AccessTable.may_have_forgotten` detect lost keys.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from paraply.properties.logs.overlap_rules import LANES_MAX, Place
from paraply.vocabulary.audit_result import TransactionRef
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedKind

KEYS_MAX = 1_000_000
TRANSACTIONS_MAX = 100_000
"""Several times MySQL's default history (25,000 rows), beyond which sources cut dependencies.
Bounds the readable audit to some hundreds of megabytes.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """Remembered key touches of a kind, and how many transactions back."""

    keys: int = KEYS_MAX
    transactions: int = TRANSACTIONS_MAX


@dataclass(slots=True, kw_only=True)
class SeenTransaction:
    """A judged transaction's remains."""

    ref: TransactionRef
    kind: LoggedKind
    places: tuple[Place, ...] = ()
    tables: frozenset[str] = frozenset()
    primary_keys: tuple[ConflictKey, ...] = ()
    statement: str = ""
    domain: int = 0
    finish: tuple[list[int], ...] = ()
    """Time vectors under models by keys, from the parallelism judge."""
    clock_place: Place | None = None
    """By the logical clock, from the parallelism judge; likewise the next."""
    group_place: Place | None = None


class Access:
    """One touch, linked to its predecessor."""

    __slots__ = ("certain", "elsewhere", "previous", "seen")

    def __init__(self, seen: SeenTransaction, certain: bool, previous: Access | None) -> None:
        self.seen: SeenTransaction | None = seen
        self.certain = certain
        self.previous = previous
        self.elsewhere: SeenTransaction | None = None
        """Who touched it last in another domain."""
        if previous is not None:
            before = previous.seen
            is_elsewhere = before is not None and before.domain != seen.domain
            self.elsewhere = before if is_elsewhere else previous.elsewhere


Key = TypeVar("Key", bound=Hashable)


_KEPT = ("horizon", "_touches", "_forgotten", "_forgot_lanes")


@dataclass(slots=True)
class AccessTable(Generic[Key]):
    """Touches of one kind, newest first per key."""

    horizon: Horizon
    _newest: dict[Key, Access] = field(default_factory=dict)
    _transactions: deque[list[tuple[Key, Access]]] = field(default_factory=deque)
    _touches: int = 0
    _forgotten: dict[int, dict[int, SeenTransaction]] = field(default_factory=dict)
    """Per rule and lane: the last forgotten transaction."""
    _forgot_lanes: bool = False

    def __getstate__(self) -> dict[str, Any]:
        # Chains of accesses are too deep to pickle, and follow from the touches in order.
        kept = {name: getattr(self, name) for name in _KEPT}
        kept["touches"] = [
            [(key, access.seen, access.certain, access.elsewhere) for key, access in touched]
            for touched in self._transactions
        ]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        touches = kept.pop("touches")
        for name, value in kept.items():
            setattr(self, name, value)
        self._newest, self._transactions = {}, deque()
        for touched in touches:
            accesses = []
            for key, seen, certain, elsewhere in touched:
                access = self._newest[key] = Access(seen, certain, self._newest.get(key))
                access.elsewhere = elsewhere
                accesses.append((key, access))
            self._transactions.append(accesses)

    def newest(self, key: Key) -> Access | None:
        """Return the newest remembered touch of ``key``."""
        return self._newest.get(key)

    def newest_outside(self, key: Key, domain: int) -> SeenTransaction | None:
        """Return who touched ``key`` last in a domain other than ``domain``, if remembered."""
        head = self._newest.get(key)
        if head is None or head.seen is None:
            return None
        seen = head.seen if head.seen.domain != domain else head.elsewhere
        oldest = self._transactions[0][0][1].seen
        is_remembered = (
            seen is not None and oldest is not None and seen.ref.ordinal >= oldest.ref.ordinal
        )
        return seen if is_remembered else None

    def __len__(self) -> int:
        return self._touches

    def add(self, seen: SeenTransaction, keys: Iterable[tuple[Key, bool]]) -> None:
        """Record touched keys, each with its certainty."""
        touched = []
        for key, certain in keys:
            access = Access(seen, certain, self._newest.get(key))
            self._newest[key] = access
            touched.append((key, access))
        if not touched:
            return
        self._transactions.append(touched)
        self._touches += len(touched)
        while self._touches > self.horizon.keys:
            self._forget_oldest()

    def forget_before(self, ordinal: int) -> None:
        """Forget the touches of earlier transactions."""
        while self._transactions:
            seen = self._transactions[0][0][1].seen
            assert seen is not None
            if seen.ref.ordinal >= ordinal:
                return
            self._forget_oldest()

    def may_have_forgotten(self, rule: int, place: Place) -> bool:
        """Return whether a forgotten touch may overlap ``place``."""
        if not self._forgotten:
            return False
        seen = self._forgotten.get(rule, {}).get(place.lane)
        if seen is None:
            return self._forgot_lanes
        return place.may_overlap(seen.places[rule])

    def _forget_oldest(self) -> None:
        touched = self._transactions.popleft()
        self._touches -= len(touched)
        took_a_key = None
        for key, access in touched:
            if self._newest[key] is access:
                del self._newest[key]
                took_a_key = access.seen
            # The next touch still points here; emptied, it ends the chain.
            access.seen = None
            access.previous = None
        if took_a_key is None:
            return
        for rule, place in enumerate(took_a_key.places):
            lanes = self._forgotten.setdefault(rule, {})
            if place.lane not in lanes and len(lanes) >= LANES_MAX:
                del lanes[next(iter(lanes))]
                self._forgot_lanes = True
            lanes[place.lane] = took_a_key


@dataclass(slots=True)
class ConflictIndex:
    """All touches of keys and tables."""

    horizon: Horizon = field(default_factory=Horizon)
    writes: AccessTable[ConflictKey] = field(init=False)
    reads: AccessTable[ConflictKey] = field(init=False)
    redefinitions: AccessTable[str] = field(init=False)
    """DDL by ``schema.table`` and ``schema.*``."""
    uses: AccessTable[str] = field(init=False)
    """Row changes by table; with table DDL by ``schema.*``."""
    unkeyed: AccessTable[str] = field(init=False)
    """Changes of rows without a key, by table; ``certain`` if it searched for one."""
    blurred: AccessTable[str] = field(init=False)
    """Partly keyed changes and cascades, by table."""

    locks: AccessTable[ConflictKey] = field(init=False)
    """Read locks: writers wait, unordered."""

    def __post_init__(self) -> None:
        self.writes = AccessTable(self.horizon)
        self.reads = AccessTable(self.horizon)
        self.redefinitions = AccessTable(self.horizon)
        self.uses = AccessTable(self.horizon)
        self.unkeyed = AccessTable(self.horizon)
        self.blurred = AccessTable(self.horizon)
        self.locks = AccessTable(self.horizon)

    def forget_beyond_horizon(self, ordinal: int) -> None:
        """Forget what lies too far before the transaction ``ordinal``."""
        first = ordinal - self.horizon.transactions + 1
        for table in (
            self.writes, self.reads, self.redefinitions, self.uses, self.unkeyed, self.blurred,
            self.locks,
        ):  # fmt: skip
            table.forget_before(first)
