"""Every third-party log, and every wrapping of a recorded one, is audited from end to end."""

from __future__ import annotations

import bz2
import gzip
import io
import types
from pathlib import Path

import pytest
import zstandard

from paraply.auditing.pipeline import AuditRequest, audit
from paraply.reporting.html import render_html
from paraply.reporting.terminal import render_terminal
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.conftest import corpus_folder

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "binlogs"
NO_LOGS = {".md", ".index", ""}
TRUNCATED_AT_ONCE = ("binlog_truncated_event.000001", "binlog_truncated_prev_gtid_event.000001")


def third_party_logs():
    logs = sorted(
        path
        for path in corpus_folder().rglob("*")
        if path.is_file() and path.suffix not in NO_LOGS and path.name not in TRUNCATED_AT_ONCE
    )
    return [pytest.param(path, id=path.name) for path in logs]


def test_folder_of_third_party_logs_holds_the_known_ones(corpus):
    assert len(third_party_logs()) >= 23


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("path", third_party_logs())
def test_third_party_log_is_audited_to_its_end_and_not_accused(path):
    result = audit(AuditRequest(files=(str(path),)))
    # Short logs of one client: nothing may overlap, so nothing was put to the test.
    assert result.verdict is Verdict.UNKNOWN
    assert result.transactions > 0
    assert [file.stopped for file in result.files] == [""]
    assert result.violations == []
    assert result.replay.findings == []
    assert "Why unknown" in render_terminal(result, width=100, colour=False)
    assert "<!doctype html>" in render_html(result).lower()


@pytest.mark.parametrize("name", TRUNCATED_AT_ONCE)
def test_third_party_log_cut_before_its_first_transaction_cannot_be_read(corpus, name):
    with pytest.raises(ParaplyError, match=rf"P307 .* P104 .*{name}:\d+: "):
        audit(AuditRequest(files=(str(next(corpus.rglob(name))),)))


@pytest.mark.parametrize("number", ["01", "03", "07"])
def test_zaloras_text_is_audited_as_its_log_is(corpus, number):
    folder = corpus / "zalora__binlog-parser"
    log, text = (
        audit(AuditRequest(files=(str(folder / name),)))
        for name in (f"mysql-bin.{number}", f"plaintext-mysql-bin.{number}")
    )
    assert (text.transactions, text.row_changes, text.kinds) == (
        log.transactions,
        log.row_changes,
        log.kinds,
    )
    assert [table.name for table in text.tables] == [table.name for table in log.tables]
    assert text.replay.tables == log.replay.tables


PACKINGS = {
    "gzip": gzip.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
    "gzip members": lambda data: gzip.compress(data[:5_000]) + gzip.compress(data[5_000:]),
}


def _content(result):
    """Return all of a result but what says where it was read from."""
    return (
        result.verdict,
        result.transactions,
        result.kinds,
        result.tables,
        result.pairs_allowed_to_overlap,
        result.conflicting_pairs_ordered,
        result.replay,
        result.parallelism,
        result.width_over_time,
    )


@pytest.mark.long
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("piped", [False, True], ids=["file", "standard input"])
@pytest.mark.parametrize(
    "server", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
)
def test_packed_log_is_audited_as_the_plain_one(tmp_path, monkeypatch, server, piped, packing):
    folder = FIXTURES / server / "load-full-metadata"
    for plain in (folder / "bin.000001", folder / "expected" / "bin.000001.txt.gz"):
        data = plain.read_bytes()
        if plain.suffix == ".gz":
            data = gzip.decompress(data)
        packed = tmp_path / f"{plain.name}.packed"
        packed.write_bytes(PACKINGS[packing](data))
        name = str(packed)
        if piped:
            stream = types.SimpleNamespace(buffer=io.BytesIO(packed.read_bytes()))
            monkeypatch.setattr("sys.stdin", stream)
            name = "-"
        schema = str(folder / "schema.sql")
        expected = audit(AuditRequest(files=(str(plain),), schema=schema))
        assert expected.pairs_allowed_to_overlap > 0
        assert _content(audit(AuditRequest(files=(name,), schema=schema))) == _content(expected)


def test_packing_that_is_not_known_is_refused_by_its_first_bytes(tmp_path):
    packed = tmp_path / "bin.000001.bz2"
    packed.write_bytes(bz2.compress(b"\xfebin"))
    with pytest.raises(ParaplyError, match="P102"):
        audit(AuditRequest(files=(str(packed),)))
