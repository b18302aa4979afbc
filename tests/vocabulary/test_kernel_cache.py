"""Kept kernels are dropped when any module beside them has changed, or one is torn."""

from __future__ import annotations

import os
import pickle

import pytest

from paraply.vocabulary.kernel_cache import drop_stale_kernels, has_kernels


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "__pycache__").mkdir()
    for name, time_s in (("kernel.py", 100), ("constants.py", 100)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time_s, time_s))
    for name in ("kernel.f-1.py311.nbi", "kernel.f-1.py311.1.nbc"):
        (tmp_path / "__pycache__" / name).write_bytes(pickle.dumps(name))
        os.utime(tmp_path / "__pycache__" / name, (200, 200))
    return tmp_path


def test_kernels_newer_than_every_module_are_kept(folder):
    assert drop_stale_kernels(folder) == 0
    assert has_kernels(folder)


def test_kernels_are_dropped_when_an_imported_module_changed(folder):
    os.utime(folder / "constants.py", (300, 300))
    assert drop_stale_kernels(folder) == 2
    assert not has_kernels(folder)


def test_kernels_are_dropped_when_a_module_that_they_use_changed(folder, tmp_path_factory):
    used = tmp_path_factory.mktemp("used")
    (used / "hashing.py").touch()
    os.utime(used / "hashing.py", (100, 100))
    assert drop_stale_kernels(folder, used) == 0
    os.utime(used / "hashing.py", (300, 300))
    assert drop_stale_kernels(folder, used) == 2


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("size", [0, 5])
def test_kernels_that_a_power_failure_cut_are_dropped(folder, suffix, size):
    (kernel,) = (folder / "__pycache__").glob(f"*.{suffix}")
    kernel.write_bytes(kernel.read_bytes()[:size])
    os.utime(kernel, (200, 200))
    assert drop_stale_kernels(folder) == 2
    assert not has_kernels(folder)


def test_folder_without_kernels_is_left_alone(tmp_path):
    (tmp_path / "kernel.py").touch()
    assert drop_stale_kernels(tmp_path) == 0
    assert not has_kernels(tmp_path)
