"""Commit groups of whole batches, as those of single transactions."""

from __future__ import annotations

import pickle
from itertools import cycle

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.batch import Arrays, Batch, Touched
from paraply.adapters.binlog.compiled.descriptors import Descriptors
from paraply.properties.logs import log_lint
from paraply.properties.logs.compiled.lint import REGULAR_MIN, lint_batch
from paraply.properties.logs.log_lint import LogLint

MYSQL_GTID, MARIADB_GTID = 33, 162


STEADY = ((0, 0, 0),)
STEP_S = 7


def batches(commit_ids, sizes, jumps=STEADY, kind=MARIADB_GTID):
    """Yield batches of these sizes, of one domain; -1 is no commit id.

    A jump is by how much a batch's numbers, seconds and commit seconds differ from the last's end.
    """
    first = shift = time = committed = 0
    jumping = cycle(jumps)
    while first < len(commit_ids):
        jump = next(jumping)
        shift, time, committed = shift + jump[0], time + jump[1], committed + jump[2]
        ids = commit_ids[first : first + sizes[first % len(sizes)]]
        arrays = Arrays.of(len(ids), 1)
        arrays.progress[L.TRANSACTIONS] = len(ids)
        lines = arrays.transactions
        ordinals = np.arange(first + 1, first + len(ids) + 1)
        has_clock = kind == MYSQL_GTID
        lines[:, L.T_SEQUENCE_NUMBER] = ordinals if has_clock else L.ABSENT
        lines[:, L.T_LAST_COMMITTED] = ordinals - 1 if has_clock else L.ABSENT
        seconds = STEP_S * np.arange(len(ids))
        if committed > 0:
            lines[:, L.T_COMMITTED_US] = 1_000_000 * (committed + seconds)
        else:
            lines[:, L.T_COMMITTED_US] = L.ABSENT
        lines[:, L.T_TIME] = max(0, time) + seconds
        lines[:, L.T_TYPE] = kind
        lines[:, L.T_SERVER] = 2 if jump[0] < 0 else 1  # Another server's numbers may be less.
        arrays.progress[L.UUIDS] = 1
        lines[:, L.T_NUMBER] = ordinals + shift
        lines[:, L.T_START], lines[:, L.T_END] = 100 * ordinals, 100 * ordinals + 100
        lines[:, L.T_COMMIT_ID] = ids
        none = np.zeros(0, np.int64)
        touched = Touched(
            key_ends=none, keys=none.astype(np.uint64), marks=none.astype(np.uint8),
            table_ends=none, tables=none, roles=none, census=none,
        )  # fmt: skip
        yield Batch(
            file="log.000001", first_ordinal=first + 1, clock=1, arrays=arrays,
            descriptors=Descriptors(), touched=touched, first_place=0,
        )  # fmt: skip
        first += len(ids)
        time, committed = (
            each + int(seconds[-1]) if each > 0 else each for each in (time, committed)
        )


def told(lint):
    return lint.results(), lint.groups.sizes(), lint.groups.single_members


def follow(lint, commit_ids, sizes, check, *drawn):
    for batch in batches(commit_ids, sizes, *drawn):
        check(lint, batch)
    return told(lint)


def one_by_one(lint, batch):
    for txn in batch.headers():
        lint.observe(txn)


@example(groups=[("new", 8), ("new", 8), ("new", 1)] * 3, sizes=[17], kept=3)
@example(groups=[("new", 1), ("none", 7), ("new", 8), ("new", 2)] * 3, sizes=[18], kept=10_000)
@given(
    groups=st.lists(
        st.tuples(st.sampled_from([*["new"] * 6, "none", "none", "old"]), st.integers(1, 9)),
        max_size=60,
    ),
    sizes=st.lists(st.integers(REGULAR_MIN, 40), min_size=1, max_size=5),
    kept=st.sampled_from([3, log_lint.CLOSED_GROUPS_MAX]),
)
def test_batches_tell_of_commit_groups_what_single_transactions_tell(groups, sizes, kept):
    commit_ids = []
    for number, (kind, members) in enumerate(groups, start=10):
        name = {"new": number, "none": -1, "old": number - members}[kind]
        commit_ids += [name] * members
    limit, log_lint.CLOSED_GROUPS_MAX = log_lint.CLOSED_GROUPS_MAX, kept
    try:
        single = follow(LogLint(), commit_ids, sizes, one_by_one)
        assert follow(LogLint(), commit_ids, sizes, lint_batch) == single
    finally:
        log_lint.CLOSED_GROUPS_MAX = limit


@example(sizes=[20], jumps=[(90, 0, 0), (-80, 0, 0)], kind=MARIADB_GTID)
@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(REGULAR_MIN, 30), min_size=1, max_size=5),
    jumps=st.lists(
        st.tuples(
            st.sampled_from([0, 0, 0, 1, 90, -80, -4]),
            st.sampled_from([0, 1, 61, 200, -60, -61, -300]),
            st.sampled_from([0, 1, 61, 200, -60, -61, -300]),
        ),
        min_size=1,
        max_size=6,
    ),
    kind=st.sampled_from([MYSQL_GTID, MARIADB_GTID]),
)
def test_numbers_and_times_that_jump_between_batches_are_told_alike(sizes, jumps, kind):
    commit_ids, jumps = [-1] * 150, [(100, 5_000, 5_000), *jumps]
    single = follow(LogLint(), commit_ids, sizes, one_by_one, jumps, kind)
    assert follow(LogLint(), commit_ids, sizes, lint_batch, jumps, kind) == single


def test_a_group_of_an_earlier_batch_that_comes_back_names_its_last_member():
    ids = [number // 4 for number in range(40)] + [3] * 20
    lint = LogLint()
    for batch in batches(ids, [40]):
        lint_batch(lint, batch)
        lint = pickle.loads(pickle.dumps(lint))
    (found,) = [one for one in lint.results() if one.rule == "commit_groups_are_contiguous"]
    assert [one.ordinal for one in found.transactions] == [16, 41]
    assert found.transactions[0].gtid == "0-1-16"
