"""A stored kernel is loaded alone, and numba still compiles after it."""

import subprocess
import sys

import pytest

KERNELS = """
import numpy as np
from numba import njit

@njit(cache=True)
def squares(count):
    found = np.zeros(count, np.int64)
    for at in range(count):
        found[at] = at * at
    return found

@njit
def total(numbers):
    return numbers.sum()
"""
PROGRAM = """
import sys
import paraply.adapters.binlog.compiled
import kernels
print(kernels.squares(4).tolist(), "numba.np.linalg" in sys.modules)
print(kernels.total(kernels.np.arange(3)))
"""


@pytest.mark.long
def test_stored_kernel_needs_nothing_of_the_compiler_which_still_works(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)

    def run():
        told = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return told.stdout.splitlines()

    assert run() == ["[0, 1, 4, 9] True", "3"]
    assert run() == ["[0, 1, 4, 9] False", "3"]
