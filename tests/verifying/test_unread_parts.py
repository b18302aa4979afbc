"""Logs that are cut anywhere: the verdict is that of the whole logs, or unknown."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from paraply.adapters.binlog import compiled_gains
from paraply.verifying.pipeline import READABLE, VerifyRequest, verify
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.verifying.test_seeded_faults import START, cases, run, source_of

pytestmark = pytest.mark.long

LEVELS = ("prefix", "batches", "atomic", "per-key", "final")
CUTS = 2


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("by_content", [False, True], ids=["by name", "by content"])
def test_cut_log_is_never_judged_otherwise(side, by_content, tmp_path, monkeypatch):
    monkeypatch.setattr(compiled_gains, "COMPILED_BYTES_MIN", 0)
    monkeypatch.setattr(compiled_gains, "COMPILING_BYTES_MIN", 0)
    chance = Random(f"{side}/{by_content}")
    decided: Counter = Counter()
    for number, case in enumerate(cases()[::12]):
        files = {"source": run(source_of(case), tmp_path / f"{number}-s", START),
                 "target": run(case.target, tmp_path / f"{number}-t", START)}  # fmt: skip
        whole = {level: verdict(files, level, by_content) for level in LEVELS}
        data = Path(files[side]).read_bytes()
        for _ in range(CUTS):
            end = chance.randrange(len(data) // 4, len(data))
            # A log that ends between two events is whole.
            Path(files[side]).write_bytes(data[:end] + b"?")
            for level in LEVELS:
                found = verdict(files, level, by_content)
                assert found in (whole[level], Verdict.UNKNOWN, None), (case.name, level)
                if whole[level] is Verdict.VIOLATED:
                    decided[level, found] += 1
    early = decided["prefix", Verdict.VIOLATED]
    assert early > decided["prefix", Verdict.UNKNOWN] / 2, decided


def verdict(files: dict[str, str], level: str, by_content: bool) -> Verdict | None:
    """Return the verdict of both engines, None where nothing could be read."""
    found = set()
    for engine in ("auto", READABLE):
        request = VerifyRequest(
            source=(files["source"],), target=(files["target"],),
            required=level, by_content=by_content, engine=engine,
        )  # fmt: skip
        try:
            found.add(verify(request).verdict)
        except ParaplyError:
            found.add(None)
    assert len(found) == 1
    return found.pop()
