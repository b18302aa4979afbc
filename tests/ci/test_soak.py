"""Long runs keep flat memory, shown briefly; a run that grows is noticed."""

import sys

import pytest

from ci.bench.measure import ROOT
from ci.pages.soak import section
from ci.soak import Soak, observe, soak_audit, stored, write_log
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.vocabulary.verdict import Verdict

MEGABYTES = 1_000
"""Tables of bounded size are full after a quarter of it."""


def soak_of(sizes):
    return Soak(
        name="test", command="", work="", seconds=len(sizes), cpu_seconds=0, exit_code=0,
        megabytes=[(number + 0.5, size) for number, size in enumerate(sizes)],
    )  # fmt: skip


def test_memory_that_fills_and_stays_is_flat():
    assert soak_of([10, 150, 200, 200, 201, 199, 200, 205]).is_flat


def test_memory_that_grows_is_not_flat():
    assert not soak_of([100, 150, 200, 250, 300, 350, 400, 450]).is_flat
    assert "growing" in "\n".join(section(soak_of([100, 150, 200, 250, 300, 350, 400, 450])))


def test_little_growth_is_noise():
    assert soak_of([50, 50, 50, 50, 58, 58, 58, 58]).is_flat


@pytest.mark.long
def test_a_program_that_leaks_is_noticed():
    lines = ("import time", "kept = []", "for _ in range(40):",
             "  kept.append(bytearray(4 << 20)); time.sleep(.1)")  # fmt: skip
    found = observe("leak", "", [sys.executable, "-c", "\n".join(lines)], every_s=0.1)
    assert found.exit_code == 0
    assert not found.is_flat


@pytest.mark.long
def test_rotated_files_are_one_log(tmp_path):
    paths = write_log(tmp_path, 30_000_000, file_bytes=10_000_000)
    assert len(paths) > 1
    result = audit(AuditRequest(files=tuple(map(str, paths))))
    assert result.verdict is Verdict.HOLDS
    assert sum(file.bytes_read for file in result.files) == sum(
        path.stat().st_size for path in paths
    )


@pytest.mark.long
def test_an_audit_of_a_gigabyte_has_flat_memory():
    found = soak_audit(MEGABYTES * 10**6, every_s=0.1, file_bytes=50_000_000)
    assert found.exit_code == 0
    assert found.is_flat, found.growth


def test_the_page_states_the_verdict_of_each_stored_run():
    page = (ROOT / "docs" / "soak.md").read_text(encoding="utf-8")
    assert stored()
    for run in stored():
        assert run.exit_code in (0, 1, 2)
        assert ("Memory is flat" if run.is_flat else "Memory is **growing**") in page
        assert run.work in page
