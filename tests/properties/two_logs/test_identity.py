"""Matching by name against plain definitions on random logs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.identity import Difference, Named, difference, judge_identity


def named(name: int, number: int, keys: tuple[int, ...], group: int = 0, value: int = 0) -> Named:
    changes = dict.fromkeys(keys, (value, value + 1))
    return Named(name=f"0-1-{name}", number=number, commit=Commit(changes=changes), group=group)


def drawn(chance: Random) -> tuple[list[Named], list[Named]]:
    count = chance.randint(0, 14)
    source = [
        named(n, n, tuple(chance.sample(range(1, 6), chance.randint(0, 2))), chance.randrange(2))
        for n in range(1, count + 1)
    ]
    names = list(range(1, count + 1))
    for _ in range(chance.randint(0, 4)):
        chance.choice((
            lambda: names.insert(chance.randint(0, len(names)), 100 + chance.randrange(3)),
            lambda: names and names.pop(chance.randrange(len(names))),
            lambda: names and names.append(chance.choice(names)),
            lambda: names and names.insert(0, names.pop()),
        ))()  # fmt: skip
    by_name = {commit.name: commit for commit in source}
    target = []
    for number, name in enumerate(names, start=1):
        known = by_name.get(f"0-1-{name}")
        if known is None:
            target.append(named(name, number, (1,)))
        else:
            target.append(
                Named(name=known.name, number=number, commit=known.commit, group=known.group)
            )
    return source, target


@pytest.mark.parametrize("seed", range(100))
def test_sessions_show_what_the_plain_definition_says(seed):
    chance = Random(seed)
    source = [replace(named(n, n, (n,)), session=chance.choice((None, 7, 8))) for n in range(1, 13)]
    order = chance.sample(source, chance.randint(1, 12))
    found = judge_identity(source, order)
    after_later = sum(
        one.session is not None
        and any(o.session == one.session and o.number > one.number for o in order[:at])
        for at, one in enumerate(order)
    )
    assert found.session_descents == after_later


def longest_rising(numbers: list[int]) -> int:
    best = [1] * len(numbers)
    for at, number in enumerate(numbers):
        best[at] += max((best[b] for b in range(at) if numbers[b] < number), default=0)
    return max(best, default=0)


@pytest.mark.parametrize("seed", range(400))
def test_names_show_what_plain_definitions_say(seed):
    source, target = drawn(Random(seed))
    chance = Random(f"{seed} defines")
    source, target = ([replace(c, defines=chance.random() < 0.3) for c in log]
                      for log in (source, target))  # fmt: skip
    found = judge_identity(source, target)
    at_source = {commit.name: commit for commit in source}
    names = [commit.name for commit in target]
    first = [n for at, n in enumerate(names) if n not in names[:at]]
    came = [at_source[name] for name in first if name in at_source]
    order = [commit.number for commit in came]
    assert found.matched == len(order)
    assert found.errant_count == sum(name not in at_source for name in first)
    assert found.twice_count == len(names) - len(first)
    last = {g: max((c.number for c in came if c.group == g), default=0) for g in (0, 1)}
    lacking = [c for c in source if c.name not in names]
    late = [c for c in lacking if c.number > last[c.group]]
    gaps = [c for c in lacking if c.number < last[c.group]]
    assert found.lag == len(late)
    assert found.missing == [c.number for c in gaps if c.commit.changes]
    assert found.filtered == sum(not c.commit.changes for c in gaps)
    of_name = {c.name: c for c in reversed(target)}
    without = [c for c in came if not of_name[c.name].defines]
    assert sorted(found.undefined) == sorted(c.number for c in (*gaps, *without) if c.defines)
    assert found.defined_late == [c.number for c in late if c.defines]
    alone = [
        c for c in of_name.values() if c.name not in at_source or not at_source[c.name].defines
    ]
    assert sorted(found.defined_alone) == sorted(c.number for c in alone if c.defines)
    assert found.descents == sum(b < a for a, b in pairwise(order))
    assert found.to_move == len(order) - longest_rising(order)
    inverted = [
        commit for at, commit in enumerate(came)
        if any(earlier.number > commit.number
               and earlier.commit.changes.keys() & commit.commit.changes.keys()
               for earlier in came[:at])
    ]  # fmt: skip
    assert found.inversion_count == len(inverted)
    must = [c.number for c in source if c not in lacking or c.commit.changes]
    not_prefix = 0
    for at in range(1, len(order) + 1):
        needed = [n for n in must if n <= max(order[:at])]
        not_prefix += sorted(order[:at]) != needed
    assert found.not_prefix == not_prefix


@pytest.mark.parametrize(
    ("source", "target", "how"),
    [
        ({1: (0, 1)}, {1: (0, 1)}, None),
        ({1: (0, 1)}, {1: (0, 2)}, Difference.OTHER_ROWS),
        ({1: (0, 1)}, {1: (5, 1)}, Difference.FOUND_OTHER),
        ({1: (0, 1), 2: (0, 1)}, {1: (0, 1)}, Difference.FEWER_ROWS),
        ({1: (0, 1)}, {1: (0, 1), 2: (0, 1)}, Difference.MORE_ROWS),
    ],
)
def test_difference_of_one_transaction(source, target, how):
    found = difference(Commit(changes=source), Commit(changes=target))
    assert (found and found[0]) == how


def test_memory_does_not_grow_with_the_logs(monkeypatch):
    """What waits for its match is bounded by the distance of both logs, not by their length."""
    import paraply.properties.two_logs.identity as module

    judge = module._IdentityJudge()
    most = 0
    for number in range(1, 3_000):
        judge.take_source(named(number, number, (number % 7,)))
        if number > 5:
            judge.take_target(named(number - 5, number - 5, ((number - 5) % 7,)))
        most = max(most, len(judge._waiting) + len(judge._early) + len(judge._queue))
    assert most <= 8


@pytest.mark.parametrize(
    ("change", "is_faultless"),
    [
        (lambda log: log, True),
        (lambda log: log[1:], False),
        (lambda log: [*log, log[0]], False),
        (lambda log: [*log, named(9, 4, (1,))], False),
        (lambda log: [*log, named(9, 4, ())], True),
        (lambda log: [replace(log[0], commit=Commit(changes={1: (0, 9)})), *log[1:]], False),
        (lambda log: [log[1], log[0], log[2]], True),
    ],
)
def test_logs_are_without_fault_if_each_commit_came_once_and_unchanged(change, is_faultless):
    source = [named(n, n, (n,)) for n in (1, 2, 3)]
    assert judge_identity(source, change(source)).is_faultless is is_faultless
