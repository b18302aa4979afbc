"""One server for all tests of a worker."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.simulated_os.runs import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Yield the process that forks the runs."""
    if sys.platform != "linux":
        pytest.skip("the simulated system reads /proc and calls fork")
    started = Server()
    yield started
    started.close()
