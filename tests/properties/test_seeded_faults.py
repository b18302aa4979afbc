"""Faults forged into real log files: the audit finds exactly the pairs they let overlap."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transactions import read_transactions
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.properties.logs.naive_conflict_graph import check_all_pairs
from paraply.vocabulary.verdict import Verdict
from tests.builders.binlog_writer import BinlogWriter, optional_metadata
from tests.builders.column_specs import integer
from tests.builders.log_forger import ForgedLog

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "binlogs"


def audited(path, schema=None):
    return audit(AuditRequest(files=(str(path),), schema=schema and str(schema)))


def found_pairs(result):
    return sorted((v.earlier.ordinal, v.later.ordinal) for v in result.violations)


# --- MySQL logs, written event by event ------------------------------------------------------

COLUMNS = [
    integer(4).named("id", nullable=False),
    integer(4).named("uk", nullable=True),
    integer(4).named("n", nullable=False),
]
CREATE = "CREATE TABLE t (id INT PRIMARY KEY, uk INT, n INT NOT NULL, UNIQUE KEY uk (uk))"


class Workload:
    """A random load on one table, with what each transaction touched written beside the log."""

    def __init__(self, seed: int, transactions: int = 40, checksum: bool = True) -> None:
        self._random = random.Random(seed)
        self.touched: list[set[tuple[str, int]]] = [set()]
        self.parents = [0]
        self._rows: dict[int, tuple[int, int | None, int]] = {}
        self.writer = BinlogWriter(checksum=checksum)
        self.writer.gtid(1, last_committed=0, sequence_number=1)
        self.writer.query(CREATE)
        for number in range(2, transactions + 2):
            self._write(number)

    def _write(self, number: int) -> None:
        draw = self._random
        identity = draw.randrange(12)
        before = self._rows.get(identity)
        taken = {row[1] for row in self._rows.values()}
        unique = draw.choice([None, *(value for value in range(6) if value not in taken)])
        after = None if before and draw.random() < 0.3 else (identity, unique, number)
        touched = {("PRIMARY", identity)}
        touched |= {("uk", row[1]) for row in (before, after) if row and row[1] is not None}
        earlier = [i for i, theirs in enumerate(self.touched, 1) if theirs & touched]
        # As a source with WRITESET: the last writer of a key, or the CREATE TABLE.
        parent = max([1, *earlier])
        self.touched.append(touched)
        self.parents.append(parent)
        self.writer.gtid(number, last_committed=parent, sequence_number=number)
        self.writer.query("BEGIN")
        metadata = optional_metadata(COLUMNS, primary_key=[0])
        self.writer.table_map(COLUMNS, metadata=metadata)
        if before is None:
            self.writer.rows(30, COLUMNS, [after])
        elif after is None:
            self.writer.rows(32, COLUMNS, [before])
        else:
            self.writer.rows(31, COLUMNS, [before, after])
        self.writer.xid(number)
        if after is None:
            del self._rows[identity]
        else:
            self._rows[identity] = after

    def pairs(self, parents: list[int]) -> list[tuple[int, int]]:
        """Return the conflicting pairs that ``parents`` leave unordered, DDL included."""
        count = len(self.touched)
        return [
            (i, j)
            for i in range(1, count + 1)
            for j in range(i + 1, count + 1)
            if parents[j - 1] < i and (i == 1 or self.touched[i - 1] & self.touched[j - 1])
        ]


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("seed", range(6))
def test_forged_last_committed_gives_exactly_the_pairs_it_uncovers(seed, tmp_path):
    workload = Workload(seed, checksum=seed % 2 == 0)
    original = workload.writer.save(tmp_path / "bin.000001")
    assert workload.pairs(workload.parents) == []
    clean = audited(original)
    assert found_pairs(clean) == []
    assert clean.verdict is Verdict.HOLDS
    draw = random.Random(seed + 1000)
    forged, parents = ForgedLog.read(original), list(workload.parents)
    for _ in range(3):
        ordinal = draw.randrange(5, len(parents) + 1)
        parents[ordinal - 1] = draw.randrange(parents[ordinal - 1])
        forged.set_timestamp(ordinal, last_committed=parents[ordinal - 1])
    expected = workload.pairs(parents)
    assert expected, "the forgery uncovers nothing; choose another seed"
    result = audited(forged.save(tmp_path / "forged.000001"))
    assert found_pairs(result) == expected
    assert result.verdict is Verdict.VIOLATED
    assert all(violation.certain for violation in result.violations)


def test_forged_sequence_number_is_found_by_the_lint(tmp_path):
    original = Workload(1).writer.save(tmp_path / "bin.000001")
    forged = ForgedLog.read(original).set_timestamp(9, sequence_number=8)
    result = audited(forged.save(tmp_path / "forged.000001"))
    assert {f.rule for f in result.lint if f.severity == "violation"} == {
        "sequence_number_increases"
    }
    assert result.verdict is Verdict.VIOLATED


def test_forged_last_committed_past_its_own_number_is_found_by_the_lint(tmp_path):
    original = Workload(2).writer.save(tmp_path / "bin.000001")
    forged = ForgedLog.read(original).set_timestamp(9, last_committed=9)
    result = audited(forged.save(tmp_path / "forged.000001"))
    assert {f.rule for f in result.lint if f.severity == "violation"} == {
        "last_committed_is_below_sequence_number"
    }


# --- logs recorded from servers --------------------------------------------------------------


def recorded(name: str, server: str = "mariadb") -> list[Path]:
    folders = sorted(FIXTURES.glob(f"{server}-*/{name}"))
    if not folders:
        pytest.skip(f"no recorded log named {name} of {server} under {FIXTURES}")
    return folders


def keyed(path: Path, schema: Path):
    registry = SchemaRegistry()
    load_schema_file(registry, str(schema))

    def learn(table):
        registry.observe_table_map(table.table_schema())

    transactions = read_transactions([str(path)], on_table_map=learn)
    return list(follow(KeyBuilder(registry), transactions))


@pytest.mark.long(quick=9)
@pytest.mark.parametrize("name", ["compressed", "no-checksum", "load-noblob-image"])
@pytest.mark.parametrize("seed", range(3))
def test_forged_commit_id_gives_exactly_the_pairs_it_puts_together(name, seed, tmp_path):
    for folder in recorded(name):
        original, schema = folder / "bin.000001", folder / "schema.sql"
        transactions = keyed(original, schema)
        assert check_all_pairs(transactions, "commit-group").violating == set()
        assert found_pairs(audited(original, schema)) == []
        forged, changed = ForgedLog.read(original), list(transactions)
        assert len(forged) == len(transactions)
        # One group over a stretch of the log that holds a conflict.
        conflicting = sorted(
            pair
            for pair in check_all_pairs(transactions, "commit-group").conflicting
            if pair[1] - pair[0] <= 12 and not transactions[pair[0] - 1].is_barrier
        )
        first, last = random.Random(seed).choice(conflicting)
        for ordinal in range(first, last + 1):
            forged.set_commit_id(ordinal, 987_654_321)
            changed[ordinal - 1] = replace(changed[ordinal - 1], commit_id=987_654_321)
        expected = check_all_pairs(changed, "commit-group").violating
        assert (first, last) in expected
        result = audited(forged.save(tmp_path / "forged.000001"), schema)
        assert found_pairs(result) == sorted(expected)
        assert result.verdict is Verdict.VIOLATED


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", ["anonymous", "keys", "no-checksum", "foreign-keys"])
@pytest.mark.parametrize("seed", range(3))
def test_forged_timestamp_gives_exactly_the_pairs_it_uncovers(name, seed, tmp_path):
    for folder in recorded(name, "mysql"):
        original, schema = folder / "bin.000001", folder / "schema.sql"
        transactions = keyed(original, schema)
        naive = check_all_pairs(transactions, "logical-clock")
        assert naive.violating == set()
        assert found_pairs(audited(original, schema)) == []
        earlier, later = random.Random(seed).choice(sorted(naive.conflicting))
        parent = transactions[earlier - 1].sequence_number - 1
        forged = ForgedLog.read(original).set_timestamp(later, last_committed=parent)
        assert len(forged) == len(transactions)
        changed = list(transactions)
        changed[later - 1] = replace(transactions[later - 1], last_committed=parent)
        expected = check_all_pairs(changed, "logical-clock").violating
        assert (earlier, later) in expected
        result = audited(forged.save(tmp_path / "forged.000001"), schema)
        assert found_pairs(result) == sorted(expected)
        # A foreign key may rest on an assumption, and then so does the finding.
        certain = any(violation.certain for violation in result.violations)
        assert result.verdict is (Verdict.VIOLATED if certain else Verdict.UNKNOWN)


@pytest.mark.parametrize("name", ["compressed", "no-checksum"])
def test_log_whose_commit_ids_are_all_taken_away_is_unknown(name, tmp_path):
    for folder in recorded(name):
        forged = ForgedLog.read(folder / "bin.000001")
        for ordinal in range(1, len(forged) + 1):
            forged.set_commit_id(ordinal, None)
        result = audited(forged.save(tmp_path / "forged.000001"), folder / "schema.sql")
        assert found_pairs(result) == []
        assert result.pairs_allowed_to_overlap == 0
        assert result.verdict is Verdict.UNKNOWN


# --- the forger itself -----------------------------------------------------------------------


@pytest.mark.parametrize("checksum", [True, False])
def test_forger_that_changes_nothing_writes_the_same_bytes(checksum):
    data = bytes(Workload(3, checksum=checksum).writer.data)
    assert ForgedLog(data).data() == data


def test_forger_gives_a_recorded_log_back_unchanged():
    for folder in [*recorded("*"), *recorded("*", "mysql")]:
        if folder.name == "encrypted":
            continue  # Its events are not events until they are decrypted.
        for path in sorted(folder.glob("bin.0*")):
            assert ForgedLog.read(path).data() == path.read_bytes(), path


def test_forged_commit_id_can_be_taken_back():
    (folder, *_) = recorded("compressed")
    data = (folder / "bin.000001").read_bytes()
    forged = ForgedLog(data)
    for transaction in keyed(folder / "bin.000001", folder / "schema.sql"):
        forged.set_commit_id(transaction.ordinal, 1)
        forged.set_commit_id(transaction.ordinal, transaction.commit_id)
    assert forged.data() == data
