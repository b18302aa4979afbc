"""The sample on the first screen of README.md is what the demo prints."""

import pytest

from ci.demo import FORGED, LOGS, log_files, overlap_neighbours
from tests.docs.console import ROOT, Step, is_as_expected, run_step, steps


@pytest.mark.long
def test_sample_is_the_audit_of_the_forged_log(tmp_path):
    (sample,) = steps((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sample.command == "make demo"
    (log,) = log_files(FORGED)
    copy = tmp_path / "out" / "demo" / f"forged-{log.name}"
    copy.parent.mkdir(parents=True)
    overlap_neighbours(log, copy)
    schema = LOGS / FORGED / "schema.sql"
    command = f"paraply audit {copy.relative_to(tmp_path)} --schema {schema}"
    printed = run_step(Step(command=command), tmp_path)
    assert is_as_expected(printed, sample.expected), printed
