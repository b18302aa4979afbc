"""The growing judge against the one that has both logs, and against itself after a restart."""

from __future__ import annotations

import json
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.following import (
    Followed,
    FollowingJudge,
    FollowingState,
    Kind,
)
from paraply.properties.two_logs.identity import Named, judge_identity
from paraply.vocabulary.gtid_names import GtidNames

Rows = tuple[int, ...]
UUID = "00000000-0000-0000-0000-000000000001"


def entry(number: int, rows: Rows, domain: int) -> Followed[Rows]:
    return Followed(name=f"{domain}-1-{number}", rows=len(rows), group=domain, content=rows)


@st.composite
def logs(draw) -> tuple[list[Followed[Rows]], list[Followed[Rows]]]:
    """A source's log, and a target's: shuffled nearby, with losses, repeats, changes, extras."""
    count = draw(st.integers(1, 10))
    rows = st.lists(st.integers(0, 3), max_size=2, unique=True).map(tuple)
    domains = draw(st.integers(1, 2))
    source = [
        entry(number, draw(rows), draw(st.integers(0, domains - 1)))
        for number in range(1, count + 1)
    ]
    order = draw(st.permutations(range(count)) if draw(st.booleans()) else st.just(range(count)))
    target = []
    for at in order:
        what = draw(st.sampled_from(["same"] * 8 + ["lost", "changed", "twice", "errant"]))
        mine = source[at]
        if what == "lost":
            continue
        if what == "changed":
            mine = entry(at + 1, (*mine.content, 9), mine.group)  # type: ignore[arg-type]
        target.append(mine)
        if what == "twice":
            target.insert(draw(st.integers(target.index(mine) + 1, len(target))), mine)
        if what == "errant":
            target.append(entry(100 + at, draw(rows), 0))
    return source, target


def new_judge(patience: int, state: FollowingState | None = None) -> FollowingJudge[Rows]:
    return FollowingJudge(
        compare=lambda one, other: "" if one == other else f"{one} {other}",
        keys_of=frozenset,
        patience=patience,
        state=state,
    )


def run(source, target, patience, *, ahead=0, kill_at=()):
    """Judge; the source is read ``ahead`` of need. A kill goes through JSON."""
    judge, at, found = new_judge(patience), 0, []
    for place, entry_ in enumerate(target):
        if place in kill_at:
            data = json.loads(json.dumps(judge.state().as_json()))
            judge, at = new_judge(patience, FollowingState.of_json(data)), 0
        while at < len(source) and not judge.is_ready_for(entry_.name):
            judge.take_source(source[at])
            at += 1
        for _ in range(ahead):
            if at < len(source):
                judge.take_source(source[at])
                at += 1
        found += judge.take_target(entry_)
    return judge, [
        (each.kind, each.source, each.target, each.other, each.first, each.last, each.commits)
        for each in found
    ]


def named(entries) -> list[Named]:
    return [
        Named(
            name=each.name, number=number, group=each.group,
            commit=Commit(changes=dict.fromkeys(each.content, (0, 1))),
        )
        for number, each in enumerate(entries, start=1)
    ]  # fmt: skip


@pytest.mark.long
@given(logs())
def test_growing_judge_counts_what_the_other_one_counts(both):
    source, target = both
    judge, _ = run(source, target, 1_000)
    counts = judge.counts
    known = judge_identity(named(source), named(target))
    assert counts.matched == known.matched
    assert counts.errant == known.errant_with_rows
    assert counts.errant_without_rows == known.errant_count - known.errant_with_rows
    assert counts.twice <= known.twice_count  # Without rows, a repeat is none.
    assert counts.changed == known.changed_count
    assert counts.descents == known.descents
    gaps = [each for each in judge.gaps() if each.rows]
    assert len(gaps) == known.missing_count
    assert counts.inverted == known.inversion_count
    if all(each.rows for each in source):  # Without rows, a transaction changes no state.
        assert counts.not_prefix == known.not_prefix


@pytest.mark.long
@given(logs(), st.integers(0, 3), st.sets(st.integers(0, 12)), st.integers(0, 3))
def test_findings_depend_on_the_logs_only(both, patience, kills, ahead):
    source, target = both
    judge, found = run(source, target, patience)
    again, found_again = run(source, target, patience, ahead=ahead, kill_at=kills)
    assert found_again == found
    assert astuple(again.counts) == astuple(judge.counts)


def test_late_transaction_is_told_from_a_repeated_one():
    source = [entry(number, (number,), 0) for number in range(1, 6)]
    target = [source[at] for at in (0, 2, 3, 1, 1, 4)]
    judge, found = run(source, target, 1)
    kinds = [each[0] for each in found]
    assert kinds == [Kind.MISSING, Kind.NOT_PREFIX, Kind.LATE, Kind.TWICE]
    assert judge.counts.missing == judge.counts.late == judge.counts.twice == 1


def test_names_of_both_families_survive_json():
    names = GtidNames.of_mysql(f"{UUID}:1-5:7")
    names.add(f"{UUID}:6")
    again = GtidNames.of_json(json.loads(json.dumps(names.as_json())))
    assert str(again.as_mysql) == f"{UUID}:1-7"
    assert f"{UUID}:8" not in again
    assert f"{UUID}:7" in again
    names = GtidNames.of_mariadb("0-1-5,2-3-9", floor="0-7-8")
    assert "0-9-8" in names
    assert "0-1-9" not in names
    assert "1-1-1" not in names
    assert names.as_mariadb == "0-1-5,2-3-9"
    names.add("0-1-9")
    assert names.copy().as_mariadb == "0-1-9,2-3-9"


def test_judge_is_ready_once_it_has_read_again_what_it_had_read():
    source = [entry(number, (number,), 0) for number in range(1, 5)]
    judge = new_judge(10)
    for each in source:
        judge.take_source(each)
    for each in (source[0], source[3]):
        list(judge.take_target(each))
    again = new_judge(10, FollowingState.of_json(json.loads(json.dumps(judge.state().as_json()))))
    ready = []
    for each in source:
        again.take_source(each)
        ready.append((again.is_behind_itself, again.is_ready_for("0-1-2")))
    assert ready == [(True, False)] * 3 + [(False, True)]
