from __future__ import annotations

import gzip
import io

import pytest
import zstandard

from paraply.adapters.binlog.source import open_source, source_of_stream
from paraply.vocabulary.errors import ParaplyError
from tests.builders.binlog_writer import BinlogWriter


@pytest.fixture
def log() -> bytes:
    writer = BinlogWriter()
    for number in range(300):
        writer.xid(number)
    return bytes(writer.data)


def _packed(data: bytes, compression: str) -> bytes:
    if compression == "gzip":
        return gzip.compress(data)
    return zstandard.ZstdCompressor().compress(data) if compression == "zstd" else data


@pytest.mark.parametrize("compression", ["plain", "gzip", "zstd"])
def test_compression_is_told_by_magic_and_undone(tmp_path, log, compression):
    path = tmp_path / "bin.000001"  # the name says nothing
    path.write_bytes(_packed(log, compression))
    with open_source(str(path)) as source:
        assert source.compression == compression
        assert source.peek(4) == log[:4]
        assert source.read(10) + source.read(1 << 30) == log
        assert source.offset == len(log)
        assert source.read(1) == b""


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_concatenated_members_read_as_one_stream(log, compression):
    data = _packed(log[:500], compression) + _packed(log[500:], compression)
    assert source_of_stream("x", io.BytesIO(data)).read(len(log) + 1) == log


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_cut_compression_delivers_what_it_can_and_names_the_place(log, compression):
    data = _packed(log * 200, compression)
    source = source_of_stream("x.gz", io.BytesIO(data[: len(data) // 2]))
    got = b""

    def read_on() -> None:
        nonlocal got
        while chunk := source.read(64):
            got += chunk

    with pytest.raises(ParaplyError, match=r"P109 x\.gz:"):
        read_on()
    assert got == (log * 200)[: len(got)]
    assert len(got) < len(log * 200)


def test_broken_compression_is_a_user_error():
    source = source_of_stream("x.gz", io.BytesIO(b"\x1f\x8b\x08" + b"\xff" * 40))
    with pytest.raises(ParaplyError, match="P109"):
        source.read(100)


def test_missing_file_is_a_user_error_with_a_remedy(tmp_path):
    with pytest.raises(ParaplyError, match="P101") as caught:
        open_source(str(tmp_path / "none"))
    assert "no such file" in caught.value.text
    assert caught.value.remedy


def test_folder_is_a_user_error(tmp_path):
    with pytest.raises(ParaplyError, match="P101"):
        open_source(str(tmp_path))


def test_standard_input_is_read_and_left_open(monkeypatch, log):
    class Piped:
        buffer = io.BytesIO(gzip.compress(log))

    monkeypatch.setattr("sys.stdin", Piped())
    source = open_source("-")
    assert source.read(len(log)) == log
    source.close()
    assert not Piped.buffer.closed
