"""Keys against what real servers concluded from theirs.

MySQL's WRITESET tracking gives each transaction the last one it conflicts with as last_committed;
MariaDB commits in one group only what did not conflict. Both saw the same rows as we do.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from paraply.adapters.binlog.keys import builder as keys
from paraply.adapters.binlog.keys import parts as key_parts
from paraply.adapters.binlog.keys import values as key_values
from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.keys.collations import _IdentityFold
from paraply.adapters.binlog.keys.parts import NoKey
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transactions import read_transactions
from paraply.vocabulary.log import LoggedKind

RECORDED = Path(__file__).parents[2] / "fixtures" / "binlogs"


def recorded(pattern):
    """Return the recorded scenarios of a pattern that hold a source's log."""
    found = [
        folder for folder in sorted(RECORDED.glob(pattern)) if (folder / "bin.000001").exists()
    ]
    return [pytest.param(folder, id=f"{folder.parent.name}/{folder.name}") for folder in found] or [
        pytest.param(None, marks=pytest.mark.skip(f"no recorded logs in {RECORDED}"))
    ]


def keyed(folder, registry=None):
    """Return the keyed transactions of a scenario; with metadata, and what the log's DDL tells."""
    registry = registry or SchemaRegistry()
    logs = [str(path) for path in sorted(folder.glob("bin.0*"))]
    return follow(
        KeyBuilder(registry),
        read_transactions(
            logs, on_table_map=lambda table: registry.observe_table_map(table.table_schema())
        ),
    )


def last_conflicts(transactions):
    """Yield (transaction, SN of the last one it conflicts with, SN of the last barrier)."""
    writers, readers = {}, {}
    clock, barrier = None, 0
    for txn in transactions:
        if txn.sequence_number is None:
            continue
        if txn.clock != clock:
            clock, barrier = txn.clock, 0
            writers.clear()
            readers.clear()
        met = [known.get(key, 0) for key in txn.keys for known in (writers, readers)]
        met += [writers.get(key, 0) for key in txn.shared_keys]
        if txn.kind is LoggedKind.ROWS:
            yield txn, max(met, default=0), barrier
        else:
            barrier = txn.sequence_number
        writers |= dict.fromkeys(txn.keys, txn.sequence_number)
        readers |= dict.fromkeys(txn.shared_keys, txn.sequence_number)


@pytest.mark.parametrize("folder", recorded("mysql-*/keys*"))
def test_last_committed_is_exactly_the_last_conflict_by_our_keys(folder):
    """Collations, prefixes, NULLs and swaps: neither more nor less than the server found."""
    judged = list(last_conflicts(keyed(folder)))
    assert len(judged) > 200
    for txn, conflict, barrier in judged:
        assert txn.last_committed == max(conflict, barrier), (txn.start, txn.keys)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("folder", recorded("mysql-*/*"))
def test_no_recorded_transaction_conflicts_past_its_last_committed(folder):
    """Foreign keys included: what we tie may be no more than the server kept apart."""
    judged = list(last_conflicts(keyed(folder)))
    for txn, conflict, _ in judged:
        assert conflict <= txn.last_committed, (txn.start, txn.keys, txn.shared_keys)
    assert judged


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("folder", recorded("mariadb-*/*"))
def test_no_two_members_of_a_recorded_commit_group_conflict(folder):
    groups = defaultdict(list)
    for txn in keyed(folder):
        if txn.commit_id is not None:
            groups[txn.clock, txn.domain, txn.commit_id].append(txn)
    for members in groups.values():
        for place, later in enumerate(members):
            for earlier in members[:place]:
                assert not earlier.keys & (later.keys | later.shared_keys), later.start
                assert not later.keys & earlier.shared_keys, later.start


def test_commit_groups_were_recorded_at_all():
    folders = [param.values[0] for param in recorded("mariadb-*/load-*")]
    if folders == [None]:
        pytest.skip(f"no recorded logs in {RECORDED}")
    assert sum(txn.commit_id is not None for folder in folders for txn in keyed(folder)) > 100


@pytest.mark.parametrize("folder", recorded("*/schema-changes"))
def test_schema_followed_through_the_log_is_the_one_the_server_ended_with(folder):
    followed, dumped = SchemaRegistry(), SchemaRegistry()
    for _ in keyed(folder, followed):
        pass
    load_schema_file(dumped, folder / "schema.sql")
    compared = 0
    for table in dumped.tables():
        ours = followed.table(table.name)
        assert ours is not None, table.name
        assert ours.keys_complete, (table.name, ours.unknown_because)
        assert [c.name for c in ours.columns] == [c.name for c in table.columns]
        assert {k.name: k.parts for k in ours.unique_keys} == {
            k.name: k.parts for k in table.unique_keys
        }
        assert {(k.columns, k.parent, k.on_delete, k.on_update) for k in ours.foreign_keys} == {
            (k.columns, k.parent, k.on_delete, k.on_update) for k in table.foreign_keys
        }
        compared += 1
    assert compared


def raw_bytes(monkeypatch):
    monkeypatch.setattr(key_values, "fold_of", lambda collation: _IdentityFold(pads=False))


def whole_columns(monkeypatch):
    real = key_parts.folder_of
    monkeypatch.setattr(key_parts, "folder_of", lambda column, prefix=0: real(column))


def after_images_only(monkeypatch):
    real = keys._take_key
    monkeypatch.setattr(
        keys,
        "_take_key",
        lambda key, row, old, new, to, **more: real(key, row, NoKey.NULL, new, to, **more),
    )


def primary_only(monkeypatch):
    real = keys.plan_of

    def plan(registry, table):
        whole = real(registry, table)
        return keys.TablePlan(whole.keys[:1], whole.has_primary, whole.complete, True, (), ())

    monkeypatch.setattr(keys, "plan_of", plan)


@pytest.mark.parametrize("mutant", [raw_bytes, whole_columns, after_images_only, primary_only])
@pytest.mark.parametrize("folder", recorded("mysql-*/keys"))
def test_mutant_disagrees_with_the_server(monkeypatch, mutant, folder):
    mutant(monkeypatch)
    with pytest.raises(AssertionError):
        test_last_committed_is_exactly_the_last_conflict_by_our_keys(folder)
