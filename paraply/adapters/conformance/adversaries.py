"""Steered schedules, because uniform choice rarely delays one transaction for long.

Recorded choices replay without the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.transactions import TransactionId

T = TypeVar("T")
Uniform = Callable[[], float]

PRIORITY_CHANGES = 2
"""Depth 3 of probabilistic concurrency testing."""
SAME_VICTIM_CHANCE = 0.9


class OfferKind(Enum):
    """Kinds of harness steps."""

    ANSWER = "answer"
    DELIVER = "deliver"
    DEADLOCK = "deadlock"
    CRASH = "crash"

    @property
    def is_fault(self) -> bool:
        """Return whether it injects a fault."""
        return self in (OfferKind.DEADLOCK, OfferKind.CRASH)


@dataclass(frozen=True, slots=True)
class Offer:
    """A harness step; ``place`` is that of the worker, or 0."""

    kind: OfferKind
    take: Callable[[], None]
    place: int = 0
    request: str = ""
    members: tuple[TransactionId, ...] = ()
    """Ids of the worker's transactions."""

    @property
    def transaction(self) -> int:
        """Return the first transaction, or 0."""
        return self.members[0] if self.members else 0


Strategy = Callable[[Sequence[Offer]], int]


class SteeredSchedule(SeededSchedule):
    """Chooses offers by a strategy, everything else uniformly.

    Faults spread over the run at predrawn steps.

    Args:
        steps: expected number of choices.
        faults: maximum number of faults.
    """

    __slots__ = ("_fault_steps", "_strategy", "_taken", "_victim", "adversary")

    def __init__(
        self,
        seed: int,
        adversary: Adversary,
        *,
        workers: int,
        transactions: int,
        steps: int,
        faults: int = 0,
    ) -> None:
        super().__init__(seed)
        self.adversary = adversary
        make = _STRATEGIES[adversary]
        self._strategy = make(self._uniform, workers, transactions, steps)
        self._fault_steps = sorted(int(self._uniform() * steps) for _ in range(faults))
        self._taken = 0
        self._victim = 0

    def choose(self, options: int | Sequence[T], label: str = "") -> T | int:  # type: ignore[override]
        """Return one of ``options``."""
        if isinstance(options, int) or not options or not isinstance(options[0], Offer):
            return super().choose(options, label)
        self._taken += 1
        offers = [one for one in options if isinstance(one, Offer)]
        index = self._place(offers)
        if len(options) > 1:
            self.choices.append(index)
        return options[index]

    def _place(self, offers: Sequence[Offer]) -> int:
        faults = [at for at, one in enumerate(offers) if one.kind.is_fault]
        plain = [at for at, one in enumerate(offers) if not one.kind.is_fault]
        if faults and (not plain or self._is_time_for_a_fault(offers)):
            at = self._fault(offers, faults)
            self._victim = offers[at].transaction
            return at
        return plain[self._strategy([offers[at] for at in plain])]

    def _is_time_for_a_fault(self, offers: Sequence[Offer]) -> bool:
        if self._fault_steps and self._taken >= self._fault_steps[0]:
            self._fault_steps.pop(0)
            return True
        is_again = any(
            one.kind is OfferKind.DEADLOCK and one.transaction == self._victim for one in offers
        )
        return is_again and self._uniform() < SAME_VICTIM_CHANCE

    def _fault(self, offers: Sequence[Offer], faults: Sequence[int]) -> int:
        for at in faults:
            if self._victim and offers[at].transaction == self._victim:
                return at
        return faults[int(self._uniform() * len(faults))]


class Adversary(Enum):
    """The strategies, by name."""

    UNIFORM = "uniform"
    LATEST_FIRST = "latest first"
    STARVE_TRANSACTION = "starve a transaction"
    PRIORITIES = "priorities"
    STARVE_WORKER = "starve a worker"
    DELAYED = "answers delayed"


def mixed_schedules(
    seeds: Iterable[int], *, workers: int, transactions: int, steps: int, faults: int
) -> Iterator[SeededSchedule]:
    """Yield alternately uniform and steered schedules."""
    steered = [one for one in Adversary if one is not Adversary.UNIFORM]
    for number, seed in enumerate(seeds):
        if number % 2 == 0:
            yield SeededSchedule(seed)
            continue
        yield SteeredSchedule(
            seed,
            steered[number // 2 % len(steered)],
            workers=workers,
            transactions=transactions,
            steps=steps,
            faults=faults,
        )


_MakeStrategy = Callable[[Uniform, int, int, int], Strategy]


def _among(uniform: Uniform, places: Sequence[int]) -> int:
    return places[int(uniform() * len(places))]


def _avoiding(uniform: Uniform, is_avoided: Callable[[Offer], bool]) -> Strategy:
    def pick(offers: Sequence[Offer]) -> int:
        wanted = [at for at, one in enumerate(offers) if not is_avoided(one)]
        return _among(uniform, wanted or range(len(offers)))

    return pick


def _uniformly(uniform: Uniform, workers: int, transactions: int, steps: int) -> Strategy:
    return _avoiding(uniform, lambda _: False)


def _starve_worker(uniform: Uniform, workers: int, transactions: int, steps: int) -> Strategy:
    starved = 1 + int(uniform() * workers)
    return _avoiding(uniform, lambda offer: offer.place == starved)


def _starve_transaction(uniform: Uniform, workers: int, transactions: int, steps: int) -> Strategy:
    starved = 1 + int(uniform() * max(1, transactions))
    return _avoiding(
        uniform,
        lambda offer: offer.kind is OfferKind.ANSWER and offer.transaction == starved,
    )


def _priorities(uniform: Uniform, workers: int, transactions: int, steps: int) -> Strategy:
    ranks: dict[int, float] = {}
    changes = sorted(int(uniform() * steps) for _ in range(PRIORITY_CHANGES))
    taken = 0
    lowest = 0.0

    def pick(offers: Sequence[Offer]) -> int:
        nonlocal taken, lowest
        # Deliveries have one rank, as the thread that reads the log.
        ranked = [0 if one.kind is OfferKind.DELIVER else one.transaction for one in offers]
        for one in ranked:
            if one not in ranks:
                ranks[one] = uniform()
        taken += 1
        at = max(range(len(offers)), key=lambda place: ranks[ranked[place]])
        if changes and taken >= changes[0]:
            changes.pop(0)
            lowest -= 1.0
            ranks[ranked[at]] = lowest
            at = max(range(len(offers)), key=lambda place: ranks[ranked[place]])
        return at

    return pick


def _latest_first(uniform: Uniform, workers: int, transactions: int, steps: int) -> Strategy:
    def rank(offer: Offer) -> tuple[bool, int]:
        return offer.kind is OfferKind.DELIVER, offer.transaction

    return lambda offers: max(range(len(offers)), key=lambda place: rank(offers[place]))


def _delayed(uniform: Uniform, workers: int, transactions: int, steps: int) -> Strategy:
    return _avoiding(uniform, lambda offer: offer.kind is OfferKind.ANSWER)


_STRATEGIES: dict[Adversary, _MakeStrategy] = {
    Adversary.UNIFORM: _uniformly,
    Adversary.STARVE_WORKER: _starve_worker,
    Adversary.STARVE_TRANSACTION: _starve_transaction,
    Adversary.PRIORITIES: _priorities,
    Adversary.LATEST_FIRST: _latest_first,
    Adversary.DELAYED: _delayed,
}
