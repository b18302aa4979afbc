"""Statements that change rows without showing them, prepared transactions, and values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from paraply.properties.two_logs.judgement import Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.values import CASTS, incomparable, plain
from paraply.vocabulary.verdict import Verdict
from tests.verifying.small_logs import Server, Txn, account
from tests.verifying.workloads import START, transfers

SOURCE = transfers(12, 4)
_STANDALONE_DDL = 0x01 | 0x20
INSERT = "REPLACE INTO account VALUES (1, 'ann', 77)"


def log(path, *steps: Txn | str) -> str:
    server = Server(START)
    for step in steps:
        if isinstance(step, Txn):
            server.commit(step)
        else:
            server.sequence += 1
            server.writer.mariadb_gtid(server.sequence, flags=_STANDALONE_DDL)
            server.writer.query(step, schema="shop")
            if step == INSERT:
                server.put("account", 1, (1, "ann", 77))
            elif "account" in step:
                server.rows.clear()
    return server.save(path)


def verified(tmp_path, source, target, **options):
    files = log(tmp_path / "s", *source), log(tmp_path / "t", *target)
    return verify(VerifyRequest(source=files[:1], target=files[1:], **options))


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE TABLE account",
        "truncate `shop`.`account`",
        "TRUNCATE account;",
        "/* by hand */ TRUNCATE TABLE account",
        "-- by hand\nTRUNCATE account",
        "TRUNCATE /* all */ TABLE shop . account",
        "DROP TABLE account",
    ],
)
def test_rows_that_a_statement_empties_begin_anew_in_both_logs(tmp_path, statement):
    again = [Txn(account(number, 5)) for number in (1, 2, 3)]
    both = [*SOURCE, statement, *again]
    result = verified(tmp_path, both, both)
    assert result.verdict is Verdict.HOLDS, result.unknown
    assert result.level is Level.PREFIX
    assert not result.drifted
    assert result.states.commits == len(SOURCE) + len(again)


def test_table_truncated_in_one_log_is_unknown(tmp_path):
    again = [Txn(account(number, 5)) for number in (1, 2, 3)]
    result = verified(tmp_path, [*SOURCE, "TRUNCATE account", *again], SOURCE, by_content=True)
    assert result.verdict is Verdict.UNKNOWN
    assert any("TRUNCATE" in reason.reason for reason in result.unknown)


def test_statement_of_another_table_changes_nothing(tmp_path):
    both = [*SOURCE, "TRUNCATE TABLE other", "CREATE TABLE fresh (a INT)", SOURCE[0]]
    assert verified(tmp_path, both, both).verdict is Verdict.HOLDS


FILL = "CREATE TABLE later SELECT * FROM basket"


@pytest.mark.parametrize("hidden", [INSERT, FILL])
@pytest.mark.parametrize("by_content", [False, True])
@pytest.mark.parametrize("shown_by", ["source", "target"])
def test_rows_that_only_one_log_shows_are_no_violation(tmp_path, hidden, by_content, shown_by):
    """One of the servers logs statements and the other one rows."""
    shown, rest = Txn(account(1, 77)), SOURCE[:3]
    logs = [[*SOURCE, one, *rest] for one in (shown, hidden)]
    source, target = logs if shown_by == "source" else reversed(logs)
    result = verified(tmp_path, source, target, by_content=by_content)
    assert result.verdict is Verdict.UNKNOWN
    assert any("statements" in one.reason for one in result.unknown)


@pytest.mark.parametrize("place", [0, -1])
def test_statement_excuses_no_fault_of_others(tmp_path, place):
    shown, hidden = [[*SOURCE, one, *SOURCE[:3]] for one in (Txn(account(1, 77)), INSERT)]
    lost = [Txn(account(1, 5), name=90), *shown[1:]] if place == 0 else [*shown[:-1], Txn(name=90)]
    result = verified(tmp_path, hidden, lost)
    assert result.verdict is Verdict.VIOLATED
    assert result.names.changed >= 1


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_prepared_rows_count_from_their_end(tmp_path, end):
    def written(path, *, early: bool) -> str:
        """A prepared transaction that ends after another one."""
        server = Server(START)
        xid = (1, b"x", b"")
        server.writer.mariadb_gtid(1, flags=0x0C | 0x40, xid=xid)
        before, after = START["account", 1], (1, "ann", 7)
        from tests.builders.binlog_writer import optional_metadata
        from tests.verifying.small_logs import ACCOUNT

        metadata = optional_metadata(ACCOUNT, primary_key=[0])
        server.writer.table_map(ACCOUNT, schema="shop", table="account", metadata=metadata)
        server.writer.rows(24, ACCOUNT, [before, after])
        server.writer.event(38, b"\0" + b"\1\0\0\0\1\0\0\0\0\0\0\0x")
        server.sequence = 1
        other = Txn(account(2, 9))
        if not early:
            server.commit(other)
        server.sequence += 1
        server.writer.mariadb_gtid(server.sequence, flags=0x0C | 0x80, xid=xid)
        server.writer.query(f"XA {end} X'78',X'',1")
        if early:
            server.commit(other)
        return server.save(path)

    files = [written(tmp_path / name, early=early) for name, early in (("s", False), ("t", True))]
    result = verify(VerifyRequest(source=(files[0],), target=(files[1],), by_content=True))
    assert result.source.judged == (2 if end == "COMMIT" else 1)
    assert result.level is (Level.ATOMIC if end == "COMMIT" else Level.PREFIX)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (Decimal("1.50"), Decimal("1.5"), True),
        (Decimal("2.00"), 2, True),
        (2.0, 2, True),
        (True, 1, True),
        (Decimal("1.5"), "1.5", False),
        ("a", "A", False),
        ("a", "a ", False),
        ("a", b"a", False),
        (None, "", False),
        (0, None, False),
        (float("nan"), float("nan"), True),
        (Decimal("Infinity"), 1, False),
    ],
)
def test_equal_values_have_one_form_and_others_do_not(one, other, equal):
    assert (plain(one) == plain(other) and type(plain(one)) is type(plain(other))) == equal


@pytest.mark.parametrize(
    ("cast", "one", "other"),
    [
        ("text", b"abc", "abc"),
        ("number", "1.50", Decimal("1.5")),
        ("float", 0.1, 0.10000000149011612),
        ("seconds", "2024-01-02 03:04:05.678", "2024-01-02 03:04:05"),
        ("date", "2024-01-02 03:04:05", "2024-01-02"),
        ("trim", "a  ", "a"),
        ("lower", "AbC", "abc"),
        ("json", '{"b": 1, "a": [2]}', '{"a":[2],"b":1}'),
    ],
)
def test_cast_makes_values_equal_and_keeps_others_apart(cast, one, other):
    apply = CASTS[cast]
    assert plain(apply(one)) == plain(apply(other))
    assert apply(None) is None
    for value in ("x1", "", "NaN", "1e999", b"\xff", Decimal("Infinity"), float("inf"), 10**400):
        plain(apply(value))  # What a cast is not made for is no crash.
    assert plain(apply("x1")) != plain(apply("y2"))


@pytest.mark.parametrize(
    ("types", "values", "compare"),
    [
        (("int", "bigint"), ("int", "int"), True),
        (("int", "decimal(10,2)"), ("int", "Decimal"), True),
        (("varchar(10)", "text"), ("str", "str"), True),
        (("varchar(10)", "text"), ("str", "bytes"), False),
        (("float", "double"), ("float", "float"), False),
        (("timestamp", "datetime"), ("str", "str"), False),
        (("enum", "enum"), ("str", "int"), False),
        (("", "int"), ("int", "int"), True),
        (("", ""), ("str", "int"), False),
    ],
)
def test_columns_that_do_not_compare_directly_are_known(types, values, compare):
    assert (incomparable(*types, *values) == "") == compare
