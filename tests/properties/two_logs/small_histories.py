"""Random small histories of a source, and what random appliers make of them.

Few keys and few values, so that values come back everywhere (A, B, A).
"""

from __future__ import annotations

from random import Random

from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.fingerprints import fingerprint

SECRET = b"tests"
KEYS = 3
TORN, SERIAL = "torn", "serial"
APPLIERS = (
    SERIAL,
    "batched",
    "reordered",
    "careless",
    TORN,
    "losing",
    "repeating",
    "drifting",
    "cut",
    "split",
    "merged_any",
    "mixed",
)


def value(key: int, number: int) -> int:
    """The fingerprint of a version of a key; version 0 is no row."""
    return fingerprint(SECRET, key, number) if number else 0


def copies_key(number: int) -> int:
    return fingerprint(SECRET, "copies", number)


class Rows:
    """Rows as they are, changed by commits that say what they found."""

    def __init__(self, values: dict[int, int]) -> None:
        self.values = dict(values)

    def commit(self, writes: dict[int, int], copies: dict[int, int], held=frozenset()) -> Commit:
        changes = {key: (self.values[key], new) for key, new in writes.items()}
        self.values.update(writes)
        return Commit(
            changes=changes,
            copies={k: n for k, n in copies.items() if n},
            rewritten=frozenset(held),
        )


Write = tuple[dict[int, int], dict[int, int]]
"""New values by key, and copies added."""


def history(chance: Random) -> tuple[list[Commit], list[Commit], str]:
    """A source, what an applier made of it, and which applier that was."""
    keys = chance.randint(1, KEYS)
    versions = chance.randint(2, 4)
    start = {key: value(key, chance.randrange(versions)) for key in range(keys)}
    writes = [
        _write(chance, keys, versions) for _ in range(chance.randint(1, chance.choice((3, 6))))
    ]
    source = Rows(start)
    commits = []
    for write in writes:
        if chance.random() < 0.03:
            key = chance.randrange(keys)
            source.values[key] = value(key, chance.randrange(versions))
        commits.append(source.commit(*write))
    name = chance.choice(APPLIERS)
    return commits, apply(chance, name, start, writes, versions), name


def _write(chance: Random, keys: int, versions: int) -> Write:
    chosen = chance.sample(range(keys), chance.randint(1, keys))
    write = {key: value(key, chance.randrange(versions)) for key in chosen}
    copies = {}
    if chance.random() < 0.25:
        copies[copies_key(chance.randrange(2))] = chance.choice((1, 1, 2, -1))
    return write, copies


def apply(
    chance: Random, name: str, start: dict[int, int], writes: list[Write], versions: int
) -> list[Commit]:
    """What an applier of some kind logs."""
    rows = Rows(start)
    if name == "mixed":
        for other in chance.sample(APPLIERS[:-1], 2):
            writes = _plan(chance, other, writes)
        plan = writes
    else:
        plan = _plan(chance, name, writes)
    commits = []
    for write, copies in plan:
        if name in ("drifting", "mixed") and chance.random() < 0.25:
            key = chance.choice(sorted(start))
            rows.values[key] = value(key, chance.randrange(versions))
        commits.append(rows.commit(write, copies))
    return commits


def _plan(chance: Random, name: str, writes: list[Write]) -> list[Write]:
    """The transactions that an applier commits, in its order."""
    plan = list(writes)
    if name == "batched" and plan:
        return _batches(chance, plan)
    if name == "merged_any" and len(plan) > 1:
        at = chance.randrange(len(plan) - 1)
        return [*plan[:at], _merged(plan[at + 1], plan[at]), *plan[at + 2 :]]
    if name == "reordered" and plan:
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(plan))
            if at + 1 < len(plan) and not _conflict(plan[at], plan[at + 1]):
                plan[at], plan[at + 1] = plan[at + 1], plan[at]
    elif name == "careless" and len(plan) > 1:
        at = chance.randrange(len(plan) - 1)
        plan[at], plan[at + 1] = plan[at + 1], plan[at]
    elif name == "torn":
        singles = [
            (({k: v}, {}), at) for at, (write, _) in enumerate(plan) for k, v in write.items()
        ]
        singles += [(({}, {k: n}), at) for at, (_, c) in enumerate(plan) for k, n in c.items()]
        singles.sort(key=lambda each: each[1] + chance.choice((0, 0, 1.5)))
        return [write for write, _ in singles]
    elif name == "split" and plan:
        at = chance.randrange(len(plan))
        write, copies = plan[at]
        parts = [({k: v}, {}) for k, v in write.items()]
        parts = [*parts[:-1], (parts[-1][0], copies)] if parts else [({}, copies)]
        plan[at : at + 1] = parts
    elif name == "losing" and plan:
        del plan[chance.randrange(len(plan))]
    elif name == "repeating" and plan:
        at = chance.randrange(len(plan))
        back = chance.randrange(at + 1)
        plan[at + 1 : at + 1] = plan[back : at + 1]
    elif name == "cut":
        del plan[chance.randint(0, len(plan)) :]
    return plan


def _conflict(one: Write, other: Write) -> bool:
    return bool(one[0].keys() & other[0].keys() or one[1].keys() & other[1].keys())


def _merged(one: Write, other: Write) -> Write:
    copies = {k: one[1].get(k, 0) + other[1].get(k, 0) for k in one[1].keys() | other[1].keys()}
    return one[0] | other[0], copies


def _batches(chance: Random, plan: list[Write]) -> list[Write]:
    batches = [plan[0]]
    for write in plan[1:]:
        if chance.random() < 0.5:
            batches[-1] = _merged(batches[-1], write)
        else:
            batches.append(write)
    return batches
