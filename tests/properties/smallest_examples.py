"""Smallest histories with a breach or a situation: without any of their parts, it is gone.

``python -m tests.properties.smallest_examples`` looks for them in healthy runs of every subject,
in runs of every named mutant and in damaged copies of both, and writes what is new.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, fields, replace
from itertools import starmap
from pathlib import Path
from random import Random
from typing import Any

import paraply.properties.all  # noqa: F401  (registers the properties)
from paraply.properties.registry import Property, registered_properties
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import read_histories, write_history
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction

STORE = Path(__file__).resolve().parents[1] / "fixtures" / "smallest_examples.jsonl.gz"
SITUATION, GAP = "situation", "gap"
EACH = 10
"""Examples of one breach or situation, from different systems."""
EVENTS_MAX = 120
"""Of a run before it shrinks."""
DRAWS = 3
"""Runs of each system, each with its damaged copies."""
TRIES = 30
"""Runs that are shrunk for one breach or situation."""
NUMBER = re.compile(r"(?<![0-9a-zA-Z])[0-9]{1,6}(?![0-9a-zA-Z])")

Occurs = Callable[[History], bool]


@dataclass(frozen=True)
class Example:
    """A property, a kind of breach, ``situation`` or ``gap``, and a smallest history with it."""

    prop: str
    what: str
    history: History

    @property
    def name(self):
        return f"{self.prop}-{self.what}"


def occurs_in(history: History, prop: Property, what: str) -> bool:
    """Return whether a consistent history has the breach, situation or gap."""
    if any(history.faults()):
        return False
    if what == SITUATION:
        return prop.evidence(history, ()).decided > 0
    if what == GAP:
        return bool(prop.evidence(history).missing)
    return any(type(one).__name__ == what for one in prop.violations(history))


def what_occurs(history: History, prop: Property) -> set[str]:
    """Return the kinds of breaches, ``situation`` if one is decided, ``gap`` if one is not."""
    found = {type(one).__name__ for one in prop.violations(history)}
    evidence = prop.evidence(history, ())
    found |= {SITUATION} if evidence.decided else set()
    return found | ({GAP} if evidence.missing else set())


def smaller(history: History) -> Iterator[History]:
    """Yield a history without each of its parts, or with one number less."""
    events, transactions = history.events, history.transactions
    for at in range(len(events)):
        yield replace(history, events=events[:at] + events[at + 1 :])
    for at in range(len(transactions)):
        yield replace(history, transactions=transactions[:at] + transactions[at + 1 :])
    for at, event in enumerate(events):
        for name, default in Event._field_defaults.items():
            if name != "member":
                for value in smaller_values(getattr(event, name), default):
                    changed = event._replace(**{name: value})
                    yield replace(history, events=(*events[:at], changed, *events[at + 1 :]))
        gap = event.time - (events[at - 1].time if at else 0)
        for less in numbers_less(gap):
            earlier = (one._replace(time=one.time - gap + less) for one in events[at:])
            yield replace(history, events=(*events[:at], *earlier))
    for at, transaction in enumerate(transactions):
        for one in fields(Transaction):
            if one.default is not MISSING:
                for value in smaller_values(getattr(transaction, one.name), one.default):
                    other = replace(transaction, **{one.name: value})
                    left = (*transactions[:at], other, *transactions[at + 1 :])
                    yield replace(history, transactions=left)
    header = history.header
    for name, value in header.options.items():
        options = {key: other for key, other in header.options.items() if key != name}
        yield replace(history, header=replace(header, options=options))
        for less in numbers_less(value):
            yield replace(history, header=replace(header, options={**options, name: less}))
    if header.schema:
        yield replace(history, header=replace(header, schema=()))
    if header.members:
        yield replace(history, header=replace(header, members=header.members[:-1]))


def smaller_values(value: Any, default: Any) -> Iterator[Any]:
    """Yield the default of a field, its value without an element, or with one number less."""
    if value == default:
        return
    yield default
    if isinstance(value, LogicalTimestamp):
        for less in numbers_less(value.last_committed):
            yield replace(value, last_committed=less)
        for less in numbers_less(value.sequence_number):
            if less > value.last_committed:
                yield replace(value, sequence_number=less)
    elif isinstance(value, tuple):
        yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
    elif isinstance(value, frozenset):
        yield from (value - {one} for one in sorted(value, key=repr))
    else:
        yield from numbers_less(value)


def numbers_less(value: Any) -> Iterator[Any]:
    """Yield a value with one of its numbers half or less by one; GTIDs contain several."""
    if isinstance(value, bool):
        yield from (False,) if value else ()
    elif isinstance(value, int):
        yield from sorted({value // 2, value - 1}) if value > 0 else ()
    elif isinstance(value, str):
        for found in NUMBER.finditer(value):
            for less in numbers_less(int(found.group())):
                yield f"{value[: found.start()]}{less}{value[found.end() :]}"


def smallest(history: History, occurs: Occurs) -> History:
    """Return a history that has no smaller one with the same."""
    header = history.header
    for plain in (replace(header, seed=None, program="", recorded_by=""), header):
        if occurs(replace(history, header=plain)):
            history = replace(history, header=plain)
            break
    size = len(history.events) // 2
    while size > 1:
        at = 0
        while at < len(history.events):
            left = history.events[:at] + history.events[at + size :]
            if occurs(replace(history, events=left)):
                history = replace(history, events=left)
            else:
                at += size
        size //= 2
    while True:
        found = next((one for one in smaller(history) if occurs(one)), None)
        if found is None:
            return history
        history = found


def store(path: Path, named: Iterable[tuple[list[Any], History]]) -> None:
    """Write histories, each after what names it, in the order of their names."""
    lines = [
        json.dumps([*names, list(write_history(history))]) + "\n"
        for names, history in sorted(named, key=lambda one: one[0][:2])
    ]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def read_stored(path: Path) -> Iterator[list[Any]]:
    """Yield the names that :func:`store` wrote, each with its history."""
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        *names, lines = json.loads(line)
        yield [*names, *read_histories(lines)]


def stored() -> list[Example]:
    """Return the stored examples."""
    return list(starmap(Example, read_stored(STORE)))


def again(history: History) -> History:
    """Return a history as it is read after it was written."""
    (read,) = read_histories(list(write_history(history)))
    return read


def main() -> int:
    from tests.properties.random_inputs import histories

    by_name = {one.name: one for one in registered_properties()}
    found_of: dict[tuple[str, str], list[Example]] = defaultdict(list)
    tries: Counter[tuple[str, str]] = Counter()

    def add(prop: Property, what: str, history: History) -> None:
        def occurs(one: History) -> bool:
            return occurs_in(one, prop, what)

        shrunk = smallest(history, occurs) if occurs(history) else None
        if shrunk is not None and again(shrunk) == shrunk:
            known = found_of[prop.name, what]
            if not any(one.history == shrunk for one in known):
                known.append(Example(prop.name, what, shrunk))

    for one in stored():
        if one.prop in by_name:
            add(by_name[one.prop], one.what, one.history)
    properties = registered_properties()
    drawn = (one for number in range(DRAWS) for one in histories(Random(number)))
    runs = [one for one in drawn if len(one[1].events) <= EVENTS_MAX]
    # Small runs shrink faster.
    runs.sort(key=lambda one: len(one[1].events))
    seen = set()
    for name, history, _ in runs:
        system = name.partition(",")[0]
        if any(history.faults()):
            continue
        for prop in properties:
            try:
                found = what_occurs(history, prop)
            except Exception as error:
                print(f"{prop.name} raises {error!r} for {name}")
                continue
            for what in sorted(found):
                key = prop.name, what
                if len(found_of[key]) < EACH and tries[key] < TRIES and (*key, system) not in seen:
                    seen.add((*key, system))
                    tries[key] += 1
                    add(prop, what, history)
    known = [one for found in found_of.values() for one in found]
    count = [key for key, found in found_of.items() if found]
    store(STORE, (([one.prop, one.what], one.history) for one in known))
    missing = [prop.name for prop in properties if not any(one.prop == prop.name for one in known)]
    print(f"{len(known)} examples of {len(count)} breaches and situations; none of {missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
