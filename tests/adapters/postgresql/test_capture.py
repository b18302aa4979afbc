from __future__ import annotations

from decimal import Decimal

import pytest

from paraply.adapters.binlog.report import LogReport
from paraply.adapters.postgresql import capture
from paraply.adapters.postgresql.capture import is_change_stream, read_stream
from paraply.vocabulary.log import ABSENT, LoggedKind
from tests.adapters.postgresql.stream_writer import (
    BOOL,
    BYTEA,
    INT4,
    NUMERIC,
    TEXT,
    TOAST,
    StreamWriter,
)


def read(path: str, *, by_origin: bool = False):
    report = LogReport()
    tables = []
    found = list(read_stream([path], report=report, on_table=tables.append, by_origin=by_origin))
    return found, tables, [d.text for d in report.diagnostics()]


def changes(txn):
    return [(row.table, row.before, row.after) for row in txn.rows]


@pytest.fixture
def writer():
    stream = StreamWriter()
    stream.begin()
    stream.relation(
        9, "public.t", [("id", INT4), ("v", TEXT), ("n", NUMERIC), ("b", BYTEA), ("y", BOOL)]
    )
    stream.insert(9, [1, "a\nb", "1.50", "\\x00ff", "t"])
    stream.commit("0/100", time_us=1)
    stream.begin()
    stream.update(9, [1, None, "2", None, "f"], [1, "a\nb", "1.50", "\\x00ff", "t"])
    stream.logical_message()
    stream.delete(9, [1, None, "2", None, "f"])
    stream.commit("1/200")
    return stream


@pytest.mark.parametrize("as_printed", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
def test_both_captures_give_the_same_transactions(writer, tmp_path, monkeypatch, as_printed, chunk):
    monkeypatch.setattr(capture, "_CHUNK_BYTES", chunk)
    found, tables, faults = read(writer.save(tmp_path / "s", as_printed=as_printed))
    assert faults == []
    assert [txn.gtid for txn in found] == ["0/100", "1/200"]
    first = (1, "a\nb", Decimal("1.50"), b"\0\xff", 1)
    second = (1, None, Decimal(2), None, 0)
    assert changes(found[0]) == [("public.t", None, first)]
    assert changes(found[1]) == [("public.t", first, second), ("public.t", second, None)]
    assert found[0].committed_at_us == 946_684_800_000_001
    assert [column.type_name for column in tables[0].columns] == [
        "integer", "text", "numeric", "bytea", "boolean",
    ]  # fmt: skip
    assert not tables[0].keys_known, "a full identity does not name the key"


def test_streams_are_told_from_binary_logs(writer):
    assert is_change_stream(writer.raw()[:1024])
    assert is_change_stream(writer.printed()[:1024])
    assert not is_change_stream(b"\xfebin" + bytes(200))
    assert not is_change_stream(b"BEGIN 731\n" + bytes(40))
    assert not is_change_stream(b"")


def test_rows_are_kept_where_the_identity_is_a_key(tmp_path):
    stream = StreamWriter()
    stream.begin()
    stream.relation(9, "public.t", [("id", INT4), ("v", TEXT)], identity="d", key=["id"])
    stream.insert(9, [1, "long"])
    stream.update(9, [1, TOAST])
    stream.update(9, [2, TOAST], [1, None], kind=b"K")
    stream.delete(9, [2, None], kind=b"K")
    stream.update(9, [5, "x"])
    stream.commit("0/100")
    (txn,), tables, _ = read(stream.save(tmp_path / "s"))
    assert changes(txn) == [
        ("public.t", None, (1, "long")),
        ("public.t", (1, "long"), (1, "long")),
        ("public.t", (1, "long"), (2, "long")),
        ("public.t", (2, "long"), None),
        ("public.t", (5, ABSENT), (5, "x")),
    ]
    assert [key.name for key in tables[0].unique_keys] == ["PRIMARY"]


def test_subscriber_has_the_names_of_its_source(tmp_path):
    stream = StreamWriter()
    for end, origin in (("0/900", "0/100"), ("0/980", ""), ("0/A00", "0/0")):
        stream.begin(origin)
        stream.commit(end)
    found, _, _ = read(stream.save(tmp_path / "s"), by_origin=True)
    assert [txn.gtid for txn in found] == ["0/100", "local 0/980", "pg_16400 without position"]
    found, _, _ = read(stream.save(tmp_path / "s"), by_origin=False)
    assert [txn.gtid for txn in found] == ["0/900", "0/980", "0/A00"]


@pytest.mark.parametrize(
    ("origin", "is_copy"),
    [("pg_16400_16384", True), ("pg_16400", False), ("pgl_a_b_c", False), ("pg_16400_x", False)],
)
def test_initial_copy_is_known_by_its_origin(origin, is_copy, tmp_path):
    stream = StreamWriter()
    for at in ("0/0", "0/90"):
        stream.begin(at, origin)
        stream.commit("0/900" if at == "0/0" else "0/980")
    path = stream.save(tmp_path / "s")
    found, _, _ = read(path, by_origin=True)
    assert ["initial_copy" in txn.flags for txn in found] == [is_copy, is_copy]
    if is_copy:
        assert [txn.gtid for txn in found] == [f"{origin} 0/0", f"{origin} 0/90"]
    found, _, _ = read(path, by_origin=False)
    assert not any(txn.flags for txn in found), "at a source it is a transaction like others"


def test_what_a_slot_gives_again_after_a_crash_counts_once(writer, tmp_path):
    writer.messages *= 2
    found, _, _ = read(writer.save(tmp_path / "s"))
    assert [txn.gtid for txn in found] == ["0/100", "1/200"]


def test_truncate_is_a_schema_change(writer, tmp_path):
    writer.begin()
    writer.truncate(9)
    writer.commit("1/300")
    found, _, _ = read(writer.save(tmp_path / "s"))
    assert found[-1].kind is LoggedKind.DDL
    assert found[-1].statements == ("TRUNCATE TABLE public.t",)


@pytest.mark.parametrize("time_us", [2**63 - 1, 2**62, -(2**63), -946_684_800_000_001])
def test_times_that_no_clock_shows_are_damage(time_us, tmp_path):
    """They once overflowed what verify stores."""
    writer = StreamWriter()
    writer.begin()
    writer.commit("0/10", time_us)
    found, _, faults = read(writer.save(tmp_path / "s"))
    assert not found
    assert "no clock shows" in str(faults)


@pytest.mark.long
def test_every_damage_ends_in_a_diagnostic_or_in_other_values(writer, tmp_path):
    """No damage is a traceback, and what was read before it is delivered."""
    whole = writer.raw()
    path = tmp_path / "s"
    for at in range(1, len(whole)):
        path.write_bytes(whole[:at])
        found, _, faults = read(str(path))
        assert len(found) <= 2
        ends_between = whole[at - 1 : at] == b"\n" or whole[at : at + 1] == b"\n"
        assert faults or ends_between
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        read(str(path))
    for text in (b"0/1|7|\\xzz\n", b"0/1|7|\\x42\n", b"0/1|7|\\x53\n", b"0/1|7|\\x49000000094e\n"):
        path.write_bytes(text)
        assert read(str(path))[2]
