"""Runs of a source and two replicas over sets or counters, right or with one fault."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import Enum

from paraply.vocabulary.client_history import (
    Access,
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
)

SOURCE, REPLICAS, SESSIONS, KEYS = "source", ("replica1", "replica2"), "ABCD", "xyz"
TRANSACTIONS = 60
_BEFORE, _AFTER = 1_000, 2_000
"""Added to the number of a transaction whose effect a witness reads."""


class Fault(Enum):
    """What a server gets wrong, once."""

    LOSES = "a confirmed transaction has no effect"
    UNDOES_SHOWN = "an unconfirmed transaction is shown, and undone later"
    KEEPS_ABORTED = "an aborted transaction has its effect"
    DOUBLES = "a transaction is applied twice"
    INVENTS = "a write that no client made is there"
    SKIPS = "a replica never applies one transaction"
    REORDERS = "a replica applies one transaction before those that precede it"
    TEARS = "a replica shows the first write of a transaction without the others"
    GOES_BACK = "a replica shows an old state once more"
    LAGS = "a replica is behind"


@dataclass
class _Server:
    applied: list[tuple[tuple[str, int], ...]] = field(default_factory=list)
    """Writes of each transaction, in order."""

    def value(self, key, data_type, *, own=(), until=None):
        written = [v for one in [*self.applied[:until], own] for k, v in one if k == key]
        return sum(written) if data_type is DataType.COUNTER else tuple(written)


def run(data_type, seed, *, lag_max=0, fault=None):
    """Return a run with its log; the same seed gives the same plans."""
    return _Run(data_type, seed, lag_max, fault).history()


class _Run:
    def __init__(self, data_type, seed, lag_max, fault):
        self.data_type, self.fault, self.lag_max = data_type, fault, lag_max
        self.dice = random.Random(f"{seed}/{data_type.value}")
        self.servers = {name: _Server() for name in (SOURCE, *REPLICAS)}
        self.log, self.logged, self.done = [], [], []
        self.busy = dict.fromkeys(SESSIONS, 0)
        self.element = 0
        self.is_struck = False
        self.write = AccessKind.ADD if data_type is DataType.SET else AccessKind.INCREMENT

    def history(self):
        for number in range(1, TRANSACTIONS + 1):
            free = [one for one in SESSIONS if self.busy[one] < 10 * number - 9]
            if free:
                self._step(number, self.dice.choice(free))
        self._finish()
        ordered = sorted(self.done, key=lambda one: one.invoked)
        numbers = {one.number: place for place, one in enumerate(ordered, start=1)}
        return ClientHistory(
            data_type=self.data_type,
            transactions=tuple(one._replace(number=numbers[one.number]) for one in ordered),
            log=tuple(numbers[number] for number in self.log),
        )

    def _step(self, number, session):
        dice = self.dice
        for name in REPLICAS:
            self._apply(name)
        if dice.random() < 0.5:
            self._read(number, session, dice.choice((SOURCE, *REPLICAS)))
        else:
            self._change(number, session)

    def _strikes(self, *faults, after=20, number=0):
        if self.is_struck or self.fault not in faults or number < after:
            return False
        self.is_struck = True
        return True

    def _apply(self, name, *, all_of_it=False):
        server = self.servers[name]
        lag = 0 if all_of_it else self.dice.randint(0, self.lag_max)
        if self.fault is Fault.LAGS and name == REPLICAS[0] and not all_of_it:
            lag = 6
        while len(server.applied) < len(self.logged) - lag:
            writes = self.logged[len(server.applied)]
            place = len(server.applied)
            if name == REPLICAS[0] and self._strikes(Fault.SKIPS, number=place, after=8):
                writes = ()
            server.applied.append(writes)

    def _read(self, number, session, name):
        server = self.servers[name]
        until = None
        shown = server
        is_replica = name == REPLICAS[0]
        if is_replica and self._strikes(Fault.GOES_BACK, number=number):
            until = len(server.applied) // 2
        if is_replica and len(server.applied) > 3 and self._strikes(
            Fault.REORDERS, Fault.TEARS, number=number
        ):  # fmt: skip
            *before, last = server.applied
            shown = _Server([*before[:-1], last])
            if self.fault is Fault.TEARS:
                shown = _Server([*before, last[:1]])
        keys = KEYS if until is not None or shown is not server else self.dice.sample(KEYS, 2)
        accesses = [
            Access(AccessKind.READ, key, shown.value(key, self.data_type, until=until))
            for key in keys
        ]
        self._record(number, session, name, Ending.COMMITTED, accesses)

    def _change(self, number, session):
        dice, source = self.dice, self.servers[SOURCE]
        ending = dice.choices((Ending.COMMITTED, Ending.ABORTED, Ending.INDETERMINATE), (8, 1, 1))[
            0
        ]
        writes, accesses = [], []
        # At least two writes, to different keys, so that they can be torn.
        for key in dice.sample(KEYS, 2):
            self.element += 1
            writes.append((key, self.element if self.data_type is DataType.SET else 1))
            accesses.append(Access(self.write, key, writes[-1][1]))
            if ending is Ending.COMMITTED and dice.random() < 0.3:
                value = source.value(key, self.data_type, own=tuple(writes))
                accesses.append(Access(AccessKind.READ, key, value))
        happens = ending is Ending.COMMITTED
        happens |= ending is Ending.INDETERMINATE and dice.random() < 0.5
        effect = tuple(writes)
        is_logged = happens
        if ending is Ending.ABORTED and self._strikes(Fault.KEEPS_ABORTED, number=number):
            happens, is_logged = True, False
        if ending is Ending.COMMITTED:
            if self._strikes(Fault.LOSES, number=number):
                effect = ()
                accesses = [one for one in accesses if one.kind is not AccessKind.READ]
            if self._strikes(Fault.DOUBLES, number=number):
                effect = (*effect, *effect)
            if self._strikes(Fault.INVENTS, number=number):
                effect = (*effect, *((key, 9_999) for key in KEYS))
        if ending is Ending.INDETERMINATE and self._strikes(Fault.UNDOES_SHOWN, number=number):
            # A client of its own reads before and after the effect is undone.
            source.applied.append(effect)
            self._read_all(number + _BEFORE)
            source.applied.pop()
            self._read_all(number + _AFTER)
            happens = is_logged = False
        self._record(number, session, SOURCE, ending, accesses)
        if happens:
            source.applied.append(effect)
            self.logged.append(effect)
        if is_logged:
            self.log.append(number)

    def _read_all(self, number):
        accesses = [
            Access(AccessKind.READ, key, self.servers[SOURCE].value(key, self.data_type))
            for key in KEYS
        ]
        self._record(number, "witness", SOURCE, Ending.COMMITTED, accesses)

    def _record(self, number, session, name, ending, accesses):
        # A witness reads within the ten moments of the transaction that it observes.
        moment = 10 * (number % _BEFORE) + 4 * (number // _BEFORE)
        completed = moment + (1 if number > _BEFORE else self.dice.choice((1, 2, 15)))
        self.busy[session] = completed
        self.done.append(
            ClientTransaction(
                number=number, ending=ending, accesses=tuple(accesses), session=session,
                invoked=moment - (1 if number > _BEFORE else self.dice.randint(1, 8)),
                completed=completed, node=name,
            )
        )  # fmt: skip

    def _finish(self):
        for place, name in enumerate((SOURCE, *REPLICAS), start=1):
            self._apply(name, all_of_it=True)
            accesses = [
                Access(AccessKind.READ, key, self.servers[name].value(key, self.data_type))
                for key in KEYS
            ]
            number = TRANSACTIONS + 5 + place
            self._record(number, f"final {name}", name, Ending.COMMITTED, accesses)
