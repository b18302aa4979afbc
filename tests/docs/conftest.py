"""The shell in which the commands of the pages run."""

from __future__ import annotations

import os

import pytest

from tests.docs.outcomes import INSTALLING
from tests.docs.shell import Shell, installed


@pytest.fixture(scope="session")
def shell(repository, tmp_path_factory) -> Shell:
    """Return a shell with the installed wheel, one for all processes of the tests."""
    if not (repository / ".git").exists():
        pytest.skip("not a git work tree: the wheel is made of the files that git tracks")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return installed(repository, shared / "reader", INSTALLING)
