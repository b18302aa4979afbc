"""Smallest excuses: a history without a breach, and a small change that gives it one.

``python -m tests.properties.excuses`` changes healthy runs of every subject, runs of every named
mutant and damaged copies of both, and adds what is new. A number as argument is the seed.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import MISSING, astuple, dataclass, fields, replace
from pathlib import Path
from random import Random
from typing import Any

from paraply.properties.registry import Property, registered_properties
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction
from tests.properties.smallest_examples import (
    EVENTS_MAX,
    NUMBER,
    again,
    read_stored,
    smaller,
    smaller_values,
    store,
)

STORE = Path(__file__).resolve().parents[1] / "fixtures" / "excuses.jsonl.gz"
EACH = 3
"""Excuses of one kind from one breach."""
TRIES = 8
"""Runs that are shrunk for one kind."""
CHANGES = 5
"""Of a run."""


@dataclass(frozen=True)
class Change:
    """An event is left out or exchanged with the next; a field or option has a nearby value."""

    of: str
    at: int = 0
    name: str = ""
    value: int = 0
    """Which of the nearby values."""

    def made(self, history: History) -> History:
        """Return the changed history; IndexError if it has no such part or value."""
        header, events, transactions = history.header, history.events, history.transactions
        match self.of:
            case "option":
                less = {name: one for name, one in header.options.items() if name != self.name}
                if self.value:
                    values = list(nearby(header.options[self.name], None))
                    less[self.name] = values[self.value]
                return replace(history, header=replace(header, options=less))
            case "transaction":
                one = transactions[self.at]
                values = list(nearby(getattr(one, self.name), DEFAULTS[self.name]))
                other = replace(one, **{self.name: values[self.value]})
                left = (*transactions[: self.at], other, *transactions[self.at + 1 :])
                return replace(history, transactions=left)
            case "order":
                first, second = events[self.at], events[self.at + 1]
                both = second._replace(time=first.time), first._replace(time=second.time)
                return replace(history, events=events[: self.at] + both + events[self.at + 2 :])
        if not self.name:
            return replace(history, events=events[: self.at] + events[self.at + 1 :])
        event, default = events[self.at], Event._field_defaults[self.name]
        values = list(nearby(getattr(event, self.name), default))
        changed = event._replace(**{self.name: values[self.value]})
        return replace(history, events=(*events[: self.at], changed, *events[self.at + 1 :]))

    def kind(self, history: History) -> str:
        """Return what is the same in another history."""
        kind = history.events[self.at].kind.value if self.of in ("event", "order") else ""
        return f"{self.of} {kind} {self.name} {min(self.value, 1)}"


DEFAULTS = {one.name: one.default for one in fields(Transaction) if one.default is not MISSING}


def nearby(value: Any, default: Any) -> Iterator[Any]:
    """Yield the default of a field, then values with an element less or another number."""
    if value != default:
        yield from smaller_values(value, default)
        yield from numbers_more(value)


def numbers_more(value: Any) -> Iterator[Any]:
    """Yield a value with one of its numbers more by one."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield value + 1
    elif isinstance(value, str):
        for found in NUMBER.finditer(value):
            yield f"{value[: found.start()]}{int(found.group()) + 1}{value[found.end() :]}"
    elif isinstance(value, LogicalTimestamp):
        yield replace(value, sequence_number=value.sequence_number + 1)
        if value.last_committed + 1 < value.sequence_number:
            yield replace(value, last_committed=value.last_committed + 1)


@dataclass(frozen=True)
class Excuse:
    """A breach that a history does not have, and has after a small change."""

    prop: str
    breach: str
    change: Change
    history: History

    @property
    def name(self) -> str:
        return f"{self.prop}-{self.breach}"


def changes(history: History) -> list[Change]:
    """Return the changes of a history."""
    found = [
        Change("option", 0, name, step)
        for name, value in history.header.options.items()
        for step, _ in enumerate(nearby(value, None))
    ]
    for at, event in enumerate(history.events):
        found.append(Change("event", at))
        found += [Change("order", at)] if at + 1 < len(history.events) else []
        for name, default in Event._field_defaults.items():
            if name != "member":
                values = nearby(getattr(event, name), default)
                found += [Change("event", at, name, step) for step, _ in enumerate(values)]
    for at, transaction in enumerate(history.transactions):
        for name, default in DEFAULTS.items():
            values = nearby(getattr(transaction, name), default)
            found += [Change("transaction", at, name, step) for step, _ in enumerate(values)]
    return found


def breaches(history: History, prop: Property) -> set[str]:
    """Return the kinds of breaches of a consistent history."""
    if any(history.faults()):
        return set()
    return {type(one).__name__ for one in prop.violations(history)}


def is_excuse(history: History, prop: Property, breach: str, change: Change) -> bool:
    """Return whether a consistent history has the breach only after the change."""
    if any(history.faults()) or breach in breaches(history, prop):
        return False
    try:
        return breach in breaches(change.made(history), prop)
    except (IndexError, KeyError):
        return False  # There is no such value any more.


def shrunk(history: History, prop: Property, breach: str, change: Change) -> Excuse:
    """Return an excuse that has no smaller one of the same kind."""
    has_events = change.of in ("event", "order")
    last = change.at + (change.of == "order")
    at = len(history.events) - 1
    while at >= 0:
        for size in (len(history.events) // 4, 8, 1):
            end = at + size
            if size == 0 or (has_events and at <= last and change.at < end):
                continue
            left = history.events[:at] + history.events[end:]
            gone = len(history.events) - len(left)
            moved = replace(change, at=change.at - gone * (has_events and change.at >= end))
            if is_excuse(less := replace(history, events=left), prop, breach, moved):
                history, change, last = less, moved, moved.at + (change.of == "order")
                break
        at = min(at, len(history.events)) - 1
    while True:
        less = next(
            (
                one
                for one in smaller(history)
                if len(one.events) == len(history.events)
                and len(one.transactions) == len(history.transactions)
                and is_excuse(one, prop, breach, change)
            ),
            None,
        )
        if less is None:
            return Excuse(prop.name, breach, change, history)
        history = less


def stored() -> list[Excuse]:
    """Return the stored excuses."""
    return [
        Excuse(prop, breach, Change(*change), history)
        for prop, breach, change, history in read_stored(STORE)
    ]


def main(number: int) -> int:
    """Look for more, and write them."""
    from tests.properties.random_inputs import histories

    by_name = {one.name: one for one in registered_properties()}
    found: dict[tuple[str, str, str], list[Excuse]] = defaultdict(list)
    tries: Counter[tuple[str, str, str]] = Counter()

    def add(history: History, prop: Property, breach: str, change: Change) -> None:
        key = prop.name, breach, change.kind(history)
        if len(found[key]) >= EACH or tries[key] >= TRIES:
            return
        tries[key] += 1
        one = shrunk(history, prop, breach, change)
        if again(one.history) == one.history and one not in found[key]:
            found[key].append(one)

    for one in stored():
        if one.prop in by_name and is_excuse(
            one.history, by_name[one.prop], one.breach, one.change
        ):
            add(one.history, by_name[one.prop], one.breach, one.change)
    draw = Random(number)
    for _, history, _ in histories(Random(number)):
        if len(history.events) > EVENTS_MAX or any(history.faults()):
            continue
        every = changes(history)
        had: dict[str, set[str]] = {}
        for change in draw.sample(every, min(CHANGES, len(every))):
            changed = change.made(history)
            for name, prop in by_name.items():
                for breach in breaches(changed, prop):
                    if name not in had:
                        had[name] = breaches(history, prop)
                    if breach not in had[name]:
                        add(history, prop, breach, change)
    excuses = [one for several in found.values() for one in several]
    store(STORE, (([one.prop, one.breach, astuple(one.change)], one.history) for one in excuses))
    print(f"{len(excuses)} excuses of {len({one.name for one in excuses})} breaches")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
