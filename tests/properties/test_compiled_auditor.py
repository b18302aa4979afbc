"""Both engines' judges on drawn transactions, without any binary log, in batches and singly."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.compiled.left_rows import LeftChanges, key_digest, touched_keys
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.auditor import CompiledAuditor
from paraply.vocabulary.keys import TableTies
from paraply.vocabulary.log import LoggedKind, Operation
from paraply.vocabulary.not_compilable import NotCompilable
from tests.adapters.binlog.test_short_logs import with_few_kept, with_short_bounds
from tests.builders.logged import NotationKeys
from tests.properties.logged_strategies import TABLES, mariadb_logs, mysql_logs

OPERATIONS = (Operation.INSERT, Operation.UPDATE, Operation.DELETE)
KEY_NAMES = ("PRIMARY", "uk")
NAMES = [*TABLES, "u.a"]


def ints(values, columns=None):
    found = np.array([*values], np.int64)
    return found if columns is None else found.reshape(-1, columns)


@dataclass
class Touched:
    """The keys and tables of a batch."""

    key_ends: object
    keys: object
    marks: object
    table_ends: object
    tables: object
    roles: object
    census: object


class Parts:
    """A batch of drawn transactions, as a scanner would give it.

    If ``is_left``, the readable code judges all its rows, otherwise kernels do.
    """

    def __init__(self, txns, is_left):
        self._txns = txns
        self.clock, self.first_ordinal = txns[0].clock, txns[0].ordinal
        rows = [row for txn in txns for row in txn.rows]
        self.row_ends = np.cumsum([len(txn.rows) for txn in txns])
        self.left = [
            LeftChanges(at, txn, tuple(range(end - len(txn.rows), end)))
            for at, (txn, end) in enumerate(zip(txns, self.row_ends.tolist(), strict=True))
            if is_left
        ]
        self.table_names, self.key_names = NAMES, [KEY_NAMES] * len(NAMES)
        self.ties = [TableTies()] * len(NAMES)
        self.row_tables = ints(NAMES.index(row.table) for row in rows)
        self.row_operations = ints(OPERATIONS.index(row.operation) for row in rows)
        self.row_unchecked = ints(0 for _ in rows)
        self.row_keys_start = ints(range(0, len(KEY_NAMES) * len(rows), len(KEY_NAMES)))
        images = [[key_digest_of(row, side) for side in ("before", "after")] for row in rows]
        self.row_images = np.array(images, np.uint64).reshape(-1, 2)
        self.row_keys = np.zeros((len(KEY_NAMES) * len(rows), 2), np.uint64)
        if not is_left:
            for at, row in enumerate(rows):
                line = len(KEY_NAMES) * at + KEY_NAMES.index(row.before[0])
                self.row_keys[line] = self.row_images[at]
        self.touched = touched(txns, is_left)

    def _numbers(self, name):
        return ints(-1 if (found := getattr(txn, name)) is None else found for txn in self._txns)

    last_committed = property(lambda self: self._numbers("last_committed"))
    sequence_number = property(lambda self: self._numbers("sequence_number"))
    commit_id = property(lambda self: self._numbers("commit_id"))
    domain = property(lambda self: self._numbers("domain"))
    places = property(lambda self: self._numbers("ordinal"))

    def headers(self, chosen=None):
        for at in range(len(self._txns)) if chosen is None else chosen:
            yield self._txns[at]


def key_digest_of(row, side):
    image = getattr(row, side)
    (key,) = NotationKeys().keys_of(row.table, image) or (None,)
    return 0 if key is None else key_digest(key)


def touched(txns, is_left):
    """Return what the transactions write, read and lock, and their tables."""
    keys, marks, key_ends, tables, table_ends = [], [], [], [], []
    census = np.zeros((len(NAMES), 4), np.int64)
    for txn in txns:
        seen, ends = {}, []
        for kind in range(3):
            for key, of_kind, certain in touched_keys(txn):
                if of_kind == kind:
                    mark = C.PRIMARY * (kind == 0 and key.index == "PRIMARY")
                    seen.setdefault(key_digest(key), mark | C.UNCERTAIN * (not certain))
            ends.append(len(keys) + len(seen))
        keys += seen
        marks += seen.values()
        key_ends.append(ends)
        numbers = [NAMES.index(row.table) for row in txn.rows]
        tables += dict.fromkeys(numbers)
        table_ends.append(len(tables))
        for row, number in zip(txn.rows, numbers, strict=True):
            census[number, OPERATIONS.index(row.operation)] += 1
    return Touched(
        ints(key_ends, 3), np.array(keys, np.uint64), np.array(marks, np.uint8),
        ints(table_ends), ints(tables), ints(0 for _ in tables), census,
    )  # fmt: skip


class Source:
    """The drawn log, to be read again."""

    def __init__(self, txns):
        self._txns = txns

    def reread(self, ordinal, at):
        return self._txns[ordinal - 1]

    def keys_with(self, ordinal, at, digests):
        found = {key_digest(key): key for key, _, _ in touched_keys(self._txns[ordinal - 1])}
        return {digest: found[digest] for digest in digests}


def is_plain(txn):
    """Return whether a scanner would read it: rows or nothing."""
    return not txn.statements and (txn.kind is LoggedKind.ROWS) == bool(txn.rows)


def batches(txns, sizes):
    """Yield transactions that are judged together; size 0 is one that is judged singly."""
    at = 0
    while at < len(txns):
        size = sizes[at % len(sizes)] if is_plain(txns[at]) else 0
        end = at + 1
        while end < min(len(txns), at + size):
            if not is_plain(txns[end]) or txns[end].clock != txns[at].clock:
                break
            end += 1
        yield size, txns[at:end]
        at = end


def judged_by_kernels(txns, options, sizes, is_left):
    left = dict.fromkeys(NAMES, "drawn") if is_left else None
    judge = CompiledAuditor(NotationKeys(), Source(txns), options, left=left)
    for size, chosen in batches(txns, sizes):
        if size:
            judge.observe_batch(Parts(chosen, is_left))
        else:
            has_rows = chosen[0].kind is LoggedKind.ROWS
            judge.observe(chosen[0], Parts(chosen, is_left) if has_rows else None)
    result = judge.result()
    result.engine, result.left_rows, result.left_tables = "readable", 0, {}
    return result


def judged_readably(txns, options):
    judge = Auditor(NotationKeys(), options)
    for txn in txns:
        judge.observe(txn)
    return judge.result()


def differences(one, other):
    return {
        each.name: (getattr(one, each.name), getattr(other, each.name))
        for each in fields(one)
        if getattr(one, each.name) != getattr(other, each.name)
    }


@st.composite
def drawn_logs(draw, dialect, is_left):
    """Logs as a reader would give them."""
    if dialect == "mysql":
        found = mysql_logs(transactions_max=30, uncertain=is_left, unkeyed=is_left)
    else:
        found = mariadb_logs(transactions_max=30)
    txns = draw(found)
    for txn in txns:
        if txn.statements:
            txn.commit_id = None  # MariaDB writes no DDL in a group.
        txn.locked_keys -= txn.keys | txn.shared_keys
    return txns


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("dialect", "is_left"), [("mysql", True), ("mysql", False), ("mariadb", False)]
)
@settings(max_examples=50)
@given(
    data=st.data(),
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    bounds=st.integers(0, 2**32),
)
def test_engines_judge_drawn_transactions_alike(dialect, is_left, data, sizes, bounds):
    txns, rng = data.draw(drawn_logs(dialect, is_left)), random.Random(bounds)
    options = with_few_kept(AuditOptions(), rng, 0.3)
    with pytest.MonkeyPatch.context() as patch:
        with_short_bounds(patch, rng, 0.3)
        try:
            found = judged_by_kernels(txns, options, sizes, is_left)
        except NotCompilable:
            assume(False)
        assert differences(judged_readably(txns, options), found) == {}
