"""Mutants of the rules of keys, each caught by the case that guards its rule."""

from __future__ import annotations

import pytest

from paraply.adapters.binlog.keys import builder as keys
from paraply.adapters.binlog.keys import collations
from paraply.adapters.binlog.keys import foreign as foreign_keys
from paraply.adapters.binlog.keys import parts as key_parts
from paraply.adapters.binlog.keys import values as key_values
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.keys.parts import NoKey
from tests.builders.key_cases import conflict, insert, registry_of, update
from tests.builders.key_pairs import (
    both,
    cascade_frees_values,
    cascade_hits_child,
    dtle_795,
    dtle_keyless,
    minimal_delete,
    mysql_86078,
    mysql_110071,
    mysql_111027,
    mysql_non_unique_parent,
    pxc_3729,
    restrict_release,
    tiflow_10918,
    two_level_cascade,
)


def raw_bytes_hashed(monkeypatch):
    plain = collations._IdentityFold(pads=False)
    monkeypatch.setattr(key_values, "fold_of", lambda collation: plain)


def whole_column_instead_of_prefix(monkeypatch):
    real = key_parts.folder_of
    monkeypatch.setattr(key_parts, "folder_of", lambda column, prefix=0: real(column))


def only_after_images(monkeypatch):
    real = keys._take_key
    monkeypatch.setattr(
        keys,
        "_take_key",
        lambda key, row, old, new, to, **more: real(key, row, NoKey.NULL, new, to, **more),
    )


def only_net_changes(monkeypatch):
    real = KeyBuilder.complete_transaction

    def complete(self, txn):
        if len(txn.rows) > 1:
            txn.rows = [update("t", txn.rows[0].before, txn.rows[-1].after)]
        real(self, txn)

    monkeypatch.setattr(KeyBuilder, "complete_transaction", complete)


def null_is_a_value(monkeypatch):
    real = key_parts.KeyPlan.build

    def build(self, image):
        return real(self, tuple(0 if value is None else value for value in image))

    monkeypatch.setattr(key_parts.KeyPlan, "build", build)


def parent_key_exclusive(monkeypatch):
    monkeypatch.setattr(keys.TransactionKeys, "share", keys.TransactionKeys.write)


def foreign_keys_ignored(monkeypatch):
    monkeypatch.setattr(keys, "child_ties", lambda registry, schema: ())


def cascades_ignored(monkeypatch):
    monkeypatch.setattr(foreign_keys, "CHANGES_CHILD", frozenset())


def freed_values_ignored(monkeypatch):
    monkeypatch.setattr(foreign_keys, "_frees_other_values", lambda *_: False)


def released_values_ignored(monkeypatch):
    monkeypatch.setattr(keys, "_UNKNOWN_VALUES", frozenset())


def keyless_ignored(monkeypatch):
    real = keys.TransactionKeys.store

    def store(self, txn):
        if self.written:
            self.unkeyed.clear()
        real(self, txn)

    monkeypatch.setattr(keys.TransactionKeys, "store", store)


@pytest.mark.parametrize(
    ("mutant", "case"),
    [
        (raw_bytes_hashed, mysql_86078),
        (whole_column_instead_of_prefix, mysql_111027),
        (only_after_images, mysql_86078),
        (only_after_images, tiflow_10918),
        (only_net_changes, pxc_3729),
        (parent_key_exclusive, mysql_110071),
        (foreign_keys_ignored, dtle_795),
        (foreign_keys_ignored, restrict_release),
        (foreign_keys_ignored, mysql_non_unique_parent),
        (cascades_ignored, cascade_hits_child),
        (cascades_ignored, two_level_cascade),
        (freed_values_ignored, cascade_frees_values),
        (released_values_ignored, minimal_delete),
        (keyless_ignored, dtle_keyless),
    ],
    ids=lambda each: each.__name__,
)
def test_mutant_changes_the_answer_of_the_case_that_guards_its_rule(monkeypatch, mutant, case):
    right = case()
    mutant(monkeypatch)
    assert case() != right


def test_mutant_null_is_a_value_is_caught(monkeypatch):
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE u (a))")
    null_is_a_value(monkeypatch)
    one, two = both(registry, insert("t", 1, None), insert("t", 2, None))
    assert conflict(one, two)
