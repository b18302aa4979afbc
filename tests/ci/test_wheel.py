"""A wheel with kernels: whoever installs it compiles nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

import pytest

from ci.wheel import COMPILING, build, last_change, with_kernels
from tests.builders.installed import environment

pytest.importorskip("numba", reason="numba is not installed")

CHECKSUM = """
import numpy, zlib
from paraply.adapters.binlog.compiled.hashing import crc32, crc32_tables
text = numpy.frombuffer(b"paraply", dtype=numpy.uint8)
assert crc32(text, 0, len(text), crc32_tables()) == zlib.crc32(b"paraply")
"""


def _compiled_by(python, program, folder):
    """Return what a program adds to the kernels beside an installed paraply."""
    before = set(folder.rglob("*.nbc"))
    # A Spark session of this process names the clone's modules and a place of kernels there.
    plain = {name: text for name, text in os.environ.items() if "NUMBA" not in name}
    command = [python, "-I", "-c", program]
    subprocess.run(command, cwd=folder, env=plain, capture_output=True, check=True)
    return set(folder.rglob("*.nbc")) - before


def _installed(wheel, folder):
    """Extract a wheel into a new environment, where each file gets a new time."""
    python = environment(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    return python, site


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CHECKSUM, marks=pytest.mark.long, id="one kernel"),
        pytest.param(COMPILING, marks=pytest.mark.nightly, id="all"),
    ],
)
def test_installed_kernels_are_used_and_none_is_compiled(repository, tmp_path, program):
    if not (repository / ".git").exists():
        pytest.skip("not a git work tree")
    plain = build(repository, tmp_path, last_change(repository))
    kernels = with_kernels(plain, last_change(repository), program)
    python = f"cp{sys.version_info.major}{sys.version_info.minor}-none-"
    assert python in kernels.name
    assert plain.exists()
    without, _ = _installed(plain, tmp_path / "plain")
    assert _compiled_by(without, program, tmp_path / "plain")
    there, site = _installed(kernels, tmp_path / "kernels")
    assert list(site.rglob("*.nbi"))
    assert not _compiled_by(there, program, tmp_path / "kernels")
