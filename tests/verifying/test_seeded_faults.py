"""Appliers of our own, right and faulty, through whole binary logs: each level exactly.

The source's rows never take a value twice, so every expected level follows from what the applier
does. The source and the target start with equal rows that no log inserts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from paraply.properties.two_logs.judgement import End, Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.vocabulary.verdict import Verdict
from tests.verifying.small_logs import Server, Txn, account, run
from tests.verifying.workloads import (
    START,
    batches,
    by_key,
    conflict,
    dependency_order,
    inverted,
    merged,
    split,
    still_written_later,
    transfers,
)

COUNT = 40


@dataclass(frozen=True)
class Case:
    """What an applier commits, and what must be found."""

    name: str
    level: Level
    target: list[Txn]
    end: End = End.EQUAL
    seen_twice: bool = False
    count: int = COUNT
    seed: int = 1


def last_lost(txns: list[Txn]) -> int:
    """A transaction of which no row is written again."""
    return next(
        at for at in range(len(txns) - 2, 0, -1)
        if not any(conflict(txns[at], later) for later in txns[at + 1 :])
    )  # fmt: skip


def overwritten(txns: list[Txn], *, torn: bool) -> int:
    """A transaction whose rows are all written again: by one later transaction, or by several."""
    for at in range(2, len(txns)):
        if still_written_later(txns, at):
            writers = [txn for txn in txns[at + 1 :] if conflict(txn, txns[at])]
            whole = txns[at].writes.keys() <= writers[0].writes.keys()
            if whole != torn:
                return at
    raise AssertionError("this workload has no such transaction")


@cache
def cases() -> tuple[Case, ...]:
    found: list[Case] = []
    source = transfers(COUNT, 1)

    def add(name: str, level: Level, target: list[Txn], **more) -> None:
        found.append(Case(name, level, target, **more))

    add("serial", Level.PREFIX, source)
    for number in (1, 7, 39):
        add(f"stopped after {number}", Level.PREFIX, source[:number], end=End.BEHIND)
    for size in (2, 3, 7, 40):
        add(f"batches of {size}", Level.BATCHES, batches(source, size))
    add("one batch among singles", Level.BATCHES, [*source[:9], merged(source[9:12]), *source[12:]])
    add("batches, stopped", Level.BATCHES, batches(source, 4)[:5], end=End.BEHIND)
    for threads in (2, 3, 4, 8):
        for seed in (1, 2):
            target = dependency_order(source, threads, seed)
            add(f"{threads} threads {seed}", Level.ATOMIC, target)
    add("one pair swapped", Level.ATOMIC, swapped_once(source))
    for size in (2, 5):
        target = batches(dependency_order(source, 8, 3), size)
        add(f"8 threads in batches of {size}", Level.ATOMIC, target)
    add("split in two", Level.PER_KEY, split(source))
    add("one transaction split", Level.PER_KEY, [*source[:5], *split(source[5:6]), *source[6:]])
    for workers in (2, 3, 4, 8):
        for seed in (1, 2):
            add(f"by key, {workers} workers {seed}", Level.PER_KEY, by_key(source, workers, seed))
    torn_batch = batches(split(source), 3)
    add("batches cut inside transactions", Level.PER_KEY, torn_batch)
    for seed in (1, 2, 3, 4):
        # The later writer comes first, so the row goes back to the earlier version for a time.
        target = inverted(source, seed)
        lost = final_rows(target) != final_rows(source)
        add(
            f"conflict inverted {seed}",
            Level.DIVERGED if lost else Level.FINAL,
            target,
            end=End.DIFFERENT if lost else End.EQUAL,
            seen_twice=True,
        )
    at = overwritten(source, torn=True)
    add("lost, rows overwritten one by one", Level.PER_KEY, [*source[:at], *source[at + 1 :]])
    at = last_lost(source)
    add("lost for good", Level.DIVERGED, [*source[:at], *source[at + 1 :]], end=End.DIFFERENT)
    for at in (3, 11):
        half = Txn(dict(list(source[at].writes.items())[:1]))
        target = [*source[:at], half, *source[at + 1 :]]
        level, end = whole_or_not(source, target)
        add(f"half of number {at} lost", level, target, end=end)
    for at, back in ((10, 3), (20, 1), (39, 10), (39, 39)):
        # Restart from a checkpoint that is too old: the last transactions come again.
        target = [*source[: at + 1], *source[at - back : at + 1], *source[at + 1 :]]
        repeated = source[at - back : at + 1]
        # What leaves every row as it is changes nothing, and nothing is logged.
        seen = any(conflict(txn, later) for n, txn in enumerate(repeated)
                   for later in repeated[n + 1 :])  # fmt: skip
        level = Level.FINAL if seen else Level.PREFIX
        add(f"last {back + 1} again after {at}", level, target, seen_twice=seen)
    again = batches(source, 4)
    add(
        "last batch again",
        Level.FINAL,
        [*again[:5], again[3], again[4], *again[5:]],
        seen_twice=True,
    )
    for at in (4, 15):
        foreign = Txn(account(next(iter(source[at + 1].writes))[1], -7))
        add(f"foreign update {at}", Level.FINAL, [*source[: at + 1], foreign, *source[at + 1 :]])
    add(
        "foreign update at the end",
        Level.DIVERGED,
        [*source, Txn(account(3, -7))],
        end=End.DIFFERENT,
    )
    add("foreign row", Level.DIVERGED, [*source, Txn(account(99, 1))], end=End.DIFFERENT)
    add(
        "foreign row, removed",
        Level.FINAL,
        [*source, Txn(account(99, 1)), Txn({("account", 99): None})],
    )
    add("row deleted", Level.DIVERGED, [*source, Txn({("account", 5): None})], end=End.DIFFERENT)
    for at in (0, 8, 30):
        key, row = next(iter(source[at].writes.items()))
        wrong = Txn(source[at].writes | {key: (row[0], row[1], row[2] + 1)})
        target = [*source[:at], wrong, *source[at + 1 :]]
        is_last = not any(key in txn.writes for txn in source[at + 1 :])
        add(
            f"off by one {at}",
            Level.DIVERGED if is_last else Level.FINAL,
            target,
            end=End.DIFFERENT if is_last else End.EQUAL,
        )
    cut = [Txn({k: (r[0], r[1][:2], r[2]) for k, r in t.writes.items()}) for t in source]
    add("text cut", Level.DIVERGED, cut, end=End.DIFFERENT)
    for width in (1, 3, 4):
        other = transfers(COUNT, 5, width=width)
        add(f"serial, {width} rows", Level.PREFIX, other, seed=50 + width)
        add(f"batches, {width} rows", Level.BATCHES, batches(other, 3), seed=50 + width)
        add(
            f"4 threads, {width} rows", Level.ATOMIC, dependency_order(other, 4, 2), seed=50 + width
        )
        if width > 1:
            add(f"split, {width} rows", Level.PER_KEY, split(other), seed=50 + width)
    return tuple(found)  # fmt: skip


def source_of(case: Case) -> list[Txn]:
    return transfers(COUNT, 5, width=case.seed - 50) if case.seed >= 50 else transfers(COUNT, 1)


def swapped_once(txns: list[Txn]) -> list[Txn]:
    at = next(at for at in range(5, len(txns)) if not conflict(txns[at], txns[at + 1]))
    return [*txns[:at], txns[at + 1], txns[at], *txns[at + 2 :]]


def final_rows(txns: list[Txn]) -> dict:
    return merged(txns).writes


def whole_or_not(source: list[Txn], target: list[Txn]) -> tuple[Level, End]:
    if final_rows(source) == final_rows(target):
        return Level.PER_KEY, End.EQUAL
    return Level.DIVERGED, End.DIFFERENT


@pytest.mark.long
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_each_applier_reaches_exactly_its_level(case: Case, tmp_path: Path):
    source = run(source_of(case), tmp_path / "source.000001", START)
    target = run(case.target, tmp_path / "target.000001", START)
    result = verify(VerifyRequest(source=(source,), target=(target,), by_content=True))
    assert result.level is case.level, result.witnesses
    assert result.end is case.end
    assert result.delivery.nothing_seen_twice is not case.seen_twice
    # A witness for each level that is missed, and none for those that are reached.
    missed = {level.word for level in Level if level > case.level} - {"undecided"}
    assert {witness.level for witness in result.witnesses} <= missed
    if case.level < Level.PREFIX:
        assert "prefix" in {witness.level for witness in result.witnesses}
    assert not result.unknown or result.end is End.BEHIND


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("case", cases()[::9], ids=lambda case: case.name)
def test_required_level_gives_the_verdict(case: Case, tmp_path: Path):
    source = run(source_of(case), tmp_path / "source.000001", START)
    target = run(case.target, tmp_path / "target.000001", START)
    for required, level in (
        ("prefix", Level.PREFIX), ("batches", Level.BATCHES), ("atomic", Level.ATOMIC),
        ("per-key", Level.PER_KEY), ("final", Level.FINAL),
    ):  # fmt: skip
        request = VerifyRequest(
            source=(source,), target=(target,), by_content=True, required=required
        )
        wanted = Verdict.HOLDS if case.level >= level else Verdict.VIOLATED
        if required == "final" and case.end is End.BEHIND:
            wanted = Verdict.UNKNOWN
        assert verify(request).verdict is wanted, required


def test_there_are_enough_faults_and_each_level_has_neighbours():
    levels = Counter(case.level for case in cases())
    assert len(cases()) >= 60
    assert set(levels) == set(Level) - {Level.UNDECIDED}
    assert min(levels.values()) >= 5, levels


def test_blame_names_exactly_the_rows_that_were_hurt(tmp_path: Path):
    source = transfers(60, 9)
    target = Server(START)
    for number, txn in enumerate(source, start=1):
        if number == 20:
            target.put("account", 7, (7, "ann", -1))
        writes = {key: row for key, row in txn.writes.items() if key != ("account", 3)}
        target.commit(Txn(writes))
    result = verify(
        VerifyRequest(
            source=(run(source, tmp_path / "s", START),),
            target=(target.save(tmp_path / "t"),),
            by_content=True,
        )
    )
    assert result.level is Level.DIVERGED
    assert result.except_rows is not None
    assert {row.key for row in result.except_rows.rows} == {"3", "7"}
    assert result.except_rows.level >= Level.BATCHES
    assert result.except_rows.is_minimal
    assert [row.key for row in result.drifted] == ["7"]
    assert [row.key for row in result.differing] == ["3"]
