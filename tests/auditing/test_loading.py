"""The log that loads the compiled engine makes it compile all kernels that other logs need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ci.bench import generate_log, mixes

pytest.importorskip("numba", reason="numba is not installed")

PROGRAM = """
import sys
from pathlib import Path
from paraply.auditing.loading import sample_log
from paraply.auditing.pipeline import AuditRequest, audit

def kernels_of(log):
    audit(AuditRequest(files=(log,), engine="compiled"))
    return {path.name for path in Path(sys.argv[1]).rglob("*.nbc")}

with sample_log() as log:
    known = kernels_of(log)
print(*[(log, kernels_of(log) - known) for log in sys.argv[2:] if kernels_of(log) - known])
"""


@pytest.mark.nightly
def test_audit_of_the_sample_compiles_all_kernels(repository, tmp_path):
    logs = []
    for dialect in ("mariadb", "mysql"):
        for kind in mixes.KINDS:
            path = tmp_path / f"{dialect}-{kind}"
            mixes.generate(path, kind=kind, dialect=dialect, size_bytes=3_000_000, block=200)
            logs.append(path)
        logs.append(tmp_path / f"{dialect}-wide")
        generate_log.generate(logs[-1], dialect=dialect, size_bytes=3_000_000)
    kernels = tmp_path / "kernels"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(kernels), *map(str, logs)], cwd=repository,
        env=os.environ | {"NUMBA_CACHE_DIR": str(kernels)}, capture_output=True, text=True,
        check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(kernels.rglob("*.nbc"))
    assert done.stdout.strip() == ""
