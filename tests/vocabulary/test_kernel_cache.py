"""Kept kernels are dropped when any module beside them has changed, or one is torn."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

from paraply.vocabulary.kernel_cache import drop_stale_kernels, has_kernels

PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}"


@pytest.fixture
def folder(tmp_path):
    for name in ("kernel.py", "constants.py"):
        (tmp_path / name).touch()
    assert drop_stale_kernels(tmp_path) == 0
    for name in (f"kernel.f-1.{PYTHON}.nbi", f"kernel.f-1.{PYTHON}.1.nbc"):
        (tmp_path / "__pycache__" / name).write_bytes(pickle.dumps(name))
    return tmp_path


def test_kernels_of_the_same_modules_are_kept_whatever_the_times_of_files_say(folder):
    """An installer sets other times, and a kernel of a wheel may be older than its module."""
    os.utime(folder / "kernel.py", (4_000_000_000, 4_000_000_000))
    assert drop_stale_kernels(folder) == 0
    assert has_kernels(folder)


@pytest.mark.parametrize("time_s", [100, 4_000_000_000])
def test_kernels_are_dropped_when_an_imported_module_changed(folder, time_s):
    (folder / "constants.py").write_text("ONE = 1\n")
    os.utime(folder / "constants.py", (time_s, time_s))
    assert drop_stale_kernels(folder) == 2
    assert not has_kernels(folder)
    assert drop_stale_kernels(folder) == 0


def test_kernels_are_dropped_when_a_module_is_renamed(folder):
    (folder / "constants.py").rename(folder / "numbers.py")
    assert drop_stale_kernels(folder) == 2


def test_kernels_are_dropped_when_a_module_of_a_folder_within_changed(folder):
    (folder / "within").mkdir()
    (folder / "within" / "constants.py").touch()
    assert drop_stale_kernels(folder) == 2


def test_kernels_are_dropped_when_a_module_that_they_use_changed(folder, tmp_path_factory):
    used = tmp_path_factory.mktemp("used")
    (used / "hashing.py").touch()
    assert drop_stale_kernels(folder, used) == 2
    (folder / "__pycache__" / "kernel.f-1.py311.nbi").write_bytes(pickle.dumps(0))
    assert drop_stale_kernels(folder, used) == 0
    (used / "hashing.py").write_text("SEED = 1\n")
    assert drop_stale_kernels(folder, used) == 1


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("size", [0, 5])
def test_kernels_that_a_power_failure_cut_are_dropped(folder, suffix, size):
    (kernel,) = (folder / "__pycache__").glob(f"*.{suffix}")
    kernel.write_bytes(kernel.read_bytes()[:size])
    assert drop_stale_kernels(folder) == 2
    assert not has_kernels(folder)


def test_kernels_of_another_python_are_none(folder):
    (kernel,) = (folder / "__pycache__").glob("*.nbi")
    assert has_kernels(folder, folder)
    kernel.rename(kernel.with_name("kernel.f-1.py310.nbi"))
    assert not has_kernels(folder)


def test_kernels_are_dropped_when_nothing_says_what_they_are_made_of(folder):
    (folder / "__pycache__" / "kernels.sources").unlink()
    assert drop_stale_kernels(folder) == 2


def test_kernels_are_for_every_processor_of_an_architecture():
    pytest.importorskip("numba", reason="numba is not installed")
    words = "import paraply.vocabulary.kernel_cache, numba.core.registry as r; "
    words += "print(*r.cpu_target.target_context.codegen().magic_tuple()[1:])"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["generic"]


def test_folder_without_kernels_has_none(tmp_path):
    (tmp_path / "kernel.py").touch()
    assert drop_stale_kernels(tmp_path) == 0
    assert not has_kernels(tmp_path)
