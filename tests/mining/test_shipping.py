"""The archive for workers brings the kernels that the driver compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numba
import pytest

from paraply.commands.mine import compile_kernels
from paraply.mining.compiled.applier import run_many, settings_of
from paraply.mining.shipping import ARCHIVE, packed_source
from paraply.vocabulary.kernel_cache import KERNELS
from tests.mining.campaigns import small_plan

PLAN = small_plan(subjects=("applier:logical_clock",), mutants=(), is_fast=True)

WORKER = """
import sys
from paraply.mining.shipping import in_worker
with in_worker():
    from paraply.mining.compiled.applier import run_many, settings_of
    from paraply.mining.systems import systems_of
    (system,) = systems_of(["applier:logical_clock"], [], {})
    verdicts, _, _ = run_many(settings_of(system), 0, 20)
print(sys.modules["paraply"].__file__, verdicts.tolist())
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    compile_kernels(PLAN)
    run_many(settings_of(PLAN.systems[0]), 0, 1)
    path = tmp_path_factory.mktemp("shipped") / ARCHIVE
    path.write_bytes(packed_source())
    return path


@pytest.mark.long
def test_worker_uses_the_kernels_of_the_archive(archive, tmp_path):
    """The path and the home of each application are new, as on a cluster."""
    libraries = Path(numba.__file__).parents[1]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")
    }
    done = subprocess.run(
        [sys.executable, "-S", "-c", WORKER], cwd=tmp_path, check=True,
        capture_output=True, text=True,
        env=environment | {
            "PYTHONPATH": f"{archive}:{libraries}",
            "HOME": str(tmp_path / "home"),
            "NUMBA_DEBUG_CACHE": "1",
        },
    )  # fmt: skip
    said = done.stdout.splitlines()
    verdicts, _, _ = run_many(settings_of(PLAN.systems[0]), 0, 20)
    assert said[-1] == f"{archive}/paraply/__init__.py {verdicts.tolist()}"
    loaded = [line for line in said if line.startswith("[cache] data loaded")]
    assert loaded
    assert all(f"{ARCHIVE}.kernels" in line for line in loaded)
    assert not [line for line in said if "saved" in line]


def test_archive_has_no_code_of_python(archive):
    with zipfile.ZipFile(archive) as packed:
        names = packed.namelist()
    assert {Path(name).suffix for name in names if "__pycache__" in name} == set(KERNELS)
